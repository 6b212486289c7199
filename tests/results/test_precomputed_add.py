"""Runs added to a precomputed file: those in it stay as they were, the new ones read as if packed with them."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil

import duckdb
import pytest

from explorer.__main__ import main
from explorer.errors import StoreError
from explorer.records import RunSpec
from explorer.results import precomputed, precomputed_add, store
from explorer.runs.folder import RunFolder
from tests.results.test_precomputed import a_primed_run, a_run, rows_of, same

CONTEXTS = ("sentences",)  # of a variant's edit: keys of items, which are a file's own


@pytest.fixture
def runs(settings):
    """Runs that share instances, words and kinds with each other, and have some of their own."""
    return [a_run(settings, "starter_pairs"), a_primed_run(settings), a_run(settings, "go"), a_run(settings, "go", 1)]


def a_copy(settings, folder: RunFolder, spec: RunSpec) -> RunFolder:
    """A finished run of this spec with the rows of another."""
    made = RunFolder.create(settings.runs, spec)
    for path in folder.path.iterdir():
        if path.name not in ("spec.json", "lock"):
            (shutil.copytree if path.is_dir() else shutil.copy)(path, made.path / path.name, **(
                {"dirs_exist_ok": True} if path.is_dir() else {}
            ))  # fmt: skip
    return made


def named_sentences(path) -> list[list[str]]:
    """The sentences of every context by their instances' names, so that files with other keys can be compared."""
    with duckdb.connect(str(path), read_only=True) as connection:
        rows = connection.execute(
            """
            SELECT list(CASE WHEN id < 0 THEN CAST(id AS VARCHAR)
                ELSE (id // 1048576) || ':' || stem || CASE WHEN number < 0 THEN rest ELSE CAST(number AS VARCHAR) END
                END ORDER BY place)
            FROM (SELECT context, unnest(ids) AS id, generate_subscripts(ids, 1) AS place FROM contexts)
            LEFT JOIN items ON item = id % 1048576 AND id >= 0
            LEFT JOIN sets USING (set_key)
            GROUP BY context
            """
        ).fetchall()
    return sorted(row[0] for row in rows)


def differences(one: store.Store, other: store.Store, where: str = "true") -> list[str]:
    """Table and column of all that differs between two stores, of the runs that the condition names."""
    found = []
    for table in store.RUN_TABLES:
        frames = []
        for each in (one, other):
            rows = rows_of(each, table)
            frames.append(rows[rows["run_id"].isin(each.frame(f"SELECT run_id FROM runs WHERE {where}")["run_id"])])
        ours, theirs = (frame.reset_index(drop=True) for frame in frames)
        if len(ours) != len(theirs):
            found.append(f"{table}: {len(ours)} rows, {len(theirs)}")
            continue
        for name in set(ours) - ({"edit"} if table == "variants" else set()):
            if not same(ours[name], theirs[name], atol=0):
                found.append(f"{table}.{name}")
    return found


def test_runs_added_one_by_one_are_the_runs_packed_together(runs, tmp_path):
    together, added = tmp_path / "together.duckdb", tmp_path / "added.duckdb"
    precomputed.pack_runs(runs, together)
    precomputed.pack_runs(runs[:1], added)
    precomputed_add.add_runs(runs[1:3], added)
    precomputed_add.add_runs(runs[3:], added)
    with contextlib.closing(store.Store(None, together)) as one, contextlib.closing(store.Store(None, added)) as two:
        assert differences(one, two) == []
    assert set(map(tuple, named_sentences(together))) == set(map(tuple, named_sentences(added)))


def test_the_runs_that_are_in_the_file_stay_row_for_row(runs, tmp_path):
    file, more = tmp_path / "file.duckdb", tmp_path / "more.duckdb"
    precomputed.pack_runs(runs[:3], file)
    precomputed_add.add_runs(runs[3:], file, more)
    with duckdb.connect() as connection:
        for path, name in ((file, "before"), (more, "after")):
            connection.execute(f"ATTACH '{path}' AS {name} (READ_ONLY)")
        for table in precomputed_add.TABLES:
            counts = [
                connection.execute(f"SELECT count(*) FROM {name}.{table}").fetchone() for name in ("before", "after")
            ]
            assert counts[0] <= counts[1]
            [changed] = connection.execute(
                f"SELECT count(*) FROM (SELECT rowid, * FROM before.{table} EXCEPT SELECT rowid, * FROM after.{table})"
            ).fetchone()
            assert changed == 0, table


def test_a_run_that_the_file_holds_is_replaced_and_the_others_keep_their_places(settings, runs, tmp_path):
    file = tmp_path / "file.duckdb"
    precomputed.pack_runs(runs, file)
    with contextlib.closing(store.Store(None, file)) as before:
        precomputed_add.add_runs(runs[:1], file, tmp_path / "again.duckdb")
        with contextlib.closing(store.Store(None, tmp_path / "again.duckdb")) as after:
            assert differences(before, after) == []
            edits = [one.frame("SELECT edit FROM variants ORDER BY ALL")["edit"] for one in (before, after)]
    assert [json.loads(edit)["seed"] for edit in edits[0].dropna()] == [
        json.loads(edit)["seed"] for edit in edits[1].dropna()
    ]


def test_a_run_of_an_index_of_earlier_versions_leaves_when_the_same_is_counted_anew(settings, runs, tmp_path):
    counted = RunSpec("accuracy", 1, "toy", "go", seed=5, settings={"index": "demo"})
    former, anew = a_copy(settings, runs[0], counted), a_copy(
        settings, runs[0], dataclasses.replace(counted, settings={"index": "glassbox"})
    )  # fmt: skip
    file, after = tmp_path / "file.duckdb", tmp_path / "after.duckdb"
    precomputed.pack_runs([*runs[:2], former, *runs[2:]], file)
    precomputed_add.add_runs([anew], file, after)
    assert precomputed_add.stored_run_ids(after) == {*(each.run_id for each in runs), anew.run_id}
    others = f"run_id NOT IN ('{former.run_id}', '{anew.run_id}')"
    with contextlib.closing(store.Store(None, file)) as one, contextlib.closing(store.Store(None, after)) as two:
        assert differences(one, two, others) == []


def test_nothing_is_added_to_a_file_that_is_not_there_or_from_a_run_that_is_not_finished(settings, runs, tmp_path):
    with pytest.raises(StoreError, match="is not there"):
        precomputed_add.add_runs(runs[:1], tmp_path / "none.duckdb")
    file = tmp_path / "file.duckdb"
    precomputed.pack_runs(runs[:1], file)
    whole = file.read_bytes()
    with pytest.raises(StoreError, match="not finished"):
        precomputed_add.add_runs(
            [RunFolder.create(settings.runs, RunSpec("accuracy", 1, "toy", "blimp", seed=9))], file
        )
    assert file.read_bytes() == whole


def test_the_command_adds_the_named_runs(settings, runs, tmp_path, capsys):
    file = tmp_path / "file.duckdb"
    precomputed.pack_runs(runs[:1], file)
    asked = ["precompute", "pack", runs[1].run_id, "--add", "--out", str(file), "--cache", str(settings.cache)]
    assert main(asked) == 0
    assert "1 runs added to" in capsys.readouterr().out
    with contextlib.closing(store.Store(None, file)) as opened:
        assert len(opened.frame("SELECT * FROM runs")) == 2
