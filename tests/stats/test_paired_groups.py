import functools

import numpy as np
import pytest
from scipy.stats import binomtest
from scipy.stats import wilcoxon as scipy_wilcoxon
from statsmodels.stats.multitest import multipletests

from explorer.stats.paired_groups import OVERALL, compare_groups

RNG = np.random.default_rng(3)
N = 60
GROUPS = np.repeat(["x", "y", "z"], N // 3)
FIRST = RNG.integers(0, 2, N).astype(float)
SECOND = np.where(GROUPS == "x", 1.0, RNG.integers(0, 2, N))
MARGINS = RNG.standard_normal(N)
SHIFTED = MARGINS + np.where(GROUPS == "y", 0.5, 0.0) + RNG.normal(0, 0.1, N)


@functools.cache
def found():
    return {one.group: one for one in compare_groups(FIRST, SECOND, MARGINS, SHIFTED, GROUPS, resamples=200)}


def test_all_items_come_first_and_then_the_groups_in_their_order():
    assert list(found()) == [OVERALL, "x", "y", "z"]


@pytest.mark.parametrize("group", ["x", "y", "z"])
def test_each_row_is_mcnemars_and_wilcoxons_own_test(group):
    inside = group == GROUPS
    lost = int(((FIRST == 1) & (SECOND == 0) & inside).sum())
    gained = int(((FIRST == 0) & (SECOND == 1) & inside).sum())
    one = found()[group]
    assert (one.outcomes.lost, one.outcomes.gained) == (lost, gained)
    assert one.outcomes.p == pytest.approx(binomtest(lost, lost + gained, 0.5).pvalue)
    change = SHIFTED[inside] - MARGINS[inside]
    assert one.raw_margin_p == pytest.approx(scipy_wilcoxon(change, zero_method="pratt").pvalue)
    assert one.margins.value == pytest.approx(change.mean())
    assert one.margins.low < one.margins.value < one.margins.high


def test_p_values_of_the_groups_are_holms_and_that_of_all_items_is_its_own():
    rows = found()
    groups = ["x", "y", "z"]
    theirs = multipletests([rows[name].outcomes.p for name in groups], method="holm")[1]
    assert [rows[name].outcome_p for name in groups] == pytest.approx(list(theirs))
    theirs = multipletests([rows[name].raw_margin_p for name in groups], method="holm")[1]
    assert [rows[name].margin_p for name in groups] == pytest.approx(list(theirs))
    assert rows[OVERALL].outcome_p == rows[OVERALL].outcomes.p


def test_swapping_the_models_turns_every_difference_round():
    forth = compare_groups(FIRST, SECOND, MARGINS, SHIFTED, GROUPS, resamples=50)
    back = compare_groups(SECOND, FIRST, SHIFTED, MARGINS, GROUPS, resamples=50)
    for one, other in zip(forth, back, strict=True):
        assert (one.outcomes.lost, one.outcomes.gained) == (other.outcomes.gained, other.outcomes.lost)
        assert one.outcome_p == pytest.approx(other.outcome_p)
        assert one.margins.value == pytest.approx(-other.margins.value)


def test_items_without_a_margin_still_count_for_the_outcomes():
    gaps = np.full(N, np.nan)
    (overall, *_) = compare_groups(FIRST, SECOND, gaps, gaps, GROUPS, resamples=20)
    assert overall.outcomes.n == N
    assert np.isnan(overall.margins.value) and np.isnan(overall.margin_p)
