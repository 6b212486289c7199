"""All data sets or tasks of a model in one picture, as papers draw them; and the prompts of judges, opened in place."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from explorer.settings import PRECOMPUTED
from explorer.similarity import judge
from explorer.similarity.replication import judge_prompt
from explorer.ui.icl import together
from explorer.ui.icl.figure_together import panels
from explorer.ui.memorization.figure_tasks import bars_by_task
from explorer.ui.perturbation.likeness import rows_of


def html_of(app) -> str:
    return "\n".join(element.proto.body for element in app.html if "<style>" not in element.proto.body)


@pytest.fixture
def shipped(bare_cache, monkeypatch):
    """An empty cache beside the runs that come along."""
    monkeypatch.setenv("EXPLORER_PRECOMPUTED", str(PRECOMPUTED))
    return bare_cache


@pytest.mark.shares_answers("shipped")
@pytest.mark.parametrize("picture", ["memorization", "matches", "performance"])
def test_all_data_sets_of_a_model_stand_in_one_picture(open_page, shipped, picture):
    app = open_page("in_context", shipped, model="gemma-3-270m", benchmark="trec", facet="All data sets",
                    picture=picture)  # fmt: skip
    assert not app.exception
    sentence = {"matches": "Exactly or nearly at most", "performance": "right labels rise on"}
    assert sentence.get(picture, "Of 6 data sets most comes back on") in html_of(app)
    assert len(app.get("plotly_chart")) == 1


def test_without_a_run_the_views_of_all_say_how_to_make_one(open_page, tmp_path):
    app = open_page("in_context", tmp_path, model="gemma-3-270m", benchmark="trec", facet="All data sets")
    assert not app.exception and "No in-context run" in html_of(app)
    app = open_page("memorization", tmp_path, benchmark="starter_causes", facet="All tasks")
    assert not app.exception and any("run memorization" in code.value for code in app.code)


@pytest.mark.shares_answers("shipped")
def test_all_tasks_of_memorization_stand_over_the_line_of_the_dummy(open_page, shipped):
    app = open_page("memorization", shipped, model="gemma-3-270m", benchmark="copa", facet="All tasks")
    assert not app.exception
    assert "macro-F1" in html_of(app) and "in any of 8 tasks" in html_of(app)


@pytest.mark.shares_answers("shipped")
def test_a_model_with_runs_of_no_published_task_is_told_so_and_not_that_it_has_none(open_page, shipped):
    app = open_page("memorization", shipped, model="glassbox-m", benchmark="starter_pairs", facet="All tasks")
    assert not app.exception
    assert "has memorization runs of other benchmarks only" in html_of(app) and "No memorization run" not in html_of(
        app
    )


@pytest.mark.shares_answers("shipped")
def test_likeness_of_all_tasks_stands_in_one_picture_and_a_judges_prompt_can_be_opened(open_page, shipped):
    app = open_page("perturbation", shipped, model="gemma-3-270m", benchmark="copa", facet="Full runs")
    assert not app.exception
    assert "Medians over 8 tasks" in html_of(app)
    app = open_page("perturbation", shipped, model="gemma-3-270m", benchmark="starter_causes", facet="Same meaning?")
    assert not app.exception
    assert any(code.value == judge.SYSTEM for code in app.code)
    app = open_page("in_context", shipped, model="gemma-3-270m", benchmark="trec", facet="Review verdicts")
    assert not app.exception
    assert any(code.value.startswith(judge_prompt("", "")[:200]) for code in app.code)


def test_a_panel_holds_a_line_a_name_and_kind():
    rows = pd.DataFrame(
        [
            {"down": "full", "across": across, "name": name, "kind": kind, "k": k, "value": 0.1, "low": 0.0,
             "high": 0.2, "n": 10}
            for across, name in (("A", "A"), ("B", "B"))
            for kind in ("both", "exact")
            for k in (0, 5)
        ]
    )  # fmt: skip
    figure = panels(rows, {"A": "#111111", "B": "#222222"}, down=["full"], across=["A", "B"], title="Share")
    assert [(trace.line.color, trace.line.dash, list(trace.x)) for trace in figure.data] == [
        (color, dash, [0, 5]) for color in ("#111111", "#222222") for dash in ("solid", "dot")
    ]
    assert all(list(trace.error_y.array) == pytest.approx([0.1, 0.1]) for trace in figure.data)


def test_names_that_share_a_panel_have_shapes_of_their_own_and_stand_aside():
    rows = pd.DataFrame(
        [
            {"down": "full", "across": "all", "name": name, "kind": "", "k": k, "value": 0.1, "low": 0.0, "high": 0.2,
             "n": 10}
            for name in ("A", "B")
            for k in (0, 10)
        ]
    )  # fmt: skip
    first, second = panels(rows, {"A": "#111111", "B": "#222222"}, down=["full"], across=["all"], title="Share").data
    assert first.marker.symbol != second.marker.symbol
    assert first.x[0] < 0 < second.x[0] and second.x[1] - first.x[1] < 0.2


def test_the_dummys_line_lies_over_each_bar_and_scores_that_decide_are_pale():
    rows = pd.DataFrame(
        [
            {"field": "Formal", "task": "T", "attack": "a", "value": 0.6, "dummy": 0.4, "n": 9, "decides": False},
            {"field": "Formal", "task": "T", "attack": "b", "value": 0.9, "dummy": 0.5, "n": 9, "decides": True},
        ]
    )
    first, second, line = bars_by_task(rows, ["Formal", "Functional"]).data
    assert (first.marker.opacity, second.marker.opacity) == (1.0, 0.55)
    assert list(line.y) == [0.4, 0.4, None, 0.5, 0.5, None]
    assert line.x[0] < first.x[0] < line.x[1]


def test_a_box_is_of_stored_quantiles_alone():
    found = pd.DataFrame(
        [
            {"grp": "copa", "finding": "bertscore", "value": 0.9, "n": 5,
             "detail": json.dumps({"quantiles": [0.1, 0.2, 0.3, 0.4, 0.5]})},
            {"grp": "piqa", "finding": "bertscore", "value": 0.9, "n": 5, "detail": None},
        ]
    )  # fmt: skip
    (row,) = rows_of(found).to_dict("records")
    assert (row["task"], row["least"], row["median"], row["greatest"]) == ("COPA", 0.1, 0.3, 0.5)


def test_each_picture_of_all_data_sets_has_its_own_sentence():
    def rows(name, what, *values):
        return [{"name": name, "what": what, "down": "Full", "k": k, "value": value, "n": 40} for k, value in values]

    shares = pd.DataFrame(
        [*rows("RTE", together.BOTH, (0, 0.1), (5, 0.3)), *rows("RTE", together.EXACT, (0, 0.0), (5, 0.1))]
    )
    assert together.exact_in_words(shares) == (
        "Exactly or nearly at most 30.0% come back (RTE, 5 demonstrations), word for word at most 10.0% (RTE, 5)."
    )
    both = shares[shares["what"] == together.BOTH]
    falling = pd.DataFrame(rows("RTE", "", (0, 0.5), (5, 0.4)))
    assert "rise on none of 1 data sets, and what is replicated on 1 of 1" in together.performance_in_words(
        falling, both
    )
