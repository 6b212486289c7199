"""What goes with being right once the rest is allowed for: equal to statsmodels, and right where the truth is known."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import rankdata, spearmanr
from statsmodels.stats.outliers_influence import variance_inflation_factor

from explorer.stats.bias_reduced import NO_OTHERS, logistic_bias_reduced
from explorer.stats.joint_model import joint_model


def planted(groups: int = 12, each: int = 80, seed: int = 0, effect: float = 1.0):
    """Being right follows from `dose`; `shadow` goes with dose and does nothing; `length` goes with nothing."""
    chance = np.random.default_rng(seed)
    codes = np.repeat(np.arange(groups), each)
    dose = chance.normal(size=codes.size)
    shadow = 0.8 * dose + 0.6 * chance.normal(size=codes.size)
    length = chance.normal(size=codes.size)
    odds = 0.5 * chance.normal(size=groups)[codes] + effect * dose
    right = (chance.random(codes.size) < 1 / (1 + np.exp(-odds))).astype(float)
    return right, {"dose": dose, "shadow": shadow, "length": length}, codes


def effects(*args, **options):
    return {one.name: one for one in joint_model(*args, **options).effects}


def standardized(column, codes):
    inner = column - np.array([column[codes == code].mean() for code in range(codes.max() + 1)])[codes]
    return inner / inner.std()


def test_effects_and_likelihood_ratios_equal_statsmodels_and_errors_are_near_those_of_fits_without_each_group():
    right, measures, codes = planted()
    table = np.column_stack([standardized(column, codes) for column in measures.values()])
    design = np.column_stack([table, np.eye(12)[codes]])
    fit = sm.Logit(right, design).fit(disp=0)
    without = sm.Logit(right, np.delete(design, 0, axis=1)).fit(disp=0)
    found = effects(right, measures, codes, cross_validate=False, resamples=0)
    assert [one.value for one in found.values()] == pytest.approx(fit.params[:3], rel=1e-6)
    refits = np.array(
        [
            sm.Logit(right[codes != g], np.delete(design, 3 + g, axis=1)[codes != g]).fit(disp=0).params[:3]
            - fit.params[:3]
            for g in range(12)
        ]
    )
    jackknife = np.sqrt(11 / 12 * (refits**2).sum(axis=0))
    assert [one.se for one in found.values()] == pytest.approx(jackknife, rel=0.1)
    errors = logistic_bias_reduced(design, right, fit.predict(), codes, 3)
    assert [one.se for one in found.values()] == pytest.approx(errors.errors, rel=1e-4)
    for one, spread in zip(found.values(), errors.spreads, strict=True):
        assert one.p == pytest.approx(spread.tails(one.value / one.se), rel=1e-3)
        assert one.high - one.value == pytest.approx(spread.reach() * one.se)
    assert found["dose"].ratio == pytest.approx(2 * (fit.llf - without.llf), rel=1e-6)


def test_inflation_equals_statsmodels_and_partial_spearman_the_residuals_of_ranks():
    right, measures, codes = planted(groups=1, each=400)
    table = np.column_stack([standardized(column, codes) for column in measures.values()])
    found = effects(right, measures, cross_validate=False, resamples=0)
    inflation = [variance_inflation_factor(table, place) for place in range(3)]
    assert [one.inflation for one in found.values()] == pytest.approx(inflation)
    ranks = {name: rankdata(column) for name, column in measures.items()}
    others = sm.add_constant(np.column_stack([ranks["dose"], ranks["length"]]))
    rests = [sm.OLS(column, others).fit().resid for column in (rankdata(right), ranks["shadow"])]
    assert found["shadow"].partial.value == pytest.approx(np.corrcoef(*rests)[0, 1])
    assert found["shadow"].alone == pytest.approx(spearmanr(right, measures["shadow"]).statistic)


def test_what_only_goes_with_the_reason_does_not_survive():
    found = effects(*planted())
    assert found["dose"].low > 0 and found["dose"].partial.low > 0
    assert found["shadow"].alone > 0.1, "alone it looks like a reason"
    assert found["shadow"].low < 0 < found["shadow"].high
    assert found["length"].low < 0 < found["length"].high
    assert found["shadow"].inflation > 2 > found["length"].inflation


def test_what_a_measure_adds_to_rows_that_were_not_fitted():
    found = effects(*planted())
    assert found["dose"].gain > 20 and found["length"].gain < 2 and found["shadow"].gain < 2


def test_differences_between_groups_play_no_part():
    # a measure that is high in easy groups and says nothing within them
    right, _, codes = planted(effect=0.0, seed=3)
    ease = np.array([right[codes == code].mean() for code in range(12)])[codes]
    chance = np.random.default_rng(1)
    of_group = {"popular": ease + 0.01 * chance.normal(size=ease.size)}
    found = effects(right, of_group, codes)["popular"]
    assert spearmanr(right, of_group["popular"]).pvalue < 1e-3
    assert found.low < 0 < found.high


def test_groups_that_are_all_right_and_rows_with_gaps_are_left_out_and_counted():
    right, measures, codes = planted()
    right[codes == 0] = 1.0
    measures["length"][codes == 1] = math.nan
    found = joint_model(right, measures, codes, cross_validate=False)
    assert (found.n, found.groups, found.left_out) == (800, 10, 160)


def test_a_measure_that_does_not_vary_or_follows_from_others_is_named():
    right, measures, codes = planted()
    extra = {**measures, "flat": np.ones(right.size), "twice": 2 * measures["dose"]}
    found = joint_model(right, extra, codes, cross_validate=False)
    assert found.dropped["flat"] == "it does not vary within groups"
    assert found.dropped["twice"] == "it follows from dose, shadow, length"
    assert len(found.effects) == 3


def test_too_few_rows_and_separation_are_said():
    right, measures, _ = planted(groups=1, each=30)
    assert "at least 61 are needed for 3 measures" in joint_model(right, measures).reason
    dose = np.linspace(-1, 1, 100)
    assert "separated" in joint_model(dose > 0, {"dose": dose}).reason


def test_errors_are_by_group_from_five_groups_on():
    assert joint_model(*planted(groups=5), cross_validate=False).is_by_group
    sorts = joint_model(*planted(groups=4), share_material=False, cross_validate=False)
    assert not sorts.is_by_group and not sorts.too_few and sorts.effects[0].units == sorts.n
    assert sorts.effects[0].low > 0


@pytest.mark.parametrize("groups", [1, 3, 4])
def test_of_few_groups_whose_items_share_material_there_are_effects_without_intervals(groups):
    found = joint_model(*planted(groups=groups), cross_validate=False, resamples=50)
    assert found.too_few and not found.is_by_group
    for one in found.effects:
        assert math.isfinite(one.value) and math.isfinite(one.partial.value) and one.units == groups
        assert np.isnan([one.low, one.high, one.p, one.se, one.partial.low]).all()
        assert one.reason == f"no interval: {groups} group{'s' * (groups > 1)}, at least 5 are needed"
    assert not joint_model(*planted(groups=1)[:2], cross_validate=False, resamples=0).too_few, "no groups are named"


def test_two_measures_that_differ_in_one_group_alone_have_no_interval():
    right, measures, codes = planted(groups=8)
    x = measures["dose"]
    a = np.where(codes < 5, x, 0.0)
    b = np.where(codes < 4, x, np.where(codes == 4, measures["length"], 0.0))
    found = effects(right, {"a": a, "b": b}, codes, cross_validate=False, resamples=50)
    assert [one.reason for one in found.values()] == [NO_OTHERS, NO_OTHERS]
    assert all(np.isnan([one.low, one.p, one.se, one.partial.low]).all() for one in found.values())


def test_a_measure_that_hardly_varies_but_in_one_group_has_no_interval():
    right, measures, codes = planted(groups=8)
    near = np.where(codes == 3, 1.0, 1e-5) * measures["dose"]
    found = effects(right, {"near": near}, codes, cross_validate=False, resamples=50)["near"]
    assert found.units == 8 and math.isnan(found.low) and found.reason == NO_OTHERS


def test_rows_whose_group_is_not_known_are_left_out():
    right, measures, codes = planted(groups=6)
    names = np.array([f"g{code}" for code in codes], dtype=object)
    names[:5] = None
    found = joint_model(right, measures, names, cross_validate=False, resamples=0)
    assert found.groups == 6 and found.left_out == 5


def test_a_measure_that_varies_in_four_groups_alone_has_an_effect_and_no_interval():
    right, measures, codes = planted()
    measures["length"][codes >= 4] = 7.0
    found = effects(right, measures, codes, cross_validate=False)
    assert found["length"].units == 4 and found["dose"].units == 12
    assert math.isfinite(found["length"].value) and math.isnan(found["length"].low)
    assert math.isnan(found["length"].partial.low)
    assert found["length"].reason == "no interval: 4 groups, at least 5 are needed"


def test_a_measure_that_parts_right_from_wrong_is_left_out_and_named():
    right, measures, codes = planted()
    rare = np.zeros(right.size)
    rare[np.flatnonzero(right == 1)[:4]] = 1.0  # four items have it, and all are right
    found = joint_model(right, {**measures, "rare": rare}, codes, cross_validate=False, resamples=0)
    assert [one.name for one in found.effects] == ["dose", "shadow", "length"] and not found.reason
    assert found.dropped["rare"].startswith("it parts right from wrong without an exception")
    alone = joint_model(right, measures, codes, cross_validate=False, resamples=0)
    assert found.effects[0].value == pytest.approx(alone.effects[0].value)
