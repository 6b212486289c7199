"""Members found at few false alarms: by hand, and equal to the ROC curve of scikit-learn."""

import math

import numpy as np
import pytest
from sklearn.metrics import roc_curve

from explorer.stats.true_positive_rate import true_positives


def test_true_positives_by_hand():
    # of 20 others at most one may lie above: the second highest, 18, is the threshold; 2 of 4 members lie above it
    others = list(range(20))
    found = true_positives([1] * 4 + [0] * 20, [30, 18.5, 3, 18, *others], 0.05)
    assert (found.value, found.members, found.others) == (0.5, 4, 20)


@pytest.mark.parametrize("rate", [0.01, 0.05])
@pytest.mark.parametrize("seed", range(4))
def test_true_positives_are_those_of_the_roc_curve(rate, seed):
    chance = np.random.default_rng(seed)
    member = chance.random(900) < 0.4
    scores = np.round(chance.normal(size=900) + 0.8 * member, 1)  # with ties
    false_positive, true_positive, _ = roc_curve(member, scores, drop_intermediate=False)
    expected = true_positive[false_positive <= rate + 1e-12].max()
    found = true_positives(member, scores, rate, resamples=200)
    assert found.value == pytest.approx(expected)
    assert found.low <= found.value <= found.high


def test_too_few_others_cannot_tell_a_low_rate():
    found = true_positives([1] * 50 + [0] * 50, list(range(100)), 0.01)
    assert math.isnan(found.value) and "at least 100 are needed for 1%" in found.reason


@pytest.mark.parametrize(("members", "said"), [(1, "1 member"), (2, "2 members")])
def test_of_few_members_there_is_a_share_and_no_interval(members, said):
    found = true_positives([1] * members + [0] * 100, [9.0] * members + list(np.linspace(0, 1, 100)), 0.05)
    assert found.value == 1 and math.isnan(found.low) and math.isnan(found.high)
    assert found.reason == f"no interval: {said}, at least 5 are needed"
    assert math.isfinite(true_positives([1] * 5 + [0] * 100, [9.0] * 5 + [0.0] * 100, 0.05).low)


def test_texts_of_one_kind_are_said():
    assert true_positives([1, 1], [1, 2], 0.05).reason == "all texts are members"
    assert true_positives([0, 0], [1, 2], 0.05).reason == "no text is a member"
