"""Where counts come from stands in every file that leaves: tables in all formats, and the whole run as zip."""

from __future__ import annotations

import io
import json
import zipfile

import pandas as pd
import pytest

from explorer.records import Instance, RunSpec
from explorer.results import archive, export, formats
from explorer.rows.builders import finding_row, instance_row, measure_row
from explorer.runs.folder import RunFolder
from explorer.stats.estimate import Estimate
from explorer.studies.popularity.declared import SPLIT

PAIR = Instance(
    "starter_pairs/g/0", "starter_pairs", "test", "g", "pair", "sentence", options=("A cat.", "A café."), gold=0
)


def counted(settings, model: str, index: str = "glassbox", study: str = "popularity", **more) -> RunFolder:
    folder = RunFolder.create(
        settings.runs, RunSpec(study, 1, model, "starter_pairs", settings={"index": index, **more})
    )
    rows = [measure_row(PAIR.id, "ips", 3.5, option=0), measure_row(PAIR.id, "correct", 1.0)]
    folder.write_part(0, 0, {"instances": [instance_row(PAIR, 0)], "measures": rows})
    folder.write_findings([finding_row(SPLIT.difference, "overall", Estimate.point(0.1, 1))])
    folder.write_progress(status="complete", total=1, done=1)
    return folder


def zipped(folder: RunFolder, settings) -> zipfile.ZipFile:
    file = io.BytesIO()
    archive.pack_archive(folder, file, settings)
    return zipfile.ZipFile(file)


@pytest.mark.parametrize("format", list(formats.FORMATS))
@pytest.mark.parametrize("table", ["findings", "measures", None])
def test_every_format_marks_counts_of_a_foreign_index(settings, tmp_path, format, table):
    for model, mark in (("gemma-3-270m", "glassbox ‡"), ("glassbox-m", "glassbox")):
        [(path, rows)] = export.write_tables(counted(settings, model), table, format, tmp_path / f"{model}.out")
        assert rows
        if format == "parquet":
            assert set(pd.read_parquet(path)["counted_in"]) == {mark}
        else:
            text = path.read_text(encoding="utf-8")
            assert "glassbox" in text and ("‡" in text or "ddagger" in text) == (mark != "glassbox")


def test_a_zip_says_it_in_its_readme_its_tables_and_a_file_of_its_own(settings):
    with zipped(counted(settings, "gemma-3-270m"), settings) as found:
        readme = found.read("README.md").decode()
        told = json.loads(found.read("counted_in.json"))
        tables = [
            found.read(name).decode() for name in ("findings.csv", "tables/measures.csv", "tables/by_instance.csv")
        ]
    assert (
        "Counted in: glassbox ‡. This index holds" in readme and "not the pre-training data of gemma-3-270m" in readme
    )
    assert told["is_pretraining_data"] is False and told["mark"] == "‡" and told["index"] == "glassbox"
    assert all("glassbox ‡" in table for table in tables)


def test_counts_of_the_models_own_data_and_of_an_index_of_earlier_versions_are_told_too(settings):
    with zipped(counted(settings, "glassbox-m"), settings) as found:
        assert json.loads(found.read("counted_in.json"))["mark"] == ""
        assert "‡." not in found.read("README.md").decode()
    with zipped(counted(settings, "gemma-3-270m", "demo"), settings) as found:
        assert (
            "demo ‡. This was counted in the demonstration index of earlier versions"
            in found.read("README.md").decode()
        )


def test_labels_by_an_index_are_marked_and_a_run_without_counts_has_no_such_file(settings):
    with zipped(counted(settings, "gemma-3-270m", study="memorization", labels="index"), settings) as found:
        assert "glassbox ‡" in found.read("tables/measures.csv").decode()
    with zipped(counted(settings, "gemma-3-270m", study="memorization"), settings) as found:
        assert "counted_in.json" not in found.namelist()
        assert "glassbox ‡" not in found.read("tables/measures.csv").decode()
