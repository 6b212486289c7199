"""What an accuracy run concludes: shares by group, phenomenon and overall, under each way to reduce a score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from explorer.experiments import rating_findings
from explorer.records import RunSpec
from explorer.results.rows import finding_row
from explorer.stats.bootstrap import bootstrap_mean
from explorer.stats.proportion import proportion

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.folder import RunFolder

VERDICT_ROLES = ("option", "target", "label")  # a run may score other texts of an instance beside
# Reduction → the column of `scores` that a sum is divided by.
REDUCTIONS = {"sum": None, "mean_token": "scored", "per_char": "chars", "per_byte": "bytes"}


def conclude(spec: RunSpec, resources: Resources, folder: RunFolder) -> list[dict[str, Any]]:
    """Rows of `findings`: accuracy with Wilson intervals, the mean over groups, perplexity, other reductions."""
    instances = folder.read("instances", ["instance_id", "grp", "phenomenon", "kind", "gold"])
    measures = folder.read("measures", ["instance_id", "measure", "value", "part"])
    if instances.empty:
        return []
    if (instances["kind"] == "rating").all():
        return rating_findings.correlations(instances, measures, folder.read("scores"))
    correct = _measure(measures, "correct").reindex(instances["instance_id"])
    rows = shares(instances, correct.to_numpy())
    rows += _formulas(instances, measures)
    kind = instances["kind"].iloc[0]
    if kind == "cloze":
        rows += _perplexity(_measure(measures, "logprob"))
    if kind in ("pair", "choice", "labelled"):
        scores = folder.read("scores", ["instance_id", "option", "role", "logprob", "scored", "chars", "bytes"])
        for name, column in REDUCTIONS.items():
            outcome = chosen_is_gold(instances, scores, column)
            found = proportion(outcome)
            rows.append(_share_row("accuracy", "overall", found, {"setting": name}))
    return rows


def shares(instances: pd.DataFrame, correct: np.ndarray) -> list[dict[str, Any]]:
    """Accuracy per group, per phenomenon, over all items, and as the mean over groups."""
    rows = []
    for column, finding in (("grp", "accuracy"), ("phenomenon", "accuracy_by_phenomenon")):
        names = instances[column].to_numpy()
        for name in dict.fromkeys(names):
            if name:
                rows.append(_share_row(finding, name, proportion(correct[names == name])))
    rows.append(_share_row("accuracy", "overall", proportion(correct)))
    groups = instances["grp"].to_numpy()
    if len(set(groups)) > 1:
        macro = bootstrap_mean(correct, groups, macro=True)
        rows.append(
            finding_row(
                "accuracy", "mean over groups", macro.value, low=macro.low, high=macro.high, n=macro.n,
                left_out=macro.left_out, reason=macro.reason,
            )
        )  # fmt: skip
    return rows


def chosen_is_gold(instances: pd.DataFrame, scores: pd.DataFrame, divisor: str | None) -> np.ndarray:
    """1, 0, 0.5 (a tie) or nan for each instance when sums are divided by the column `divisor`."""
    options = scores[scores["role"].isin(VERDICT_ROLES)]
    value = options["logprob"] if divisor is None else options["logprob"] / options[divisor]
    wide = options.assign(value=value).pivot_table(
        index="instance_id", columns="option", values="value", aggfunc="first", dropna=False
    )
    wide = wide.reindex(instances["instance_id"])
    matrix = wide.to_numpy(dtype=float)
    gold = np.searchsorted(wide.columns.to_numpy(), instances["gold"].fillna(0).to_numpy(dtype=int))
    right = matrix[np.arange(len(matrix)), gold]
    others = matrix.copy()
    others[np.arange(len(matrix)), gold] = -np.inf
    absent = np.array([instances["gold"].isna()]).ravel()
    with np.errstate(invalid="ignore"):
        best = np.nanmax(others, axis=1)
        outcome = np.where(np.abs(right - best) <= 1e-9, 0.5, (right > best).astype(float))
    return np.where(absent | np.isnan(right), np.nan, outcome)


def _formulas(instances: pd.DataFrame, measures: pd.DataFrame) -> list[dict[str, Any]]:
    rows = []
    groups = instances.set_index("instance_id")["grp"]
    for name in ("formula", "formula_equal"):
        held = measures[measures["measure"] == name]
        by_suite = held.groupby([held["instance_id"].map(groups), held["part"].astype(str)], sort=False)["value"]
        for (group, part), values in by_suite:
            rows.append(_share_row(name, str(group), proportion(values.to_numpy()), {"part": int(float(str(part)))}))
    return rows


def _perplexity(logprobs: pd.Series) -> list[dict[str, Any]]:
    mean = bootstrap_mean(logprobs.to_numpy())
    if math.isnan(mean.value):
        return [finding_row("perplexity", "overall", math.nan, left_out=mean.left_out, reason=mean.reason)]
    return [
        finding_row(
            "perplexity", "overall", math.exp(-mean.value), low=math.exp(-mean.high), high=math.exp(-mean.low),
            n=mean.n, left_out=mean.left_out,
        )
    ]  # fmt: skip


def _measure(measures: pd.DataFrame, name: str) -> pd.Series:
    return measures[measures["measure"] == name].drop_duplicates("instance_id").set_index("instance_id")["value"]


def _share_row(finding: str, group: str, share: Any, factors: dict[str, Any] | None = None) -> dict[str, Any]:
    return finding_row(
        finding, group, share.value, low=share.low, high=share.high, n=share.n, left_out=share.left_out,
        reason=share.reason, factors=factors, detail={"ties": share.ties} if share.ties else None,
    )  # fmt: skip
