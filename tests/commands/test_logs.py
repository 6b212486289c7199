"""`import-log`, `export --format zip` and `import-run`, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

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
