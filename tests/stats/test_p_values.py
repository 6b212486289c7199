import math

from explorer.stats.p_values import LEGEND, stars


def test_stars():
    assert [stars(p) for p in (0.001, 0.01, 0.02, 0.07, 0.3, math.nan)] == ["***", "**", "**", "*", "", ""]
    assert LEGEND == "* p < 0.1, ** p < 0.05, *** p < 0.01"
