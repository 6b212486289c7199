"""`import-log`, `export --format zip` and `import-run`, as a user types them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from explorer.__main__ import main

DATA = Path(__file__).resolve().parent.parent / "data" / "logs"


def test_good_files_become_runs_beside_a_bad_one(settings, capsys, tmp_path):
    (good,) = DATA.glob("lm_eval/samples_lexi_pairs_*.jsonl")
    bad = tmp_path / "bad.jsonl"
    bad.write_text("nothing\n")
    where = ["--cache", str(settings.cache)]
    assert main(["import-log", str(good), str(bad), "--json", *where]) == 1
    out, err = capsys.readouterr()
    first, second = json.loads(out)
    assert first["benchmark"] == "starter_pairs" and first["matched"] == first["instances"] > 0
    assert all(one["agrees"] for one in first["results"])
    assert "no line that lm-evaluation-harness" in second["error"] and "Traceback" not in err
    assert main(["runs", "--json", *where]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["status"] == "complete" and row["message"].startswith("Imported: lm-evaluation-harness 0.4.13")

    archive, elsewhere = tmp_path / "run.zip", ["--cache", str(tmp_path / "elsewhere")]
    assert main(["export", first["run_id"], "--format", "zip", "--out", str(archive), *where]) == 0
    assert "run.zip" in capsys.readouterr().out
    assert main(["import-run", str(archive), "--json", *elsewhere]) == 0
    (brought,) = json.loads(capsys.readouterr().out)
    assert brought == {"file": str(archive), "run_id": first["run_id"], "new": True, "status": "complete"}
    assert main(["import-run", str(archive), "--json", *elsewhere]) == 0
    assert json.loads(capsys.readouterr().out)[0]["new"] is False

    table = tmp_path / "findings.tex"
    asked = ["export", first["run_id"], "--table", "findings", "--format", "latex", "--out", str(table)]
    assert main([*asked, *elsewhere]) == 0
    assert r"\toprule" in table.read_text("utf-8")


def test_a_zip_beside_a_table_is_refused(settings, capsys, tmp_path):
    (good,) = DATA.glob("lm_eval/samples_lexi_pairs_*.jsonl")
    where = ["--cache", str(settings.cache)]
    main(["import-log", str(good), *where])
    run_id = capsys.readouterr().out.strip()
    asked = ["export", run_id, "--table", "scores", "--format", "zip", "--out", str(tmp_path / "x.zip")]
    assert main([*asked, *where]) == 1
    assert "Leave it out" in capsys.readouterr().err


def test_a_log_whose_texts_no_benchmark_can_hold_is_named_itself(settings, capsys, tmp_path):
    (good,) = DATA.glob("lm_eval/samples_lexi_own_*.jsonl")
    bad = tmp_path / "samples_nul.jsonl"
    bad.write_text(good.read_text("utf-8").replace("Question:", "Question:\\u0000"), "utf-8")
    assert main(["import-log", str(bad), "--model-name", "m", "--cache", str(settings.cache)]) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("error: samples_nul.jsonl cannot become a benchmark of its own: ")
    assert "context holds a NUL character" in error and "log.jsonl" not in error


@pytest.mark.parametrize(
    ("inner", "data", "flags", "why"),
    [
        ("header.json", b"[" * 20_000_001, 0, "header.json in quiz.eval holds more than 20,000,000 values"),
        ("header.json", b"\0" * 100, 0, "quiz.eval is damaged (Expecting value"),
        ("header.json", b"{}", 1, "quiz.eval is damaged (header.json is locked with a password)"),
    ],
)
def test_a_zip_with_a_bad_file_in_it_is_named_itself(settings, capsys, tmp_path, inner, data, flags, why):
    path = tmp_path / "quiz.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(inner, data)
        archive.infolist()[0].flag_bits |= flags  # as the list of files at the end has it
    assert main(["import-log", str(path), "--cache", str(settings.cache)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and why in error


def test_a_zip_that_was_cut_short_is_one_sentence(settings, capsys, tmp_path):
    whole = (DATA / "inspect" / "quiz.eval").read_bytes()
    path = tmp_path / "half.eval"
    path.write_bytes(whole[: len(whole) // 2])
    assert main(["import-log", str(path), "--cache", str(settings.cache)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: half.eval is no log (byte ") and error.count("\n") == 1
