"""The database cut, emptied, overwritten or held by another program: told in a sentence, made again from the runs."""

from __future__ import annotations

import subprocess
import sys

import duckdb
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from explorer import doctor
from explorer.__main__ import main
from explorer.errors import StoreError
from explorer.results import store as stores
from explorer.settings import ROOT
from explorer.ui import show
from explorer.ui.layout import PAGES

EVERYTHING = "SELECT bit_xor(hash(scores)) FROM scores"


def database(settings) -> doctor.Finding:
    return next(finding for finding in doctor.examine(settings) if finding.what == "database")


@pytest.mark.parametrize("how", ["cut", "empty", "garbage", "zeros"])
def test_a_damaged_generation_is_told_and_made_again(run, spoil, how, one_sentence, capsys):
    settings, _ = run
    sound = stores.open_store(settings).frame(EVERYTHING)
    spoil(stores.current_generation(settings), how)
    with pytest.raises(StoreError, match="explorer rebuild") as caught:
        stores.open_store(settings).frame(EVERYTHING)
    one_sentence(str(caught.value))
    assert database(settings).status == "fault" and "rebuild" in one_sentence(database(settings).message)
    assert main(["rebuild", "--cache", str(settings.cache)]) == 0
    assert capsys.readouterr().out == "1 runs in the database\n"
    assert stores.open_store(settings).frame(EVERYTHING).equals(sound)
    assert database(settings).status == "ok"


def test_a_single_changed_byte_is_noticed(run):
    settings, _ = run
    path = stores.current_generation(settings)
    data = bytearray(path.read_bytes())
    for place in range(3 * 4096 + 100, len(data), 50_000):
        data[place] ^= 0xFF
    path.write_bytes(data)
    assert database(settings).status == "fault"


def test_a_pointer_to_a_file_that_is_gone_falls_back_and_a_rebuild_brings_all_back(run):
    settings, folder = run
    stores.current_generation(settings).unlink()
    assert stores.open_store(settings).frame("SELECT count(*) AS n FROM runs")["n"][0] == 0
    assert folder.run_id in database(settings).message
    assert stores.rebuild_database(settings) == (1, [])
    assert database(settings).message == "1 runs"


def test_a_database_that_another_program_holds_is_not_called_damaged(run, one_sentence):
    settings, _ = run
    path = stores.current_generation(settings)
    code = "import duckdb, sys\nheld = duckdb.connect(sys.argv[1])\nprint('held', flush=True)\nsys.stdin.read()"
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(StoreError, match="close it there") as caught:
            stores.open_store(settings)
        one_sentence(str(caught.value))
    finally:
        other.communicate("")
    stores.open_store(settings).close()


def test_a_question_to_a_store_that_was_let_go_is_one_sentence(run, one_sentence):
    opened = stores.open_store(run[0])
    opened.close()
    with pytest.raises(StoreError, match="could not answer") as caught:
        opened.frame(EVERYTHING)
    one_sentence(str(caught.value))


def test_a_file_that_is_no_database_of_ours_is_refused(run, one_sentence):
    settings, _ = run
    path = stores.current_generation(settings)
    path.unlink()
    with duckdb.connect(str(path)) as other:
        other.execute("CREATE TABLE runs (x INTEGER)")
    with pytest.raises(StoreError, match="rebuild") as caught:
        stores.open_store(settings)
    one_sentence(str(caught.value))


@pytest.mark.parametrize("page", PAGES, ids=[page.address for page in PAGES])
def test_a_page_over_a_damaged_database_says_what_to_do(run, spoil, page, monkeypatch, one_sentence):
    settings, folder = run
    spoil(stores.current_generation(settings), "garbage")
    monkeypatch.setenv("EXPLORER_CACHE", str(settings.cache))
    monkeypatch.setattr(show, "is_open", lambda fold: True)
    st.cache_data.clear()
    st.cache_resource.clear()
    app = AppTest.from_file(str(ROOT / page.path), default_timeout=60)
    app.query_params["model"], app.query_params["benchmark"] = folder.spec.model, "starter_pairs"
    app.run()
    assert not app.exception
    assert len(app.title) == 1
    for error in app.error:
        assert "The command below" in one_sentence(error.value)
        assert any("explorer rebuild" in code.value for code in app.code)
    if page.address in ("overview", "popularity", "runs", "instance"):
        assert app.error
