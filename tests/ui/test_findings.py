"""The page on findings across studies: with runs of every study and without any, and what its pieces compute."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from explorer.results.measures import MEASURES
from explorer.settings import PRECOMPUTED
from explorer.studies.declared import COMPUTED_FROM
from explorer.ui import bos_note
from explorer.ui.findings import (
    correlations as findings_correlations,
)
from explorer.ui.findings import (
    groups as findings_groups,
)
from explorer.ui.findings import measure_table
from explorer.ui.findings import (
    models as findings_models,
)
from explorer.ui.findings import (
    scatter as findings_scatter,
)
from explorer.ui.layout import Chosen

VIEWS = ["Correlations", "Two measures", "Groups", "Two models"]
MODEL = "gemma-3-270m"
HERE = {"model": MODEL, "benchmark": "starter_pairs"}


def html_of(app) -> str:
    shown = [element.proto.body for element in app.html if "<style>" not in element.proto.body]
    return "\n".join([*shown, *(str(block.value) for block in app.code)])


@pytest.mark.shares_answers("everything")
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_shows_the_runs(open_page, everything, view):
    app = open_page("findings", everything, finding=view, **HERE)
    assert not app.exception and not app.error
    assert "lx-empty" not in html_of(app)
    assert len(app.get("plotly_chart")) == 1
    assert len(app.dataframe) >= 1


@pytest.mark.parametrize("view", VIEWS)
def test_without_runs_every_view_says_how_to_get_some(open_page, tmp_path, view):
    app = open_page("findings", tmp_path / "cache", finding=view, **HERE)
    assert not app.exception and not app.error
    assert "python -m explorer run" in html_of(app)


@pytest.mark.shares_answers("everything")
def test_the_page_says_that_pooled_correlations_compare_groups(open_page, everything):
    pooled = open_page("findings", everything, way="Pooled", **HERE)
    assert "mostly compare the groups" in html_of(pooled)
    within = open_page("findings", everything, **HERE)
    assert "differences between groups play no part" in html_of(within)


def test_correlations_are_computed_once_for_each_choice(open_page, everything, monkeypatch):
    asked = []
    real = findings_correlations.correlations
    monkeypatch.setattr(
        findings_correlations, "correlations", lambda *what, **how: asked.append(how["within"]) or real(*what, **how)
    )
    first = html_of(open_page("findings", everything, **HERE))
    assert html_of(open_page("findings", everything, **HERE)) == first
    open_page("findings", everything, way="Pooled", **HERE)
    assert asked == [True, False]


@pytest.mark.shares_answers("everything")
def test_a_link_brings_back_the_two_measures_and_the_group(open_page, everything):
    app = open_page("findings", everything, finding="Two measures", x="ips", y="perturbed_change", **HERE)
    assert app.selectbox(key="pick:x").value == "ips"
    assert app.selectbox(key="pick:y").value == "perturbed_change"
    group = app.selectbox(key="pick:group").options[1]
    app.selectbox(key="pick:group").set_value(group).run()
    again = open_page("findings", everything, **dict(app.query_params))
    assert again.selectbox(key="pick:group").value.replace("_", " ") == group
    assert len(again.dataframe[0].value) == 6


@pytest.mark.shares_answers("everything")
def test_each_instance_of_the_scatter_leads_to_its_dossier(open_page, everything):
    app = open_page("findings", everything, finding="Two measures", **HERE)
    listed = app.dataframe[0].value
    assert all(listed["look"].str.startswith("/instance?"))
    assert all("instance=starter_pairs" in look for look in listed["look"])


@pytest.mark.shares_answers("everything")
def test_a_dot_a_group(open_page, everything):
    app = open_page("findings", everything, finding="Two measures", dot="A group", **HERE)
    assert not app.exception
    assert len(app.dataframe[0].value) == 4


@pytest.mark.shares_answers("everything")
def test_hostile_choices_fall_back(open_page, everything):
    hostile = dict.fromkeys(("finding", "x", "y", "group", "color", "way", "most", "measured", "by", "first"), "<img>")
    app = open_page("findings", everything, **hostile, **HERE)
    assert not app.exception and "<img>" not in html_of(app)


@pytest.mark.shares_answers("everything")
def test_undecided_verdicts_are_told_where_accuracies_are(open_page, everything):
    app = open_page("findings", everything, finding="Two models", **HERE)
    assert "1 of 48 verdicts (2.1%) are undecided" in html_of(app)
    assert "undecided" in html_of(open_page("overview", everything, **HERE))


@pytest.mark.shares_answers("everything")
def test_two_models_are_compared_on_the_instances_of_both(open_page, everything):
    app = open_page("findings", everything, finding="Two models", **HERE)
    rows = app.dataframe[0].value
    assert rows["grp"].iloc[0] == "all instances"
    assert rows["n"].iloc[0] == rows["n"].iloc[1:].sum() == 24
    # the second model's margins are those of the first and something positive
    assert rows["margin"].iloc[0] > 0 and rows["margin_adjusted_p"].iloc[0] < 0.001


def test_the_matrix_is_scipys_spearman_on_the_pairs_that_have_both():
    rng = np.random.default_rng(6)
    a = rng.standard_normal(90)
    table = pd.DataFrame({"instance_id": map(str, range(90)), "grp": ["x", "y", "z"] * 30, "margin": a})
    table["ips"] = np.where(rng.random(90) < 0.2, np.nan, a + rng.standard_normal(90))
    (row,) = findings_correlations.correlations(table, ("margin", "ips"), within=False).to_dict("records")
    known = table.dropna()
    assert row["rho"] == pytest.approx(spearmanr(known["margin"], known["ips"]).statistic)
    assert row["n"] == len(known)
    assert row["low"] < row["rho"] < row["high"]
    (inside,) = findings_correlations.correlations(table, ("margin", "ips"), within=True).to_dict("records")
    assert inside["groups"] == 3


def test_a_sample_is_the_same_each_time_and_holds_what_most_runs_looked_at():
    table = pd.DataFrame(
        {"instance_id": [f"i{n}" for n in range(50)], "grp": "g", "phenomenon": "", "field": "",
         "margin": 1.0, "ips": [1.0 if n < 20 else np.nan for n in range(50)]}
    )  # fmt: skip
    runs = {"margin": "accuracy-1", "ips": "popularity-1"}
    drawn = findings_correlations.sample(table, 20, runs)
    assert set(drawn["instance_id"]) == {f"i{n}" for n in range(20)}
    assert list(drawn["instance_id"]) == list(findings_correlations.sample(table[::-1], 20, runs)["instance_id"])
    # what one run found of some instances only draws none of them
    alone = findings_correlations.sample(table, 20, dict.fromkeys(runs, "ontology-1"))
    assert set(alone["instance_id"]) == set(findings_correlations.sample(table, 20)["instance_id"])
    assert alone["ips"].isna().any()
    assert findings_correlations.sample(table, 0) is table


def test_group_means_have_intervals_that_hold_them():
    table = pd.DataFrame({"grp": ["a"] * 8 + ["b"] + ["c"] * 4, "value": [*map(float, range(8)), 3.0, 1, 2, 3, 4]})
    rows = findings_groups.means(table).set_index("grp")
    assert rows.loc["a", "value"] == pytest.approx(3.5)
    assert rows.loc["a", "low"] < 3.5 < rows.loc["a", "high"]
    assert np.isnan(rows.loc["b", "low"]) and rows.loc["b", "n"] == 1
    assert rows.loc["c", "value"] == pytest.approx(2.5) and np.isnan(rows.loc["c", "low"]), (
        "of four items none is drawn"
    )
    # 20 of 20 right: Wilson's lower end is 20 / (20 + 3.8415) = 0.8389, where resampling knows no other share
    (all_right,) = findings_groups.means(pd.DataFrame({"grp": ["a"] * 20, "value": [1.0] * 20})).to_dict("records")
    assert (all_right["low"], all_right["high"]) == (pytest.approx(0.8389, abs=1e-4), pytest.approx(1.0))


def test_what_was_picked_in_a_figure_is_read_once_each():
    points = [{"customdata": ["3", "x"]}, {"customdata": ["3", "x"]}, {"customdata": ["0", "y"]}, {}]
    assert findings_scatter.rows_of({"selection": {"points": points}}) == [3, 0]
    assert findings_scatter.rows_of(None) == []


def test_comparing_a_run_with_itself_finds_nothing():
    items = pd.DataFrame({"correct_a": [1.0, 0.0, 1.0], "margin_a": [1.0, -2.0, 0.5], "grp": ["g", "g", "h"]})
    items = items.assign(correct_b=items["correct_a"], margin_b=items["margin_a"])
    rows = findings_models.comparisons(items, "grp")
    assert (rows["difference"] == 0).all() and (rows["p"] == 1).all() and (rows["margin"] == 0).all()


def test_every_measure_says_its_unit_and_direction_and_asks_for_one_run():
    for name, measure in MEASURES.items():
        assert measure.title and measure.unit and measure.direction and measure.studies, name
        assert "$1" in measure.query and "?" not in measure.query, name


def test_what_survives_is_told_drawn_and_tabled(open_page, tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_PRECOMPUTED", str(PRECOMPUTED))
    here = {"model": MODEL, "benchmark": "copa"}
    app = open_page("findings", tmp_path / "cache", finding="What survives", **here)
    assert not app.exception and not app.error
    assert "with all else held" in html_of(app) and "There is no evidence for" in html_of(app)
    assert len(app.get("plotly_chart")) == 1 and len(app.dataframe) == 1
    assert "MIA loss" not in set(app.dataframe[0].value["title"]), "it shares the score with the verdict"
    chosen = open_page(
        "findings", tmp_path / "cache", finding="What survives", held="ips_difference,extraction_difference", **here
    )
    assert "computed from the numbers that decide the verdict" in html_of(chosen)


def test_what_survives_without_runs_says_which_run_is_needed(open_page, tmp_path):
    app = open_page("findings", tmp_path / "cache", finding="What survives", **HERE)
    assert not app.exception and "python -m explorer run popularity" in html_of(app)


def test_every_measure_knows_what_it_is_computed_from():
    assert set(MEASURES) <= set(COMPUTED_FROM)


def test_single_words_are_allowed_for_where_an_index_is_here(monkeypatch, settings):
    chosen = Chosen(MODEL, "starter_pairs")
    ids = ["starter_pairs/anaphor/1"]
    monkeypatch.setenv("EXPLORER_CACHE", str(settings.cache))
    assert measure_table.unigrams(ids, chosen) is None, "no index is built here"


def test_margins_under_different_beginning_tokens_are_told():
    spec = '{"settings": {"preset": "%s", "bos": "%s"}}'
    natural = bos_note.policy_of_run({"spec": spec % ("natural", "preset")})
    always = bos_note.policy_of_run({"spec": spec % ("natural", "always")})
    chatted = bos_note.policy_of_run({"spec": '{"settings": {"preset": "natural", "chat": "always"}}'})
    assert chatted == "as the model's chat template does"
    assert (natural, always) == ("the tokenizer's own", "always one")
    assert bos_note.policy_of_run({"spec": "{}"}) == ""
    assert bos_note.in_words({"A": natural, "B": natural}) == ""
    told = bos_note.in_words({"A": natural, "B": always})
    assert "A: the tokenizer's own; B: always one" in told and "verdicts, not nats" in told


def test_a_measure_counted_in_a_foreign_index_carries_its_mark(open_page, tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_PRECOMPUTED", str(PRECOMPUTED))
    app = open_page("findings", tmp_path / "cache", model=MODEL, benchmark="copa", frequency="left in")
    assert not app.exception
    assert "‡ counted in an index" in html_of(app)
    pairs = next(frame.value for frame in app.dataframe if "rho" in frame.value)
    assert any("IPS" in name and "‡" in name for name in pairs["first"])


def test_a_correlation_without_interval_says_so_in_the_sentence():
    pair = {
        "first": "IPS", "second": "Length", "rho": 0.95, "low": np.nan, "high": np.nan, "n": 160, "shared": "",
        "adjusted_p": 0.001,
    }  # fmt: skip
    told = findings_correlations.strongest(pd.DataFrame([pair]), within=True, allowed=())
    assert told.endswith("most clearly go together (Spearman's rho 0.95, no interval, n = 160).")
    assert "share no number, 1 goes together beyond chance" in told
    both = findings_correlations.strongest(pd.DataFrame([pair, pair]), within=True, allowed=())
    assert "share no number, 2 go together beyond chance" in both


def test_what_holds_of_these_items_alone_is_not_said_of_others():
    from explorer.stats.estimate import Estimate

    row = pd.Series({"first": 0.77, "second": 0.79, "n": 1000, "lost": 90, "gained": 110, "p": 0.0005}, dtype=object)
    names = ("SmolLM2", "Gemma")
    sure = findings_models.in_words(row, names, Estimate(0.02, 0.01, 0.03, 1000))
    assert sure.startswith("Gemma is right more often than SmolLM2 (79.0% against 77.0% of 1,000 shared instances;")
    wide = findings_models.in_words(row, names, Estimate(0.02, -0.003, 0.04, 1000))
    assert wide.startswith("On these items Gemma") and "no evidence that it would be on others" in wide
    assert "\u22120.3 to +4.0 points" in wide
