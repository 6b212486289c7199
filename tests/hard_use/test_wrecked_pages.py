"""A cache in which nearly everything is damaged: every page still comes up, and says what to do where it matters."""

from __future__ import annotations

import dataclasses
import shutil

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from explorer.benchmarks.tables import table
from explorer.popularity import count_cache
from explorer.runs.folder import RunFolder
from explorer.settings import ROOT
from explorer.ui.layout import PAGES
from explorer.variants import wordnet_files


@pytest.fixture
def wrecked(run, spoil, tmp_path):
    """A cache with one good run; a second run, an import, the counts, WordNet and a model folder are damaged."""
    settings, folder = run
    other = RunFolder.create(settings.runs, dataclasses.replace(folder.spec, seed=7))
    spoil(other.path / "spec.json", "cut")
    spoil(folder.path / "progress.json", "cut")
    spoil(next((folder.parts / "scores").glob("*.parquet")), "cut")
    path = tmp_path / "mine.csv"
    path.write_text("good,bad\nIt is.,It are.\n")
    kept = table.store_import(path, "mine", settings, table.guess_reading(path))
    spoil(kept.folder / table.MANIFEST, "cut")
    settings.counts.mkdir()
    (settings.counts / count_cache.FILE).write_bytes(b"no database at all, " * 99)
    words = settings.nltk_data / "corpora" / "wordnet"
    words.mkdir(parents=True)
    for name in wordnet_files.FILES:
        (words / name).write_text("half a li")
    model = shutil.copytree(folder.spec.model, tmp_path / "model")
    spoil(model / "model.safetensors", "cut")
    return settings, other, model


@pytest.mark.parametrize("page", PAGES, ids=[page.address for page in PAGES])
def test_a_page_over_a_wrecked_cache_comes_up(wrecked, page, monkeypatch, one_sentence):
    settings, other, model = wrecked
    app = opened(page.path, settings, monkeypatch, benchmark="starter_pairs", model=str(model), shown=other.run_id)
    assert not app.exception
    assert len(app.title) == 1
    for error in app.error:
        one_sentence(error.value)
    app.selectbox(key="pick:benchmark").set_value("imported_mine").run()
    assert not app.exception
    told = any("import.json is damaged" in one_sentence(error.value) for error in app.error)
    # What shows stored runs or a corpus alone does not read the table.
    stored_alone = ("overview", "corpus", "findings", "replication", "calibration", "trajectories", "runs", "data")
    assert told or page.address in stored_alone


def test_a_live_score_with_a_damaged_model_is_one_sentence(wrecked, monkeypatch, one_sentence):
    settings, _, model = wrecked
    app = opened("pages/instance.py", settings, monkeypatch, benchmark="starter_pairs", model=str(model))
    assert not app.exception
    assert [error for error in app.error if "it was cut short" in one_sentence(error.value)]


def test_a_variable_that_is_no_number_is_one_sentence_on_the_page(settings, monkeypatch, one_sentence):
    monkeypatch.setenv("EXPLORER_THREADS", "many")
    app = opened("pages/overview.py", settings, monkeypatch)
    assert not app.exception
    assert [one_sentence(error.value.replace("\\", "")) for error in app.error] == [  # as Markdown shows it
        "EXPLORER_THREADS is 'many', expected a number. Set it again or unset it."
    ]


def opened(path: str, settings, monkeypatch, **choices: str) -> AppTest:
    monkeypatch.setenv("EXPLORER_CACHE", str(settings.cache))
    monkeypatch.setenv("EXPLORER_OFFLINE", "1")
    monkeypatch.setattr("nltk.data.path", [])
    st.cache_data.clear()
    st.cache_resource.clear()
    app = AppTest.from_file(str(ROOT / path), default_timeout=60)
    for name, value in choices.items():
        app.query_params[name] = value
    return app.run()
