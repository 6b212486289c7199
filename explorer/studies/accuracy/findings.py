"""What an accuracy run concludes: shares by group, phenomenon and overall, under each way to reduce a score."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from explorer.finding import Finding
from explorer.records import RunSpec
from explorer.rows.builders import Row, finding_row
from explorer.scoring import reduce
from explorer.scoring.policy import PRESETS, Normalization, TieRule
from explorer.stats.bootstrap import bootstrap_mean
from explorer.stats.estimate import Estimate
from explorer.stats.proportion import Proportion, proportion
from explorer.studies.accuracy import declared, ratings
from explorer.studies.families import families_of

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.folder import RunFolder

VERDICT_ROLES = ("option", "target", "label")  # a run may score other texts of an instance beside
TEXT = ("context", "continuation")
ALL_ITEMS = "all items alike"  # of suites, whose whole is the mean over suites
REDUCTIONS: tuple[Normalization, ...] = ("sum", "mean_token", "per_char", "per_byte")


class StoredOption(NamedTuple):
    """What a stored score says of an option."""

    logprob: float
    scored: float
    chars: float
    bytes: float
    text: tuple[str | None, str | None]  # context and continuation


Options = Mapping[str, Sequence[Mapping[int, StoredOption]]]  # by instance, a pass over it, and option


def summarize(spec: RunSpec, resources: Resources, folder: RunFolder) -> list[Row]:
    """Rows of `findings`: accuracy with Wilson intervals, the mean over groups, perplexity, other reductions."""
    instances = folder.read("instances", ["instance_id", "benchmark", "grp", "phenomenon", "kind", "gold", "payload"])
    measures = folder.read("measures", ["instance_id", "measure", "value", "part"])
    if instances.empty:
        return []
    if (instances["kind"] == "rating").all():
        return ratings.correlations(instances, measures, folder.read("scores"))
    correct = _measure(measures, "correct").reindex(instances["instance_id"])
    rows = shares(instances, correct.to_numpy())
    rows += _formulas(instances, measures)
    kind = instances["kind"].iloc[0]
    if kind == "cloze":
        last_word = perplexity(_measure(measures, "logprob").to_numpy())
        rows.append(finding_row(declared.PERPLEXITY, "overall", last_word))
    # A judgment is the same however it would be divided.
    if kind in ("pair", "choice", "labelled") and spec.settings.get("ask") != "judge":
        instances = instances.assign(options=[len(json.loads(text)["options"]) for text in instances["payload"]])
        scored = options_asked(
            folder.read("scores", ["instance_id", "option", "role", "part", *StoredOption._fields[:-1], *TEXT])
        )
        ties = PRESETS[str(spec.settings.get("preset", "natural"))].ties
        cases = Cases(instances, scored)
        families = families_of(instances)
        for name in REDUCTIONS:
            share = proportion(cases.chosen_is_gold(name, ties), families)
            rows.append(_share_row(declared.ACCURACY, "overall", share, {"setting": name}))
    return rows


def shares(instances: pd.DataFrame, correct: np.ndarray) -> list[Row]:
    """Accuracy per group, per phenomenon, over all items, and as the mean over groups.

    Of suites, whose numbers of items differ by chance, the whole is the mean over suites, and all items stand beside.
    """
    rows = []
    for column, finding in (("grp", declared.ACCURACY), ("phenomenon", declared.ACCURACY_BY_PHENOMENON)):
        names = instances[column].to_numpy()
        for name in dict.fromkeys(names):
            if name:
                inside = names == name
                rows.append(_share_row(finding, name, proportion(correct[inside], families_of(instances[inside]))))
    groups, families = instances["grp"].to_numpy(), families_of(instances)
    share = proportion(correct, families)
    if len(set(groups)) < 2:
        return [*rows, _share_row(declared.ACCURACY, "overall", share)]
    macro = bootstrap_mean(correct, groups, macro=True)
    if (instances["kind"] == "regions").all():
        rows.append(finding_row(declared.ACCURACY, "overall", macro))
        rows.append(_share_row(declared.ACCURACY, ALL_ITEMS, share))
    else:
        rows.append(_share_row(declared.ACCURACY, "overall", share))
    return [*rows, finding_row(declared.ACCURACY, "mean over groups", macro)]


def options_asked(scores: pd.DataFrame) -> Options:
    """The stored scores of the options of each instance, pass by pass (`part`)."""
    of_options = scores[scores["role"].isin(VERDICT_ROLES)]
    numbers = [of_options[name].to_numpy(dtype=float, na_value=math.nan).tolist() for name in StoredOption._fields[:-1]]
    texts = zip(*(of_options[name] for name in TEXT), strict=True)
    passes = of_options["part"].fillna(0) if "part" in of_options else [0] * len(of_options)
    by_instance: dict[str, dict[int, dict[int, StoredOption]]] = {}
    for instance_id, number, option, logprob, scored, chars, size, text in zip(
        of_options["instance_id"], passes, of_options["option"], *numbers, texts, strict=True
    ):
        by_option = by_instance.setdefault(instance_id, {}).setdefault(int(number), {})
        by_option.setdefault(int(option), StoredOption(logprob, scored, chars, size, text))
    return {instance_id: list(by_option.values()) for instance_id, by_option in by_instance.items()}


@dataclass(frozen=True, slots=True)
class _Plain:
    """Instances with equally many options, one pass, a gold option and a stored score of every option."""

    places: np.ndarray
    options: Sequence[Sequence[StoredOption]]
    gold: np.ndarray
    numbers: np.ndarray  # a line an instance, a column an option: logprob, scored, chars, bytes
    same: np.ndarray  # whether an option has the gold option's text


class _PlainCase(NamedTuple):
    """An instance with one pass whose options all have a score: its place, the right option, the options."""

    place: int
    right: int
    options: list[StoredOption]


def _stacked(cases: Sequence[_PlainCase]) -> _Plain:
    """Cases with as many options each as arrays, so that all are reduced at once."""
    return _Plain(
        np.array([case.place for case in cases]),
        [case.options for case in cases],
        np.array([case.right for case in cases]),
        np.array([[option[:-1] for option in case.options] for case in cases], dtype=float),
        np.array([[option.text == case.options[case.right].text for option in case.options] for case in cases]),
    )


class Cases:
    """The options of many instances, ready for any reduction."""

    def __init__(self, instances: pd.DataFrame, scored: Options) -> None:
        """`instances` has the columns instance_id, gold, and options: how many there are."""
        self.size = len(instances)
        self.rest: list[tuple[int, Sequence[Mapping[int, StoredOption]], int | None, int]] = []
        plain: dict[int, list[_PlainCase]] = {}
        columns = (instances[name].tolist() for name in ("instance_id", "gold", "options"))
        for place, (name, gold, count) in enumerate(zip(*columns, strict=True)):
            passes, right = scored.get(name, [{}]), None if pd.isna(gold) else int(gold)
            options = [scored_option for option in range(count) if (scored_option := passes[0].get(option)) is not None]
            if len(passes) == 1 and count > 1 and right is not None and 0 <= right < count == len(options):
                plain.setdefault(count, []).append(_PlainCase(place, right, options))
            else:
                self.rest.append((place, passes, right, count))
        self.plain = [_stacked(cases) for cases in plain.values()]

    def chosen_is_gold(self, normalization: Normalization, ties: TieRule = "half") -> np.ndarray:
        """1, 0, 0.5 (a tie) or nan for each instance; of several passes the mean of those that have a verdict."""
        outcomes = np.full(self.size, math.nan)
        for place, passes, right, count in self.rest:
            outcomes[place] = _of_passes(passes, right, count, normalization, ties)
        for group in self.plain:
            outcomes[group.places] = _of_plain(group, normalization, ties)
        return outcomes


def chosen_is_gold(
    instances: pd.DataFrame, scored: Options, normalization: Normalization, ties: TieRule = "half"
) -> np.ndarray:
    """1, 0, 0.5 (a tie) or nan for each instance (columns instance_id, gold, options: how many) under a reduction."""
    return Cases(instances, scored).chosen_is_gold(normalization, ties)


def _of_passes(
    passes: Sequence[Mapping[int, StoredOption]],
    gold: int | None,
    count: int,
    normalization: Normalization,
    ties: TieRule,
) -> float:
    outcomes = [
        reduce.decide([_option(by_option.get(option), normalization) for option in range(count)], gold, ties).correct
        for by_option in passes
    ]
    known = [outcome for outcome in outcomes if outcome == outcome]
    return math.fsum(known) / len(known) if known else math.nan


def _of_plain(cases: _Plain, normalization: Normalization, ties: TieRule) -> np.ndarray:
    """What `_of_passes` gives for each of these cases, worked out at once."""
    logprob, scored, chars, size = (cases.numbers[:, :, column] for column in range(4))
    by = {"mean_token": scored, "per_char": chars, "per_byte": size}.get(normalization, np.ones_like(logprob))
    value = np.divide(logprob, by, out=np.full(by.shape, math.nan), where=by > 0)
    near = reduce.TIE * np.where(np.isnan(scored), 1, scored) / np.where(by == 0, 1, by)
    verdicts = reduce.decide_plain(value, near, near, cases.same, cases.gold, ties)
    correct = np.where(verdicts.tie, 0.5, np.where(verdicts.beaten, 0.0, 1.0))
    for row in np.flatnonzero(~np.isfinite(value).all(axis=1)).tolist():
        options = cases.options[row]
        correct[row] = _of_passes([dict(enumerate(options))], int(cases.gold[row]), len(options), normalization, ties)
    return correct


def _option(option: StoredOption | None, normalization: Normalization) -> reduce.Option:
    if option is None:
        return reduce.NO_SCORE
    by = reduce.size(normalization, option.scored, option.chars, option.bytes)
    # An imported score does not tell its tokens.
    near = reduce.TIE * (1 if math.isnan(option.scored) else option.scored) / (by or 1)
    return reduce.Option(reduce.divided(option.logprob, by), near, text=option.text)


def _formulas(instances: pd.DataFrame, measures: pd.DataFrame) -> list[Row]:
    rows = []
    groups = instances.set_index("instance_id")["grp"]
    for finding in (declared.FORMULA, declared.FORMULA_EQUAL):
        of_formula = measures[measures["measure"] == finding.name]  # the measure of an item has the same name
        by_suite = of_formula.groupby(
            [of_formula["instance_id"].map(groups), of_formula["part"].astype(str)], sort=False
        )["value"]
        for (group, part), values in by_suite:
            rows.append(_share_row(finding, str(group), proportion(values.to_numpy()), {"part": int(float(str(part)))}))
    return rows


def perplexity(logprobs: np.ndarray) -> Estimate:
    """exp of the mean surprisal (nats)."""
    mean = bootstrap_mean(logprobs)
    # The interval is that of the mean, carried over: exp(-x) falls, so that the ends change places.
    return replace(mean, value=math.exp(-mean.value), low=math.exp(-mean.high), high=math.exp(-mean.low))


def _measure(measures: pd.DataFrame, name: str) -> pd.Series:
    """A measure of each whole instance, by its id."""
    of_whole = measures[(measures["measure"] == name) & measures["part"].isna()]
    return of_whole.drop_duplicates("instance_id").set_index("instance_id")["value"]


def _share_row(finding: Finding, group: str, share: Proportion, factors: dict[str, Any] | None = None) -> Row:
    return finding_row(finding, group, share, factors=factors, detail={"ties": share.ties} if share.ties else None)
