"""What can be read off along an axis: for each study a few figures in plain words, and every finding it stores.

A reading gives one number of a run, or two that belong together (both halves, before and after). Where a finding's
factors depend on what was asked (the longest context, the most demonstrations), the reading finds them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from explorer import display
from explorer.finding import Finding
from explorer.rows.schema import FACTORS
from explorer.studies import declared, sentences
from explorer.studies.icl import declared as icl
from explorer.studies.memorization import declared as memorization
from explorer.studies.ontology import declared as ontology
from explorer.studies.perturbation import declared as perturbation
from explorer.studies.popularity import declared as popularity
from explorer.studies.sentences import Findings, Stored

Read = Callable[[Findings], Stored | None]


@dataclass(frozen=True, slots=True)
class Series:
    """A number of a run: what it is called beside others of its reading ("" where it is the only one).

    Instead of a finding it may be a measure of texts of a dose of the glass box's corpus (planted.py).
    """

    name: str
    read: Read
    measure: str = ""
    dose: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """What is read off a run.

    key      stands in addresses
    title    in plain words
    noun     the same inside a sentence
    unit     of the findings (explorer/finding.py)
    null     what it would be without an effect or by chance; nan where nothing is
    """

    key: str
    title: str
    noun: str
    unit: str
    series: tuple[Series, ...]
    null: float = math.nan


def _one_finding(finding: Finding, group: str = sentences.OVERALL, **factors: Any) -> Read:
    return lambda findings: findings.one(finding, group, **factors)


def _effect(study: str) -> Read:
    def read(findings: Findings) -> Stored | None:
        effect = sentences.EFFECTS[study](findings)
        return effect.estimate if effect else None

    return read


def _primed(condition: str) -> Read:
    return partial(sentences.after_longest, condition=condition)


def _labels(findings: Findings) -> Stored | None:
    """Accuracy of labels after the most demonstrations, as the mean over orders."""
    label_findings = [
        finding
        for finding in findings.all(icl.LABEL_ACCURACY)
        if "k" in finding.factors and "part" not in finding.factors
    ]
    return max(label_findings, key=lambda label_finding: int(label_finding.factors["k"]), default=None)


def _swapped(finding: Finding) -> Read:
    def read(findings: Findings) -> Stored | None:
        settings = (findings.one(finding, setting=setting) for setting in sentences.SWAPPED)
        return next((known_setting for known_setting in settings if known_setting), None)

    return read


def _replicated(place: int) -> Read:
    return lambda findings: sentences.replicated(findings)[place]


def _attack(name: str) -> Read:
    """The mean score of an attack on the right text, or on the only one."""

    def read(findings: Findings) -> Stored | None:
        sides = (findings.one(memorization.SCORE, setting=name, condition=side) for side in ("correct", "text"))
        return next((side for side in sides if side), None)

    return read


# Study → what is read off first, each in words that need no paper.
PLAIN: Mapping[str, tuple[Reading, ...]] = {
    "accuracy": (
        Reading("right", "Right answers", "the share of right answers", "share", (Series("", _effect("accuracy")),)),
    ),
    "popularity": (
        Reading(
            "halves", "Right answers, popular and unpopular half", "the share of right answers", "share",
            (Series("popular half", _one_finding(popularity.SPLIT.half, setting="high")),
             Series("unpopular half", _one_finding(popularity.SPLIT.half, setting="low"))),
        ),
        Reading(
            "gap", "Popular less unpopular half", "the lead of the popular half", "points",
            (Series("", _effect("popularity")),), 0.0,
        ),
        Reading("right", "Right answers", "the share of right answers", "share", (Series("", _effect("accuracy")),)),
    ),
    "perturbation": (
        Reading(
            "swap", "Right answers before and after synonym swaps", "the share of right answers", "share",
            (Series("before", _swapped(perturbation.ACCURACY_ORIGINAL)),
             Series("after swaps", _swapped(perturbation.ACCURACY_PERTURBED))),
        ),
        Reading(
            "swap_effect", "What a swap to synonyms changes", "what a swap to synonyms changes", "points",
            (Series("", _effect("perturbation")),), 0.0,
        ),
    ),
    "priming": (
        Reading(
            "primed", "What the longest contexts change", "what the longest contexts change", "points",
            (Series("unacceptable sentences", _primed("matched_unacceptable")),
             Series("acceptable sentences", _primed("matched_acceptable")),
             Series("unrelated sentences", _primed("unrelated"))), 0.0,
        ),
    ),
    "memorization": (
        Reading(
            "extracted", "Texts completed word for word", "the share of texts completed word for word", "share",
            (Series("", _effect("memorization")),),
        ),
        Reading(
            "loss", "Membership: loss of the texts", "the mean loss of the texts", "attack's",
            (Series("", _attack("mia_loss")),),
        ),
        Reading(
            "min_k", "Membership: the least likely tokens (Min-k %)", "the mean of the least likely tokens", "attack's",
            (Series("", _attack("min_k")),),
        ),
        Reading("right", "Right answers", "the share of right answers", "share", (Series("", _effect("accuracy")),)),
    ),
    "ontology": (
        Reading("ids", "Right IDs", "the share of right IDs", "share", (Series("", _effect("ontology")),), 0.0),
        Reading(
            "preferred", "Right ID likelier than others", "the share of other IDs that the right one beats", "share",
            (Series("", _one_finding(ontology.GOLD_PREFERRED)),), 0.5,
        ),
        Reading(
            "logprob", "Log-probability of the right ID", "the log-probability of the right ID", "nats",
            (Series("", _one_finding(ontology.GOLD_LOGPROB)),),
        ),
    ),
    "icl": (
        Reading(
            "replicated", "Items replicated exactly or nearly", "the share of replicated items", "share",
            (Series("most demonstrations", _replicated(0)), Series("none", _replicated(1))),
        ),
        Reading(
            "labels", "Right labels after the most demonstrations", "the share of right labels", "share",
            (Series("", _labels),),
        ),
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Point:
    """A number of a run with its 95% interval (nan where it has none) over n; nan with a reason where it has none."""

    value: float
    low: float
    high: float
    n: int
    reason: str = ""


def point(series: Series, findings: Findings) -> Point:
    """What a series reads off the findings of a run."""
    effect = series.read(findings)
    if effect is None:
        return Point(math.nan, math.nan, math.nan, 0, "the run has no number for it")
    return Point(effect.value, effect.low, effect.high, effect.n)


def stored_readings(study: str, listed: Iterable[Mapping[Any, Any]]) -> list[Reading]:
    """A reading for every finding that several runs stored (rows with finding, grp and factors), in declared order."""
    known = {finding.name: place for place, finding in enumerate(declared.FINDINGS.get(study, ()))}
    rows = [row for row in listed if str(row["finding"]) in known]
    ordered = sorted(rows, key=lambda row: known[str(row["finding"])])
    return [_stored(study, row) for row in ordered]


def _stored(study: str, row: Mapping[Any, Any]) -> Reading:
    finding = declared.finding(study, str(row["finding"]))
    factors = {
        name: _plain_factor(kind, row[name]) for name, (kind, _) in FACTORS.items() if not _is_missing(row.get(name))
    }
    group = str(row["grp"])
    key = json.dumps([finding.name, group, factors], sort_keys=True)
    title = finding.title
    of = [display.words(group.replace("phenomenon: ", ""))] if group != sentences.OVERALL else []
    of += [_factor(name, value) for name, value in factors.items()]
    full = f"{title}: {', '.join(of)}" if of else title
    null = {"points": 0.0, "percent": 0.0, "correlation": 0.0, "AUC": 0.5, "log odds": 0.0}.get(finding.unit, math.nan)
    read_of_run = _one_finding(finding, group, **factors)
    return Reading(key, full, full[:1].lower() + full[1:], finding.unit, (Series("", read_of_run),), null)


def _factor(name: str, value: Any) -> str:
    if name in ("condition", "setting"):
        return display.words(str(value))
    if name == "length":
        return f"{value:,} tokens of context"
    return f"{name} {value}"


def _plain_factor(kind: str, value: Any) -> Any:
    """A factor as Python's own; a column with gaps holds whole numbers as others."""
    if kind == "INTEGER":
        return int(value)
    return float(value) if kind == "DOUBLE" else str(value)


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))
