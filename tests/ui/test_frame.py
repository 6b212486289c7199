"""The frame of every page: the bar, the dialog that starts runs, the search, the tour, and addresses that are wrong."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.runs import pace
from explorer.runs.queue import RunInfo
from explorer.settings import ROOT
from explorer.settings import read as read_settings
from explorer.studies import STUDIES, study
from explorer.ui import page_list, progress, run_words, tour, wrong_address
from explorer.ui.layout import PAGES
from explorer.ui.runs import run_list

HERE = {"model": "gemma-3-270m", "benchmark": "starter_pairs"}


def keys(app: AppTest) -> set[str]:
    return {button.key for button in app.button if button.key}


def told(app: AppTest) -> str:
    return "\n".join(warning.value for warning in app.warning)


def html_of(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.html)


# The dialog that starts runs


def test_the_dialog_asks_for_the_essentials_and_folds_the_rest(open_page, tmp_path):
    app = open_page("popularity", tmp_path / "cache", **HERE)
    assert "run:start" not in keys(app)
    app.button(key="run:open").click().run()
    assert not app.exception
    labels = {box.label for kind in (app.selectbox, app.text_input, app.number_input) for box in kind}
    assert {"Study", "How much of it", "Corpus in which n-grams are counted"} <= labels
    assert "Seed" not in labels and "Ray cluster" not in labels
    assert "2,800 instances" in html_of(app)


def test_a_part_of_each_group_is_counted_and_asked_for(open_page, tmp_path):
    app = open_page("runs", tmp_path / "cache", **HERE)
    app.button(key="run:open").click().run()
    app.selectbox(key="run:accuracy:per_group").set_value(4).run()
    instances = {item.group for item in _instances("starter_pairs")}
    assert f"{4 * len(instances):,} instances" in html_of(app)
    assert any("--set per_group=4" in code.value for code in app.code)


def test_who_presses_run_twice_learns_that_the_run_is_here(open_page, cache, tiny_gpt2):
    app = open_page("overview", cache, model=str(tiny_gpt2), benchmark="starter_pairs")
    app.session_state["run:accuracy:per_group"] = 2  # as in the finished run
    app.button(key="run:open").click().run()
    app.button(key="run:start").click().run()
    assert not app.exception
    assert any("is here already" in info.value for info in app.info)


@pytest.mark.parametrize("name", STUDIES)
def test_every_setting_and_every_choice_of_a_study_has_a_name_in_words(name):
    for setting, meaning in study(name).settings.items():
        assert setting in run_words.LABELS
        for choice in meaning.choices:
            assert "_" not in run_words.choice(setting, choice)
    assert set(run_words.ESSENTIALS[name]) <= set(study(name).settings)


# How long a run takes


def info(**changes: object) -> RunInfo:
    standing = {
        "run_id": "accuracy-1", "study": "accuracy", "model": "gemma-3-270m", "benchmark": "starter_pairs",
        "status": "complete", "created": 1.0, "done": 100, "total": 100, "rate": 5.0, "eta": math.nan, "message": "",
    }  # fmt: skip
    return RunInfo(**{**standing, **changes})


def test_a_run_takes_as_long_as_the_last_one_of_the_same_model_and_study():
    runs = [info(), info(created=2.0, rate=10.0), info(study="priming", rate=1.0), info(rate=math.nan)]
    # 1,000 instances at 10 a second, after the start of the worker
    assert pace.expected_seconds(runs, "accuracy", "gemma-3-270m", "blimp", 1_000).seconds == 100 + pace.START


def test_a_run_on_the_same_texts_says_more_than_a_newer_one_on_others():
    runs = [info(rate=4.0), info(benchmark="blimp", created=2.0, rate=10.0)]
    assert pace.expected_seconds(runs, "accuracy", "gemma-3-270m", "starter_pairs", 100).seconds == 25 + pace.START


def test_another_models_run_is_scaled_by_the_sizes_of_the_two():
    from explorer.scoring import catalog

    large, small = (catalog.find(name).parameters for name in ("gemma-3-270m", "smollm2-135m-instruct"))
    found = pace.expected_seconds([info()], "accuracy", "smollm2-135m-instruct", "blimp", 1_000)
    assert found.seconds == pytest.approx(pace.START + 1_000 / (5.0 * large / small))


def test_a_model_of_unknown_size_without_a_run_has_no_time():
    assert pace.expected_seconds([info()], "accuracy", "some/model", "blimp", 10).in_words() == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(3, "a few seconds"), (30, "about half a minute"), (70, "about a minute"), (120, "about 2 minutes"),
     (3 * 3600, "about 3 hours"), (72 * 3600, "about 3 days")],
)  # fmt: skip
def test_a_time_is_said_as_people_say_it(seconds, words):
    assert pace.time_in_words(seconds) == words


# The state of runs


def test_the_bar_counts_what_runs_waits_and_is_done():
    live = [info(status="running"), info(status="queued"), info(status="queued")]
    assert progress.state_in_words(live, 14) == "1 running · 2 waiting"
    assert progress.state_in_words([], 1) == "1 run done"


def test_the_bar_shows_what_goes_on_before_what_waits_and_waiting_names_no_id(monkeypatch):
    waits = info(status="queued", created=3.0, message="waiting for memorization-a188f4ccfc6f")
    older, runs_now = info(status="queued", created=1.0), info(status="running", created=2.0)
    monkeypatch.setattr(progress.queue, "list_runs", lambda settings: [waits, older, runs_now, info()])
    assert progress.live_runs() == [runs_now, older, waits]
    assert progress.describe(waits) == "waiting for its turn" and progress.remark(waits) == ""
    assert progress.remark(info(status="interrupted", message=waits.message)) == ""
    assert progress.remark(info(status="failed", message="No such file.")) == "No such file."
    stopped = info(status="failed", created=9.0)
    listed = run_list.in_order([info(), stopped, waits, runs_now], {"starter_pairs": "Starter pairs"})
    assert listed == [waits, runs_now, stopped, info()]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Accuracy of Gemma 3 270M on Starter pairs is done: 100 instances."),
        ({"status": "cancelled", "done": 3}, "was cancelled after 3 of 100 instances, which are kept."),
        ({"status": "failed", "message": "The disk is full."}, "stopped: The disk is full."),
    ],
)
def test_the_end_of_a_run_is_one_sentence(changes, words):
    assert progress.end_in_words(info(**changes)).endswith(words)


def test_a_run_that_ends_is_told_with_a_link_until_it_is_put_away(open_page, cache, run_id, tiny_gpt2):
    app = open_page("overview", cache, model=str(tiny_gpt2), benchmark="starter_pairs")
    app.session_state["live"] = [run_id]
    app.run()
    assert "is done:" in html_of(app)
    assert any(link.proto.label == "See what it found" for link in app.get("link_button"))
    app.button(key=f"seen:{run_id}").click().run()
    assert "is done:" not in html_of(app)


@pytest.mark.parametrize("name", ["accuracy", "popularity", "memorization", "priming"])
def test_the_result_of_a_run_is_on_a_page_that_has_the_view(open_page, everything, name):
    from explorer.resources import Resources

    store = Resources(read_settings(cache=everything)).store()
    runs = store.frame("SELECT run_id, model, benchmark FROM runs WHERE study = ? AND status = 'complete'", [name])
    run = runs.iloc[0]
    title, view = page_list.RESULTS[name]
    app = open_page(
        page_list.find(title).address, everything, model=run["model"], benchmark=run["benchmark"],
        run=run["run_id"], **view,
    )  # fmt: skip
    assert not app.exception
    assert "No view is called" not in told(app)


def test_an_end_that_is_put_away_twice_is_away():
    def page() -> None:
        import streamlit as st

        from explorer.ui import progress

        ended = st.session_state.setdefault(progress.ENDED, ["one", "other"])
        progress.put_away("one")
        progress.put_away("one")  # a second click, before the page was drawn anew
        assert st.session_state[progress.ENDED] == ["other"] and "one" in ended

    assert not AppTest.from_function(page, default_timeout=60).run().exception


# Search, keys, tour


def palette_of(words: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The labels of what a search finds."""

    def page(words: str) -> None:
        from explorer.ui import palette

        palette.draw_results(words, "gemma-3-270m", "starter_pairs")

    monkeypatch.setenv("EXPLORER_CACHE", str(cache))
    app = AppTest.from_function(page, default_timeout=60, args=(words,)).run()
    assert not app.exception
    return [link.proto.label for link in app.get("link_button")]


def test_the_search_finds_a_page_an_instance_and_a_run(cache, run_id, monkeypatch):
    assert palette_of("prim", cache, monkeypatch)[0] == "Priming"
    (instance,) = palette_of("kin-01-1", cache, monkeypatch)
    assert instance
    assert any(label.startswith("Accuracy of") for label in palette_of("accuracy starter pairs", cache, monkeypatch))
    assert any(label.startswith("Accuracy of") for label in palette_of(run_id, cache, monkeypatch))
    assert palette_of("zzzz", cache, monkeypatch) == []
    assert palette_of("", cache, monkeypatch) == [page.title for page in PAGES]


def test_a_search_for_hundreds_of_thousands_of_words_holds_up_nobody(cache, run_id, monkeypatch):
    alone = palette_of("a", cache, monkeypatch)
    many = palette_of("a " * 300_000, cache, monkeypatch)  # AppTest waits a minute
    assert many == [label for label in alone if label not in {page.title for page in PAGES}]


def test_the_button_of_keys_lists_them(open_page, tmp_path):
    app = open_page("overview", tmp_path / "cache")
    app.button(key="lx-help").click().run()
    assert not app.exception
    assert "<kbd>Ctrl K</kbd>" in html_of(app)


def test_the_tour_goes_from_page_to_page_and_is_not_shown_again(monkeypatch, tmp_path):
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    for number, step in enumerate(tour.STEPS):
        assert app.title[0].value == step.page
        assert f"{number + 1} of {len(tour.STEPS)}" in html_of(app)
        if number + 1 < len(tour.STEPS):
            app.button(key="tour:next").click().run()
    app.button(key="tour:leave").click().run()
    assert "tour:leave" not in keys(app)
    again = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    assert "tour:leave" not in keys(again)


def test_the_tour_goes_along_with_who_opens_the_next_page_and_is_not_shown_to_who_follows_a_link(open_page, tmp_path):
    assert "tour:leave" not in keys(open_page("instance", tmp_path / "cache", **HERE))
    assert [tour._follow(page, tour.WAITING) for page in ("Instance", "Overview")] == [tour.WAITING, 0]
    assert [tour._follow(page, 0) for page in ("Overview", "Instance", "Findings")] == [0, 1, 0]
    assert tour._follow("Data and models", len(tour.STEPS) - 1) == len(tour.STEPS) - 1
    assert tour._follow("Overview", tour.LEFT) == tour.LEFT


def test_the_tour_can_be_left_at_its_first_step(open_page, tmp_path):
    app = open_page("overview", tmp_path / "cache", **HERE)
    app.button(key="tour:leave").click().run()
    assert "tour:next" not in keys(app) and not app.exception


# Wrong addresses


def test_an_unknown_benchmark_is_said_and_the_nearest_is_offered(open_page, tmp_path):
    app = open_page("overview", tmp_path / "cache", benchmark="blmip")
    assert told(app) == "No benchmark is called “blmip” here. Shown is Starter pairs."
    assert app.button(key="nearest:benchmark").label == "Show BLiMP"
    app.button(key="nearest:benchmark").click().run()
    assert app.selectbox(key="pick:benchmark").value == "blimp"
    assert told(app) == ""


def test_an_unknown_model_is_said_and_the_nearest_is_offered(open_page, tmp_path):
    app = open_page("overview", tmp_path / "cache", model="gema-3-270m", benchmark="starter_pairs")
    assert told(app) == "No model is called “gema-3-270m” here."
    app.button(key="nearest:model").click().run()
    assert app.selectbox(key="pick:model").value == "gemma-3-270m"


def test_an_unknown_run_is_said(open_page, cache, tiny_gpt2):
    app = open_page("instance", cache, model=str(tiny_gpt2), benchmark="starter_pairs", run="accuracy-000000000000")
    assert "No stored run is called “accuracy-000000000000” here." in told(app)


def test_a_run_of_another_model_is_said_and_offered_with_its_model(open_page, cache, run_id, tiny_gpt2):
    app = open_page("instance", cache, run=run_id, **HERE)
    assert "The run that the address asks for is of" in told(app)
    app.button(key="nearest:run").click().run()
    assert app.selectbox(key="pick:model").value == str(tiny_gpt2)
    assert app.query_params["benchmark"] == "starter_pairs" and told(app) == ""


@pytest.mark.parametrize(
    ("page", "name", "kind"),
    [("runs", "shown", "run"), ("findings", "finding", "view"), ("replication", "source", "source")],
)
def test_any_other_choice_that_is_not_there_is_said(open_page, cache, page, name, kind):
    app = open_page(page, cache, **{name: "zzzz"})
    assert f"No {kind} is called “zzzz” here. Shown is" in told(app)
    assert not re.search(r"-[0-9a-f]{12}", told(app)), "what is shown goes by its name, not by an id"
    assert not app.exception


def test_what_is_said_goes_with_the_next_choice(open_page, tmp_path):
    app = open_page("findings", tmp_path / "cache", finding="Grups")
    assert app.button(key="nearest:finding").label == "Show Groups"
    app.button_group(key="pick:finding").set_value("Two models").run()
    assert told(app) == ""


def test_the_nearest_is_found_by_name_and_by_title():
    titles = {"starter_pairs": "Starter pairs", "blimp": "BLiMP"}
    assert wrong_address.nearest("Starter pair", list(titles), titles.__getitem__) == "starter_pairs"
    assert wrong_address.nearest("qqq", list(titles), titles.__getitem__) == ""


def _instances(benchmark: str):  # type: ignore[no-untyped-def]
    from explorer.resources import Resources

    return Resources(read_settings()).instances(benchmark).instances
