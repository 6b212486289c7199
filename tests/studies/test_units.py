"""The unit that was sampled is the unit of the interval: each case in which it was not, as a small table."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from explorer.finding import SAMPLED, Finding
from explorer.rows.builders import finding_row
from explorer.stats.bootstrap import bootstrap, bootstrap_mean
from explorer.stats.estimate import Range
from explorer.stats.fisher import fisher
from explorer.stats.proportion import proportion
from explorer.stats.spearman import spearman
from explorer.stats.weighted import Strata, weighted_mean, weighted_ranks, weighted_share, weighted_spearman
from explorer.studies import declared, median_split
from explorer.studies.accuracy import findings as accuracy_findings
from explorer.studies.design import design_of
from explorer.studies.icl import findings as icl_findings
from explorer.studies.ontology import findings as ontology_findings
from explorer.studies.perturbation import findings as perturbation_findings
from explorer.studies.popularity import findings as popularity_findings
from explorer.studies.priming import findings as priming_findings
from explorer.studies.priming import regression as priming_regression

NAMED = Finding("name", "Name", "share", "item", "A number.")


def by(rows, *names: str) -> dict:
    return {tuple(row.get(name) for name in names): row for row in rows}


def detail(row) -> dict:
    return json.loads(row["detail"]) if row["detail"] else {}


@pytest.mark.parametrize("study", declared.FINDINGS)
def test_every_finding_says_what_was_sampled(study):
    for one in declared.FINDINGS[study]:
        assert one.sampled in SAMPLED
        assert not (one.range_of and "interval" not in one.meaning), "a range is called a range"


def test_what_a_study_samples_is_declared():
    sampled = {name: declared.finding(*name).sampled for name in (
        ("accuracy", "accuracy"), ("popularity", "popularity_difference"), ("priming", "regression"),
        ("priming", "priming_delta"), ("ontology", "gold_preferred"), ("popularity", "popularity_rank_split"),
    )}  # fmt: skip
    assert list(sampled.values()) == [
        "item, or paradigm", "item, or paradigm", "suite", "item, or suite", "concept", "none",
    ]  # fmt: skip


# An interval from few units


@pytest.mark.parametrize(
    "estimate",
    [
        bootstrap_mean([1.0, 1.0, 1.0]),  # [1, 1] of n = 3
        bootstrap_mean([0.2, 0.4, 0.9, 0.9], ["a", "a", "b", "b"], macro=True),  # two means as an interval
        proportion([1, 0, 1, 1]),
    ],
)
def test_an_interval_from_fewer_than_five_units_is_not_drawn(estimate):
    row = finding_row(NAMED, "overall", estimate)
    assert row["value"] == estimate.value and math.isnan(row["low"]) and math.isnan(row["high"])
    assert "at least 5 are needed" in row["reason"]


def test_an_interval_from_five_units_is_drawn():
    assert not math.isnan(finding_row(NAMED, "overall", bootstrap_mean([0.0, 1.0, 1.0, 0.0, 1.0]))["low"])


def test_a_range_keeps_its_ends_and_is_called_a_range():
    row = finding_row(NAMED, "overall", Range(0.5, 0.4, 0.6, 3, of="3 orders"))
    assert (row["low"], row["high"], detail(row)["range"]) == (0.4, 0.6, "3 orders")


def test_the_mean_over_orders_of_demonstrations_is_a_range():
    labels = pd.DataFrame(
        [(f"i{item}", 25, part, float(item < 4 + part), math.nan) for item in range(10) for part in range(3)],
        columns=["instance_id", "k", "part", "correct", "correct_written"],
    )
    rows = by(icl_findings.accuracies(labels, [f"i{item}" for item in range(10)]), "part")
    mean = rows[(None,)]
    assert (mean["value"], mean["low"], mean["high"]) == pytest.approx((0.5, 0.4, 0.6))
    assert detail(mean)["range"] == "3 orders"
    assert "range" not in detail(rows[(0,)]), "each order has an interval over items"


# Items that share material


def paradigms(count: int = 23, each: int = 60, seed: int = 1) -> pd.DataFrame:
    """Minimal pairs in which whole paradigms are popular and whole paradigms are easy, and no item is either."""
    chance = np.random.default_rng(seed)
    ease, popular = chance.uniform(0.5, 1.0, count), chance.normal(0, 1, count)
    rows = [
        (f"p{p}", "pair", "blimp", popular[p] + 0.3 * chance.normal(), float(chance.random() < ease[p]))
        for p in range(count)
        for _ in range(each)
    ]
    return pd.DataFrame(rows, columns=["grp", "kind", "benchmark", "score", "correct"])


def test_the_p_of_popularity_on_minimal_pairs_is_over_paradigms():
    smaller = 0
    for seed in range(8):
        frame = paradigms(seed=seed)
        row = by(popularity_findings.compare("overall", frame), "finding")[("popularity_difference",)]
        above = frame["score"] > frame["score"].median()
        over_items = fisher(frame.loc[above, "correct"], frame.loc[~above, "correct"])
        assert row["value"] == pytest.approx(over_items.value)
        assert detail(row)["fisher_p"] == pytest.approx(over_items.p, rel=1e-3)
        assert detail(row)["units"] == 23
        smaller += over_items.p < row["p"]
    assert smaller >= 7, "items of a paradigm are not independent"


def test_slope_auc_and_curve_on_minimal_pairs_are_over_paradigms():
    rows = by(popularity_findings.compare("overall", paradigms()), "finding", "part")
    for name in ("popularity_slope", "popularity_auc"):
        assert detail(rows[name, None])["units"] == 23
    assert all(detail(row).get("units", 0) <= 23 for key, row in rows.items() if key[0] == "popularity_curve")


@pytest.mark.parametrize("decimals", [0, 4])
def test_halves_of_many_resamples_at_once_differ_as_those_of_one_by_one(decimals):
    chance = np.random.default_rng(decimals)
    score, correct = chance.normal(size=90).round(decimals), chance.choice([0, 0.5, 1], 90)
    one_by_one = bootstrap(median_split._difference, score, correct, groups=np.arange(90) // 9)
    at_once = bootstrap(
        median_split._difference, score, correct, groups=np.arange(90) // 9, weighted=median_split._differences
    )
    assert at_once == one_by_one


def test_two_paradigms_have_a_difference_and_no_interval():
    rows = by(popularity_findings.compare("anaphor_agreement", paradigms(count=2)), "finding", "setting")
    gap = rows["popularity_difference", None]
    assert math.isfinite(gap["value"]) and math.isnan(gap["low"]) and math.isnan(gap["p"])
    assert math.isnan(rows["popularity_half", "low"]["low"])
    assert popularity_findings.chance_curve(rows["popularity_slope", None], [0.0, 1.0]) is not None


def test_pairs_that_people_wrote_one_by_one_are_their_own_units():
    frame = paradigms().assign(benchmark="crows_pairs")
    row = by(popularity_findings.compare("overall", frame), "finding")[("popularity_difference",)]
    assert "fisher_p" not in detail(row)


def suites(kind: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Six suites of unequal size; the larger a suite, the easier it is."""
    sizes = {f"s{n}": 4 * (n + 1) for n in range(6)}
    frame = pd.DataFrame([(name, "syntax", kind, "any") for name, n in sizes.items() for _ in range(n)],
                         columns=["grp", "phenomenon", "kind", "benchmark"])  # fmt: skip
    right = np.concatenate([np.arange(n) < n * share for (_, n), share in
                            zip(sizes.items(), (0.25, 0.5, 0.5, 0.75, 0.75, 1.0), strict=True)])  # fmt: skip
    return frame, right.astype(float)


def test_the_whole_of_suites_is_the_mean_over_suites():
    frame, right = suites("regions")
    rows = by(accuracy_findings.shares(frame, right), "finding", "grp")
    # suites: (1/4 + 1/2 + 1/2 + 3/4 + 3/4 + 1) / 6 = 0.625; items: (1 + 4 + 6 + 12 + 15 + 24) / 84
    assert rows["accuracy", "overall"]["value"] == pytest.approx(0.625)
    assert detail(rows["accuracy", "overall"])["units"] == 6
    alike = rows["accuracy", accuracy_findings.ALL_ITEMS]
    assert alike["value"] == pytest.approx(62 / 84) and detail(alike)["units"] == 6
    assert rows["accuracy_by_phenomenon", "syntax"]["low"] == alike["low"], "over suites, too"


def test_the_whole_of_paradigms_has_its_interval_over_paradigms_and_of_a_choice_over_items():
    frame, right = suites("pair")
    over_paradigms = by(accuracy_findings.shares(frame, right), "grp", "finding")["overall", "accuracy"]
    frame, right = suites("choice")
    over_items = by(accuracy_findings.shares(frame, right), "grp", "finding")["overall", "accuracy"]
    assert over_paradigms["value"] == over_items["value"]
    assert detail(over_paradigms)["units"] == 6 and "units" not in detail(over_items)
    assert over_paradigms["high"] - over_paradigms["low"] > over_items["high"] - over_items["low"]


def primed(suites: int = 12, each: int = 20) -> pd.DataFrame:
    """Judgments after matched contexts whose effect differs from suite to suite."""
    chance = np.random.default_rng(4)
    conditions = ("matched_acceptable", "matched_unacceptable", "mismatched_acceptable", "mismatched_unacceptable")
    rows = []
    for suite in range(suites):
        slope = chance.normal(0, 0.35)
        for item in range(each):
            name = f"s{suite}/i{item}"
            rows.append((name, f"s{suite}", "baseline", 0, 1.0))
            for condition in conditions:
                matched = 1 if condition.startswith("matched") else -1
                for length in (100, 300, 900):
                    odds = 0.5 + slope * matched * math.log(length / 300)
                    rows.append(
                        (name, f"s{suite}", condition, length, float(chance.random() < 1 / (1 + math.exp(-odds))))
                    )
    table = pd.DataFrame(rows, columns=["instance_id", "grp", "condition", "length", "correct"])
    baseline = table[table["condition"] == "baseline"].set_index("instance_id")["correct"]
    table["phenomenon"], table["setting"], table["margin"] = "syntax", "", table["correct"]
    table["context_tokens"] = table["length"].astype(float)
    table["delta"] = table["correct"] - table["instance_id"].map(baseline)
    return table


def test_the_interaction_of_length_and_match_has_its_error_by_suite():
    rows = by(priming_regression.summarize(priming_findings.along_curves(primed()), items=False),
              "finding", "setting", "grp")  # fmt: skip
    by_suite = rows["regression", priming_regression.BY_SUITE, "log_length:match"]
    as_published = rows["regression", "suite", "log_length:match"]
    assert by_suite["value"] == pytest.approx(as_published["value"], abs=0.05)
    assert by_suite["p"] > as_published["p"], "suites are moved differently, so their judgments go together"
    assert detail(by_suite)["units"] == 12


def test_bands_of_all_items_are_over_suites():
    rows = by(priming_findings.curves(priming_findings.along_curves(primed())), "finding", "grp", "condition", "length")
    at = ("matched_acceptable", 900)
    assert detail(rows["priming_accuracy", "overall", *at])["units"] == 12
    assert detail(rows["priming_delta", "overall", *at])["units"] == 12
    assert "units" not in detail(rows["priming_accuracy", "s0", *at]), "within a suite, over its items"


# Samples by bucket


def test_a_sample_by_bucket_is_reweighted_to_the_population():
    # a bucket of 900 of which 2 were drawn (0, 1) and one of 100 of which 2 were (1, 1): (900 * .5 + 100 * 1) / 1000
    strata = Strata.of([1, 1, 2, 2], {1: 900, 2: 100})
    assert strata.weights.tolist() == [450, 450, 50, 50]
    assert weighted_mean([0, 1, 1, 1], strata).value == pytest.approx(0.55)
    share = weighted_share([0, 1, 1, 1], strata)
    assert share.value == pytest.approx(0.55)
    assert share.high - share.low > proportion([0, 1, 1, 1]).high - proportion([0, 1, 1, 1]).low


def test_with_equal_weights_nothing_changes():
    chance = np.random.default_rng(2)
    x, y = chance.integers(0, 20, 200).astype(float), chance.normal(size=200)
    alike = Strata.of([1] * 200, {1: 200})
    assert weighted_mean(y, alike).value == pytest.approx(y.mean())
    assert (weighted_share(x > 5, alike).low, weighted_share(x > 5, alike).high) == pytest.approx(
        (proportion(x > 5).low, proportion(x > 5).high)
    )
    assert weighted_spearman(x, y, alike, permutations=0).value == pytest.approx(spearman(x, y, resamples=0).value)


def test_a_weighted_rank_correlation_is_that_of_the_population():
    # each row stands for as many members as its weight says: written out, they have the plain correlation
    x, y, times = [1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 1.0, 5.0, 3.0, 4.0], [4, 1, 3, 1, 2]
    strata = Strata(np.arange(5), np.array(times, dtype=float))
    written_out = spearman(np.repeat(x, times), np.repeat(y, times), permutations=0, resamples=0)
    assert weighted_spearman(x, y, strata, permutations=0).value == pytest.approx(written_out.value)
    assert weighted_ranks(np.array([5.0, 1.0, 5.0]), np.array([1.0, 2.0, 3.0])).tolist() == [4.5, 1.5, 4.5]


def test_the_right_id_is_no_likelier_than_others_once_the_sample_is_reweighted():
    # A small bucket whose IDs (as early ones are) come before any other, a large one whose IDs come after: drawn alike
    # they look like knowledge, as the ontology has them there is none.
    chance = np.random.default_rng(0)
    number = np.repeat([1, 2], 100)
    frame = pd.DataFrame(
        {
            "count": np.where(number == 1, 1.0, 900.0), "correct": 0.0,
            "gold_preferred": np.where(number == 1, 0.48, 0.86) + 0.02 * chance.normal(size=200),
        }
    )  # fmt: skip
    for name in ontology_findings.KNOWLEDGE:
        frame[name] = frame.get(name, math.nan)
    strata = Strata.of(number.tolist(), {1: 9000, 2: 400})
    plain = by(ontology_findings.knowledge(frame, [], 0), "finding", "grp")["gold_preferred", "overall"]
    rows = by(ontology_findings.knowledge(frame, [], 0, strata), "finding", "grp")
    assert plain["value"] == pytest.approx(0.67, abs=0.01)
    whole = rows["gold_preferred", "overall"]
    assert whole["value"] == pytest.approx(0.496, abs=0.01)
    assert detail(whole)["sample"] == pytest.approx(plain["value"], abs=1e-3)


def test_what_is_not_reweighted_says_that_it_is_of_this_sample():
    rows = [finding_row(declared.finding("ontology", name), "overall", 1.0)
            for name in ("distinct_predictions", "gold_preferred", "bucket_accuracy")]  # fmt: skip
    ontology_findings.note_sample(rows, 130)
    assert [bool(row["reason"]) for row in rows] == [True, False, False]
    assert rows[0]["reason"] == "of this sample: at most 130 concepts of each popularity bucket"


@pytest.mark.parametrize(
    ("settings", "limit", "kind", "words"),
    [
        ({}, None, "whole", ""),
        ({"per_group": 50}, None, "per group", "of this sample: at most 50 items of each group"),
        ({"per_bucket": 130}, None, "per bucket", "at most 130 concepts of each popularity bucket, reweighted to all"),
        ({}, 20, "first", "of the first 20 items, which were not drawn"),
        ({"instances": 200}, None, "simple sample", "of this sample of at most 200 items"),
    ],
)
def test_a_run_says_how_its_items_were_drawn(settings, limit, kind, words):
    assert (design_of(settings, limit).kind, design_of(settings, limit).words) == (kind, words)


# Controls


def swapped(lost_change: float, kept_change: float) -> pd.DataFrame:
    chance = np.random.default_rng(8)
    lost = np.arange(60) < 20
    before = chance.uniform(4, 6, 60)
    change = np.where(lost, lost_change, kept_change) + 0.01 * chance.normal(size=60)
    return pd.DataFrame(
        {
            "kind": "cloze", "grp": "g", "benchmark": "lambada", "correct_before": 1.0,
            "correct_after": np.where(lost, 0.0, 1.0), "ips_before": before, "ips_after": before + change,
        }
    )  # fmt: skip


@pytest.mark.parametrize(("lost", "kept", "differs"), [(-0.20, -0.21, False), (-0.40, -0.10, True)])
def test_items_that_flip_are_compared_with_those_that_did_not(lost, kept, differs):
    rows = by(perturbation_findings._flips("lambada", swapped(lost, kept), {"setting": "NV"}), "finding")
    assert rows[("ips_of_lost",)]["value"] == pytest.approx(lost, abs=0.02)
    assert rows[("ips_of_kept",)]["value"] == pytest.approx(kept, abs=0.02)
    gap = rows[("ips_lost_less_kept",)]
    assert gap["value"] == pytest.approx(lost - kept, abs=0.01)
    assert (gap["high"] < -0.05) == differs


def test_rows_that_stand_for_nobody_have_no_mean_and_no_p():
    nobody = Strata(np.zeros(6), np.zeros(6))
    values = [0.0, 1.0, 1.0, 0.0, 1.0, 0.0]
    for found in (
        weighted_mean(values, nobody), weighted_share(values, nobody),
        weighted_spearman(values, range(6), nobody, permutations=10, resamples=10),
    ):  # fmt: skip
        assert np.isnan([found.value, found.low, found.p]).all() and found.reason.startswith("all weights are 0")
