"""The dossier of an instance: every study's numbers, differing texts, and what to do where nothing is stored."""

from __future__ import annotations

import dataclasses
import shutil

import pytest
from streamlit.testing.v1 import AppTest

from explorer import settings as settings_module
from explorer.records import RunSpec
from explorer.resources import Resources
from explorer.results import store
from explorer.rows.builders import instance_row, measure_row
from explorer.runs.folder import RunFolder
from explorer.settings import ROOT
from explorer.ui import resources
from explorer.ui.dossier import dossier, dossier_swaps, picture
from explorer.ui.dossier.dossier_popularity import popularity_in_words
from explorer.ui.layout import Chosen

MODEL = "gemma-3-270m"
HERE = {"model": MODEL, "benchmark": "starter_pairs"}


def html_of(app) -> str:
    return "\n".join(element.proto.body for element in app.html if "<style>" not in element.proto.body)


@pytest.fixture
def first(everything) -> str:
    """The id of an instance that every run looked at."""
    settings = settings_module.read(cache=everything)
    return Resources(settings).instances("starter_pairs").instances[0].id


@pytest.fixture
def numbers(monkeypatch, everything, first) -> AppTest:
    """The page of that instance with the numbers opened."""
    monkeypatch.setenv("EXPLORER_CACHE", str(everything))
    app = AppTest.from_file(str(ROOT / "pages" / "instance.py"), default_timeout=60)
    for name, value in {"instance": first, **HERE}.items():
        app.query_params[name] = value
    app.session_state[dossier.NUMBERS] = True
    return app.run()


def test_a_dossier_is_a_picture_with_a_row_a_study(open_page, everything, first):
    app = open_page("instance", everything, instance=first, **HERE)
    assert not app.exception and not app.error
    assert "What the stored runs say about this instance" in {header.value for header in app.header}
    shown = html_of(app)
    rows = ("Unchanged", "Swapped words", "Priming", "Memorization", "Popularity")
    places = [shown.index(f'lx-section">{row}<') for row in rows]
    assert places == sorted(places)
    ids = " ".join(str(chart.proto.id) for chart in app.get("plotly_chart"))
    assert all(f"dossier {row}" in ids for row in rows)
    assert "With cat → feline the verdict" in shown
    assert shown.count('class="lx-models"') == 1


def test_the_models_stand_side_by_side_the_chosen_one_first(open_page, everything, first):
    for model, name in ((MODEL, "Gemma 3 270M"), ("smollm2-135m-instruct", "SmolLM2 135M Instruct")):
        app = open_page("instance", everything, instance=first, model=model, benchmark="starter_pairs")
        key = html_of(app).partition('class="lx-models">')[2]
        assert key.partition("</span>")[2].startswith(name)


def test_no_table_is_seen_before_the_numbers_are_opened(open_page, everything, first, numbers):
    folded = open_page("instance", everything, instance=first, **HERE)
    assert not [table for table in folded.dataframe if "verdict" in table.value]
    titles = {element.value for element in numbers.subheader}
    assert titles >= {"Verdicts", "Popularity", "Swapped words", "Priming", "Memorization"}
    assert "The numbers: 6 stored runs of 2 models" in [one.label for one in numbers.expander]
    verdicts = next(table.value for table in numbers.dataframe if "verdict" in table.value and "margin" in table.value)
    assert set(verdicts["study"]) == {"accuracy", "popularity", "perturbation"}
    assert len(verdicts) == 4
    assert all(verdicts["run"].str.startswith("/runs?shown="))


def test_popularity_names_its_reference_set_one_at_a_time(numbers):
    box = numbers.selectbox(key="pick:reference")
    assert box.options == ["3-grams of all options of 24 pairs, counted in the demonstration index of earlier versions"]


def test_priming_is_drawn_from_the_baseline_on(numbers):
    assert any("dossier_priming" in str(chart.proto.id) for chart in numbers.get("plotly_chart"))


def test_margins_that_agree_are_drawn_once(everything, first, monkeypatch):
    monkeypatch.setenv("EXPLORER_CACHE", str(everything))
    held = resources.ask_shared(dossier.gather, first, None)
    assert len(held.of(("accuracy", "popularity", "perturbation")).runs) == 4  # three of one model, one of another
    colors = {"Gemma 3 270M": "#000000", "SmolLM2 135M Instruct": "#ffffff"}
    row = picture.draw_verdicts(held, colors, Chosen(MODEL, "starter_pairs"))
    assert row and [len(trace.x) for trace in row.figure.data] == [1, 1]


def test_swaps_are_told_in_words():
    assert dossier_swaps.describe('{"swaps": [{"original": "cat", "substitute": "feline"}]}') == "cat → feline"
    assert dossier_swaps.describe('{"swaps": [{"lemma": "be", "substitute": "exist"}]}') == "be → exist"
    assert dossier_swaps.describe(None) == ""


def test_nothing_stored_says_how_to_get_it(open_page, tmp_path):
    app = open_page("instance", tmp_path / "cache", **HERE)
    assert "Nothing is stored about this instance yet" in html_of(app)
    assert any("python -m explorer run accuracy" in block.value for block in app.code)


def test_a_run_that_saw_another_text_is_warned_of(open_page, everything, first, tmp_path):
    cache = tmp_path / "cache"
    shutil.copytree(everything, cache)
    settings = settings_module.read(cache=cache)
    known = next(one for one in Resources(settings).instances("starter_pairs").instances if one.id == first)
    other = dataclasses.replace(known, options=("Another text.", "Another texts."))
    folder = RunFolder.create(settings.runs, RunSpec("accuracy", 1, "other", "starter_pairs", settings={"preset": "x"}))
    folder.write_part(
        0, 0, {"instances": [instance_row(other, 0)], "measures": [measure_row(other.id, "correct", 1.0)]}
    )
    folder.write_progress(status="complete", total=1)
    store.ingest_runs(settings, [folder])
    app = open_page("instance", cache, instance=first, **HERE)
    (warning,) = [str(one.value) for one in app.warning]
    assert "1 of these runs saw another text" in warning and folder.run_id in warning


def test_where_the_text_is_not_here_the_numbers_still_are(open_page, tmp_path):
    """A benchmark that is not on this machine, known from a stored run alone."""
    settings = settings_module.read(cache=tmp_path / "cache")
    name = "copa_superglue/cause/1"
    folder = RunFolder.create(settings.runs, RunSpec("accuracy", 1, MODEL, "copa_superglue", settings={"preset": "x"}))
    row = {
        "instance_id": name, "benchmark": "copa_superglue", "split": "validation", "grp": "cause", "phenomenon": "",
        "field": "functional", "kind": "choice", "gold": 0, "label": "", "text_hash": "f" * 16, "position": 0,
        "payload": None,
    }  # fmt: skip
    measures = [measure_row(name, "correct", 1.0), measure_row(name, "margin", 2.5)]
    folder.write_part(0, 0, {"instances": [row], "measures": measures})
    folder.write_progress(status="complete", total=1)
    store.ingest_runs(settings, [folder])
    app = open_page("instance", settings.cache, model=MODEL, benchmark="copa_superglue")
    assert not app.exception and not app.error
    assert "are not on this machine" in html_of(app)
    assert "Gemma 3 270M is right by 2.50 nats." in html_of(app)
    assert app.query_params["instance"] == name
    app.text_input(key="pick:words").set_value("nowhere").run()
    assert "No instance matches" in html_of(app)


def test_an_unknown_model_is_not_offered(open_page, tmp_path):
    app = open_page("instance", tmp_path / "cache", model="zzz", benchmark="starter_pairs")
    assert "The model zzz cannot be asked: nothing is known by this name" in html_of(app)
    assert not any("Score with" in button.label for button in app.button)


def test_the_dialog_opens_with_the_pages_own_study(open_page, tmp_path):
    for page, study in (("popularity", "popularity"), ("priming", "priming"), ("perturbation", "perturbation")):
        app = open_page(page, tmp_path / "cache", **HERE)
        app.button(key="run:open").click().run()
        assert app.selectbox(key="pick:study").value == study
    asked = open_page("popularity", tmp_path / "cache", study="priming", **HERE)
    asked.button(key="run:open").click().run()
    assert asked.selectbox(key="pick:study").value == "priming"


def test_a_study_chosen_elsewhere_does_not_follow_to_a_page_of_its_own(monkeypatch, tmp_path):
    from streamlit.testing.v1 import AppTest

    from explorer.settings import ROOT

    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    app.button(key="run:open").click().run()
    app.selectbox(key="pick:study").set_value("priming").run()
    del app.query_params["study"]  # the links of the sidebar carry model and benchmark alone
    app.switch_page("pages/popularity.py").run()
    assert "pick:study" not in {box.key for box in app.selectbox}  # nor does the open dialog follow
    app.button(key="run:open").click().run()
    assert app.selectbox(key="pick:study").value == "popularity"


def test_a_difference_of_popularity_is_told_from_the_option_that_it_is_divided_by():
    # scores 8 and 4: (8 - 4) / 8 = 50 %, which is not "the right one is 50 % more popular"
    assert popularity_in_words(0.5, 1) == "The other option's popularity score lies 50.0% below the right option's"
    assert (
        popularity_in_words(-0.25, 3) == "The other options' mean popularity score lies 25.0% above the right option's"
    )
    assert popularity_in_words(0.0, 2) == "The right option is as popular as the others"
