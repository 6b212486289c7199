"""The database: built beside, swapped as a whole, rebuilt from run folders, read while others write."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time

import duckdb
import pytest

from explorer.errors import StoreError
from explorer.records import Instance, RunSpec
from explorer.resources import Resources
from explorer.results import migrations, store
from explorer.rows.builders import finding_row, instance_row, measure_row
from explorer.rows.schema import TABLES
from explorer.runs.folder import RunFolder
from explorer.runs.parts import part_name
from explorer.stats.estimate import Estimate
from explorer.studies.accuracy.declared import ACCURACY


def stored_run(settings, seed: int = 0, values=(1.0, 0.0, float("nan")), part_size: int = 3) -> RunFolder:
    folder = RunFolder.create(settings.runs, RunSpec("accuracy", 1, "toy", "pairs", seed=seed))
    pairs = [
        Instance(f"pairs/a/{i}", "pairs", "test", "a", "pair", "sentence", options=("x", "y"), gold=0)
        for i in range(len(values))
    ]
    for first in range(0, len(values), part_size):
        places = range(first, min(first + part_size, len(values)))
        folder.write_part(
            first,
            places[-1],
            {
                "instances": [instance_row(pairs[i], i) for i in places],
                "measures": [measure_row(pairs[i].id, "correct", values[i]) for i in places],
            },
        )
    folder.write_findings([finding_row(ACCURACY, "overall", Estimate.point(0.5, 2, left_out=1))])
    folder.write_progress(status="complete", total=len(values))
    return folder


def test_without_any_run_the_tables_are_there_and_empty(settings):
    opened = store.open_store(settings)
    for table in store.RUN_TABLES:
        assert opened.frame(f"SELECT * FROM {table}").empty


def test_half_a_character_in_a_question_finds_nothing_and_is_no_fault(settings):
    folder = stored_run(settings)
    store.ingest_runs(settings, [folder])
    with contextlib.closing(store.open_store(settings)) as opened:
        assert opened.rows("SELECT * FROM runs WHERE run_id = ?", [folder.run_id + "\ud83d"]) == []
        assert len(opened.rows("SELECT * FROM runs WHERE run_id = ?", [folder.run_id])) == 1


def test_the_schema_module_and_the_migrations_agree():
    connection = duckdb.connect(":memory:")
    migrations.migrate(connection)
    for table, columns in TABLES.items():
        found = connection.execute(
                                   "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = ? "
                                   "ORDER BY ordinal_position", [table]).fetchall()  # fmt: skip
        assert found == [("run_id", "VARCHAR"), *columns.items()]


def test_an_ingested_run_is_found_and_a_mean_leaves_out_what_could_not_be_had(settings):
    folder = stored_run(settings)
    store.ingest_runs(settings, [folder])
    opened = store.open_store(settings)
    assert opened.frame("SELECT avg(value) AS mean FROM measures WHERE run_id = ?", [folder.run_id])["mean"][0] == 0.5
    assert opened.frame("SELECT status, done FROM runs").iloc[0].tolist() == ["complete", 3]


def test_ingesting_twice_stores_once(settings):
    folder = stored_run(settings)
    store.ingest_runs(settings, [folder])
    store.ingest_runs(settings, [folder])
    assert store.open_store(settings).frame("SELECT count(*) AS n FROM measures")["n"][0] == 3


def rows_of(settings, run_id: str) -> dict[str, list]:
    with contextlib.closing(store.open_store(settings)) as opened:
        return {
            table: opened.rows(f"SELECT * FROM {table} WHERE run_id = ? ORDER BY ALL", [run_id])
            for table in store.RUN_TABLES
        }


@pytest.mark.parametrize("removed_meanwhile", [False, True])
def test_parts_put_in_ahead_and_the_end_make_what_ingesting_at_the_end_makes(settings, removed_meanwhile):
    other, folder = stored_run(settings, seed=1), stored_run(settings)
    store.ingest_runs(settings, [other, folder], "complete", "as it ended")
    whole, of_other = rows_of(settings, folder.run_id), rows_of(settings, other.run_id)
    store.remove_runs(settings, [folder.run_id])
    resources = Resources(settings)
    resources.ingest_ahead(folder, "interrupted", "not concluded")
    assert resources._ingesting and resources._ingesting.has_succeeded(60)
    before_its_end = rows_of(settings, folder.run_id)
    assert repr(before_its_end["measures"]) == repr(whole["measures"])
    assert before_its_end["runs"][0]["status"] == "interrupted"
    if removed_meanwhile:
        store.remove_runs(settings, [folder.run_id])
    resources.ingest(folder, "complete", "as it ended")
    assert repr(rows_of(settings, folder.run_id)) == repr(whole) and repr(rows_of(settings, other.run_id)) == repr(
        of_other
    )


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_parts_that_go_in_as_they_are_made_make_what_ingesting_at_the_end_makes(settings, order):
    folder = stored_run(settings, part_size=1)
    parts = [folder.parts / f"{part_name(*span)}.done" for span in folder.finished()]
    store.ingest_runs(settings, [folder], "complete", "as it ended")
    whole = as_they_stand(settings)
    store.remove_runs(settings, [folder.run_id])
    aside = {part: part.rename(part.with_suffix(".aside")) for part in parts}
    resources = Resources(settings)
    resources.ingest_as_made(folder, "interrupted", "not concluded")
    for number in order:
        aside[parts[number]].rename(parts[number])
        time.sleep(store.SECONDS_BETWEEN_LOOKS)
    assert not resources._ingesting.has_succeeded(0.0)  # more might come
    resources.ingest_ahead(folder, "interrupted", "not concluded")
    assert resources._ingesting.has_succeeded(60)
    resources.ingest(folder, "complete", "as it ended")
    assert as_they_stand(settings) == whole


def as_they_stand(settings) -> dict[str, str]:
    with contextlib.closing(store.open_store(settings)) as opened:
        return {table: repr(opened.rows(f"SELECT * FROM {table}")) for table in store.RUN_TABLES}


def test_a_run_that_ends_early_gives_the_database_back_and_keeps_what_is_made(settings):
    folder, resources = stored_run(settings), Resources(settings)
    resources.ingest_as_made(folder, "interrupted", "not concluded")
    resources.ingest(folder, "cancelled", "by somebody")
    assert [run["status"] for run in rows_of(settings, folder.run_id)["runs"]] == ["cancelled"]
    assert len(rows_of(settings, folder.run_id)["measures"]) == 3 and not list(settings.store.glob("*.building"))


def test_parts_that_take_too_long_are_not_waited_for(settings, monkeypatch):
    monkeypatch.setattr(store, "MAX_SECONDS_HELD", 0.0)
    folder, resources = stored_run(settings), Resources(settings)
    resources.ingest_as_made(folder, "interrupted", "not concluded")
    resources._ingesting.settle(60)
    store.remove_runs(settings, ["none"])  # the database is free
    resources.ingest_ahead(folder, "interrupted", "not concluded")
    resources.ingest(folder, "complete")
    assert [run["status"] for run in rows_of(settings, folder.run_id)["runs"]] == ["complete"]


def test_parts_that_could_not_be_put_in_ahead_are_put_in_at_the_end(settings, monkeypatch):
    folder, resources = stored_run(settings), Resources(settings)
    plain = store.insert_run

    def fail(*given, **named):
        monkeypatch.setattr(store, "insert_run", plain)
        raise duckdb.IOException("No space left on device")

    monkeypatch.setattr(store, "insert_run", fail)
    resources.ingest_ahead(folder, "interrupted", "not concluded")
    resources.ingest(folder, "complete")
    rows = rows_of(settings, folder.run_id)
    assert [run["status"] for run in rows["runs"]] == ["complete"] and len(rows["measures"]) == 3 and rows["findings"]


def test_an_open_reader_keeps_its_generation_while_a_new_one_is_made(settings):
    store.ingest_runs(settings, [stored_run(settings)])
    reader = store.open_store(settings)
    for seed in (1, 2, 3):
        store.ingest_runs(settings, [stored_run(settings, seed)])
    assert reader.frame("SELECT count(*) AS n FROM runs")["n"][0] == 1
    assert store.open_store(settings).frame("SELECT count(*) AS n FROM runs")["n"][0] == 4


def test_another_process_may_ingest_while_this_one_reads(settings):
    store.ingest_runs(settings, [stored_run(settings)])
    reader = store.open_store(settings)
    folder = stored_run(settings, seed=1)
    code = (
        "import sys\nfrom explorer import settings\nfrom explorer.results import store\n"
        "from explorer.runs.folder import RunFolder\n"
        "s = settings.read(cache=sys.argv[1])\nstore.ingest_runs(s, [RunFolder.find(s.runs, sys.argv[2])])\n"
    )
    subprocess.run([sys.executable, "-c", code, str(settings.cache), folder.run_id], check=True)
    assert reader.frame("SELECT count(*) AS n FROM runs")["n"][0] == 1
    assert store.open_store(settings).frame("SELECT count(*) AS n FROM runs")["n"][0] == 2


def test_live_parts_answer_the_same_questions(settings):
    folder = stored_run(settings)
    live = store.open_parts(folder)
    store.ingest_runs(settings, [folder])
    sql = "SELECT run_id, instance_id, measure, value FROM measures ORDER BY instance_id"
    assert live.frame(sql).equals(store.open_store(settings).frame(sql))
    assert live.frame("SELECT * FROM scores").empty


def test_a_rebuild_makes_the_same_database_and_names_what_it_left_out(settings):
    good, bad = stored_run(settings), stored_run(settings, seed=1)
    store.ingest_runs(settings, [good, bad])
    damaged = next((bad.parts / "measures").glob("*.parquet"))
    damaged.write_bytes(b"PAR1 and nothing")
    count, faults = store.rebuild_database(settings)
    assert count == 2
    assert len(faults) == 1 and bad.run_id in faults[0] and "resume" in faults[0]
    opened = store.open_store(settings)
    runs = opened.frame("SELECT run_id, status FROM runs").set_index("run_id")["status"]
    assert runs.to_dict() == {good.run_id: "complete", bad.run_id: "interrupted"}
    assert opened.frame("SELECT count(*) AS n FROM measures")["n"][0] == 3


def test_a_removed_run_is_gone_and_the_others_stay(settings):
    first, second = stored_run(settings), stored_run(settings, seed=1)
    store.ingest_runs(settings, [first, second])
    store.remove_runs(settings, [first.run_id])
    opened = store.open_store(settings)
    assert list(opened.frame("SELECT DISTINCT run_id FROM measures")["run_id"]) == [second.run_id]


def test_a_damaged_database_says_how_to_rebuild_it(settings):
    store.ingest_runs(settings, [stored_run(settings)])
    path = store.current_generation(settings)
    path.write_bytes(b"not a database" * 1000)
    with pytest.raises(StoreError, match="rebuild"):
        store.open_store(settings)
    assert store.rebuild_database(settings) == (1, [])
    assert store.open_store(settings).frame("SELECT count(*) AS n FROM runs")["n"][0] == 1


def test_an_empty_database_file_is_not_taken_for_a_new_database(settings):
    store.ingest_runs(settings, [stored_run(settings)])
    store.current_generation(settings).write_bytes(b"")
    with pytest.raises(StoreError, match="rebuild"):
        store.ingest_runs(settings, [stored_run(settings, seed=1)])
    with pytest.raises(StoreError, match="rebuild"):
        store.open_store(settings)
    assert store.rebuild_database(settings) == (2, [])


@pytest.mark.parametrize("pointer", ["", "[]", "{}", '{"file": "explorer-77.duckdb"}', '{"file": "../runs"}'])
def test_a_damaged_pointer_loses_no_run(settings, pointer):
    store.ingest_runs(settings, [stored_run(settings)])
    store.ingest_runs(settings, [stored_run(settings, seed=1)])
    (settings.store / "current.json").write_text(pointer)
    (settings.store / "explorer-1 copy.duckdb").write_bytes(b"somebody's")
    store.ingest_runs(settings, [stored_run(settings, seed=2)])
    assert store.open_store(settings).frame("SELECT count(*) AS n FROM runs")["n"][0] == 3


def test_a_database_of_a_newer_version_is_refused(settings):
    store.ingest_runs(settings, [stored_run(settings)])
    path = store.current_generation(settings)
    with duckdb.connect(str(path)) as connection:
        connection.execute("INSERT INTO migrations VALUES (999, 'm999_later')")
    with pytest.raises(StoreError, match="newer Lexiscope"):
        store.open_store(settings)


def test_a_wrong_question_is_one_sentence(settings):
    with pytest.raises(StoreError, match="could not answer"):
        store.open_store(settings).frame("SELECT nothing FROM nowhere")
