import importlib.util
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.errors import StatisticsError
from explorer.stats.mixed_logit import mixed_logit, sum_coded

REFERENCE = Path(__file__).parent.parent / "reference"
LME4 = json.loads((REFERENCE / "glmer.json").read_text(encoding="utf-8"))["fits"]


@pytest.fixture(scope="module")
def simulated():
    """The tables of tests/reference/simulate.py, each made or read once."""
    spec = importlib.util.spec_from_file_location("simulate", REFERENCE / "simulate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tables = {name: make() for name, make in module.TABLES.items()}
    for fit in LME4:
        assert module.fingerprint(tables[fit["table"]]) == fit["sha256"], "the tables are not those R saw: run glmer.R"
    return tables


@pytest.mark.parametrize(
    "fit", LME4, ids=[f"{fit['table']}, {fit['formula'][10:]}, nagq {fit['nagq']}" for fit in LME4]
)
def test_agrees_with_lme4(simulated, fit):
    found = mixed_logit(simulated[fit["table"]], fit["formula"], nagq=fit["nagq"])
    assert not found.loglik.reason and found.loglik.n == fit["n"] and found.nagq == fit["nagq"]
    assert [term.name for term in found.terms] == ["Intercept", *fit["terms"][1:]]
    for term, estimate, se in zip(found.terms, fit["estimate"], fit["se"], strict=True):
        assert abs(term.value - estimate) <= max(0.01 * abs(estimate), 0.05 * se)
        # With two groupings on the real table the two programs' standard errors differ by up to 5 %.
        assert term.se == pytest.approx(se, rel=0.03 if len(found.random) == 1 else 0.06)
        assert term.z == pytest.approx(term.value / term.se)
        assert term.low < term.value < term.high
    assert found.loglik.value == pytest.approx(fit["loglik"], abs=0.01)
    assert found.aic == pytest.approx(fit["aic"], abs=0.02)
    for random in found.random:
        assert random.sd == pytest.approx(fit["sd"][random.name], rel=0.02, abs=1e-3)
    assert any(random.singular for random in found.random) == fit["singular"]


def test_a_singular_fit_comes_with_a_warning(simulated):
    found = mixed_logit(simulated["near_zero"], "correct ~ x + (1 | suite)")
    assert found.random[0].singular and "at or near zero" in found.warnings[0]


def test_sum_coding_makes_lower_terms_averages_over_both_levels():
    rng = np.random.default_rng(4)
    suite = np.repeat(np.arange(12), 200)
    match, acceptable = rng.integers(0, 2, (2, suite.size)).astype(bool)
    chance = np.select([match & acceptable, match & ~acceptable, ~match & acceptable], [0.9, 0.3, 0.7], 0.6)
    table = {
        "correct": rng.random(suite.size) < chance,
        "match": sum_coded(match),
        "acceptable": sum_coded(acceptable),
        "suite": suite,
    }
    found = {term.name: term.value for term in mixed_logit(table, "correct ~ match * acceptable + (1 | suite)").terms}
    odds = {share: math.log(share / (1 - share)) for share in (0.9, 0.3, 0.7, 0.6)}
    assert found["Intercept"] == pytest.approx(sum(odds.values()) / 4, abs=0.15)
    assert found["match"] == pytest.approx((odds[0.9] + odds[0.3] - odds[0.7] - odds[0.6]) / 4, abs=0.15)
    assert found["match:acceptable"] == pytest.approx((odds[0.9] - odds[0.3] - odds[0.7] + odds[0.6]) / 4, abs=0.15)


def test_ties_are_wrong_and_gaps_are_left_out_and_counted(simulated):
    table = dict(simulated["near_zero"])
    formula = "correct ~ x + (1 | suite)"
    plain = mixed_logit(table, formula)
    wrong = np.flatnonzero(table["correct"] == 0)[:50]
    tied = table["correct"].astype(float)
    tied[wrong] = 0.5
    assert mixed_logit(table | {"correct": tied}, formula).terms == plain.terms
    longer = {name: np.append(column.astype(object), None) for name, column in table.items()}
    holed = mixed_logit(longer, formula)
    assert holed.terms == tuple(replace(term, left_out=1) for term in plain.terms)


def test_the_order_of_the_rows_does_not_matter(simulated):
    table = simulated["ceiling"]
    order = np.random.default_rng(0).permutation(len(table["correct"]))
    formula = "correct ~ log_length + acceptable + (1 | suite)"
    plain = mixed_logit(table, formula)
    shuffled = mixed_logit({name: column[order] for name, column in table.items()}, formula)
    for one, other in zip(plain.terms, shuffled.terms, strict=True):
        assert other.value == pytest.approx(one.value, abs=1e-3)
    assert shuffled.loglik.value == pytest.approx(plain.loglik.value, abs=1e-4)


def test_a_collinear_term_is_a_gap_beside_the_others(simulated):
    table = dict(simulated["near_zero"])
    found = mixed_logit(table | {"twice": 2 * table["x"]}, "correct ~ x + twice + (1 | suite)")
    assert math.isfinite(found.terms[1].value) and found.terms[2].reason == "a combination of other terms"
    assert math.isnan(found.terms[2].value)


def test_what_has_no_estimate_comes_back_with_the_reason(simulated):
    table = dict(simulated["near_zero"])
    rows, x, suite = len(table["x"]), table["x"], table["suite"]
    cases = {
        "every outcome is right": {"correct": np.ones(rows)},
        "every outcome is wrong": {"correct": np.zeros(rows)},
        "complete separation by the fixed effects": {"correct": x > 0},
        "quasi-complete separation by the fixed effects": {"x": np.where(table["correct"] == 1, x.clip(0), 0)},
        "suite has one level, which has no variance to estimate": {"suite": np.full(rows, "only")},
        "suite has a level for every row, whose variance cannot be told from chance": {"suite": np.arange(rows)},
        "every suite is all right or all wrong, so its variance has no finite estimate": {
            "correct": suite < "suite_020"
        },
        "no rows": {"x": np.full(rows, math.nan)},
    }
    for reason, change in cases.items():
        found = mixed_logit(table | change, "correct ~ x + (1 | suite)")
        assert {one.reason for one in (found.loglik, *found.terms)} == {reason}
        assert all(math.isnan(term.value) for term in found.terms) and math.isnan(found.loglik.value)


def test_a_formula_that_cannot_be_read_says_what_was_expected(simulated):
    table = simulated["near_zero"]
    for formula, message in {
        "correct ~ x": "random intercepts last",
        "correct ~ x + (x | suite)": "random intercepts last",
        "correct ~ nothing + (1 | suite)": "no column nothing",
        "correct ~ x ^^ z + (1 | suite)": "cannot be read",
    }.items():
        with pytest.raises(StatisticsError, match=message):
            mixed_logit(table, formula)
    with pytest.raises(StatisticsError, match="odd number"):
        mixed_logit(table, "correct ~ x + (1 | suite)", nagq=4)
