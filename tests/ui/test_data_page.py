"""Models, benchmarks and the import of a reader's own table."""

from __future__ import annotations

import threading
import time

import pytest
from streamlit.testing.v1 import AppTest

from explorer import benchmarks
from explorer.settings import read as read_settings
from explorer.ui import jobs, visitor

PAIRS = b"sentence_good,sentence_bad,phenomenon\nIt is.,It are.,number\n<script>x</script>,<b>They is.</b>,number\n"
LONE = b"wort,satz_a,satz_b\n1,Es ist.,Es sind.\n2,Sie sind.,Sie ist.\n"


def html_of(app) -> str:
    return "\n".join(element.proto.body for element in app.html if "<style>" not in element.proto.body)


def test_the_embedded_models_stand_with_their_terms(open_page, tmp_path):
    app = open_page("data", tmp_path / "cache")
    assert "Gemma Terms of Use" in html_of(app)
    assert {"prepare:gemma-3-270m", "prepare:smollm2-135m-instruct"} <= {button.key for button in app.button}


def test_a_missing_benchmark_says_which_file_to_put_where(open_page, tmp_path):
    app = open_page("data", tmp_path / "cache", shelf="Benchmarks", benchmark="copa")
    assert "copa" in html_of(app)
    assert str(tmp_path / "cache" / "data") in html_of(app)
    assert "download:copa" in {button.key for button in app.button}


def test_a_download_without_a_network_is_told_in_the_page(open_page, tmp_path):
    app = open_page("data", tmp_path / "cache", shelf="Benchmarks", benchmark="copa")
    app.button(key="download:copa").click().run()
    _wait_until_idle()
    told = [error.value for error in app.error] or [error.value for error in app.run().error]
    assert not app.exception
    assert len(told) == 1
    assert "COPA" in told[0]


def test_a_table_is_guessed_shown_and_kept(open_page, tmp_path):
    app = open_page("data", tmp_path / "cache", shelf="Import a table")
    app.file_uploader(key="import:file").set_value(("My pairs.csv", PAIRS, "text/csv")).run()
    assert not app.exception
    assert "2 instances (minimal pairs) in 1 group" in html_of(app)
    assert app.text_input(key="import:name").value == "my_pairs"
    assert "Language: unknown. Only a guess: " in html_of(app)
    next(box for box in app.selectbox if box.label == "Language").set_value("de").run()
    assert "Language: German." in html_of(app)
    app.button(key="import:store").click().run()
    assert not app.exception
    assert benchmarks.find("imported_my_pairs", read_settings()).language == "de"
    listed = open_page("data", tmp_path / "cache", shelf="Benchmarks", benchmark="imported_my_pairs")
    assert "Language: German" in html_of(listed)

    looked = open_page("instance", tmp_path / "cache", benchmark="imported_my_pairs")
    assert not looked.exception
    looked.button(key="step:forth").click().run()
    assert "2 of 2" in html_of(looked) and "<script>x" not in html_of(looked)


def test_a_table_imported_again_under_its_name_replaces_the_older_one(open_page, tmp_path):
    for rows, shown in ((PAIRS, "1 of 2"), (PAIRS.partition(b"<script>")[0], "1 of 1")):
        app = open_page("data", tmp_path / "cache", shelf="Import a table")
        app.file_uploader(key="import:file").set_value(("mine.csv", rows, "text/csv")).run()
        app.button(key="import:store").click().run()
        assert shown in html_of(open_page("instance", tmp_path / "cache", benchmark="imported_mine"))


def test_columns_that_tell_nothing_can_be_named(open_page, tmp_path):
    app = open_page("data", tmp_path / "cache", shelf="Import a table")
    app.file_uploader(key="import:file").set_value(("saetze.csv", LONE, "text/csv")).run()
    assert len(app.error) == 1
    kind = next(box for box in app.selectbox if box.label == "What it holds")
    kind.set_value("pair").run()
    assert not app.exception
    next(box for box in app.selectbox if box.label == "Acceptable sentence").set_value("satz_a")
    next(box for box in app.selectbox if box.label == "Unacceptable sentence").set_value("satz_b")
    app.run()
    assert not app.error
    assert "2 instances" in html_of(app)


def test_a_file_that_is_no_table_is_told_in_one_sentence(open_page, tmp_path):
    app = open_page("data", tmp_path / "cache", shelf="Import a table")
    app.file_uploader(key="import:file").set_value(("x.json", b"{not json", "application/json")).run()
    assert not app.exception
    assert len(app.error) == 1


def test_a_failed_download_names_no_folder_of_the_server_to_a_visitor(open_page, tmp_path, monkeypatch):
    app = open_page("data", tmp_path / "cache", shelf="Benchmarks", benchmark="copa")
    app.button(key="download:copa").click().run()
    _wait_until_idle()
    told = [error.value for error in app.error] or [error.value for error in app.run().error]
    assert str(tmp_path) in told[0].replace("\\", "")
    monkeypatch.setattr(visitor, "role", lambda: "visitor")
    app = open_page("data", tmp_path / "cache", shelf="Benchmarks", benchmark="copa")
    app.button(key="download:copa").click().run()
    _wait_until_idle()
    told = [error.value for error in app.error] or [error.value for error in app.run().error]
    assert len(told) == 1 and str(tmp_path) not in told[0].replace("\\", "")
    assert "COPA" in told[0] and "Whoever runs this app" in told[0]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The hub did not answer. Try again.", "The hub did not answer. Try again."),
        ("See https://a.b/c/d for it.", "See https://a.b/c/d for it."),
        ("It is full. Put it into /srv/x/y first.", "It is full. Whoever runs this app can see the whole message."),
        ("C:\\models\\x is damaged.", "Whoever runs this app can see the whole message."),
    ],
)
def test_a_visitor_reads_errors_without_the_sentences_that_name_folders(text, shown, monkeypatch):
    monkeypatch.setattr(visitor, "role", lambda: "visitor")
    assert visitor.for_visitor(text) == shown
    monkeypatch.setattr(visitor, "role", lambda: "owner")
    assert visitor.for_visitor(text) == text


def test_a_job_reports_its_steps_and_its_fault(fresh_app):
    going, seen = threading.Event(), threading.Event()

    def work(report):
        report("half way", 0.5)
        seen.set()
        going.wait(10)
        raise ValueError("no luck")

    jobs.start("Something", work)
    assert seen.wait(10)
    assert jobs.is_running("Something")
    jobs.start("Something", lambda report: pytest.fail("a job that runs is not started again"))
    going.set()
    _wait_until_idle()
    assert not jobs.is_running("Something")


def _wait_until_idle() -> None:
    for _ in range(400):
        if not any(thread.name.startswith("prepare ") for thread in threading.enumerate()):
            return
        time.sleep(0.05)
    pytest.fail("a preparation did not end")


def test_a_page_tells_only_of_the_preparation_it_offers(fresh_app):
    def fail(report):
        raise ValueError("no luck")

    jobs.start("One", fail)
    jobs.start("Another", fail)
    _wait_until_idle()
    page = AppTest.from_string("from explorer.ui import jobs\njobs.draw_jobs('One')").run()
    assert [error.value.partition("\\:")[0] for error in page.error] == ["One"]
    page = AppTest.from_string("from explorer.ui import jobs\njobs.draw_jobs()").run()
    assert {error.value.partition("\\:")[0] for error in page.error} == {"One", "Another"}


ONES = b"question,option1,option2,answer\nWhat is up?,sky,sea,1\nWhat is red?,blood,milk,1\n"


def test_what_a_table_does_not_tell_is_asked_with_both_readings_and_no_answer_chosen(open_page, tmp_path):
    app = open_page("data", tmp_path / "cache", shelf="Import a table")
    app.file_uploader(key="import:file").set_value(("ones.csv", ONES, "text/csv")).run()
    assert not app.exception and not app.error
    (asked,) = app.radio
    assert asked.value is None
    assert [option[0] for option in asked.options] == ["0", "1"] and "sea" in asked.options[0]
    assert "import:store" not in {button.key for button in app.button}
    asked.set_value("1").run()
    assert not app.exception
    app.button(key="import:store").click().run()
    kept = benchmarks.load("imported_ones", read_settings()).instances
    assert [instance.options[instance.gold] for instance in kept] == ["sky", "blood"]


def test_the_columns_that_are_not_used_and_what_is_left_out_stand_above_the_import(open_page, tmp_path):
    rows = b"good,bad,author\nIt is.,It are.,Ann\n,,\nWe are.,We is.,Tom\n"
    app = open_page("data", tmp_path / "cache", shelf="Import a table")
    app.file_uploader(key="import:file").set_value(("mine.csv", rows, "text/csv")).run()
    assert not app.exception
    assert "Columns that are not used: author." in html_of(app)
    assert any("1 an empty row" in expander.label for expander in app.expander)


def test_gold_from_a_file_of_its_own_is_kept_with_the_table(open_page, tmp_path):
    rows = b'{"goal": "To sleep,", "sol1": "eat.", "sol2": "lie down."}\n' * 2
    app = open_page("data", tmp_path / "cache", shelf="Import a table")
    app.file_uploader(key="import:file").set_value(("mine.jsonl", rows, "application/json")).run()
    assert len(app.error) == 1  # no column says which is right
    (labels,) = [one for one in app.file_uploader if one.key.startswith("import:labels")]
    labels.set_value(("gold.lst", b"1\n0\n", "text/plain")).run()
    assert not app.exception and not app.error
    app.button(key="import:store").click().run()
    assert [one.gold for one in benchmarks.load("imported_mine", read_settings()).instances] == [1, 0]


@pytest.mark.parametrize("benchmark", ["copa", "starter_pairs"])
def test_a_visitor_from_elsewhere_reads_no_folder_of_the_server(open_page, tmp_path, monkeypatch, benchmark):
    monkeypatch.setattr(visitor, "role", lambda: "visitor")
    app = open_page("data", tmp_path / "cache", shelf="Benchmarks", benchmark=benchmark)
    assert not app.exception
    assert str(tmp_path) not in html_of(app)
