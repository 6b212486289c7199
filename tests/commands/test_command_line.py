"""The command line as scripts use it: runs, exports, errors on one line, JSON alone on standard output."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys

import pandas as pd
import pytest

from explorer.__main__ import main
from explorer.commands import COMMANDS
from explorer.records import RunSpec
from explorer.runs.folder import RunFolder


def explorer(settings, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "explorer", *arguments, "--cache", str(settings.cache)],
        capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, timeout=300,
    )  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    assert "--cache DIR" in capsys.readouterr().out or command in ("index", "models", "run")


def test_an_error_is_one_line_without_a_traceback(settings, capsys):
    assert main(["resume", "nothing", "--cache", str(settings.cache)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: There is no run") and captured.err.count("\n") == 1


def test_without_runs_the_list_is_an_empty_list(settings, capsys):
    assert main(["runs", "--json", "--cache", str(settings.cache)]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_the_settings_of_a_study_are_listed_with_defaults(capsys):
    with pytest.raises(SystemExit):
        main(["run", "accuracy", "--help"])
    shown = capsys.readouterr().out
    assert "preset=natural" in shown and "normalization=preset" in shown and "per_group=0" in shown


@pytest.mark.slow
def test_a_run_from_start_to_export_and_deletion(settings, tiny_gpt2, tmp_path, capsys):
    asked = ["run", "accuracy", "--model", str(tiny_gpt2), "--benchmark", "starter_pairs", "--set", "per_group=2"]
    done = explorer(settings, *asked, "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["status"] == "complete"

    def here(*arguments: str) -> str:
        """What a further command prints: in this process, which has imported already what each would import anew."""
        assert main([*arguments, "--cache", str(settings.cache)]) == 0
        return capsys.readouterr().out

    assert json.loads(here(*asked, "--json")) == answer
    run_id = answer["run_id"]
    listed = json.loads(explorer(settings, "runs", "--json").stdout)
    assert [(row["run_id"], row["status"]) for row in listed] == [(run_id, "complete")]

    by_instance = tmp_path / "rows.csv"
    here("export", run_id, "--format", "csv", "--out", str(by_instance))
    with by_instance.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == listed[0]["total"] == len({row["instance_id"] for row in rows})
    assert all(row["correct"] in ("0.0", "0.5", "1.0") and float(row["margin"]) == float(row["margin"]) for row in rows)

    scores = tmp_path / "scores.parquet"
    here("export", run_id, "--table", "scores", "--format", "parquet", "--out", str(scores))
    assert len(pd.read_parquet(scores)) == 2 * len(rows)
    everything = tmp_path / "all"
    here("export", run_id, "--table", "all", "--format", "jsonl", "--out", str(everything))
    assert {"scores.jsonl", "measures.jsonl", "findings.jsonl"} <= {path.name for path in everything.iterdir()}

    assert json.loads(here("rebuild", "--json")) == {"runs": 1, "left_out": []}
    here("delete", run_id)
    assert json.loads(here("runs", "--json")) == []


def test_prompts_of_a_run_that_asked_for_no_answers_are_refused(settings, capsys, tmp_path):
    folder = RunFolder.create(settings.runs, RunSpec("memorization", 2, "gemma-3-270m", "starter_pairs"))
    folder.write_progress(status="complete", total=0)
    out = tmp_path / "prompts.csv"
    line = ["export", folder.run_id, "--table", "prompts", "--format", "csv", "--out", str(out)]
    assert main([*line, "--cache", str(settings.cache)]) == 1
    assert f"{folder.run_id} holds no answers of the model" in capsys.readouterr().err and not out.exists()


@pytest.mark.slow
def test_a_detached_run_is_done_by_another_process(settings, tiny_gpt2, capsys):
    import time

    asked = ["run", "accuracy", "--model", str(tiny_gpt2), "--benchmark", "starter_pairs", "--limit", "10", "--detach"]
    run_id = explorer(settings, *asked).stdout.strip()
    deadline = time.monotonic() + 120
    status = ""
    while status != "complete" and time.monotonic() < deadline:
        time.sleep(0.5)
        assert main(["runs", "--json", "--cache", str(settings.cache)]) == 0
        [row] = json.loads(capsys.readouterr().out)
        status = row["status"]
        assert status in ("queued", "running", "complete")
    assert (row["run_id"], status) == (run_id, "complete")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--benchmark", "nothing"], "no benchmark 'nothing'"),
        (["--benchmark", "starter_pairs", "--suite", "nothing"], "no group nothing"),
        (["--benchmark", "starter_pairs", "--limit", "0"], "limit is 0"),
        (["--benchmark", "starter_pairs", "--seed", "-1"], "seed is -1"),
        (["--benchmark", "starter_pairs", "--seed", str(2**31)], "from 0 to 2147483647"),
        (["--benchmark", "starter_pairs", "--set", "per_group"], "expected KEY=VALUE"),
        (["--benchmark", "starter_pairs", "--set", "preset=mine"], "expected one of natural"),
        (["--benchmark", "starter_pairs", "--set", "mine=1"], "no setting mine"),
    ],
)
def test_a_wrong_request_is_refused_before_anything_is_stored(settings, capsys, arguments, said):
    assert main(["run", "accuracy", *arguments, "--cache", str(settings.cache)]) == 1
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
    assert not settings.runs.exists() or not list(settings.runs.iterdir())


@pytest.mark.parametrize(
    "said, told",
    [
        (["--gold", "1"], "--gold is for a choice"),
        (["--acceptable", "1"], "--acceptable is for judged sentences"),
        (["--kind", "pair", "--first", "bad"], "--first is for sentences by turns"),
        (["--connectors", "because,so"], "--connectors is for a choice of causes and effects"),
        (["--split", "dev"], "--split is for a JSON file with several lists"),
        (["--formula", "((2;%a%) > (2;%b%))"], "--formula is for a suite"),
    ],
)
def test_what_an_import_says_of_another_kind_of_table_is_refused(settings, capsys, tmp_path, said, told):
    table = tmp_path / "pairs.csv"
    table.write_text("good,bad\nThe cats sleep.,The cats sleeps.\n", "utf-8")
    arguments = ["import", str(table), "--name", "mine", "--cache", str(settings.cache)]
    assert main([*arguments, *said]) == 1
    error = capsys.readouterr().err
    assert told in error and "pairs.csv is read as pair" in error and error.count("\n") == 1
    assert not (settings.cache / "imports").exists()
    assert main(arguments) == 0


@pytest.mark.parametrize("study, name", [("accuracy", "t.csv"), ("accuracy", "t.jsonl"), ("ontology", "t.jsonl")])
def test_a_file_that_is_no_benchmark_yet_is_sent_to_import(settings, capsys, tmp_path, study, name):
    table = tmp_path / name
    table.write_text("good,bad\nThe cats sleep.,The cats sleeps.\n", "utf-8")
    arguments = ["run", study, "--model", "gemma-3-270m", "--benchmark", str(table), "--cache", str(settings.cache)]
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert "t.csv is a file" in error or "t.jsonl is a file" in error
    assert "python -m explorer import FILE --name NAME" in error and error.count("\n") == 1


def test_a_benchmark_is_meant_by_its_name_where_a_file_is_called_so(settings, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "starter_pairs").write_text("a file of something else", "utf-8")
    asked = ["run", "accuracy", "--model", "gemma-3-270m", "--benchmark", "starter_pairs", "--dry-run", "--limit", "1"]
    assert main([*asked, "--cache", str(settings.cache)]) == 0
    assert "accuracy of 1 instances of starter_pairs" in capsys.readouterr().out


def test_two_values_of_one_setting_are_refused(settings, capsys):
    arguments = ["run", "accuracy", "--benchmark", "starter_pairs", "--cache", str(settings.cache), "--dry-run"]
    assert main([*arguments, "--set", "preset=natural", "--set", "preset=lm-eval"]) == 1
    assert "--set gives preset twice: 'natural' and 'lm-eval'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, told",
    [
        ("export RUN --format csv --out x.csv --by characters", "--by characters is for --table words"),
        ("export RUN --format parquet --out x.parquet --spreadsheet-safe", "--spreadsheet-safe is for --format csv"),
        ("trajectories --read accuracy", "--read is of findings"),
        ("trajectories --list", "--list is of findings"),
        ("trajectories --popularity dose", "--popularity is of when instances were learned"),
        ("trajectories --learned --study accuracy", "--study is of findings"),
    ],
)
def test_what_is_said_of_another_question_is_refused(settings, capsys, arguments, told):
    assert main([*arguments.split(), "--cache", str(settings.cache)]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"error: {told}") and error.count("\n") == 1
