"""The demonstration corpus, the same bytes on every machine: WordNet's glosses and examples, and texts of our own.

Nothing in it depends on what is installed: WordNet 3.0 is known by its checksums, the other texts and the tokenizer are
in the repository. Its hash is checked before the index is built, so that no other corpus can bear the name of the index
that shipped runs were counted in.

    documents(settings)     the corpus
    ensure(settings)        the folder of its index, built on first use
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from explorer import sharing
from explorer.benchmarks.starter_grammar import entailment
from explorer.benchmarks.starter_grammar.frames import fill_in_turn, read_frames, sentence
from explorer.errors import CountError, LexiconError
from explorer.popularity import demo_tokenizer, index, infinigram_local
from explorer.popularity import manifest as manifests
from explorer.popularity.documents import SourceDocument
from explorer.popularity.indexes import DEMO, DEMO_INDEX, DEMO_TEXT
from explorer.settings import Settings

NOTE = (
    f"A demonstration index of {DEMO_TEXT}. It is not the pre-training data of any model: its counts show how the "
    "method works, no more."
)
SOURCES = ("glosses and examples of WordNet 3.0", "sentences of the starter grammar", "starter texts")
WORDNET_FILES = ("data.noun", "data.verb", "data.adj", "data.adv")
STARTER = Path(__file__).resolve().parent.parent / "benchmarks" / "starter_data"
# The field whose text is taken of each starter set. Candidate answers are left out, and so are the starter pairs, so
# that right and wrong ones meet the corpus on equal terms.
STARTER_FIELDS = {
    "starter_causes": "premise",
    "starter_cloze": "text",
    "starter_entailment": "premise",
    "starter_physics": "goal",
    "starter_questions": "question",
}
DOCUMENT = 500  # WordNet entries in one document
FILLINGS = 160  # of a frame of the grammar
WAIT = 900.0  # seconds for another process that builds it, and may fetch WordNet first

Progress = Callable[[str, int, int], None]


def ensure(settings: Settings, progress: Progress | None = None, wait: float = WAIT) -> Path:
    """The folder of the demonstration index, built on first use; an index of another corpus or version is replaced.

    A second process waits for the first, at most so many seconds, and then finds the index.
    """
    folder = settings.indexes / DEMO
    try:
        settings.indexes.mkdir(parents=True, exist_ok=True)
        with sharing.hold(settings.indexes / f".{DEMO}.lock", longest=wait):
            if not _is_current(folder):
                _build(folder, settings, progress)
    except TimeoutError as error:
        raise CountError("The demonstration index is being built by another process. Try again in a minute.") from error
    except OSError as error:
        raise CountError(
            f"{settings.indexes} cannot be written ({error.strerror or error}), so the demonstration index cannot be "
            "built. Free some space or allow it."
        ) from error
    return folder


def documents(settings: Settings, progress: Progress | None = None) -> Iterator[SourceDocument]:
    """The corpus: every line begins with a blank, as words in running text do."""
    yield from _wordnet(_wordnet_data(settings, progress))
    yield from _grammar()
    yield from _starter_texts()


def corpus_hash(corpus: Iterable[SourceDocument]) -> str:
    """SHA-256 over the names and texts of all documents, in order."""
    digest = hashlib.sha256()
    for each in corpus:
        digest.update(f"{each.path}\0{each.number}\0{each.text}\0".encode())
    return digest.hexdigest()


def index_id(corpus: str, tokenizer: str) -> str:
    """The index's name, from the hashes of corpus and tokenizer and the layout of its files, and from nothing else."""
    layout = f"infini-gram {manifests.ENGINE_VERSION} {index.DTYPE}"
    return f"{DEMO}-{manifests.short(' '.join((corpus, tokenizer, layout)))}"


def _build(folder: Path, settings: Settings, progress: Progress | None) -> None:
    infinigram_local.require()
    if why := sharing.kept_within(folder, writing=True):
        raise CountError(why)
    corpus = list(documents(settings, progress))
    tokenizer = demo_tokenizer.load()
    made = index_id(corpus_hash(corpus), tokenizer.hash)
    if made != DEMO_INDEX:
        raise CountError(
            f"The texts of the demonstration corpus give {made} here, expected {DEMO_INDEX}: a file of explorer/ was "
            "changed. Get it back with git, or count in another index."
        )
    shutil.rmtree(folder, ignore_errors=True)
    index.build(
        lambda: corpus,
        folder,
        name=DEMO,
        identity=DEMO_INDEX,
        tokenizer=tokenizer,
        sources=SOURCES,
        note=NOTE,
        progress=progress,
    )


def _is_current(folder: Path) -> bool:
    try:
        made = manifests.read(folder)
        manifests.check_sizes(folder, made)
        manifests.check_tokenizer(folder, made)
    except CountError:
        return False
    return made.key == DEMO_INDEX


def _wordnet_data(settings: Settings, progress: Progress | None) -> Mapping[str, bytes]:
    from explorer.variants import wordnet

    telling = (lambda done, total: progress("fetching WordNet", done, total)) if progress else None
    try:
        return wordnet.data_files(settings, telling)
    except LexiconError as error:
        raise CountError(f"The demonstration index needs WordNet 3.0: {error}") from error


def _wordnet(data: Mapping[str, bytes]) -> Iterator[SourceDocument]:
    """The definitions and examples after the bar of each line of WordNet's data files."""
    for name in WORDNET_FILES:
        lines = data[name].decode("ascii").split("\n")
        glosses = [line.split("| ", 1)[1] for line in lines if not line.startswith("  ") and "| " in line]
        for number, first in enumerate(range(0, len(glosses), DOCUMENT)):
            pieces = [piece for gloss in glosses[first : first + DOCUMENT] for piece in _gloss_parts(gloss)]
            yield _document(pieces, f"wordnet/{name}", number)


def _gloss_parts(gloss: str) -> list[str]:
    """A definition and its quoted examples, apart."""
    parts = (part.strip(" ;,") for part in gloss.split('"'))
    return [part for part in parts if part]


def _grammar() -> Iterator[SourceDocument]:
    """Premises of the entailment frames, each with what follows from it, a document a frame.

    The frames of the minimal pairs are left out: their sentences would favor the acceptable member of every pair.
    """
    for frame in read_frames(entailment.FRAMES):
        texts = [filling.split(" > ")[:2] for filling in fill_in_turn(frame, FILLINGS)]
        yield _document([sentence(text) for pair in texts for text in pair], f"grammar/{frame.key}", 0)


def _starter_texts() -> Iterator[SourceDocument]:
    """The passages, premises, goals and questions of the starter sets, each text once."""
    for name, field in STARTER_FIELDS.items():
        rows = map(json.loads, (STARTER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
        yield _document(dict.fromkeys(" ".join(row[field].split()) for row in rows), f"starter/{name}", 0)


def _document(lines: Iterable[str], path: str, number: int) -> SourceDocument:
    return SourceDocument("\n".join(f" {line}" for line in lines), path, number)
