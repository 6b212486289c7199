"""A demonstration corpus that any machine can build: WordNet's glosses, package documentation, our starter texts.

The same packages give the same corpus.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import shutil
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from filelock import FileLock

from explorer.errors import CountError
from explorer.popularity import index
from explorer.popularity import manifest as manifests
from explorer.popularity.documents import SourceDocument
from explorer.popularity.indexes import DEMO
from explorer.settings import Settings

NOTE = (
    "A demonstration index of text that comes with installed packages, and of starter texts. It is not the "
    "pre-training data of any model: its counts show how the method works, no more."
)
WORDNET = "WordNet"
STARTER = Path(__file__).resolve().parent.parent / "benchmarks" / "starter_data"
STARTER_FIELDS = ("text", "premise", "goal")
DOCSTRING_CHARACTERS = 6_000_000  # in all, so that the index is built in well under a minute
README_CHARACTERS = 60_000  # of one package
DOCUMENT = 500  # WordNet entries in one document

_DOCSTRING = re.compile(r'^[ \t]*[rR]?"""(.*?)"""', re.DOTALL | re.MULTILINE)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*[,.;:?!]*")

Progress = Callable[[str, int, int], None]


def ensure(settings: Settings, progress: Progress | None = None) -> Path:
    """The folder of the demonstration index, built on first use; built anew once WordNet has come."""
    folder = settings.indexes / DEMO
    settings.indexes.mkdir(parents=True, exist_ok=True)
    with FileLock(settings.indexes / f".{DEMO}.lock"):  # a second process waits and then finds the index
        if not _is_current(folder, settings):
            shutil.rmtree(folder, ignore_errors=True)
            index.build(
                lambda: documents(settings),
                folder,
                name=DEMO,
                sources=sources(settings),
                note=NOTE,
                progress=progress,
            )
    return folder


def documents(settings: Settings) -> Iterator[SourceDocument]:
    """The corpus: every line begins with a blank, as words in running text do."""
    yield from _wordnet(_wordnet_folder(settings))
    yield from _readmes()
    yield from _docstrings()
    yield from _starter_texts()


def sources(settings: Settings) -> list[str]:
    """What the corpus is made of on this machine."""
    wordnet = [WORDNET] if _wordnet_folder(settings).is_dir() else []
    return [
        *wordnet,
        "descriptions of installed packages",
        "docstrings of the standard library and packages",
        "starter texts",
    ]


def _is_current(folder: Path, settings: Settings) -> bool:
    try:
        made = manifests.read(folder)
        manifests.check_sizes(folder, made)
        manifests.check_tokenizer(folder, made)
    except CountError:
        return False
    return WORDNET in made.sources or not _wordnet_folder(settings).is_dir()


def _wordnet_folder(settings: Settings) -> Path:
    return settings.nltk_data / "corpora" / "wordnet"


def _wordnet(folder: Path) -> Iterator[SourceDocument]:
    """The definitions and examples after the bar of each line of WordNet's data files."""
    for part in ("noun", "verb", "adj", "adv"):
        path = folder / f"data.{part}"
        if not path.is_file():
            continue
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        glosses = [line.split("| ", 1)[1] for line in lines if not line.startswith("  ") and "| " in line]
        for number, first in enumerate(range(0, len(glosses), DOCUMENT)):
            pieces = [piece for gloss in glosses[first : first + DOCUMENT] for piece in _gloss_parts(gloss)]
            yield _document(pieces, f"wordnet/{path.name}", number)


def _gloss_parts(gloss: str) -> list[str]:
    """A definition and its quoted examples, apart."""
    parts = (part.strip(" ;,") for part in gloss.split('"'))
    return [part for part in parts if part]


def _readmes() -> Iterator[SourceDocument]:
    """The long description of every installed package, by name."""
    found: dict[str, str] = {}
    for distribution in importlib.metadata.distributions():
        name = (distribution.metadata["Name"] or "").lower()
        # The description is the header of that name in old metadata, and all that follows the headers in new ones.
        text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
        found.setdefault(name, text.partition("\n\n")[2][:README_CHARACTERS])
    for name in sorted(found):
        yield from _if_any(_prose(found[name]), f"packages/{name}")


def _docstrings() -> Iterator[SourceDocument]:
    """Docstrings of the standard library and of installed packages, up to a fixed amount."""
    left = DOCSTRING_CHARACTERS
    for root, label in ((sysconfig.get_path("stdlib"), "stdlib"), (sysconfig.get_path("purelib"), "packages")):
        share = left // 2 if label == "stdlib" else left
        for path in _modules(Path(root)):
            source = path.read_bytes().decode("utf-8", "replace")
            lines = [line for text in _DOCSTRING.findall(source) for line in _prose(text)]
            size = sum(map(len, lines))
            if size > share:
                break
            share -= size
            left -= size
            yield from _if_any(lines, f"{label}/{path.relative_to(root)}")


def _modules(root: Path) -> list[Path]:
    skipped = {"test", "tests", "testing", "site-packages", "__pycache__", "idlelib", "lib2to3", "_vendor", "vendor"}
    found = (path for path in root.rglob("*.py") if not skipped.intersection(path.relative_to(root).parts))
    return sorted(found, key=lambda path: path.relative_to(root).as_posix())


def _starter_texts() -> Iterator[SourceDocument]:
    """The passages, premises and goals of the starter benchmarks.

    Candidate answers are left out, so that right and wrong ones meet the corpus on equal terms.
    """
    for path in sorted(STARTER.glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        texts = (row[field] for row in rows for field in STARTER_FIELDS if isinstance(row.get(field), str))
        yield from _if_any(dict.fromkeys(" ".join(text.split()) for text in texts), f"starter/{path.name}")


def _prose(text: str) -> list[str]:
    """The paragraphs of a text that read as sentences, each on one line; no code, tables or lists of links."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in re.split(r"\n[ \t]*\n", text))
    return [paragraph for paragraph in paragraphs if _reads_as_prose(paragraph)]


def _reads_as_prose(paragraph: str) -> bool:
    words = paragraph.split()
    plain = sum(_WORD.fullmatch(word) is not None for word in words)
    return len(words) >= 5 and plain >= 0.7 * len(words) and ">>>" not in paragraph


def _if_any(lines: Iterable[str], path: str) -> Iterator[SourceDocument]:
    kept = list(lines)
    if kept:
        yield _document(kept, path, 0)


def _document(lines: Iterable[str], path: str, number: int) -> SourceDocument:
    return SourceDocument("\n".join(f" {line}" for line in lines), path, number)
