"""What an accuracy run concludes: shares by group, phenomenon and overall, under each way to reduce a score."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from explorer.finding import Finding
from explorer.records import Factor, RunSpec
from explorer.rows.builders import Row, finding_row
from explorer.scoring import reduce
from explorer.scoring.policy import PRESETS, Normalization, TieRule
from explorer.stats.bootstrap import bootstrap_mean
from explorer.stats.estimate import Estimate
from explorer.stats.proportion import Proportion, proportion
from explorer.studies.accuracy import declared, ratings
from explorer.studies.families import families_of, group_codes

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
    text: Hashable  # that of another option is equal if context and continuation are


Options = Mapping[str, Sequence[Mapping[int, StoredOption]]]  # by instance, a pass over it, and option


def summarize(spec: RunSpec, resources: Resources, folder: RunFolder) -> list[Row]:
    """Rows of `findings`: accuracy with Wilson intervals, the mean over groups, perplexity, other reductions."""
    instances = folder.read("instances", ["instance_id", "benchmark", "grp", "phenomenon", "kind", "gold"])
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
        scores = folder.read("scores", ["instance_id", "option", "role", "part", *StoredOption._fields[:-1], *TEXT])
        ties = PRESETS[str(spec.settings.get("preset", "natural"))].ties
        cases = Cases(instances.assign(options=_count_options(instances, folder)), scores)
        families = families_of(instances)
        for name in REDUCTIONS:
            share = proportion(cases.chosen_is_gold(name, ties), families)
            rows.append(_share_row(declared.ACCURACY, "overall", share, {"setting": name}))
    return rows


def _count_options(instances: pd.DataFrame, folder: RunFolder) -> np.ndarray:
    """How many options each instance has; a pair has two, which spares reading what each holds."""
    if (instances["kind"] == "pair").all():
        return np.full(len(instances), 2)
    return np.array([len(json.loads(text)["options"]) for text in folder.read("instances", ["payload"])["payload"]])


def shares(instances: pd.DataFrame, correct: np.ndarray) -> list[Row]:
    """Accuracy per group, per phenomenon, over all items, and as the mean over groups.

    Of suites, whose numbers of items differ by chance, the whole is the mean over suites, and all items stand beside.
    """
    rows = []
    kinds = instances[[name for name in ("benchmark", "grp", "kind") if name in instances]].astype("category")
    for column, finding in (("grp", declared.ACCURACY), ("phenomenon", declared.ACCURACY_BY_PHENOMENON)):
        numbers, names = pd.factorize(instances[column])
        for number, name in enumerate(names):
            if name:
                inside = numbers == number
                rows.append(_share_row(finding, name, proportion(correct[inside], families_of(kinds[inside]))))
    groups, families = group_codes(instances["grp"]), families_of(instances)
    share = proportion(correct, families)
    if len(np.unique(groups)) < 2:
        return [*rows, _share_row(declared.ACCURACY, "overall", share)]
    # The mean over groups gives each group the same weight, however many items it has; the accuracy over all items
    # gives each item the same weight. Papers print one or the other, so both are stored.
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
    gold: np.ndarray
    numbers: np.ndarray  # a line per instance, a column per option: logprob, scored, chars, bytes
    texts: np.ndarray  # likewise: two options have one number if their texts are equal


class Cases:
    """The options of many instances, ready for any reduction."""

    def __init__(self, instances: pd.DataFrame, scores: pd.DataFrame) -> None:
        """`instances` has the columns instance_id, gold, and options (how many); `scores` is the table of that name."""
        self.size = len(instances)
        of_options = _in_order(instances, scores[scores["role"].isin(VERDICT_ROLES)])
        gold = instances["gold"].to_numpy(dtype=float, na_value=math.nan)
        count = instances["options"].to_numpy(dtype=int)
        first, is_plain = _plain_cases(of_options, gold, count)
        numbers = np.column_stack(
            [of_options[name].to_numpy(dtype=float, na_value=math.nan) for name in StoredOption._fields[:-1]]
        )
        contexts, continuations = (pd.factorize(of_options[name])[0] for name in TEXT)
        # One number for each pair of context and continuation, so that equal texts can be found without comparing
        # strings: as the digits of a two-digit number, whose base is larger than any continuation's number (a missing
        # one is -1).
        texts = contexts * (continuations.max(initial=0) + 2) + continuations
        self.plain = []
        for width in np.unique(count[is_plain]).tolist():
            places = np.flatnonzero(is_plain & (count == width))
            lines = first[places][:, None] + np.arange(width)
            self.plain.append(_Plain(places, gold[places].astype(int), numbers[lines], texts[lines]))
        options_left = options_asked(of_options[~is_plain[of_options["place"]]])
        names = instances["instance_id"].tolist()
        self.rest = [
            (
                place,
                options_left.get(names[place], [{}]),
                None if math.isnan(gold[place]) else int(gold[place]),
                count[place],
            )
            for place in np.flatnonzero(~is_plain).tolist()
        ]

    def chosen_is_gold(self, normalization: Normalization, ties: TieRule = "half") -> np.ndarray:
        """1, 0, 0.5 (a tie) or nan for each instance; of several passes the mean of those that have a verdict."""
        outcomes = np.full(self.size, math.nan)
        for place, passes, right, count in self.rest:
            outcomes[place] = _of_passes(passes, right, count, normalization, ties)
        for group in self.plain:
            outcomes[group.places] = _of_plain(group, normalization, ties)
        return outcomes


def chosen_is_gold(
    instances: pd.DataFrame, scores: pd.DataFrame, normalization: Normalization, ties: TieRule = "half"
) -> np.ndarray:
    """1, 0, 0.5 (a tie) or nan for each instance (columns instance_id, gold, options: how many) under a reduction."""
    return Cases(instances, scores).chosen_is_gold(normalization, ties)


def _in_order(instances: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Scores by instance, pass and option, each once, with `place`: the number of its instance."""
    place = pd.Index(instances["instance_id"]).get_indexer(pd.Index(scores["instance_id"]))
    passes = scores["part"].fillna(0).to_numpy(dtype=int) if "part" in scores else np.zeros(len(scores), dtype=int)
    option = scores["option"].to_numpy(dtype=int)
    order = np.lexsort((option, passes, place))  # of equals the first stays the first
    keys = np.column_stack([place, passes, option])[order]
    is_new = np.ones(len(keys), dtype=bool)
    is_new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    is_first_score = is_new & (keys[:, 0] >= 0)
    in_order = scores.iloc[order[is_first_score]].reset_index(drop=True)
    return in_order.assign(place=keys[is_first_score, 0], part=keys[is_first_score, 1])


def _plain_cases(of_options: pd.DataFrame, gold: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each instance the line of its first score, and whether it has one pass with a score of every option."""
    place, passes = of_options["place"].to_numpy(), of_options["part"].to_numpy()
    option = of_options["option"].to_numpy(dtype=int)
    first = np.searchsorted(place, np.arange(len(count)))
    size = np.searchsorted(place, np.arange(len(count)), side="right") - first
    is_plain = (size == count) & (count > 1) & (gold >= 0) & (gold < count)
    start, end = first[is_plain], (first + size - 1)[is_plain]
    # Within a pass options ascend and none is there twice, so that the first and the last tell all.
    is_plain[is_plain] = (passes[start] == passes[end]) & (option[start] == 0) & (option[end] == count[is_plain] - 1)
    return first, is_plain


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
    same = cases.texts == cases.texts[np.arange(len(cases.gold)), cases.gold][:, None]
    verdicts = reduce.decide_plain(value, near, near, same, cases.gold, ties)
    correct = np.where(verdicts.tie, 0.5, np.where(verdicts.beaten, 0.0, 1.0))
    for row in np.flatnonzero(~np.isfinite(value).all(axis=1)).tolist():
        texts = cases.texts[row].tolist()
        lines = zip(*cases.numbers[row].T.tolist(), texts, strict=True)
        options = {option: StoredOption(*line) for option, line in enumerate(lines)}
        correct[row] = _of_passes([options], int(cases.gold[row]), len(options), normalization, ties)
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


def _share_row(finding: Finding, group: str, share: Proportion, factors: Mapping[str, Factor] | None = None) -> Row:
    return finding_row(finding, group, share, factors=factors, detail={"ties": share.ties} if share.ties else None)
