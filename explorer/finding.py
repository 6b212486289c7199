"""What a finding is called, in which unit it is told, what it means, and what is counted in its n.

A study declares its findings in `explorer/studies/NAME/declared.py` and nowhere else; screens, exports and the board
read them there, so that a name is written once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

# points: a difference of shares, stored as a share (0.05 = 5 points); percent: stored as percent;
# attack's: in the unit of the attack that `setting` names; harness's: as the harness that reported it has it.
Unit = Literal[
    "share", "points", "percent", "nats", "log odds", "correlation", "kappa", "AUC", "F1", "perplexity", "IPS",
    "ratio", "count", "tokens", "rank", "edits", "yes or no", "attack's", "harness's",
]  # fmt: skip
# What one unit of `n` is. An interval is over these units, or over groups of them where `meaning` says so.
Of = Literal[
    "item", "suite", "suite pair", "concept", "bucket", "completion", "judgment", "n-gram", "word", "sentence",
    "sentence pair", "context", "context length", "kind of context", "number of demonstrations", "token",
]  # fmt: skip
# What was drawn, so that another draw could have come out otherwise. Items that share material (the template of a
# paradigm, the vocabulary of a suite) are not drawn one by one: then the paradigm or the suite is the unit.
Over = Literal[
    "item", "item, or paradigm", "item, or suite", "suite", "concept", "bucket", "demonstration order",
    "draw", "word", "n-gram", "sentence pair", "context length", "kind of context", "number of demonstrations", "none",
]  # fmt: skip
UNITS: tuple[str, ...] = get_args(Unit)
COUNTED: tuple[str, ...] = get_args(Of)
SAMPLED: tuple[str, ...] = get_args(Over)
# One unit of n → what was drawn, where a finding says nothing else.
_DRAWN: dict[str, Over] = {
    "item": "item", "suite": "suite", "suite pair": "suite", "concept": "concept", "bucket": "bucket",
    "completion": "item", "judgment": "suite", "n-gram": "none", "word": "word", "sentence": "none",
    "sentence pair": "sentence pair", "context": "none", "context length": "context length",
    "kind of context": "kind of context", "number of demonstrations": "number of demonstrations", "token": "none",
}  # fmt: skip


# What measures of single instances are computed from, where several studies compute from the same. Two measures that
# share one of these go together by the way they are made (`COMPUTED_FROM` in a study's declared.py).
OPTION_LOGPROBS = "log-probabilities of the options"


@dataclass(frozen=True, slots=True)
class Finding:
    """A number about many instances, as a study declares it.

    name     what it is stored under, a public name that stays
    title    a few words for the head of a table
    unit     of its value
    of       what one unit of its n is
    meaning  one plain sentence
    over     the unit its interval and test are over, where that is not `of`: "item, or paradigm" is the paradigm where
             there are several, else the item; "none" has neither interval nor test
    range_of what low and high range over where they are no interval: the least and the greatest of so many
    """

    name: str
    title: str
    unit: Unit
    of: Of
    meaning: str
    over: Over | None = None
    range_of: str = ""

    @property
    def sampled(self) -> Over:
        """The unit that was sampled, over which its interval and its test are."""
        return self.over or _DRAWN[self.of]

    def __str__(self) -> str:
        return self.name  # so that SQL and addresses can be written around it


@dataclass(frozen=True, slots=True)
class SplitFindings:
    """What is found of a score that splits instances into a low and a high half; `name` begins all their names."""

    name: str
    half: Finding
    difference: Finding
    difference_over_paradigms: Finding
    rank_split: Finding
    slope: Finding
    auc: Finding
    curve: Finding

    @property
    def every(self) -> tuple[Finding, ...]:
        """All of them."""
        return (
            self.half, self.difference, self.difference_over_paradigms, self.rank_split, self.slope, self.auc,
            self.curve,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class HalfFindings:
    """Of `SplitFindings` the halves and their difference alone."""

    half: Finding
    difference: Finding

    @property
    def every(self) -> tuple[Finding, ...]:
        """Both of them."""
        return self.half, self.difference


def halves_by(name: str, score: str) -> HalfFindings:
    """The findings NAME_half and NAME_difference of a split by this score."""
    return HalfFindings(
        Finding(
            f"{name}_half",
            "Accuracy of the half",
            "share",
            "item",
            f"Share of right answers among the items whose {score} lies at or below the median (low) or above it "
            "(high); over minimal pairs of several paradigms the interval is over paradigms.",
            over="item, or paradigm",
        ),
        Finding(
            f"{name}_difference",
            "High minus low half",
            "points",
            "item",
            f"Accuracy of the half with the higher {score} minus that of the half with the lower, with Fisher's exact "
            "test over items, or over minimal pairs of several paradigms with interval and p over paradigms (Fisher's "
            "p then stands in the detail, as published).",
            over="item, or paradigm",
        ),
    )


def split_by(name: str, score: str) -> SplitFindings:
    """The findings NAME_half, NAME_difference, NAME_slope ... of a split by this score."""
    halves = halves_by(name, score)
    return SplitFindings(
        name,
        halves.half,
        halves.difference,
        Finding(
            f"{name}_difference_over_paradigms",
            "High minus low half, over paradigms",
            "points",
            "item",
            f"Accuracy of the half with the higher {score} minus that of the lower, its interval from paradigms drawn "
            "anew, since items of a paradigm are alike.",
            over="item, or paradigm",
        ),
        Finding(
            f"{name}_rank_split",
            "High minus low half, ties broken",
            "points",
            "item",
            f"The same difference where many items tie at the median {score}: split by rank, ties broken at random; "
            "low and high are the middle 95% of the ways to break them, not an interval over items.",
            over="none",
            range_of="ways to break ties",
        ),
        Finding(
            f"{name}_slope",
            f"Slope along the {score}",
            "log odds",
            "item",
            f"Change in the log odds of being right per unit of the {score}, logistic regression (a tie is wrong); of "
            "minimal pairs of several paradigms with errors by paradigm.",
            over="item, or paradigm",
        ),
        Finding(
            f"{name}_auc",
            f"AUC of the {score}",
            "AUC",
            "item",
            f"The chance that a right answer has the higher {score} than a wrong one, 0.5 by chance; of minimal pairs "
            "of several paradigms the interval is over paradigms.",
            over="item, or paradigm",
        ),
        Finding(
            f"{name}_curve",
            f"Accuracy along the {score}",
            "share",
            "item",
            f"Share of right answers in each quantile range (`part`) of the {score}.",
        ),
    )


def derived(
    base: Finding,
    name: str,
    title: str,
    meaning: str,
    *,
    unit: Unit | None = None,
    of: Of | None = None,
    over: Over | None = None,
) -> Finding:
    """A finding made from another: the same unit, and the same in one unit of n, where none is given."""
    drawn = over or (base.over if of is None else None)
    return Finding(name, title, unit or base.unit, of or base.of, meaning, drawn, base.range_of)


def quoted(*findings: Finding) -> str:
    """Their names for an SQL list: 'a', 'b'."""
    return ", ".join(f"'{finding.name}'" for finding in findings)
