"""Logs of other harnesses as runs: real ones, made offline by the harnesses themselves over the starter sets.

tests/data/logs holds what lm-evaluation-harness 0.4.13 wrote of a GPT-2 with random weights, and what Inspect wrote of
its mock model; the texts are those of the starter sets or written for this test.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from explorer import logs
from explorer.errors import UsageError
from explorer.resources import Resources
from explorer.results import queries
from explorer.results.store import open_store
from explorer.runs import imported
from explorer.studies.imported import log as imported_log
from explorer.studies.imported.log import import_log

DATA = Path(__file__).resolve().parent.parent / "data" / "logs"
LM_EVAL = sorted(DATA.glob("lm_eval/samples_*.jsonl"))


def log_of(name: str) -> Path:
    (path,) = DATA.glob(f"*/*{name}*")
    return path


@pytest.fixture
def resources(settings) -> Resources:
    return Resources(settings)


def measures(folder, name: str) -> list[float]:
    rows = folder.read("measures")
    return list(rows.loc[(rows["measure"] == name) & rows["setting"].isna(), "value"])


@pytest.mark.parametrize("path", LM_EVAL, ids=[path.name.split("_2026")[0] for path in LM_EVAL])
def test_the_harness_and_its_samples_agree_on_every_figure(resources, path):
    kept = import_log(logs.read(path), resources)
    assert kept.agreement and all(one.agrees for one in kept.agreement)
    assert kept.folder.progress().status == "complete"


@pytest.mark.parametrize(("name", "benchmark"), [("lexi_pairs", "starter_pairs"), ("lexi_cloze", "starter_cloze")])
def test_our_accuracy_is_the_harness_s(resources, name, benchmark):
    log = logs.read(log_of(name))
    kept = import_log(log, resources)
    assert kept.benchmark == benchmark and kept.matched == kept.instances == len(log.samples)
    found = kept.folder.read("findings")
    ours = found[(found["finding"] == "accuracy") & (found["grp"] == "overall") & found["setting"].isna()]
    assert float(ours["value"].iloc[0]) == pytest.approx(log.results["acc,none"], abs=1e-12)


def test_demonstrations_before_the_question_do_not_hide_the_instance(resources):
    log = logs.read(log_of("lexi_causes"))
    kept = import_log(log, resources)
    assert kept.benchmark == "starter_causes" and kept.matched == len(log.samples)
    scores = kept.folder.read("scores")
    assert scores["context"].str.contains("\n\n").all()
    correct = measures(kept.folder, "correct")
    assert sum(correct) / len(correct) == pytest.approx(log.results["acc,none"], abs=1e-12)
    findings = kept.folder.read("findings")
    reported = findings[findings["finding"] == "reported"].set_index("grp")["value"]
    assert reported.to_dict() == pytest.approx(dict(log.results))


def test_matched_samples_join_with_runs_of_our_own_by_instance_and_text(resources):
    kept = import_log(logs.read(log_of("lexi_pairs")), resources)
    ours = {one.id: one.text_hash for one in resources.instances("starter_pairs").instances}
    rows = kept.folder.read("instances")
    assert all(ours[row["instance_id"]] == row["text_hash"] for _, row in rows.iterrows())
    scores = kept.folder.read("scores")
    assert len(scores) == 2 * len(rows) and scores["logprob"].notna().all() and scores["greedy"].notna().all()
    assert scores["tokens"].isna().all()


def test_a_log_that_fits_no_benchmark_becomes_one(resources):
    log = logs.read(log_of("lexi_own"))
    kept = import_log(log, resources)
    assert kept.benchmark.startswith("imported_lexi-own-") and kept.matched == kept.instances == len(log.samples)
    instances = resources.instances(kept.benchmark).instances
    assert {one.kind for one in instances} == {"choice"} and {len(one.options) for one in instances} == {2, 3}
    correct = measures(kept.folder, "correct")
    assert sum(correct) / len(correct) == pytest.approx(log.results["acc,none"], abs=1e-12)
    findings = kept.folder.read("findings")
    reported = findings[findings["finding"] == "reported"].set_index("grp")["value"]
    assert reported.to_dict() == pytest.approx(dict(log.results))


def test_written_answers_and_each_filter_s_metric_are_kept(resources):
    kept = import_log(logs.read(log_of("lexi_written")), resources)
    assert kept.benchmark == "starter_questions"
    written = kept.folder.read("generations")
    assert len(written) == kept.instances and written["prompt"].str.endswith("Kind of answer:").all()
    rows = kept.folder.read("measures")
    assert set(rows.loc[rows["measure"] == "reported exact_match", "setting"].dropna()) == {"as-is", "last-word"}


@pytest.mark.parametrize("ending", ["json", "eval"])
def test_a_log_of_inspect_joins_with_the_starter_set(resources, ending):
    log = logs.read(log_of(f"quiz.{ending}"))
    kept = import_log(log, resources)
    assert kept.benchmark == "starter_causes" and kept.matched == len(log.samples)
    assert [one for one in kept.agreement if one.metric.startswith("accuracy")]
    assert all(one.agrees for one in kept.agreement)
    correct = measures(kept.folder, "correct")
    assert sum(correct) / len(correct) == pytest.approx(log.results["accuracy,choice"])


def test_the_same_log_again_is_the_same_run_and_every_page_says_it_is_imported(resources, settings):
    path = log_of("lexi_pairs")
    first, again = import_log(logs.read(path), resources), import_log(logs.read(path), resources)
    assert first.new and not again.new and first.folder.run_id == again.folder.run_id
    resources.ingest(first.folder)
    store = open_store(settings)
    row = queries.runs(store).set_index("run_id").loc[first.folder.run_id]
    mark = imported.label(str(row["spec"]))
    assert mark.startswith("imported: lm-evaluation-harness 0.4.13, SHA-256 ")
    assert row["message"].startswith("Imported: lm-evaluation-harness 0.4.13")
    assert imported.label(str(queries.headline(store)["spec"].iloc[0])) == mark
    assert "file samples_lexi_pairs" in imported.source(first.folder)


def test_samples_beyond_the_benchmark_stand_in_a_group_of_their_own(resources, tmp_path):
    path = log_of("lexi_pairs")
    lines = path.read_text("utf-8").splitlines()
    strange = json.loads(lines[0])
    strange |= {"doc_id": 999, "doc": {"good": "Rain fell.", "bad": "Rain fall."}}
    strange["arguments"]["gen_args_0"]["arg_1"] = " Rain fell."
    strange["arguments"]["gen_args_1"]["arg_1"] = " Rain fall."
    changed = tmp_path / path.name
    changed.write_text("\n".join([*lines, json.dumps(strange), "not json"]), "utf-8")
    kept = import_log(logs.read(changed), resources, model="toy")
    rows = kept.folder.read("instances")
    assert kept.instances == kept.matched + 1
    assert list(rows.loc[rows["grp"] == imported_log.UNMATCHED, "instance_id"]) == ["starter_pairs/unmatched/999"]
    (left,) = [json.loads(line) for line in (kept.folder.path / "left_out.jsonl").read_text().splitlines()]
    assert left["raw"] == "not json"


def test_model_and_benchmark_are_asked_for_where_they_cannot_be_told(resources, tmp_path):
    alone = tmp_path / log_of("lexi_pairs").name
    shutil.copyfile(log_of("lexi_pairs"), alone)
    with pytest.raises(UsageError, match="--model-name"):
        import_log(logs.read(alone), resources)
    assert import_log(logs.read(alone), resources, model="mine").folder.spec.model == "mine"
    with pytest.raises(UsageError, match="No sample of"):
        import_log(logs.read(alone), resources, model="mine", benchmark="starter_cloze")


def test_a_worker_never_mends_an_import_with_answers_of_another_model(resources):
    from explorer.runs import worker

    kept = import_log(logs.read(log_of("lexi_pairs")), resources)
    before = kept.folder.read("scores")
    next(kept.folder.parts.glob("*.done")).unlink()
    assert worker.work(kept.folder, resources, lambda text: None, wait=False) == "failed"
    assert "Import its file again" in kept.folder.progress().message
    again = import_log(logs.read(log_of("lexi_pairs")), resources)
    assert again.new and again.folder.progress().status == "complete"
    assert again.folder.read("scores").equals(before)


# --- several passes over a document


def overall(folder, setting: str | None = None):
    found = folder.read("findings")
    own = found[(found["finding"] == "accuracy") & (found["grp"] == "overall")]
    own = own[own["setting"].isna()] if setting is None else own[own["setting"] == setting]
    return own.iloc[0]


def quiz_in_epochs(folder: Path, reducer: str, told: float) -> tuple[Path, list[list[str]]]:
    """The real log of Inspect with three epochs a sample, and their values."""
    fields = json.loads(log_of("quiz.json").read_text("utf-8"))
    values = [["C", "I", "I"], ["I", "C", "C"], ["I", "I", "I"], ["C", "C", "C"]]
    samples = []
    for number, sample in enumerate({one["id"]: one for one in fields["samples"]}.values()):
        (name,) = sample["scores"]
        for epoch, value in enumerate(values[number % 4], 1):
            score = {**sample["scores"][name], "value": value}
            samples.append({**sample, "epoch": epoch, "scores": {name: score}})
    fields["samples"] = samples
    del fields["reductions"]
    fields["eval"]["config"] = {"epochs": 3, "epochs_reducer": [reducer]}
    for score in fields["results"]["scores"]:
        score["reducer"], score["metrics"] = reducer, {"accuracy": {"value": told}}
    path = folder / "quiz.json"
    path.write_text(json.dumps(fields), "utf-8")
    return path, [values[number % 4] for number in range(len(samples) // 3)]


@pytest.mark.parametrize("reducer", ["mean", "mode", "max"])
def test_the_headline_of_a_log_with_epochs_is_the_log_s_over_all_of_them(resources, settings, tmp_path, reducer):
    count = len({one["id"] for one in json.loads(log_of("quiz.json").read_text("utf-8"))["samples"]})
    each = {"mean": [1 / 3, 2 / 3, 0, 1], "mode": [0, 1, 0, 1], "max": [1, 1, 0, 1]}[reducer]
    told = sum(each[number % 4] for number in range(count)) / count
    path, values = quiz_in_epochs(tmp_path, reducer, told)
    kept = import_log(logs.read(path), resources)
    row = overall(kept.folder)
    assert (row["value"], row["n"]) == (pytest.approx(told), count)
    assert json.loads(row["detail"]) == {"passes": 3, "reducer": reducer}
    assert all(one.agrees for one in kept.agreement) and kept.agreement
    assert any("3 epochs" in remark for remark in imported.remarks(kept.folder))
    rows = kept.folder.read("measures")
    correct = rows[rows["measure"] == "correct"]
    by_epoch = correct[correct["part"].notna()].sort_values(["instance_id", "part"])
    assert len(by_epoch) == 3 * count and sorted(by_epoch["part"].unique()) == [0, 1, 2]
    assert by_epoch["value"].sum() == sum(own.count("C") for own in values)
    whole = correct[correct["part"].isna()]
    assert len(whole) == count and whole["reason"].str.contains("of 3 epochs").all()
    assert len(kept.folder.read("generations")) == 3 * count
    # the page's words follow what most epochs were
    resources.ingest(kept.folder)
    words = queries.items(open_store(settings), kept.folder.run_id)["verdict"].tolist()
    assert words == ["right" if each[number % 4] > 0.5 else "wrong" for number in range(count)]


def test_repeats_of_scored_documents_count_all_under_every_reduction(resources, tmp_path):
    path = log_of("lexi_pairs")
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    turned = []
    for line in lines:
        good, bad = line["filtered_resps"]
        turned.append({**line, "filtered_resps": [bad, good], "acc": 1.0 - line["acc"]})
    changed = tmp_path / path.name
    changed.write_text("\n".join(json.dumps(line) for line in (*lines, *turned, *lines)), "utf-8")
    kept = import_log(logs.read(changed), resources, model="toy")
    once = import_log(logs.read(path), resources, model="toy")
    share = overall(once.folder)["value"]
    for setting in (None, "sum"):
        row = overall(kept.folder, setting)
        assert row["value"] == pytest.approx((2 * share + (1 - share)) / 3)
        assert row["n"] == len(lines) == kept.instances
        assert json.loads(row["detail"]) == {"passes": 3, "reducer": "mean"}
    assert len(kept.folder.read("scores")) == 6 * len(lines)
    rows = kept.folder.read("measures")
    own = rows[(rows["measure"] == "correct") & (rows["instance_id"] == rows["instance_id"].iloc[0])]
    assert len(own) == 4 and own.loc[own["part"].isna(), "reason"].iloc[0].endswith("of 3 repeats; mean")
