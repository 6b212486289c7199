import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from explorer.stats.kappa import kappa

verdicts = st.sampled_from(["exact", "near", "inexact"])


def test_kappa_by_hand():
    # both yes 20, both no 15, split 5 and 10: agreed .7, by chance .5 * .6 + .5 * .4 = .5, kappa .2 / .5 (Cohen 1960)
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    found = kappa(first, second)
    assert (found.agreed, found.value) == pytest.approx((0.7, 0.4))
    assert found.low < 0.4 < found.high


@given(st.lists(st.tuples(verdicts, verdicts), min_size=2, max_size=30))
def test_equals_scikit_learn_and_does_not_care_who_is_first(pairs):
    first, second = zip(*pairs, strict=True)
    found = kappa(first, second)
    assert kappa(second, first).value == pytest.approx(found.value, nan_ok=True)
    if not found.reason:
        assert found.value == pytest.approx(cohen_kappa_score(first, second))
        assert found.low <= found.value + 1e-12 and found.value <= found.high + 1e-12


def test_items_judged_by_one_only_are_left_out_and_a_single_verdict_has_no_kappa():
    found = kappa(["exact", "exact", None], ["exact", "exact", "near"])
    assert (found.n, found.left_out, found.agreed) == (2, 1, 1.0)
    assert math.isnan(found.value) and found.reason
    assert kappa([None], ["near"]).n == 0
