"""Every page, opened by its address: with a run and without; and what its controls do."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from explorer.records import RunSpec
from explorer.runs import queue
from explorer.runs.folder import RunFolder
from explorer.settings import ROOT
from explorer.settings import read as read_settings
from explorer.ui.layout import PAGES
from tests.ui.conftest import strip_of

ADDRESSES = [page.address for page in PAGES]


def html_of(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.html if "<style>" not in element.proto.body)


def links_of(app: AppTest) -> list[str]:
    """The labels of links to pages; a page that is run by itself draws them as buttons."""
    return [one.proto.label for kind in ("page_link", "link_button") for one in app.get(kind)]


def words_of(app: AppTest) -> str:
    shown = [
        element.value for kind in (app.title, app.header, app.subheader, app.markdown, app.error) for element in kind
    ]
    return "\n".join([*map(str, shown), html_of(app)])


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_opens_by_its_address_without_any_run(open_page, tmp_path, address):
    app = open_page(address, tmp_path / "cache")
    assert not app.exception
    assert not app.error
    assert len(app.title) == 1
    assert {box.label for box in app.main.selectbox} >= {"Model", "Benchmark"}
    assert not app.sidebar.selectbox and not app.sidebar.button  # the sidebar is for pages alone
    assert [button.label for button in app.button if button.key == "run:open"] == ["Run"]


@pytest.mark.shares_answers("cache")
@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_opens_by_its_address_with_a_run(open_page, cache, tiny_gpt2, address):
    app = open_page(address, cache, model=str(tiny_gpt2), benchmark="starter_pairs")
    assert not app.exception
    assert not app.error
    assert len(app.title) == 1


def test_the_whole_app_lists_every_page_and_goes_to_each(monkeypatch, tmp_path):
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    assert not app.exception
    for page in PAGES:
        app.switch_page(page.path).run()
        assert not app.exception
        assert app.title[0].value == page.title


@pytest.mark.parametrize("address", ["overview", "runs"])
def test_without_a_run_a_page_says_how_to_start_one(open_page, tmp_path, address):
    app = open_page(address, tmp_path / "cache")
    assert any(code.value.startswith("python -m explorer run accuracy") for code in app.code)


def test_an_unknown_benchmark_in_a_link_falls_back_to_the_default(open_page, tmp_path):
    app = open_page("overview", tmp_path / "cache", benchmark="no_such_thing")
    assert not app.exception
    assert app.selectbox(key="pick:benchmark").value == "starter_pairs"


def test_a_link_brings_back_what_was_chosen(open_page, cache, tiny_gpt2):
    app = open_page("instance", cache, model=str(tiny_gpt2), benchmark="starter_pairs")
    app.button(key="step:forth").click().run()
    app.button_group(key="pick:unit").set_value("bits").run()
    chosen = dict(app.query_params)
    assert chosen["unit"] == "bits"
    again = open_page("instance", cache, **chosen)
    assert dict(again.query_params) == chosen
    assert chosen["instance"] in html_of(again)
    assert strip_of(again)["key"]["label"] == "surprisal in bits"


def test_a_choice_is_kept_from_page_to_page(monkeypatch, tmp_path):
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    app.selectbox(key="pick:benchmark").set_value("starter_cloze").run()
    for page in reversed(PAGES):
        app.switch_page(page.path).run()
        assert app.selectbox(key="pick:benchmark").value == "starter_cloze"
        assert app.query_params["benchmark"] == "starter_cloze"


def test_a_stored_instance_is_shown_without_loading_the_model(open_page, cache, run_id, tiny_gpt2):
    app = open_page("instance", cache, model=str(tiny_gpt2), benchmark="starter_pairs", run=run_id)
    assert any(column["delta"] for column in strip_of(app)["blocks"][0]["columns"])
    assert "lx-verdict" in html_of(app)
    assert "score:now" not in {button.key for button in app.button}


def test_the_next_instance_and_back(open_page, cache, tiny_gpt2):
    app = open_page("instance", cache, model=str(tiny_gpt2), benchmark="starter_pairs")
    first = app.query_params["instance"]
    assert app.button(key="step:back").disabled
    app.button(key="step:forth").click().run()
    assert app.query_params["instance"] != first
    app.button(key="step:back").click().run()
    assert app.query_params["instance"] == first


def test_only_wrong_instances_with_the_largest_margin_first(open_page, cache, tiny_gpt2):
    app = open_page(
        "instance", cache, model=str(tiny_gpt2), benchmark="starter_pairs", verdict="wrong", order="largest margin"
    )
    assert "lx-wrong" in html_of(app)
    first = app.query_params["instance"]
    app.button(key="step:forth").click().run()
    assert "lx-wrong" in html_of(app)
    assert app.query_params["instance"] != first


def test_wrong_instances_are_one_click_away_and_all_of_them_another(open_page, cache, tiny_gpt2):
    app = open_page("instance", cache, model=str(tiny_gpt2), benchmark="starter_pairs")
    app.button(key="finder:wrong").click().run()
    assert not app.exception
    assert (app.selectbox(key="pick:verdict").value, app.selectbox(key="pick:order").value) == (
        "wrong", "smallest margin",
    )  # fmt: skip
    verdict = "\n".join(element.proto.body for element in app.html if "lx-verdict" in element.proto.body)
    assert "Wrong" in verdict
    app.button(key="finder:all").click().run()
    assert app.selectbox(key="pick:verdict").value == "in the run"


def test_words_in_the_search_narrow_the_list(open_page, tmp_path):
    app = open_page("instance", tmp_path / "cache", benchmark="starter_pairs")
    app.text_input(key="pick:words").set_value("kin-01-1").run()
    assert "<b>1 of 1</b> ·" in html_of(app)
    app.text_input(key="pick:words").set_value("zzzz not there").run()
    assert "No instance matches" in html_of(app)


def test_the_live_score_of_an_instance_is_that_of_the_run(open_page, cache, run_id, tiny_gpt2):
    stored = open_page("instance", cache, model=str(tiny_gpt2), benchmark="starter_pairs", run=run_id)
    name = stored.query_params["instance"]
    live = open_page("instance", cache, model=str(tiny_gpt2), benchmark="starter_pairs", run="", instance=name)
    live.selectbox(key="pick:run").set_value("").run(timeout=120)
    assert not live.exception
    assert _numbers(stored) == _numbers(live)


def _numbers(app: AppTest) -> list[tuple[str, str]]:
    """Every token of the strip with its surprisal."""
    columns = strip_of(app)["blocks"][0]["columns"]
    return [(cell["text"], cell["number"]) for column in columns for cell in column["cells"] if cell]


def test_run_writes_a_spec_and_starts_a_worker(open_page, tmp_path, tiny_gpt2, monkeypatch):
    started = []
    monkeypatch.setattr(queue, "start_worker", lambda settings, folder: started.append(folder.run_id))
    app = open_page("overview", tmp_path / "cache", model=str(tiny_gpt2), benchmark="starter_pairs")
    app.session_state["run:limit"] = 5
    app.button(key="run:open").click().run()
    app.button(key="run:start").click().run()
    assert not app.exception
    assert "run:start" not in {button.key for button in app.button}  # the dialog is closed
    (run,) = queue.list_runs(read_settings())
    assert started == [run.run_id]
    assert (run.study, run.model, run.benchmark) == ("accuracy", str(tiny_gpt2), "starter_pairs")
    assert any("1 waiting" in link for link in links_of(app))


def test_a_model_that_is_not_there_is_told_in_one_sentence(open_page, tmp_path):
    app = open_page("overview", tmp_path / "cache", model="nobody/nothing", benchmark="starter_pairs")
    app.button(key="run:open").click().run()
    app.button(key="run:start").click().run()
    assert not app.exception
    assert len(app.error) == 1


def test_a_run_shows_what_it_found_and_can_be_deleted(open_page, cache, run_id, tmp_path, tiny_gpt2):
    import shutil

    copy = tmp_path / "cache"
    shutil.copytree(cache, copy)
    app = open_page("runs", copy, shown=run_id)
    assert "Accuracy" in {metric.label for metric in app.metric}
    app.button(key="run:really").click().run()
    assert not app.exception
    assert not queue.list_runs(read_settings())
    assert "No run yet" in html_of(app)


def test_a_run_is_headed_by_the_title_of_its_study(open_page, tmp_path):
    folder = RunFolder.create(tmp_path / "cache" / "runs", RunSpec("icl", 1, "m", "starter_pairs"))
    app = open_page("runs", tmp_path / "cache", shown=folder.run_id)
    assert not app.exception
    assert app.subheader[0].value.startswith("In-context memorization")


def test_a_run_of_a_study_that_is_not_known_here_is_headed_by_its_id_and_says_so(open_page, tmp_path):
    folder = RunFolder.create(tmp_path / "cache" / "runs", RunSpec("later", 1, "m", "starter_pairs"))
    app = open_page("runs", tmp_path / "cache", shown=folder.run_id)
    assert not app.exception
    assert app.subheader[0].value == folder.run_id.replace("-", "\\-") or app.subheader[0].value == folder.run_id
    assert "study: is none of accuracy, popularity" in html_of(app)
    assert app.button(key="run:really")


def test_two_runs_are_needed_for_a_comparison(open_page, cache):
    app = open_page("runs", cache, view="Compare")
    assert "Two runs are needed" in html_of(app)


def test_an_instance_outside_the_run_stays_until_someone_filters(open_page, cache, run_id, tiny_gpt2):
    inside = open_page("instance", cache, model=str(tiny_gpt2), benchmark="starter_pairs", verdict="in the run")
    listed = open_page("instance", cache, model=str(tiny_gpt2), benchmark="starter_pairs", verdict="whole benchmark")
    names = set()
    for _ in range(6):
        names.add(listed.query_params["instance"])
        listed.button(key="step:forth").click().run()
    for _ in range(4):
        names.discard(inside.query_params["instance"])
        inside.button(key="step:forth").click().run()
    outside = sorted(names)[0]
    app = open_page("instance", cache, model=str(tiny_gpt2), benchmark="starter_pairs", instance=outside)
    app.button_group(key="pick:unit").set_value("bits").run()
    assert app.query_params["instance"] == outside
    app.selectbox(key="pick:verdict").set_value("right").run()
    assert app.query_params["instance"] != outside


@pytest.mark.parametrize("address", ["overview", "instance", "runs", "data"])
def test_a_hostile_link_is_shown_as_text(open_page, tmp_path, address):
    hostile = "<img src=x onerror=alert(1)>[x](javascript:alert(1))"
    choices = dict.fromkeys(
        ("model", "benchmark", "instance", "run", "words", "group", "unit", "view", "shown"), hostile
    )
    app = open_page(address, tmp_path / "cache", **choices)
    assert not app.exception
    assert "<img" not in html_of(app)
    assert not any("](javascript" in button.label.replace("\\]", "") for button in app.button)
