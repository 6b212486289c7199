"""What Sinha et al. (2023) report, beside the finding of ours that answers it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from explorer.finding import Finding
from explorer.studies import published_figures
from explorer.studies.priming import declared
from explorer.studies.published_figures import Printed

PAPER = "priming"
SOURCE = "Sinha et al. (2023), ACL"
MEAN = "mean"  # stands for a model: the mean over the six of Table 2


@cache
def unacceptable_table() -> Mapping[str, Mapping[str, Printed]]:
    """Table 2, suite → model's id or MEAN → mean change of accuracy over the whole window, as a share, and its sd.

    The contexts are unacceptable matched ones on BLiMP, the sd is over lengths, that of MEAN over the models.
    """
    suites: dict[str, dict[str, Printed]] = {}
    for printed in published_figures.select(PAPER, table="Table 2"):
        suites.setdefault(printed.subject, {})[printed.model_id or MEAN] = printed
    return suites


@dataclass(frozen=True, slots=True)
class Published:
    """A statement of the paper: what it is about, the numbers in it, and which finding of a run answers it.

    figures     the printed numbers, of one table or section
    words       how they are said, a format of them
    takes       "largest" or "smallest" for the extreme over lengths of a curve, "value" or "p" for a single finding
    setting, condition, group   of our finding; "" for any
    """

    benchmarks: tuple[str, ...]
    what: str
    figures: tuple[Printed, ...]
    words: str
    finding: Finding
    takes: str
    condition: str = ""
    setting: str = ""
    group: str = "overall"
    aside: str = ""  # to be said after the place

    @property
    def said(self) -> str:
        """What the paper says, in words."""
        return minus(self.words.format(*self.figures))

    @property
    def place(self) -> str:
        """Where it stands in the paper."""
        table = self.figures[0].table
        return f"{table[:1].lower()}{table[1:]}{self.aside}"


def statements(benchmark: str) -> tuple[Published, ...]:
    """What the paper says about a set, in its order."""
    return tuple(statement for statement in published() if benchmark in statement.benchmarks)


def minus(words: str) -> str:
    """The words with a true minus before numbers; hyphens in names stay."""
    return re.sub(r"(?<!\w)-(?=\d)", "−", words)


@cache
def published() -> tuple[Published, ...]:
    """Every statement, in the order of the paper."""
    return (*_changes(), *_regressions(), *_edits(), *_before_and_after(), *_overlaps())


_GRAMMAR = ("blimp", "syntaxgym")
_EVERY = (*_GRAMMAR, "crows_pairs")
_DELTA = declared.PRIMING_DELTA
_TEXT = "Section 4"


def _changes() -> list[Published]:
    def change(condition: str, words: str, takes: str) -> Published:
        figure = published_figures.figure(PAPER, table=_TEXT, condition=condition, metric=_DELTA.name)
        return Published(("blimp",), f"{condition.replace('_', ' ')} contexts", (figure,), words, _DELTA, takes,
                         condition=condition)  # fmt: skip

    others = published_figures.figure(PAPER, table=f"{_TEXT}, figure 2", metric=_DELTA.name)
    return [
        change("acceptable", "up to {0.value:+.0f} points", "largest"),
        change("matched_acceptable", "{0.value:+.0f} points or more", "largest"),
        change("mismatched_acceptable", "up to {0.value:+.0f} points", "largest"),
        change("unacceptable", "{0.high:.0f} to {0.low:.0f} points", "smallest"),
        change("matched_unacceptable", "{0.high:.0f} to {0.low:.0f} points", "smallest"),
        change("mismatched_unacceptable", "down to {0.value:.0f} points", "smallest"),
        Published(
            ("syntaxgym", "crows_pairs"), "acceptable matched contexts", (others,),
            "up to {0.low:+.0f} to {0.high:+.0f} points", _DELTA, "largest", condition=others.condition,
        ),
    ]  # fmt: skip


def _regressions() -> list[Published]:
    def term(benchmarks: tuple[str, ...], description: str, setting: str, group: str, words: str) -> Published:
        figure = published_figures.figure(PAPER, metric=declared.REGRESSION.name, setting=setting, condition=group)
        return Published(
            benchmarks, description, (figure,), words, declared.REGRESSION, "p", setting=setting, group=group
        )

    every = "p {0.p} for all models"
    return [
        term(_EVERY, "length of unrelated contexts", "unrelated", "log_length", f"no effect, {every}"),
        term(_GRAMMAR, "length and acceptability", "suite", "log_length:acceptable", every),
        term(_GRAMMAR, "length, match and acceptability", "suite", "log_length:match:acceptable", every),
    ]


def edit_correlations() -> tuple[Printed, ...]:
    """Section 5: likeness of edited contexts and their effect, of acceptable and of unacceptable contexts."""
    return tuple(published_figures.select(PAPER, metric=declared.EDIT_CORRELATION.name))


def _edits() -> list[Published]:
    return [
        Published(
            ("blimp",), f"similarity of edited {correlation.condition.removeprefix('matched_')} contexts and effect",
            (correlation,), "ρ {0.value}, p {0.p} ({0.model})", declared.EDIT_CORRELATION, "value",
            condition=correlation.condition,
        )
        for correlation in edit_correlations()
    ]  # fmt: skip


def before_and_after(condition: str) -> tuple[Printed, ...]:
    """Appendix C: r of the suites' accuracy before and after matched contexts, of GPT-2 and of OPT 2.7B."""
    metric = declared.BASELINE_AGAINST_LONGEST.name
    return tuple(published_figures.select(PAPER, metric=metric, condition=condition))


def _before_and_after() -> list[Published]:
    return [
        Published(
            _EVERY, f"accuracy before and after {condition.replace('_', ' ')} contexts", before_and_after(condition),
            "r {0.value} ({0.model}), {1.value} ({1.model})", declared.BASELINE_AGAINST_LONGEST, "value",
            condition=condition, aside=", mean of three sets",
        )
        for condition in ("matched_acceptable", "matched_unacceptable")
    ]  # fmt: skip


def _overlaps() -> list[Published]:
    shared = {declared.TOKEN_F1.name: "shared tokens", declared.DEPENDENCY_F1.name: "shared dependency labels"}
    judgment, matrix, condition = declared.OVERLAP_AND_JUDGMENT, declared.MATRIX_CORRELATION, "mismatched_acceptable"
    return [
        *(
            Published(
                ("blimp",), f"{description} and a judgment, mismatched contexts",
                (published_figures.figure(PAPER, metric=judgment.name, setting=setting),),
                "r < {0.high}, p {0.p} for all models", judgment, "value", condition=condition, setting=setting,
            )
            for setting, description in shared.items()
        ),
        *(
            Published(
                ("blimp",), f"{description} and accuracy, suite by suite",
                (published_figures.figure(PAPER, metric=matrix.name, setting=f"{setting} and accuracy"),),
                "ρ {0.value}, p {0.p} ({0.model})", matrix, "value", setting=f"{setting} and accuracy",
            )
            for setting, description in shared.items()
        ),
    ]  # fmt: skip
