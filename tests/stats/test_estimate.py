import math
from dataclasses import replace

import pytest

from explorer.finding import Finding
from explorer.rows.builders import finding_row
from explorer.stats.estimate import Estimate
from explorer.stats.fisher import fisher
from explorer.stats.kappa import kappa
from explorer.stats.logistic import logistic
from explorer.stats.mantel import mantel
from explorer.stats.mcnemar import mcnemar
from explorer.stats.proportion import Proportion, proportion
from explorer.stats.spearman import spearman
from explorer.stats.wilcoxon import wilcoxon

NAMED = Finding("name", "Name", "share", "item", "A number.")
COLUMNS = ("value", "low", "high", "p", "n", "left_out", "reason")
FOUND = {
    "proportion": proportion([1, 0, 0.5, 1, 1, math.nan]),
    "spearman": spearman([1, 2, 3, 4, 5, math.nan], [10, 30, 20, 40, 50, 6], permutations=9, resamples=9),
    "fisher": fisher([1, 1, 0], [0, 0, 1]),
    "kappa": kappa(["same", "other", "same", "same", "other", "same"], ["same", "same", None, "same", "other", "same"]),
    "mcnemar": mcnemar([1, 1, 0], [0, 1, 0]),
    "wilcoxon": wilcoxon([1, 2, 3, 4, 5], [2, 4, 7, 3, 1], resamples=9),
    "mantel": mantel([[0, 1], [2, 0]], [[0, 1], [2, 0]]),
    "slope": logistic([1, 1, 0], [1, 2, 3]).slopes[0],  # separated: no number, but the reason
}


@pytest.mark.parametrize("found", FOUND.values(), ids=FOUND)
def test_a_row_of_findings_has_all_that_an_estimate_says(found):
    row = finding_row(NAMED, "overall", found)
    assert isinstance(found, Estimate)
    assert [row[name] for name in COLUMNS] == pytest.approx([getattr(found, name) for name in COLUMNS], nan_ok=True)
    assert found.reason or not math.isnan(found.value)


def test_a_bare_number_is_a_row_without_an_interval():
    row = finding_row(NAMED, "overall", 3)
    assert (row["value"], row["n"], row["left_out"], row["reason"]) == (3.0, 0, 0, "")
    assert all(math.isnan(row[name]) for name in ("low", "high", "p"))


def test_a_point_has_no_interval_and_may_say_more():
    found = Proportion.point(0.5, 4, reason="few", ties=2)
    assert (found.value, found.n, found.ties, found.reason) == (0.5, 4, 2, "few")
    assert math.isnan(found.low) and math.isnan(found.high) and math.isnan(found.p)
    assert replace(found, p=0.5).p == 0.5 and replace(found, p=0.5).ties == 2
