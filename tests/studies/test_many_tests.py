"""Families of tests: each is declared once, and p-values are adjusted inside them."""

from __future__ import annotations

import math
from collections import Counter

import pandas as pd
import pytest

from explorer.results.store import Store
from explorer.settings import PRECOMPUTED
from explorer.studies import declared, many_tests

P = [0.01, 0.02, 0.03, 0.20]


def test_p_is_adjusted_within_a_family_and_not_across():
    rows = pd.DataFrame(
        {
            "finding": ["popularity_difference", "popularity_slope", "popularity_difference", "popularity_slope",
                        "rating_pearson", "accuracy", "popularity_slope"],
            "p": [*P, 0.04, math.nan, math.nan],
        }
    )  # fmt: skip
    told = many_tests.with_families(rows, "popularity")
    # of four: .01 x 4/1, .02 x 4/2, .03 x 4/3 are all .04; the fifth is a family of one; the last has no p
    assert list(told["p_adjusted"][:5]) == [pytest.approx(p) for p in (0.04, 0.04, 0.04, 0.20, 0.04)]
    assert told["p_adjusted"][5:].isna().all()
    assert list(told["tests"]) == [4, 4, 4, 4, 1, 0, 4]
    assert list(told["family"][-3:]) == ["scores and ratings", "", "popularity and being right"]


def test_every_finding_is_in_one_family_at_most_and_every_stored_test_is_in_one():
    for study, families in declared.FAMILIES.items():
        names = Counter(one.name for findings in families.values() for one in findings)
        assert max(names.values()) == 1, study
        assert set(names) <= {one.name for one in declared.FINDINGS[study]}
    opened = Store(None, PRECOMPUTED)
    try:
        tested = opened.frame(
            "SELECT DISTINCT study, finding FROM findings JOIN runs USING (run_id) WHERE p IS NOT NULL AND NOT isnan(p)"
        )
    finally:
        opened.close()
    without = [
        (study, name)
        for study, name in zip(tested["study"], tested["finding"], strict=True)
        if declared.find(study, name) and not declared.family_of(study, name)
    ]
    assert not without


def test_the_family_is_told_in_words():
    told = many_tests.in_words("perturbation", "ips_of_lost", 9)
    assert told.startswith("The 9 tests that this run made of") and "popularity of what flips" in told
    assert many_tests.in_words("perturbation", "ips_of_lost", 1) == ""
    assert many_tests.in_words("accuracy", "accuracy", 9) == ""
