"""Runs from elsewhere, brought in through the browser."""

from __future__ import annotations

import io
import json
from pathlib import Path

from explorer import logs
from explorer import settings as settings_module
from explorer.resources import Resources
from explorer.results import archive
from explorer.runs.folder import all_folders
from explorer.studies.imported.log import import_log

LOGS = Path(__file__).resolve().parent.parent / "data" / "logs" / "lm_eval"


def notes(app) -> str:
    return "\n".join(element.proto.body for element in app.html)


def test_a_log_with_its_results_and_a_zip_become_runs_beside_a_file_that_is_none(open_page, tmp_path):
    (samples,) = LOGS.glob("samples_lexi_pairs_*.jsonl")
    (other,) = LOGS.glob("samples_lexi_own_*.jsonl")
    (results,) = LOGS.glob("results_*.json")
    elsewhere = settings_module.read(cache=tmp_path / "elsewhere")
    packed = io.BytesIO()
    archive.pack_archive(import_log(logs.read(other), Resources(elsewhere)).folder, packed, elsewhere)
    cache = tmp_path / "cache"
    app = open_page("runs", cache, view="From elsewhere")
    files = [(path.name, path.read_bytes(), "application/json") for path in (samples, results)]
    files += [
        ("../../run.zip", packed.getvalue(), "application/zip"),
        ("x.json", b"{}", "application/json"),
        ("y.zip", b"x", ""),
    ]
    app.file_uploader(key="bring:files").set_value(files).run()
    app.button(key="bring:now").click().run()
    assert not app.exception
    told = notes(app)
    assert "10 samples of lm-evaluation-harness 0.4.13, 10 of them instances of Starter pairs" in told
    assert "x.json: x.json is no log that is known here" in told
    assert "y.zip: y.zip is no readable zip file" in told
    here = settings_module.read(cache=cache)
    assert sorted(folder.spec.benchmark.split("-")[0] for folder in all_folders(here.runs)) == [
        "imported_lexi",
        "starter_pairs",
    ]
    assert not list(tmp_path.glob("run.zip"))


def test_a_log_without_a_model_asks_for_it(open_page, tmp_path):
    (samples,) = LOGS.glob("samples_lexi_pairs_*.jsonl")
    app = open_page("runs", tmp_path / "cache", view="From elsewhere")
    upload = [(samples.name, samples.read_bytes(), "application/json")]
    app.file_uploader(key="bring:files").set_value(upload).run()
    app.button(key="bring:now").click().run()
    assert "--model-name" in notes(app)
    app.text_input(key="bring:model").set_value("my model").run()
    app.button(key="bring:now").click().run()
    assert "10 samples" in notes(app)


def test_a_run_of_a_log_with_epochs_says_how_they_became_its_headline(open_page, tmp_path):
    quiz = json.loads((LOGS.parent / "inspect" / "quiz.json").read_text("utf-8"))
    again = [{**one, "epoch": 2, "scores": {"choice": {"value": "C", "answer": "A"}}} for one in quiz["samples"]]
    quiz["samples"] += again
    quiz["eval"]["config"] |= {"epochs": 2, "epochs_reducer": ["mean"]}
    del quiz["reductions"]
    path = tmp_path / "quiz.json"
    path.write_text(json.dumps(quiz), "utf-8")
    resources = Resources(settings_module.read(cache=tmp_path / "cache"))
    kept = import_log(logs.read(path), resources)
    resources.ingest(kept.folder)
    app = open_page("runs", tmp_path / "cache", run=kept.folder.run_id)
    assert not app.exception
    assert "answered in 2 epochs, and its verdict is the mean of them" in notes(app)
    # 5 of 8 right in the first epoch, all in the second
    shown = " ".join(f"{one.label} {one.value} {one.proto.help}" for one in app.metric)
    assert "81" in shown and "each answered 2 times (mean)" in shown
