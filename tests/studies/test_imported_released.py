"""Predictions that were released, as runs of figures alone: what is packed, and what the committed file has of them."""

from __future__ import annotations

import dataclasses
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from explorer.__main__ import main
from explorer.errors import OntologyError
from explorer.results import precomputed, queries_replication
from explorer.results.store import Store
from explorer.runs.folder import RunFolder
from explorer.settings import PRECOMPUTED, Settings
from explorer.studies.imported.released import RELEASED, aggregates
from explorer.studies.ontology import queries as ontology_queries
from explorer.studies.replication import board

WORDS = ("heart", "valve", "cell", "bone", "growth", "repair", "membrane", "acid", "transport", "fold")


def write_released(folder: Path) -> None:
    """A data folder with two small ontologies and predictions of each that are right for the popular half."""
    chance = random.Random(3)
    for one in RELEASED:
        place = folder / one.file
        place.parent.mkdir(parents=True)
        prefix = one.ontology.upper()
        rows = [f"{prefix}:{1000 + i:07d};{' '.join(chance.sample(WORDS, 3))};0;{i * i}" for i in range(60)]
        (place.parent / f"{one.ontology}_dataset.csv").write_text("\n".join(rows) + "\n", "utf-8")
        answers = [row.partition(";")[0] if i >= 30 else f"{prefix}:0001000" for i, row in enumerate(rows)]
        place.write_text("".join(f"{row};{answer}\n" for row, answer in zip(rows, answers, strict=True)), "utf-8")


@pytest.fixture
def released(settings, tmp_path) -> Settings:
    write_released(tmp_path / "data")
    return dataclasses.replace(settings, data=tmp_path / "data")


def test_a_released_file_is_a_run_of_figures_without_rows_and_the_import_of_it_has_the_same_id(released, tmp_path):
    folders = aggregates(released, tmp_path / "place")
    assert [folder.progress().status for folder in folders] == ["complete", "complete"]
    assert [folder.progress().total for folder in folders] == [60, 60]
    for folder in folders:
        assert len(folder.read("findings")) > 20
        assert all(folder.read(table).empty for table in ("instances", "generations", "measures", "scores"))
    first = RELEASED[0]
    command = ["import-predictions", str(released.data / first.file), "--ontology", first.ontology, "--model-name"]
    assert main([*command, first.model, "--cache", str(released.cache), "--data", str(released.data)]) == 0
    own = RunFolder.find(released.runs, folders[0].run_id)
    assert len(own.read("instances")) == 60


def test_the_command_puts_them_beside_the_runs_of_a_file_and_again_in_their_place(released, tmp_path, capsys):
    file = tmp_path / "packed.duckdb"
    precomputed.pack_runs(aggregates(released, tmp_path / "place")[:1], file)
    command = ["precompute", "released", "--out", str(file), "--data", str(released.data), "--json"]
    assert main(command) == 0
    assert main(command) == 0
    opened = Store(None, file)
    try:
        models = Counter(opened.frame("SELECT model FROM runs")["model"])
        assert models == {one.model: 1 for one in RELEASED}
        rising = ontology_queries.rising(opened)
        assert len(rising) == 2
        run_id = str(rising["run_id"][0])
        buckets = ontology_queries.buckets(opened, run_id, "corrected")
        assert buckets["accuracy"].iloc[-1] == 1.0
        assert (buckets["accuracy_low"] <= buckets["accuracy"]).all()
        assert buckets["accuracy_high"].iloc[-1] == pytest.approx(1.0) and buckets["accuracy_low"].iloc[-1] < 1.0
        assert ontology_queries.repeated_answers(opened, run_id).empty
        assert ontology_queries.concepts(opened, run_id, 1).empty
    finally:
        opened.close()


def test_without_the_files_the_command_says_where_it_looked(released, tmp_path):
    shutil.rmtree(released.data / "uberon")
    with pytest.raises(OntologyError, match=r"predictions_gpt35.csv .* --data"):
        aggregates(released, tmp_path / "place")


def test_the_committed_file_answers_printed_figures_and_none_is_off():
    opened = Store(None, PRECOMPUTED)
    try:
        names = tuple({answer.finding.name for one in board.figures() for answer in one.answers})
        stored = board.index(queries_replication.findings(opened, names).to_dict("records"))
        assert {one.model for one in RELEASED} <= set(opened.frame("SELECT model FROM runs")["model"])
        rows = opened.frame("SELECT count(*) AS n FROM instances JOIN runs USING (run_id) WHERE model LIKE '%pythia%'")
        assert rows["n"][0] == 0, "figures alone"
    finally:
        opened.close()
    told = Counter(board.verdict(one, board.matching_run(one, stored)) for one in board.figures())
    assert told["within"] + told["equal"] >= 16
    assert not told["outside"] and not told["differs"]
    assert told["within"] + told["equal"] + told["no target"] + told["not comparable"] >= 22
