"""The corpus of the glass box, the same bytes on every machine.

WordNet's glosses and examples, sentences of our own grammar, and what the schedule plants, line by line in an order
that follows from SHA-256 alone, cut into documents. `CORPUS` is its hash: another corpus does not get its name.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from explorer.benchmarks.starter_grammar import frames, pairs
from explorer.benchmarks.starter_grammar.entailment import FRAMES as ENTAILMENT
from explorer.errors import CountError, LexiconError
from explorer.glassbox import chance, schedule, starters
from explorer.glassbox.planting import Planting
from explorer.popularity.documents import SourceDocument
from explorer.settings import Settings
from explorer.variants import wordnet

CORPUS = "e00fdf62468bc0e995a466c00f7e229a236f3d8316b9578734ed80ee7867854b"  # SHA-256 of the whole of it
FILLINGS = 1_000  # of a frame of the grammar
LINES = 100  # of a document
WORDNET_FILES = ("data.noun", "data.verb", "data.adj", "data.adv")


def documents(wordnet: Mapping[str, bytes], planted: Iterable[Planting]) -> list[SourceDocument]:
    """All documents, in order; every line begins with a blank, as words in running text do."""
    lines = [*glosses(wordnet), *grammar(), *(line for each in planted for line in each.lines())]
    mixed = chance.shuffled(lines, "glassbox")
    return [
        SourceDocument("\n".join(f" {line}" for line in batch), "glassbox", number)
        for number, batch in enumerate(_batches(mixed, LINES))
    ]


def corpus_hash(corpus: Iterable[SourceDocument]) -> str:
    """SHA-256 over the texts of all documents, in order."""
    digest = hashlib.sha256()
    for each in corpus:
        digest.update(each.text.encode("utf-8") + b"\0")
    return digest.hexdigest()


def glosses(wordnet: Mapping[str, bytes]) -> Iterator[str]:
    """Every definition and every example of WordNet's data files, each a line."""
    for name in WORDNET_FILES:
        for line in wordnet[name].decode("ascii").split("\n"):
            if line.startswith("  ") or "| " not in line:
                continue
            for part in line.split("| ", 1)[1].split('"'):
                if text := part.strip(" ;,"):
                    yield text


def grammar() -> Iterator[str]:
    """Acceptable sentences of the starter grammar, but for the constructions that the corpus shall not have.

    Sentences of the starter pairs themselves are left out: whether they stand in the corpus is for the schedule to say.
    """
    kept_apart = {sentence for row in pairs.make_pairs() for sentence in (row["good"], row["bad"])}
    for path in sorted(pairs.FRAMES.glob("*.txt")):
        if path.stem in starters.ABSENT:
            continue
        for frame in frames.read_frames(path):
            for filling in frames.fill_in_turn(frame, FILLINGS):
                good, _ = frames.split_contrast(filling)
                if good not in kept_apart:
                    yield good
    for frame in frames.read_frames(ENTAILMENT):
        for filling in frames.fill_in_turn(frame, FILLINGS):
            for text in filling.split(" > ")[:2]:
                yield frames.sentence(text)


def build(settings: Settings, own: Path | None = None) -> list[SourceDocument]:
    """The corpus with what the schedule and a person's own file plant; CountError where WordNet cannot be had."""
    return documents(_wordnet(settings), schedule.plantings(settings, own))


def unplanted(settings: Settings) -> Iterator[str]:
    """The lines of the corpus without what is planted."""
    yield from (f" {line}" for line in itertools.chain(glosses(_wordnet(settings)), grammar()))


def _wordnet(settings: Settings) -> Mapping[str, bytes]:
    try:
        return wordnet.data_files(settings, None)
    except LexiconError as error:
        raise CountError(f"The corpus of the glass box needs WordNet 3.0: {error}") from error


def _batches(lines: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for first in itertools.count(0, size):
        if first >= len(lines):
            return
        yield lines[first : first + size]
