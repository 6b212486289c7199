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
from explorer.studies.families import Families, families_of, group_codes

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
    rows = shares(instances, _measure_of_each(instances["instance_id"], measures, "correct"))
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
    families = Families(instances)
    for column, finding in (("grp", declared.ACCURACY), ("phenomenon", declared.ACCURACY_BY_PHENOMENON)):
        numbers, names = pd.factorize(instances[column])
        for name, places in zip(names, _places_by_number(numbers, len(names)), strict=True):
            if name:
                rows.append(_share_row(finding, name, proportion(correct[places], families.of(places))))
    groups = group_codes(instances["grp"])
    share = proportion(correct, families.of_all())
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


def _places_by_number(numbers: np.ndarray, count: int) -> list[np.ndarray]:
    """For each number from 0 to `count` - 1 the places where it stands, ascending; -1 is none of them."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.searchsorted(numbers[order], np.arange(count)))[1:]


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
    same: np.ndarray  # likewise: whether its text is that of the gold option


class Cases:
    """The options of many instances, ready for any reduction."""

    def __init__(self, instances: pd.DataFrame, scores: pd.DataFrame) -> None:
        """`instances` has the columns instance_id, gold, and options (how many); `scores` is the table of that name."""
        self.size = len(instances)
        is_option = scores["role"].isin(VERDICT_ROLES)
        of_options = _in_order(instances, scores if is_option.all() else scores[is_option])
        gold = instances["gold"].to_numpy(dtype=float, na_value=math.nan)
        count = instances["options"].to_numpy(dtype=int)
        first, is_plain = _plain_cases(of_options, gold, count)
        numbers = np.column_stack(
            [of_options[name].to_numpy(dtype=float, na_value=math.nan) for name in StoredOption._fields[:-1]]
        )
        self.plain = []
        for width in np.unique(count[is_plain]).tolist():
            places = np.flatnonzero(is_plain & (count == width))
            lines = first[places][:, None] + np.arange(width)
            right = gold[places].astype(int)
            same = _have_text_of_gold(of_options, lines, right)
            self.plain.append(_Plain(places, right, numbers[lines], same))
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


# The worker writes the scores of each instance together, option by option, in the order of the instances. Then nothing
# has to be looked up or sorted, which takes most of the time otherwise; whether it is so is soon seen.
def _in_order(instances: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Scores by instance, pass and option, each once, with `place`: the number of its instance."""
    place = _places(instances, scores["instance_id"])
    passes = scores["part"].fillna(0).to_numpy(dtype=int) if "part" in scores else np.zeros(len(scores), dtype=int)
    option = scores["option"].to_numpy(dtype=int)
    keys: tuple[np.ndarray, ...] = (place, passes, option)
    if not _ascend(keys) or (place < 0).any():
        order = np.lexsort((option, passes, place))  # of equals the first stays the first
        keys = tuple(key[order] for key in keys)
        is_new = np.ones(len(order), dtype=bool)
        is_new[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
        is_first_score = is_new & (keys[0] >= 0)
        scores = scores.iloc[order[is_first_score]]
        keys = tuple(key[is_first_score] for key in keys)
    return scores.reset_index(drop=True).assign(place=keys[0], part=keys[1])


def _places(instances: pd.DataFrame, score_ids: pd.Series) -> np.ndarray:
    """The number of each score's instance, -1 where there is none."""
    ids = instances["instance_id"]
    expected = np.repeat(np.arange(len(ids)), instances["options"].to_numpy(dtype=int))
    if _are_equal(score_ids, ids.iloc[expected]):
        return expected
    return pd.Index(ids).get_indexer(pd.Index(score_ids))


def _are_equal(ids: pd.Series, others: pd.Series) -> bool:
    """Whether the same ids stand in both, in the same order."""
    return len(ids) == len(others) and bool(np.all(ids.array == others.array))


def _ascend(keys: tuple[np.ndarray, ...]) -> bool:
    """Whether each row of numbers comes after the one before, the first column deciding before the next."""
    is_after, is_equal = np.zeros(len(keys[0][1:]), dtype=bool), np.ones(len(keys[0][1:]), dtype=bool)
    for key in keys:
        is_after |= is_equal & (key[1:] > key[:-1])
        is_equal &= key[1:] == key[:-1]
    return bool(is_after.all())


def _have_text_of_gold(of_options: pd.DataFrame, lines: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Whether context and continuation of the score on each line are those of the gold option of its case."""
    same = np.ones(lines.size, dtype=bool)
    gold_lines = np.repeat(lines[np.arange(len(lines)), gold], lines.shape[1])
    for name in TEXT:
        own, of_gold = of_options[name].iloc[lines.ravel()].array, of_options[name].iloc[gold_lines].array
        equal = np.asarray(own == of_gold, dtype=bool)
        same &= equal | (pd.isna(own) & pd.isna(of_gold))
    return same.reshape(lines.shape)


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
    verdicts = reduce.decide_plain(value, near, near, cases.same, cases.gold, ties)
    correct = np.where(verdicts.tie, 0.5, np.where(verdicts.beaten, 0.0, 1.0))
    for row in np.flatnonzero(~np.isfinite(value).all(axis=1)).tolist():
        texts = cases.same[row].tolist()  # only whether a text is that of the gold option decides
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
    for finding in (declared.FORMULA, declared.FORMULA_EQUAL):
        of_formula = measures[measures["measure"] == finding.name]  # the measure of an item has the same name
        if of_formula.empty:
            continue
        groups = instances.set_index("instance_id")["grp"]
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


def _measure_of_each(ids: pd.Series, measures: pd.DataFrame, name: str) -> np.ndarray:
    """A measure of each of these whole instances, nan where it has none."""
    of_whole = measures[(measures["measure"] == name) & measures["part"].isna()]
    # As a rule there is one for each, in the order of the instances.
    if _are_equal(of_whole["instance_id"], ids) and len(set(ids.tolist())) == len(ids):
        return of_whole["value"].to_numpy()
    return _measure(measures, name).reindex(ids).to_numpy()


def _share_row(finding: Finding, group: str, share: Proportion, factors: Mapping[str, Factor] | None = None) -> Row:
    return finding_row(finding, group, share, factors=factors, detail={"ties": share.ties} if share.ties else None)
