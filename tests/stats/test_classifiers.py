import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.metrics import roc_curve as sklearn_roc_curve
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from explorer.stats.classifiers import KINDS, _out_of_fold, fit_classifier


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(2)
    scores = rng.normal(-50, 10, (120, 2))
    right = (rng.random(120) < 1 / (1 + np.exp(-(scores[:, 0] - scores[:, 1]) / 5))).astype(float)
    return right, scores, [f"text {number}" for number in range(120)]


def test_the_majority_has_macro_f1_p_over_1_plus_p():
    right = [1] * 15 + [0] * 5
    found = fit_classifier(right, np.arange(20.0), texts=[str(n) for n in range(20)])
    assert found.macro_f1_majority.value == pytest.approx(0.75 / 1.75)
    assert found.macro_f1_majority.value == pytest.approx(f1_score(right, [1] * 20, average="macro", zero_division=0))


def test_in_sample_figures_equal_scikit_learns(table):
    right, scores, texts = table
    found = fit_classifier(right, scores[:, 0], scores[:, 1], texts=texts)
    scaled = StandardScaler().fit_transform(scores)
    model = LogisticRegression().fit(scaled, right)
    assert found.macro_f1_in_sample == pytest.approx(f1_score(right, model.predict(scaled), average="macro"))
    assert found.auc_in_sample == pytest.approx(roc_auc_score(right, model.decision_function(scaled)))
    assert found.auc.low < found.auc.value < found.auc.high
    assert found.macro_f1.value > found.macro_f1_majority.value


@pytest.mark.parametrize("kind", KINDS)
def test_cross_validated_figures_equal_scikit_learns_pooled_out_of_fold(table, kind):
    right, scores, texts = table
    last = LogisticRegression() if kind == "logistic" else SVC(kernel="poly", degree=3)
    model = make_pipeline(StandardScaler(), last)
    folds = StratifiedGroupKFold(n_splits=5, shuffle=True, random_state=7)
    groups = np.unique(texts, return_inverse=True)[1]
    decision = cross_val_predict(model, scores, right, groups=groups, cv=folds, method="decision_function")
    predicted = cross_val_predict(model, scores, right, groups=groups, cv=folds)
    found = fit_classifier(right, scores[:, 0], scores[:, 1], texts=texts, kind=kind, seed=7)
    assert found.auc.value == pytest.approx(roc_auc_score(right, decision))
    assert found.macro_f1.value == pytest.approx(f1_score(right, predicted, average="macro"))
    false_positive, true_positive, _ = sklearn_roc_curve(right, decision)
    assert found.roc.false_positive == pytest.approx(false_positive)
    assert found.roc.true_positive == pytest.approx(true_positive)


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_decides_the_folds(table, kind):
    right, scores, texts = table
    one = fit_classifier(right, scores[:, 0], texts=texts, kind=kind, seed=1)
    assert one == fit_classifier(right, scores[:, 0], texts=texts, kind=kind, seed=1)
    assert one.folds == 5 and not one.reason


def test_a_row_is_predicted_by_a_model_that_saw_neither_it_nor_its_twins():
    # Labels are noise, but each text occurs ten times: a model that saw a twin could tell its label.
    rng = np.random.default_rng(3)
    texts = np.repeat(np.arange(30), 10)
    right = rng.permutation(np.repeat([0.0, 1.0], 15))[texts]
    feature = rng.standard_normal(30)[texts]
    decision, _ = _out_of_fold("svm", feature[:, None], right, texts, 5, 0)
    for text in range(30):
        assert np.unique(decision[texts == text]).size == 1  # one fold, hence one model
    assert fit_classifier(right, feature, texts=[str(text) for text in texts], kind="svm").auc.value < 0.8


@pytest.mark.parametrize("kind", KINDS)
def test_constant_features_tell_nothing_apart(kind):
    right = [1.0] * 31 + [0.0] * 14
    found = fit_classifier(right, [3.0] * 45, [0.0] * 45, texts=[str(n) for n in range(45)], kind=kind)
    assert (found.auc.value, found.auc.low, found.auc.high, found.auc_in_sample) == (0.5, 0.5, 0.5, 0.5)
    assert found.macro_f1.value == pytest.approx(found.macro_f1_majority.value)
    assert "constant features" in found.reason


def test_few_texts_of_a_class_mean_fewer_folds_and_too_few_mean_none():
    right = [1] * 20 + [0, 0, 0]
    texts = [str(number) for number in range(23)]
    found = fit_classifier(right, np.arange(23.0), texts=texts)
    assert found.folds == 3 and found.reason.startswith("3 folds instead of 5")
    single = fit_classifier([1] * 20 + [0], np.arange(21.0), texts=texts[:21])
    assert math.isnan(single.macro_f1.value) and "single text" in single.reason
    assert single.macro_f1_majority.value == pytest.approx((20 / 21) / (1 + 20 / 21))


def test_a_task_with_one_class_is_reported_not_crashed_on():
    found = fit_classifier([1, 1, 0.5, math.nan], [1, 2, 3, 4], texts=["a", "b", "c", "d"])
    assert found.macro_f1.left_out == 1 and "single text" in found.reason
    assert fit_classifier([1, 1], [1, 2], texts=["a", "b"]).reason == "every outcome is right"
    assert fit_classifier([], [], texts=[]).reason == "no items"


def test_constant_and_identical_features_give_figures(table):
    right, scores, texts = table
    constant = fit_classifier(right, np.ones(120), texts=texts)
    assert constant.auc.value == pytest.approx(0.5, abs=0.1)
    twice = fit_classifier(right, scores[:, 0], scores[:, 0], texts=texts)
    assert math.isfinite(twice.macro_f1.value)
