import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.stats.multiple_tests import correct_p_values

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_holm_by_hand():
    # sorted .01 .02 .04: 3 * .01, 2 * .02, 1 * .04, each at least the one before
    assert correct_p_values([0.04, 0.01, 0.02], "holm").p == pytest.approx((0.04, 0.03, 0.04))


def test_benjamini_hochberg_by_hand():
    # sorted .01 .03 .04 times 3/1 3/2 3/3: .03 .045 .04, each at most the one after
    assert correct_p_values([0.01, 0.04, 0.03], "benjamini-hochberg").p == pytest.approx((0.03, 0.04, 0.04))


def test_an_unknown_p_stays_unknown_and_is_no_test():
    found = correct_p_values([0.02, math.nan, 0.03], "holm")
    assert found.p[0] == pytest.approx(0.04) and math.isnan(found.p[1])
    assert (found.n, found.left_out) == (2, 1)
    assert correct_p_values([], "holm").p == ()


@settings(max_examples=15)  # statsmodels collects garbage at every call
@given(p_values)
def test_adjusting_only_raises_keeps_the_order_and_holm_is_the_stricter(values):
    holm, bh = (np.array(correct_p_values(values, method).p) for method in ("holm", "benjamini-hochberg"))
    assert (holm >= np.array(values) - 1e-12).all() and (holm <= 1).all()
    assert (bh >= np.array(values) - 1e-12).all() and (bh <= holm + 1e-12).all()
    order = np.argsort(values, kind="stable")
    assert (np.diff(holm[order]) >= -1e-12).all() and (np.diff(bh[order]) >= -1e-12).all()
