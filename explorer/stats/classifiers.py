"""Can memorization scores predict which answers are right?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from explorer.stats.auc import RocCurve, auc, roc_curve
from explorer.stats.estimate import Estimate
from explorer.stats.gaps import drop_gaps, numbers, ties_wrong

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

FOLDS = 5
CONSTANT = "constant features: nothing but the majority can be learned"


@dataclass(frozen=True, slots=True)
class Classifier:
    """How well a classifier predicts correctness, in its own training data and cross-validated, beside the majority."""

    kind: str
    macro_f1: Estimate  # pooled out-of-fold predictions; no interval
    macro_f1_in_sample: float
    macro_f1_majority: Estimate  # p / (1 + p) of the larger class
    auc: Estimate  # pooled out-of-fold decision scores
    auc_in_sample: float
    roc: RocCurve  # of the pooled out-of-fold decision scores
    n: int
    right: int
    folds: int
    reason: str = ""


def logistic_regression() -> Pipeline:
    """scikit-learn's logistic regression with its default penalty, on standardized features."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # Without the scaler the penalty would weigh features by their unit, and a sum of nats is hundreds of times a mean.
    return make_pipeline(StandardScaler(), LogisticRegression())


def polynomial_svm() -> Pipeline:
    """A support vector machine with a polynomial kernel of degree 3, on standardized features."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    return make_pipeline(StandardScaler(), SVC(kernel="poly", degree=3))


KINDS = {"logistic": logistic_regression, "svm": polynomial_svm}


def fit_classifier(
    right: ArrayLike,
    *features: ArrayLike,
    texts: Sequence[str],
    kind: str = "logistic",
    folds: int = FOLDS,
    seed: int = 0,
) -> Classifier:
    """A classifier of outcomes (ties wrong) by features, stratified and cross-validated with equal texts in one fold.

    The scaler is fitted inside each fold. Fewer folds are used, and said, where the rarer class has fewer texts.
    """
    from sklearn.metrics import f1_score, roc_auc_score

    (outcome, names, *columns), left_out = drop_gaps(
        ties_wrong(right), np.asarray(texts, dtype=object), *map(numbers, features)
    )
    correct = int(outcome.sum())
    share = max(correct, outcome.size - correct) / outcome.size if outcome.size else math.nan
    reason = "" if outcome.size else "no items"
    # Always giving the commoner answer, whose share is s: its F1 is 2s / (1 + s), the other's is 0, the mean s / (1 +
    # s).
    majority = Estimate.point(share / (1 + share), outcome.size, left_out=left_out, reason=reason)
    # Equal texts stay in one fold: a model that has seen a text in training would know its answer in the test.
    _, groups = np.unique(names.astype(str), return_inverse=True)
    usable = min(folds, *(np.unique(groups[outcome == label]).size for label in (0, 1)))
    if usable < 2:
        return _unfitted_classifier(kind, majority, outcome, _why_not(outcome))
    # Fitted on all items as well, for the in-sample figures that stand beside those of held-out folds.
    table = np.column_stack(columns)
    fit_on_all = KINDS[kind]().fit(table, outcome)
    decision, predicted = _out_of_fold(kind, table, outcome, groups, usable, seed)
    constant = not np.ptp(table, axis=0).any()
    if constant:
        # Only the folds' shares of right answers would be left to tell rows apart, and those the wrong way round.
        decision = np.zeros(outcome.size)
    if np.isnan(decision).any():
        return _unfitted_classifier(kind, majority, outcome, "one text holds nearly all items of a class")
    reason = CONSTANT if constant else "" if usable == folds else _why_fewer_folds(usable, folds)
    macro_f1 = float(f1_score(outcome, predicted, average="macro", zero_division=0))
    return Classifier(
        kind=kind,
        macro_f1=Estimate.point(macro_f1, outcome.size, left_out=left_out, reason=reason),
        macro_f1_in_sample=float(f1_score(outcome, fit_on_all.predict(table), average="macro", zero_division=0)),
        macro_f1_majority=majority,
        auc=auc(outcome, decision, groups, seed=seed),
        auc_in_sample=float(roc_auc_score(outcome, fit_on_all.decision_function(table))),
        roc=roc_curve(outcome, decision),
        n=outcome.size,
        right=correct,
        folds=usable,
        reason=reason,
    )


def _out_of_fold(
    kind: str, table: np.ndarray, outcome: np.ndarray, groups: np.ndarray, folds: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Decision score and prediction of each row by a model that has not seen it; nan where none could be fitted."""
    from sklearn.model_selection import StratifiedGroupKFold

    decision, predicted = np.full(outcome.size, np.nan), np.full(outcome.size, np.nan)
    splitter = StratifiedGroupKFold(n_splits=folds, shuffle=True, random_state=seed)
    for train, test in splitter.split(table, outcome, groups):
        if np.ptp(outcome[train]) > 0:
            model = KINDS[kind]().fit(table[train], outcome[train])
            decision[test], predicted[test] = model.decision_function(table[test]), model.predict(table[test])
    return decision, predicted


def _why_fewer_folds(usable: int, folds: int) -> str:
    return f"{usable} folds instead of {folds}: the rarer class has {usable} texts"


def _why_not(outcome: np.ndarray) -> str:
    if not outcome.size:
        return "no items"
    if np.ptp(outcome) == 0:
        return "every outcome is right" if outcome[0] else "every outcome is wrong"
    return "the rarer class has a single text, which cannot be both learned from and tested on"


def _unfitted_classifier(kind: str, majority: Estimate, outcome: np.ndarray, reason: str) -> Classifier:
    nothing = Estimate.point(math.nan, outcome.size, left_out=majority.left_out, reason=reason)
    right, no_curve = int(outcome.sum()), RocCurve((), ())
    return Classifier(kind, nothing, math.nan, majority, nothing, math.nan, no_curve, outcome.size, right, 0, reason)
