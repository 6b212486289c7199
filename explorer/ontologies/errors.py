"""How near a wrong id is to the right one: by the words of their labels and by the characters of the ids."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from explorer.records import Concept
from explorer.similarity.measured import CHARACTERS, WORDS
from explorer.writing import characters, has_without_blanks


@dataclass(frozen=True, slots=True)
class Nearness:
    """A wrong answer against the gold id; both nan where the answer gives no id."""

    jaccard: float  # of the labels' words; nan where the predicted id does not exist
    levenshtein: float  # between the full ids, in edits
    unit: str = WORDS  # what the first was counted in: words, or characters


NO_ID = Nearness(math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class ErrorPattern:
    """Means over wrong answers with a well-formed id."""

    wrong: int  # wrong answers of any kind
    well_formed: int  # of these, how many give an id
    unknown: int  # of these, how many give an id that the ontology does not have
    jaccard: float  # over well_formed - unknown answers
    levenshtein: float  # over well_formed answers

    @property
    def unknown_share(self) -> float:
        """Share of wrong, well-formed ids that do not exist, so that their label is undefined."""
        return self.unknown / self.well_formed if self.well_formed else math.nan


def nearness(gold: str, predicted: str, labels: Mapping[str, str]) -> Nearness:
    """The wrong id `predicted` against the gold one; `labels` maps each id of the ontology to its label."""
    if not predicted:
        return NO_ID
    known = predicted in labels and gold in labels
    return Nearness(
        jaccard(labels[gold], labels[predicted]) if known else math.nan,
        levenshtein(gold, predicted),
        jaccard_unit(labels[gold], labels[predicted]) if known else WORDS,
    )


def summarize(wrong: Sequence[Nearness]) -> ErrorPattern:
    """The pattern of these wrong answers; a mean over none is nan."""
    distances = [nearness.levenshtein for nearness in wrong if not math.isnan(nearness.levenshtein)]
    overlaps = [nearness.jaccard for nearness in wrong if not math.isnan(nearness.jaccard)]
    return ErrorPattern(
        wrong=len(wrong),
        well_formed=len(distances),
        unknown=len(distances) - len(overlaps),
        jaccard=math.fsum(overlaps) / len(overlaps) if overlaps else math.nan,
        levenshtein=math.fsum(distances) / len(distances) if distances else math.nan,
    )


def nearest(gold: Concept, concepts: Sequence[Concept], n: int = 10) -> list[tuple[Concept, Nearness]]:
    """The `n` other concepts whose ids are fewest edits from the gold one; of equals those that share more words."""
    neighbors = [
        (other, Nearness(jaccard(gold.label, other.label), levenshtein(gold.id, other.id)))
        for other in concepts
        if other.id != gold.id
    ]
    return heapq.nsmallest(n, neighbors, key=lambda pair: (pair[1].levenshtein, -pair[1].jaccard))


def jaccard(left: str, right: str) -> float:
    """Shared over all distinct words of two labels, split at blanks; nan where neither has a word.

    Of labels in a script without blanks over their distinct characters (`jaccard_unit` says which).
    """
    split: Callable[[str], Iterable[str]] = str.split if jaccard_unit(left, right) == WORDS else characters
    first, second = set(split(left)), set(split(right))
    return len(first & second) / len(first | second) if first or second else math.nan


def jaccard_unit(*labels: str) -> str:
    """What the overlap of labels is counted in: words, or characters where one has a script that parts none."""
    return CHARACTERS if any(map(has_without_blanks, labels)) else WORDS


def levenshtein(source: str, target: str) -> int:
    """The fewest insertions, deletions and substitutions of a character that turn one text into the other."""
    while source and target and source[0] == target[0]:
        source, target = source[1:], target[1:]
    while source and target and source[-1] == target[-1]:
        source, target = source[:-1], target[:-1]
    row = list(range(len(target) + 1))
    for i, left in enumerate(source, 1):
        corner, row[0] = row[0], i
        for j, right in enumerate(target, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (left != right))
    return row[-1]
