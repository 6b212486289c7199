"""Runs of every study, row for row as they were stored before: how rows are made and written may change, they may not.

`python tests/runs/test_golden.py` writes the expected rows anew; do so only where rows are meant to change, and look at
the difference.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from explorer.rows.schema import TABLES, schema_of
from explorer.runs.folder import RunFolder
from tests.runs import small_worlds

EXPECTED = Path(__file__).with_name("golden")


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    return small_worlds.folder_of_model(tmp_path_factory.mktemp("golden_model"))


@pytest.mark.parametrize("name", small_worlds.RUNS)
def test_a_run_stores_the_rows_it_always_stored(name, tmp_path, model):
    made = rows(small_worlds.run(name, tmp_path, model), tmp_path)
    expected = json.loads(gzip.decompress((EXPECTED / f"{name}.json.gz").read_bytes()))
    assert set(made) == set(expected)
    for table in expected:
        assert len(made[table]) == len(expected[table]), table
        for place, (found, wanted) in enumerate(zip(made[table], expected[table], strict=True)):
            assert found == wanted, f"{table}, row {place}"


def test_files_of_parts_have_the_types_of_the_schema(tmp_path, model):
    folder = small_worlds.run("popularity", tmp_path, model)
    for table in ("instances", "scores", "counts", "measures", "findings"):
        for path in folder.part_files(table):
            assert pq.read_schema(path).remove_metadata() == schema_of(table)


def rows(folder: RunFolder, place: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of a run's parts by table, in run order, without what is null; paths of this machine left out."""
    made = {}
    for table in TABLES:
        files = folder.part_files(table) if table != "findings" else []
        if files:
            read = pa.concat_tables([pq.read_table(path) for path in files]).to_pylist()
            text = json.dumps([{key: value for key, value in row.items() if value is not None} for row in read])
            made[table] = json.loads(text.replace(json.dumps(str(place))[1:-1], "PLACE"))
    return made


def write() -> None:
    EXPECTED.mkdir(exist_ok=True)
    for name in sys.argv[1:] or small_worlds.RUNS:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            made = rows(small_worlds.run(name, place, small_worlds.folder_of_model(place)), place)
            data = json.dumps(made, ensure_ascii=True).encode()
            (EXPECTED / f"{name}.json.gz").write_bytes(gzip.compress(data, 9, mtime=0))
            print(name, {table: len(found) for table, found in made.items()})


if __name__ == "__main__":
    write()
