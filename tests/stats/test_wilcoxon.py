import math

import numpy as np
import pytest
from scipy.stats import wilcoxon as scipy_wilcoxon

from explorer.stats.wilcoxon import wilcoxon


def test_pratt_ranks_the_zeros_and_then_drops_them():
    # changes 0 1 -2 3 4: ranks 1 2 3 4 5, the zero's rank dropped; rising 2 + 4 + 5 = 11, falling 3
    found = wilcoxon([5, 5, 5, 5, 5], [5, 6, 3, 8, 9])
    assert (found.statistic, found.zeros, found.n, found.value) == (3, 1, 5, 1)


def test_p_equals_scipys():
    before = np.random.default_rng(2).standard_normal(40)
    after = before + np.random.default_rng(3).normal(0.4, 1, 40).round(1)
    found = wilcoxon(before, after)
    assert found.p == pytest.approx(scipy_wilcoxon(after - before, zero_method="pratt").pvalue)
    assert found.low <= found.value <= found.high


def test_turning_time_round_turns_the_median_only():
    before, after = [1, 2, 3, 4, 9], [2, 2, 5, 3, 4]
    forth, back = wilcoxon(before, after), wilcoxon(after, before)
    assert (forth.value, forth.p) == (-back.value, back.p)


def test_nothing_changed_and_nothing_there():
    assert wilcoxon([1, 2], [1, 2]).p == 1 and wilcoxon([1, 2], [1, 2]).reason == "no item changed"
    empty = wilcoxon([math.nan], [1])
    assert math.isnan(empty.p) and empty.left_out == 1


def test_without_resamples_the_test_is_the_same_and_the_median_has_no_interval():
    before, after = [1, 2, 3, 4, 9], [2, 2, 5, 3, 4]
    bare, whole = wilcoxon(before, after, resamples=0), wilcoxon(before, after)
    assert (bare.value, bare.p, bare.n) == (whole.value, whole.p, whole.n)
    assert math.isnan(bare.low) and math.isnan(bare.high)
