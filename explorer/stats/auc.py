"""How well does a score tell right answers from wrong ones?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.bootstrap import RESAMPLES, Bootstrapped, percentile_interval, resample_weights_together
from explorer.stats.estimate import FEWEST
from explorer.stats.gaps import drop_gaps, numbers, ties_wrong


@dataclass(frozen=True, slots=True)
class RocCurve:
    """The corners of a ROC curve from (0, 0) to (1, 1)."""

    false_positive: tuple[float, ...]
    true_positive: tuple[float, ...]


def auc(
    right: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Bootstrapped:
    """The area under the ROC curve of the scores for outcomes (ties wrong), with its percentile interval.

    It is the chance that a right answer has the higher score (ties half). The interval compares two samples, and is as
    sure as the smaller: from fewer than five right or five wrong (or groups that hold any) there is none.
    """
    from sklearn.metrics import roc_auc_score

    columns = (ties_wrong(right), numbers(scores), *(() if groups is None else (groups,)))
    (outcome, score, *names), left_out = drop_gaps(*columns)
    if outcome.sum() in (0, outcome.size):
        reason = "every outcome is the same" if outcome.size else "no items"
        return Bootstrapped.point(math.nan, outcome.size, left_out=left_out, reason=reason, units=0)
    # Items of a group are drawn together: equal texts have one and the same score.
    units = np.unique(names[0], return_inverse=True)[1] if names else np.arange(outcome.size)
    resampled_areas = _resampled_auc(outcome, score, units, resamples, seed)
    fewer = min(np.unique(units[outcome == label]).size for label in (0, 1))
    low, high, reason = percentile_interval(resampled_areas, level, fewer)  # undefined where a resample has one class
    if fewer < FEWEST:
        low = high = math.nan
        few_units = "1 unit" if fewer == 1 else f"{fewer} units"
        reason = f"no interval: {few_units} in the smaller class, at least {FEWEST} are needed"
    value = float(roc_auc_score(outcome, score))
    return Bootstrapped(value, low, high, outcome.size, left_out=left_out, reason=reason, units=int(units.max()) + 1)


def roc_curve(right: ArrayLike, scores: ArrayLike) -> RocCurve:
    """The ROC curve of the scores for outcomes (ties wrong); empty where all outcomes are the same."""
    from sklearn.metrics import roc_curve as sklearn_roc_curve

    (outcome, score), _ = drop_gaps(ties_wrong(right), numbers(scores))
    if outcome.sum() in (0, outcome.size):
        return RocCurve((), ())
    false_positive, true_positive, _ = sklearn_roc_curve(outcome, score)
    return RocCurve(tuple(false_positive.tolist()), tuple(true_positive.tolist()))


# The sum over pairs without making the pairs. Scores 1 2 2 3 with outcomes wrong, right, wrong, right:
#
#     distinct score      1     2     3
#     wrong there         1     1     0
#     wrong below         0     1     2
#     right there         0     1     1
#     right wins          -    1 + 1/2    2          3.5 of 2 x 2 pairs: 0.875
def _resampled_auc(outcome: np.ndarray, score: np.ndarray, units: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """The AUC of each resample."""
    # Mann and Whitney: of all pairs of a right and a wrong answer the share in which the right one scores higher, ties
    # half. Scores are sorted once; a resample only changes how often each row counts, so that no resample is sorted.
    order = np.argsort(score, kind="stable")
    outcome, units = outcome[order], units[order]
    starts = np.flatnonzero(np.append(True, np.diff(score[order]) > 0))  # the first row of each distinct score
    areas = [np.empty(0)]
    for weights in resample_weights_together(units, resamples, seed):
        right = np.add.reduceat(weights * outcome, starts, axis=1)
        wrong = np.add.reduceat(weights * (1 - outcome), starts, axis=1)
        pairs = right.sum(1) * wrong.sum(1)
        below = np.cumsum(wrong, axis=1) - wrong
        with np.errstate(invalid="ignore"):
            areas.append((right * (below + wrong / 2)).sum(1) / pairs)  # nan where there is no pair
    return np.concatenate(areas)
