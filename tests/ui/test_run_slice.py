"""The dialog Run takes a slice that was kept: as what is run on, and in the command that does the same."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from explorer import settings as settings_module
from explorer.runs import queue, slices

IDS = [f"starter_pairs/anaphor_gender/kin-01-{number}" for number in (1, 2)]


def words_of(app) -> str:
    return " ".join(element.value for kind in ("html", "markdown") for element in app.get(kind) if element.value)


def test_a_kept_slice_is_what_is_run_on(open_page, tmp_path, monkeypatch):
    settings = settings_module.read(cache=tmp_path)
    slices.store_slice(settings, "two pairs", "starter_pairs", IDS)
    asked = []
    monkeypatch.setattr(queue, "submit", lambda settings, spec, *rest, **named: asked.append(spec) or "none")
    app = open_page("runs", tmp_path, model="glassbox-m", benchmark="starter_pairs")
    app.button(key="run:open").click().run()
    field = app.selectbox(key="run:slice:starter_pairs")
    assert field.value == "" and field.options == ["All instances", "two-pairs (2 instances)"]
    assert "2,800 instances" in words_of(app)
    field.set_value("two-pairs").run()
    assert "2 instances of the slice “two-pairs”" in words_of(app)
    assert any("--slice two-pairs" in code.value for code in app.code)
    app.button(key="run:start").click().run()
    (spec,) = asked
    assert spec.settings["only"] == IDS


def test_the_slice_that_the_page_is_narrowed_to_is_chosen_first(open_page, tmp_path):
    slices.store_slice(settings_module.read(cache=tmp_path), "two pairs", "starter_pairs", IDS)
    app = open_page("instance", tmp_path, model="glassbox-m", benchmark="starter_pairs", slice="two-pairs")
    app.button(key="run:open").click().run()
    assert app.selectbox(key="run:slice:starter_pairs").value == "two-pairs"


def test_without_a_slice_of_the_benchmark_there_is_no_field(open_page, tmp_path):
    slices.store_slice(settings_module.read(cache=tmp_path), "two pairs", "starter_pairs", IDS)
    app = open_page("runs", tmp_path, model="glassbox-m", benchmark="starter_causes")
    app.button(key="run:open").click().run()
    assert not [one for one in app.selectbox if str(one.key).startswith("run:slice")]


def test_two_visitors_who_keep_under_one_name_are_told_of_each_other(tmp_path, monkeypatch):
    def page(ids: list[str]) -> None:
        from explorer.ui import slices

        slices.offer(ids, "starter_pairs", "mine", "x")

    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path))
    first, second = (AppTest.from_function(page, default_timeout=60, args=(ids,)).run() for ids in (IDS, IDS[:1]))
    first.button(key="slice:x:keep").click().run()
    second.button(key="slice:x:keep").click().run()
    kept = slices.of_benchmark(settings_module.read(cache=tmp_path), "starter_pairs")
    assert [(one.name, list(one.ids)) for one in kept] == [("mine", IDS)]
    assert "Somebody has kept 2 other instances" in words_of(second)
    assert "would take its place for everybody" in words_of(second)
    # What is typed and clicked at once is what counts, and who was told may replace.
    second.text_input(key="slice:x:name").set_value("other one")
    second.button(key="slice:x:keep").click().run()
    assert slices.find(settings_module.read(cache=tmp_path), "other-one") is not None
    second.text_input(key="slice:x:name").set_value("mine").run()
    second.button(key="slice:x:keep").click().run()
    found = slices.find(settings_module.read(cache=tmp_path), "mine")
    assert found is not None and list(found.ids) == IDS[:1]
