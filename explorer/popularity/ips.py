"""The Instance Popularity Score of Ruzzetti, Zanzotto and Caselli (Lexical Popularity, section 4).

The popularity of an n-gram is the decile of its count among the counts of a reference set; the IPS of a text is its
mean over the distinct n-grams of the text, between 1 and 10.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from explorer.errors import UsageError
from explorer.popularity.ngrams import Initial, Ngram, TextNgrams, ngrams_covering
from explorer.records import Count
from explorer.stats.estimate import Estimate
from explorer.studies.popularity.declared import EDGE

if TYPE_CHECKING:
    from explorer.rows.builders import Row

HIGHEST = 10
MANY_ZEROS = 0.9  # as many zeros leave a single decile for all that occurs


@dataclass(frozen=True, slots=True)
class DecileEdges:
    """The decile edges of a reference set's counts: its 10%, 20%, ... 90% quantiles, in occurrences."""

    values: tuple[float, ...]
    reference: str  # the set, in words
    index: str
    n: int
    initial: Initial
    ngrams: int  # distinct n-grams whose counts made the edges
    left_out: int  # n-grams of the set whose count could not be had
    never: int = 0  # n-grams of the set that never occur

    @property
    def coinciding(self) -> str:
        """Which edges are equal, in words; "" where none are."""
        runs: list[tuple[int, int, float]] = []
        first = 0
        for i in range(1, len(self.values) + 1):
            if i == len(self.values) or self.values[i] != self.values[first]:
                if i - first > 1:
                    runs.append((first + 1, i, self.values[first]))
                first = i
        return "; ".join(f"edges {first} to {last} coincide at {value:g}" for first, last, value in runs)

    @property
    def warning(self) -> str:
        """What a reader should know where most n-grams never occur; "" else."""
        if self.never <= MANY_ZEROS * self.ngrams:
            return ""
        return (
            f"{self.never / self.ngrams:.0%} of the {self.n}-grams never occur in {self.index}, so popularity tells "
            "few texts apart. A smaller n or a larger index tells more."
        )

    def check_fits(self, index: str, n: int, initial: Initial) -> None:
        """Refuses to rate counts of one index or length by edges of another."""
        for setting, ours, theirs in (
            ("index", index, self.index),
            ("n", n, self.n),
            ("initial", initial, self.initial),
        ):
            if ours != theirs:
                raise UsageError(
                    f"The edges of {self.reference} were made with {setting} = {theirs}, asked is {ours}. "
                    "Use the same, or edges of another run."
                )

    def to_json(self) -> str:
        """The edges as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> DecileEdges:
        """The edges that `to_json` wrote."""
        try:
            content = json.loads(text)
            edges = cls(**{**content, "values": tuple(float(value) for value in content["values"])})
            if edges.initial not in get_args(Initial) or any(type(n) is not int for n in (edges.n, edges.ngrams)):
                raise ValueError("a field has another type")
        except (ValueError, TypeError, KeyError) as error:
            raise UsageError(f"These are no decile edges ({error}). Give a file that `popularity` wrote.") from error
        rising = all(low <= high for low, high in pairwise(edges.values))  # also false beside a nan
        if len(edges.values) != HIGHEST - 1 or not rising:
            raise UsageError(f"There are {len(edges.values)} edges, expected 9 in rising order.")
        return edges

    @classmethod
    def of_run(cls, text: str) -> DecileEdges | None:
        """The edges that a stored run kept as JSON; none where they are damaged, which costs the run alone."""
        try:
            return cls.from_json(text)
        except UsageError:
            return None

    def to_rows(self) -> list[Row]:
        """The edges as rows of `findings`."""
        from explorer.rows.builders import finding_row

        detail = json.loads(self.to_json())
        edges = [
            Estimate.point(value, self.ngrams, left_out=self.left_out, reason=self.coinciding) for value in self.values
        ]
        return [
            finding_row(EDGE, "overall", edge, factors={"part": i}, detail=detail if i == 1 else None)
            for i, edge in enumerate(edges, 1)
        ]

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, Any]]) -> DecileEdges:
        """The edges among a run's rows of `findings`."""
        for row in rows:
            if row["finding"] == EDGE.name and row.get("detail"):
                return cls.from_json(str(row["detail"]))
        raise UsageError("This run stored no decile edges. Name a run of the study popularity.")


@dataclass(frozen=True, slots=True)
class IPS:
    """A text's popularity, between 1 and 10, over its distinct n-grams; nan with a reason where it is undefined."""

    value: float
    ngrams: int
    unknown: int = 0  # of them, counts that could not be had
    reason: str = ""


# Each distinct n-gram counts once. Counted as often as it stands in the reference set, "in the middle of the" alone
# would fill a decile, and the edges would describe repetition, not the corpus.
def decile_edges(
    counts: Mapping[Ngram, Count], *, reference: str, index: str, n: int, initial: Initial = "running"
) -> DecileEdges:
    """The edges of a reference set, each of its distinct n-grams counted once (linear quantiles)."""
    values = np.array([each.count for each in counts.values()])
    return edges_over(values, reference=reference, index=index, n=n, initial=initial)


def edges_over(counts: np.ndarray, *, reference: str, index: str, n: int, initial: Initial = "running") -> DecileEdges:
    """The edges over the counts of a reference set's distinct n-grams; nan is left out."""
    known_counts = counts[~np.isnan(counts)]
    if not known_counts.size:
        raise UsageError(
            f"{reference} has no n-gram of {n} tokens with a known count, so there are no deciles. "
            "Use longer texts or a smaller n."
        )
    values = np.quantile(known_counts, np.arange(1, HIGHEST) / HIGHEST)
    left_out, never = len(counts) - known_counts.size, int((known_counts == 0).sum())
    return DecileEdges(tuple(values.tolist()), reference, index, n, initial, known_counts.size, left_out, never)


# Counts 0, 3 and 8, and edges (of another set) 0 0 0 1 2 5 9 20 70:
#
#     edges strictly below        0 → none      3 → 0 0 0 1 2      8 → 0 0 0 1 2 5
#     popularity                  1             6                  7
#
# "Strictly" gives what never occurs the lowest decile even where several edges are 0, and an n-gram whose count is an
# edge goes with those below it, as a decile that holds its upper end does.
def rate_counts(counts: ArrayLike, edges: DecileEdges) -> np.ndarray:
    """1 + the number of edges strictly below each count, so 1 for a count of 0; nan for nan."""
    values = np.asarray(counts, dtype=float)
    rated = 1.0 + np.searchsorted(np.asarray(edges.values), values, side="left")
    return np.where(np.isnan(values), math.nan, rated)


def text_ips(text: TextNgrams, counts: Mapping[Ngram, Count], edges: DecileEdges) -> IPS:
    """The mean popularity of the text's distinct n-grams."""
    return texts_ips([text], counts, edges)[0]


def texts_ips(texts: Sequence[TextNgrams], counts: Mapping[Ngram, Count], edges: DecileEdges) -> list[IPS]:
    """The mean popularity of each text's distinct n-grams, all rated at once."""
    sizes = [len(text.ngrams) for text in texts]
    rated = rate_counts([counts[ngram].count for text in texts for ngram in text.ngrams], edges)
    # Rates are whole numbers, so that a difference of running sums is the sum itself; an unknown one adds 0.
    is_unknown = np.isnan(rated)
    sums, unknown = (
        np.diff(np.concatenate([[0], np.cumsum(each)])[np.cumsum([0, *sizes])]).tolist()
        for each in (np.where(is_unknown, 0.0, rated), is_unknown)
    )
    return [_ips(text, total, int(missing), counts) for text, total, missing in zip(texts, sums, unknown, strict=True)]


def _ips(text: TextNgrams, total: float, unknown: int, counts: Mapping[Ngram, Count]) -> IPS:
    """A text's IPS from the sum of its n-grams' rates and the number of those whose count could not be had."""
    size = len(text.ngrams)
    if not size:
        return IPS(math.nan, 0, reason=text.reason)
    if unknown:
        missing = next(counts[ngram] for ngram in text.ngrams if math.isnan(counts[ngram].count))
        return IPS(math.nan, size, unknown, f"{unknown} of {size} counts could not be had: {missing.reason}")
    return IPS(total / size, size)


def token_popularity(text: TextNgrams, counts: Mapping[Ngram, Count], edges: DecileEdges) -> tuple[float, ...]:
    """For each token of the running text the mean popularity of the n-grams that cover it, between 1 and 10.

    nan where a covering count is unknown, or the text is too short to have n-grams.
    """
    rated = [
        rate_counts([counts[each].count for each in ngrams_covering(text, i)], edges) for i in range(len(text.ids))
    ]
    return tuple(float(each.mean()) if each.size else math.nan for each in rated)


def relative_difference(scores: Sequence[IPS], correct: int) -> tuple[float, str]:
    """(IPS(correct) - IPS(wrong)) / IPS(correct), and the reason where it is undefined.

    With more than two options IPS(wrong) is the mean over the wrong ones; the paper has two.
    """
    undefined = next((score for score in scores if math.isnan(score.value)), None)
    if undefined is not None:
        return math.nan, f"an option has no IPS: {undefined.reason}"
    if len(scores) < 2:
        return math.nan, "there is only one option"
    right = scores[correct].value
    wrong = np.mean([score.value for i, score in enumerate(scores) if i != correct])
    return float((right - wrong) / right), ""
