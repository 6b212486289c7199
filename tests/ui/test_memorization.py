"""The page on memorization, over a stored run and without one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from explorer.resources import Resources
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from explorer.settings import Settings
from explorer.studies.memorization import queries


@pytest.fixture(scope="module")
def runs(tiny_gpt2: Path, tmp_path_factory) -> Path:
    """A cache with a finished memorization run, without neighbours."""
    settings = Settings(cache=tmp_path_factory.mktemp("memorization"), offline=True)
    resources = Resources(settings)
    given = {"per_group": 2, "neighbours": 0}
    spec = make_spec(resources, study="memorization", model=str(tiny_gpt2), benchmark="starter_pairs", settings=given)
    folder = RunFolder.create(settings.runs, spec)
    assert work(folder, resources, lambda text: None, wait=False) == "complete", folder.progress().message
    return settings.cache


def words_of(app) -> str:
    return "\n".join(element.proto.body for element in app.html)


@pytest.mark.shares_answers("runs")
@pytest.mark.parametrize(
    ("facet", "said"),
    [
        ("Scores", "made no neighbors"),
        ("Classifiers", "majority dummy"),
        ("Low and high", "ties go to the low half"),
    ],
)
def test_each_view_shows_a_stored_run(open_page, runs, tiny_gpt2, facet, said):
    app = open_page("memorization", runs, model=str(tiny_gpt2), benchmark="starter_pairs", facet=facet)
    assert not app.exception and not app.error
    assert said in words_of(app)
    assert len(app.dataframe) >= 1


@pytest.mark.shares_answers("runs")
def test_every_attack_has_a_mean_of_right_and_other_texts(open_page, runs, tiny_gpt2):
    app = open_page("memorization", runs, model=str(tiny_gpt2), benchmark="starter_pairs")
    means = table_of(app, "attack")
    assert {"TDE accuracy", "MIA loss", "Min-k %"} <= set(means["attack"])
    assert {"right text", "other text"} <= set(means["side"])


def table_of(app, column):
    return next(one.value for one in app.dataframe if column in one.value)


def test_a_second_visit_reads_and_draws_no_scores_again(open_page, runs, tiny_gpt2, monkeypatch):
    read = []
    real = queries.items
    monkeypatch.setattr(queries, "items", lambda *what: read.append(what) or real(*what))
    first = open_page("memorization", runs, model=str(tiny_gpt2), benchmark="starter_pairs")
    again = open_page("memorization", runs, model=str(tiny_gpt2), benchmark="starter_pairs")
    assert len(read) == 1 and words_of(again) == words_of(first)
    assert len(again.get("plotly_chart")) == len(first.get("plotly_chart"))


@pytest.mark.shares_answers("runs")
def test_the_instances_shown_are_those_of_the_chosen_group(open_page, runs, tiny_gpt2):
    app = open_page("memorization", runs, model=str(tiny_gpt2), benchmark="starter_pairs")
    every = table_of(app, "own")
    app.selectbox(key="pick:of").select_index(len(app.selectbox(key="pick:of").options) - 1).run()
    own = table_of(app, "own")
    assert 0 < len(own) < len(every)
    assert len(own) == table_of(app, "attack")["n"].max()


def test_without_a_run_the_page_gives_the_command_of_one(open_page, tmp_path):
    app = open_page("memorization", tmp_path / "cache", benchmark="starter_causes")
    assert any(
        "python -m explorer run memorization --model gemma-3-270m --benchmark starter_causes" in code.value
        for code in app.code
    )


@pytest.mark.shares_answers("runs")
def test_an_auc_of_minimal_pairs_is_said_to_follow_by_definition(open_page, runs, tiny_gpt2):
    app = open_page("memorization", runs, model=str(tiny_gpt2), benchmark="starter_pairs", facet="Classifiers")
    assert "decides a minimal pair by definition" in words_of(app)


def test_every_attack_says_what_it_is_computed_from():
    from explorer.studies.memorization import declared
    from explorer.studies.memorization.membership import MIN_K_PLUS, RECALL
    from explorer.studies.memorization.rows import ATTACKS

    assert set(declared.COMPUTED_FROM) == {*ATTACKS, MIN_K_PLUS, RECALL}
    assert all(declared.COMPUTED_FROM.values())


def test_the_largest_area_without_an_interval_is_no_evidence():
    from explorer.ui.memorization import run

    row = {"attack": "Min-k %", "auc": 0.9, "low": np.nan, "high": np.nan, "n": 30, "decides": False}
    told = run._best_of(pd.DataFrame([row]))
    assert told.endswith("Min-k % has the largest area: AUC 0.90, no interval, n = 30.")
