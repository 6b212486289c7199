"""What a popularity run concludes: decile edges, accuracy of the low and high half, curves, slope and AUC."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from explorer.errors import RunError
from explorer.experiments import accuracy_findings
from explorer.experiments.popularity_groups import SCORE_OF_KIND, groups_of
from explorer.popularity import indexes
from explorer.records import RunSpec
from explorer.results.rows import finding_row
from explorer.stats import split
from explorer.stats.auc import auc
from explorer.stats.bootstrap import bootstrap, bootstrap_mean
from explorer.stats.logistic import LogisticCurve, LogisticFit, Slope, logistic, logistic_curve
from explorer.stats.proportion import Proportion
from explorer.stats.split import LowHigh

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.folder import RunFolder

BINS = 10


def conclude(spec: RunSpec, resources: Resources, folder: RunFolder) -> list[dict[str, Any]]:
    """Rows of `findings`: everything accuracy concludes, the edges, and each group's low/high halves and curves."""
    from explorer.experiments.popularity import edges_of

    rows = accuracy_findings.conclude(spec, resources, folder)
    edges = edges_of(spec, resources)
    require_one_index(folder, edges.index)
    rows += edges.to_rows()
    frame = scored_instances(folder)
    for group, members in groups_of(frame):
        rows += compare(group, frame[members])
    known = indexes.is_pretraining_data(str(spec.settings["index"]), spec.model)
    rows.append(finding_row("index_is_pretraining_data", "overall", math.nan if known is None else float(known)))
    return rows


def scored_instances(folder: RunFolder) -> pd.DataFrame:
    """A row an instance: group, phenomenon, field, correct, and the popularity score that splits low from high."""
    frame = folder.read("instances", ["instance_id", "benchmark", "grp", "phenomenon", "field", "kind"])
    measures = folder.read("measures", ["instance_id", "option", "measure", "value", "reason"])
    frame["correct"] = _column(frame, measures, "correct")
    whole = _column(frame, measures, "relative_difference")
    single = _column(frame, measures[measures["option"] == 0], "ips")
    frame["score"] = np.where(frame["kind"].map(SCORE_OF_KIND) == "ips", single, whole)
    return frame


def require_one_index(folder: RunFolder, index: str) -> None:
    """Raises where parts of a run were counted in another edition of its index, whose deciles do not fit them."""
    strange = set(folder.read("counts", ["index_name"])["index_name"].unique()) - {index}
    if strange:
        raise RunError(
            f"Parts of this run were counted in {', '.join(sorted(strange))}, the index is now {index}. "
            "Delete the run and start it again."
        )


def compare(group: str, frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Findings about one group of instances; those without a score are left out and counted."""
    correct, score = frame["correct"].to_numpy(), frame["score"].to_numpy()
    paradigms = frame["grp"].to_numpy() if (frame["kind"] == "pair").all() and frame["grp"].nunique() > 1 else None
    found = split.low_high(score, correct)
    rows = []
    for half, share, inside in zip(("low", "high"), (found.low, found.high), split.halves(_where(correct, score))):
        rows.append(_half(group, half, share, found, correct[inside], None if paradigms is None else paradigms[inside]))
    gap = found.difference
    rows.append(
        finding_row(
            "popularity_difference", group, gap.difference, low=gap.low, high=gap.high, p=gap.p, n=found.n,
            left_out=found.left_out, reason=gap.reason or found.reason, detail={"median": found.median},
        )
    )  # fmt: skip
    if paradigms is not None:
        boot = bootstrap(_difference, score, correct, groups=paradigms)
        rows.append(
            finding_row(
                "popularity_difference_over_paradigms", group, boot.value, low=boot.low, high=boot.high, n=boot.n,
                left_out=boot.left_out, reason=boot.reason, detail={"paradigms": boot.units},
            )
        )  # fmt: skip
    if found.rank_split is not None:
        ranks = found.rank_split
        rows.append(
            finding_row(
                "popularity_rank_split", group, ranks.difference, low=ranks.difference_low, high=ranks.difference_high,
                n=ranks.n, detail={"low": ranks.low, "high": ranks.high, "seeds": ranks.seeds},
            )
        )  # fmt: skip
    rows += [_slope(group, correct, score), _auc(group, correct, score)]
    for number, bin in enumerate(split.quantile_curve(score, correct, bins=BINS).bins):
        share = bin.accuracy
        rows.append(
            finding_row(
                "popularity_curve", group, share.value, low=share.low, high=share.high, n=share.n,
                factors={"part": number}, detail={"lowest": bin.lowest, "highest": bin.highest, "mean": bin.mean},
            )
        )  # fmt: skip
    return rows


def chance_curve(slope: Mapping[Any, Any], scores: ArrayLike) -> LogisticCurve | None:
    """The fitted chance of being right at each score, from a stored row `popularity_slope`; none without a fit."""
    if not isinstance(slope["detail"], str) or math.isnan(slope["value"]):
        return None
    detail = json.loads(slope["detail"])
    gap = math.nan
    one = Slope("popularity", slope["value"], slope["low"], slope["high"], gap, gap, slope["p"], "", detail["per_sd"])
    covariance = tuple(map(tuple, detail["covariance"]))
    return logistic_curve(LogisticFit(detail["intercept"], (one,), covariance, gap, slope["n"], 0), scores)


def _half(
    group: str, half: str, share: Proportion, found: LowHigh, correct: np.ndarray, paradigms: np.ndarray | None
) -> dict[str, Any]:
    """Accuracy of a half; for minimal pairs with an interval over paradigms, whose items are alike."""
    interval, detail = (share.low, share.high), {"median": found.median, "ties": share.ties}
    if paradigms is not None and len(set(paradigms)) > 1:
        over = bootstrap_mean(correct, paradigms)
        interval, detail = (over.low, over.high), {**detail, "paradigms": over.units}
    return finding_row(
        "popularity_half", group, share.value, low=interval[0], high=interval[1], n=share.n, left_out=found.left_out,
        reason=found.reason or share.reason, factors={"setting": half}, detail=detail,
    )  # fmt: skip


def _where(correct: np.ndarray, score: np.ndarray) -> np.ndarray:
    """The scores of instances that have an outcome; nan for the others."""
    return np.where(np.isfinite(correct), score, np.nan)


def _slope(group: str, correct: np.ndarray, score: np.ndarray) -> dict[str, Any]:
    # A tie counts as wrong in a logistic regression.
    fit = logistic(np.where(correct == 0.5, 0.0, correct), score, names=["popularity"])
    if not fit.slopes or math.isnan(fit.slopes[0].estimate):
        return finding_row("popularity_slope", group, math.nan, n=fit.n, left_out=fit.left_out, reason=fit.reason)
    slope = fit.slopes[0]
    detail = {"intercept": fit.intercept, "per_sd": slope.per_sd, "covariance": fit.covariance}
    return finding_row(
        "popularity_slope", group, slope.estimate, low=slope.low, high=slope.high, p=slope.p, n=fit.n,
        left_out=fit.left_out, reason=fit.reason, detail=detail,
    )  # fmt: skip


def _auc(group: str, correct: np.ndarray, score: np.ndarray) -> dict[str, Any]:
    found = auc(np.where(correct == 0.5, 0.0, correct), score)
    return finding_row(
        "popularity_auc", group, found.value, low=found.low, high=found.high, n=found.n, left_out=found.left_out,
        reason=found.reason,
    )  # fmt: skip


def _difference(score: np.ndarray, correct: np.ndarray) -> float:
    below, above = split.halves(score)
    return float(correct[above].mean() - correct[below].mean()) if below.any() and above.any() else math.nan


def _column(frame: pd.DataFrame, measures: pd.DataFrame, name: str) -> np.ndarray:
    values = measures[measures["measure"] == name].drop_duplicates("instance_id").set_index("instance_id")["value"]
    return values.reindex(frame["instance_id"]).to_numpy(dtype=float)
