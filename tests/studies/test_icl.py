"""In-context runs over a small labelled set and a small real model; findings worked by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from explorer import prompts_icl
from explorer.benchmarks.core.benchmark import Loaded
from explorer.errors import UsageError
from explorer.records import Generation, Instance, RunSpec
from explorer.resources import Resources
from explorer.runs import cost
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.state import Cancelled
from explorer.runs.worker import work
from explorer.settings import Settings
from explorer.studies.icl import (
    context as icl_context,
)
from explorer.studies.icl import (
    findings as icl_findings,
)
from explorer.studies.icl import (
    prompts as icl_prompts,
)
from explorer.studies.icl import (
    published as icl_published,
)
from explorer.studies.icl import (
    steps as icl_steps,
)
from explorer.studies.icl import (
    study as icl_study,
)
from explorer.studies.icl.rows import as_judged, final, people_verdicts, review, verdict_table
from tests.endpoint_servers import JsonHandler, ToyServer
from tests.stand_ins import Capitals, Letters

JUDGE = "http://judge.test/v1#strict"
NAMES = ("Ada", "Bo", "Cy", "Dee", "Eve", "Flo", "Gus", "Hal", "Ida", "Jo", "Kim", "Lea")
LABELS = ("yes", "no")


class Judge:
    """Finds every second completion near-exact."""

    name = JUDGE

    def __init__(self):
        self.asked = []

    def generate(self, requests, *, max_new_tokens, seed=0, progress=None, **rest):
        self.asked += requests
        answers = ("Yes (near-exact match)", "No", "Hm")
        return [Generation(request, answers[i % 3]) for i, request in enumerate(requests)]

    def record(self):
        return {}


def pairs() -> tuple[Instance, ...]:
    made = []
    for number, name in enumerate(NAMES):
        for twin, label in enumerate(LABELS):
            made.append(
                Instance(
                    id=f"toy/{label}/{number}", benchmark="toy", split="train", group=label, kind="labelled",
                    format="rte", context=f"{name} had {number} cups of tea.", options=LABELS, gold=twin, label=label,
                    second=f"{name} drank {'tea' if twin == 0 else 'no tea'}.",
                )
            )  # fmt: skip
    return tuple(made)


def world(cache, judge=None) -> Resources:
    resources = Resources(Settings(cache=cache, offline=True))
    for key, made in {
        ("encoder", "all-minilm-l6-v2"): Letters(),
        ("tagger",): Capitals(),
        ("endpoint", JUDGE, False): judge or Judge(),
        ("instances", "toy", ()): Loaded(pairs(), (), "here", "hash"),
    }.items():
        resources.once(key, lambda made=made: made)
    return resources


CHOICES = {
    "k": "0,1,2,4", "instances": 6, "max_new_tokens": 8, "judge": JUDGE, "settings": "full,pairs", "orders": 2,
    "performance": "both",
}  # fmt: skip


def spec_of(resources, model, **changes):
    return make_spec(
        resources, study="icl", model=str(model), benchmark="toy", dtype="float32", settings={**CHOICES, **changes}
    )


def run(resources, model, **changes) -> RunFolder:
    folder = RunFolder.create(resources.settings.runs, spec_of(resources, model, **changes))
    assert work(folder, resources, lambda text: None, wait=False) == "complete", folder.progress().message
    return folder


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge()


@pytest.fixture(scope="module")
def resources(tmp_path_factory, judge) -> Resources:
    return world(tmp_path_factory.mktemp("icl"), judge)


@pytest.fixture(scope="module")
def finished(resources, tiny_gpt2) -> RunFolder:
    return run(resources, tiny_gpt2)


def finding(folder: RunFolder, name: str, group: str = "overall", **factors) -> pd.Series:
    rows = folder.read("findings")
    rows = rows[(rows["finding"] == name) & (rows["grp"] == group)]
    for column, value in factors.items():
        rows = rows[rows[column].isna()] if value is None else rows[rows[column] == value]
    assert len(rows) == 1, rows
    return rows.iloc[0]


def test_every_item_is_finished_under_every_setting_and_k(finished):
    table = verdict_table(finished.read)
    assert len(table) == 6 * 2 * 4
    assert set(zip(table["setting"], table["k"], strict=True)) == {
        (s, k) for s in ("full", "pairs") for k in (0, 1, 2, 4)
    }
    assert set(table["rule"]) <= {"exact", "near-exact", "inexact"}
    assert table["reference"].str.contains("tea").all() and (table["completion"] == table["raw"].map(
        prompts_icl.completion
    )).all()  # fmt: skip
    assert finished.read("variants")["condition"].value_counts()["instance"] == 6


def test_completions_are_those_of_plain_generate(finished, tiny_gpt2):
    torch = pytest.importorskip("torch")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(tiny_gpt2, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(tiny_gpt2)
    asked = icl_prompts.full_prompts(finished.read)
    asked = asked[asked["role"] == "replication"]
    for row in asked.sample(8, random_state=0).to_dict("records"):
        ids = tokenizer(row["prompt"], return_tensors="pt")["input_ids"]
        with torch.no_grad():
            found = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=8,
                                   pad_token_id=0)  # fmt: skip
        text = tokenizer.decode(found[0, ids.shape[1] :], skip_special_tokens=True)
        assert prompts_icl.completion(text) == row["completion"]


def test_label_scores_are_those_of_whole_prompts(finished, resources, tiny_gpt2):
    from explorer.scoring.score import score

    found = icl_context.sampled_items(finished.spec, resources)
    stored = finished.read("scores")
    assert len(stored) == 6 * 2 * 4 * 2
    for order, k in ((0, 4), (1, 2), (1, 0)):
        before = prompts_icl.label_shared(found.orders[order][:k], found.example)
        instance = found.draw.instances[3].instance
        wanted = score(
            resources.model(str(tiny_gpt2), "float32"), prompts_icl.label_requests(instance, before, k, order)
        )
        own = stored[(stored["instance_id"] == instance.id) & (stored["k"] == k) & (stored["part"] == order)]
        assert own["logprob"].tolist() == pytest.approx([one.sum for one in wanted], abs=1e-3)


def test_prompts_are_put_together_again_from_the_stored_rows(finished, resources):
    found = icl_context.sampled_items(finished.spec, resources)
    asked = icl_prompts.full_prompts(finished.read)
    assert [one.instance.id for one in icl_prompts.demonstrations(finished.read, 1)] == [
        one.instance.id for one in found.orders[1]
    ]
    row = asked[(asked["role"] == "replication") & (asked["setting"] == "full") & (asked["k"] == 2)].iloc[0]
    pieces = found.pieces[row["instance_id"]]
    before = prompts_icl.shared(found.draw.demonstrations[:2], "full", found.example, "train")
    assert row["prompt"] == prompts_icl.replication(pieces, before, "full", 2).context
    assert "from the train split of the toy dataset" in row["prompt"]


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_whole_prompts_and_completions_are_exported(finished, resources, tmp_path, format):
    from explorer.__main__ import main

    out = tmp_path / f"prompts.{format}"
    cache = str(resources.settings.cache)
    asked = ["export", finished.run_id, "--table", "prompts", "--format", format, "--out", str(out), "--cache", cache]
    assert main(asked) == 0
    found = pd.read_json(out, lines=True) if format == "jsonl" else pd.read_csv(out)
    expected = icl_prompts.full_prompts(finished.read)
    assert found["prompt"].tolist() == expected["prompt"].tolist()
    assert found["completion"].fillna("").tolist() == expected["completion"].tolist()


def test_the_shared_part_is_read_once_for_all_items(finished):
    read = finding(finished, "prefill", "replication", setting="full", k=4)
    assert json.loads(read["detail"])["prompt_tokens"] > 3 * read["value"]
    labels = finding(finished, "prefill", "labels", k=4, part=1)
    assert json.loads(labels["detail"])["prompt_tokens"] > 3 * labels["value"]


def test_the_judge_is_asked_the_papers_prompt_about_what_is_not_exact(finished, judge):
    table = verdict_table(finished.read)
    unequal = table[(table["rule"] != "exact") & (table["completion"] != "")]
    assert len(judge.asked) == len(unequal)
    assert all(request.context.rstrip().endswith("Answer:") for request in judge.asked)
    assert set(table["judge"].dropna()) <= {"exact", "near-exact", "inexact", "unparsed"}


def test_people_overrule_the_judge_and_all_verdicts_are_kept(resources, tiny_gpt2):
    folder = run(resources, tiny_gpt2, k="0", performance="none", settings="pairs")
    before = verdict_table(folder.read).set_index("instance_id")
    first = before.index[0]
    folder.add_review(review(first, "pairs", 0, "inexact"))
    folder.add_review(review(first, "pairs", 0, "exact", by="a person"))
    after = verdict_table(folder.read, folder.read_reviews()).set_index("instance_id")
    assert after.loc[first, "people"] == after.loc[first, "final"] == "exact"
    assert after.loc[first, "rule"] == before.loc[first, "rule"]
    rows = pd.DataFrame(icl_findings.summarize(folder.spec, resources, folder))
    share = rows[(rows["finding"] == "replication_exact") & (rows["grp"] == "overall")].set_index("condition")["value"]
    assert share["people"] == 1.0 and share["final"] == pytest.approx(share["rule"] + 1 / 6)
    folder.add_review(review(first, "pairs", 0, ""))
    assert people_verdicts(folder.read_reviews()) == {}


@pytest.mark.parametrize(
    ("rule", "judge", "people", "wanted"),
    [
        ("inexact", None, None, "inexact"),
        ("inexact", "near-exact", None, "near-exact"),
        ("near-exact", "unparsed", None, "near-exact"),
        ("exact", "exact", None, "exact"),
        ("exact", "exact", "inexact", "inexact"),
        (None, None, None, None),
    ],
)
def test_the_verdict_that_counts(rule, judge, people, wanted):
    assert final(rule, judge, people) == wanted


def test_a_judges_exact_about_texts_that_differ_is_near_exact():
    assert as_judged("inexact", "exact") == "near-exact"
    assert as_judged("exact", None) == "exact"
    assert as_judged("near-exact", "unparsed") == "unparsed"


def test_a_k_that_does_not_fit_is_skipped_with_the_reason_and_an_offer(resources, tiny_gpt2):
    folder = run(resources, tiny_gpt2, k="0,2,12", settings="pairs", performance="scored", judge="", max_new_tokens=100)
    row = finding(folder, "skipped_k", "replication", setting="pairs", k=12)
    assert "more than the model's window of 512" in row["reason"]
    largest = int(row["value"])
    assert 2 <= largest < 12 and f"{largest} would fit" in row["reason"]
    found = icl_context.sampled_items(folder.spec, resources)
    instances = icl_context.select(folder.spec, resources)
    model = resources.model(str(tiny_gpt2), "float32")
    lengths = [
        icl_context._replication_tokens(folder.spec, model, found, instances, "pairs", k)
        for k in (largest, largest + 1)
    ]
    assert lengths[0] <= 512 < lengths[1]
    assert set(verdict_table(folder.read)["k"]) == {0, 2}


def test_more_demonstrations_than_there_are_is_a_skipped_k(resources, tiny_gpt2):
    folder = run(resources, tiny_gpt2, k="0,100", settings="pairs", performance="none", judge="")
    assert "demonstrations could be drawn" in finding(folder, "skipped_k", "replication", setting="pairs")["reason"]
    assert finding(folder, "drawn", "demonstrations")["left_out"] > 0


def test_a_stopped_run_goes_on_after_its_last_step_and_equals_an_unbroken_one(tmp_path, tiny_gpt2, finished):
    resources = world(tmp_path)
    folder = RunFolder.create(resources.settings.runs, spec_of(resources, tiny_gpt2))
    instances = icl_context.select(folder.spec, resources)
    seen = []

    def stop(done, total):
        seen.append(done)
        if done > 0.4 * total:
            raise Cancelled

    with pytest.raises(Cancelled):
        icl_study.run_part(folder.spec, resources, instances, stop)
    kept = {path.name: path.stat().st_mtime_ns for path in (folder.path / "steps").iterdir()}
    assert 0 < len(kept) < 30
    assert work(folder, resources, lambda text: None, wait=False) == "complete"
    after = {path.name: path.stat().st_mtime_ns for path in (folder.path / "steps").iterdir()}
    assert kept.items() <= after.items()
    for table in ("generations", "measures", "scores"):
        pd.testing.assert_frame_equal(folder.read(table), finished.read(table), rtol=1e-4, atol=1e-4)


def test_steps_that_overlap_give_the_rows_of_steps_one_after_another(tmp_path, tiny_gpt2, finished, monkeypatch):
    def one_after_another(kept, staged, progress, *, overlap):
        overlapped.append(overlap)
        return make_steps(kept, staged, progress, overlap=False)

    overlapped = []
    make_steps = icl_steps.make_steps
    monkeypatch.setattr(icl_steps, "make_steps", one_after_another)
    folder = run(world(tmp_path), tiny_gpt2)
    # The model's steps may overlap, those of a judge that is a server may not.
    assert overlapped == [True, False]
    for table in ("generations", "measures", "scores", "variants"):
        pd.testing.assert_frame_equal(folder.read(table), finished.read(table))


def test_the_judge_is_asked_once_all_completions_are_judged_by_rule(tmp_path, tiny_gpt2):
    class LastOfAll(Judge):
        def generate(self, requests, **rest):
            kept = [path.name for path in (folder.path / "steps").iterdir()]
            assert sum(name.startswith("replication") for name in kept) == 2
            assert sum(name.startswith("labels") for name in kept) == 4
            return super().generate(requests, **rest)

    resources = world(tmp_path, LastOfAll())
    changes = {"k": "0,2", "settings": "full", "performance": "scored"}
    folder = RunFolder.create(resources.settings.runs, spec_of(resources, tiny_gpt2, **changes))
    assert work(folder, resources, lambda text: None, wait=False) == "complete", folder.progress().message


def test_an_error_in_a_later_step_keeps_the_earlier_ones(tmp_path, tiny_gpt2, finished, monkeypatch):
    from explorer.scoring.shared_prefix_scorer import SharedPrefixScorer

    def broken(self, prepared):
        raise UsageError("no scores today")

    resources = world(tmp_path)
    folder = RunFolder.create(resources.settings.runs, spec_of(resources, tiny_gpt2))
    with monkeypatch.context() as patch:
        patch.setattr(SharedPrefixScorer, "finish", broken)
        assert work(folder, resources, lambda text: None, wait=False) == "failed"
    assert "no scores today" in folder.progress().message
    kept = {path.name: path.stat().st_mtime_ns for path in (folder.path / "steps").iterdir()}
    assert len(kept) == 8 and all(name.startswith("replication") for name in kept)
    assert work(folder, resources, lambda text: None, wait=False) == "complete"
    after = {path.name: path.stat().st_mtime_ns for path in (folder.path / "steps").iterdir()}
    assert kept.items() <= after.items()
    for table in ("generations", "measures", "scores"):
        pd.testing.assert_frame_equal(folder.read(table), finished.read(table), rtol=1e-4, atol=1e-4)


def test_a_reference_is_encoded_and_tagged_once_a_run(tmp_path, tiny_gpt2):
    resources = world(tmp_path)
    seen: dict[str, list[str]] = {"encoder": [], "tagger": []}
    encoder, tagger = resources.encoder(), resources.tagger()
    encode, tag = encoder.encode, tagger.tag
    encoder.encode = lambda texts: (seen["encoder"].extend(texts), encode(texts))[1]
    tagger.tag = lambda texts: (seen["tagger"].extend(texts), tag(texts))[1]
    folder = run(resources, tiny_gpt2, performance="none", judge="")
    for reference in set(verdict_table(folder.read)["reference"]):
        assert seen["encoder"].count(reference) == seen["tagger"].count(reference) == 1


def test_the_limit_takes_the_first_items_of_the_same_draw(resources, tiny_gpt2):
    whole = spec_of(resources, tiny_gpt2)
    few = make_spec(
        resources, study="icl", model=str(tiny_gpt2), benchmark="toy", dtype="float32", limit=3, settings=CHOICES
    )
    assert icl_context.select(few, resources) == icl_context.select(whole, resources)[:3]


class TeaHandler(JsonHandler):
    """Gives everybody tea, and calls every label no."""

    def do_POST(self) -> None:
        (message,) = self.asked()["messages"]
        self.server.asked.append(message["content"])
        name = message["content"].rpartition("Sentence 1: ")[2].split()[0]
        answer = "No." if message["content"].endswith("Label:") else f"Sentence 2: {name} drank tea."
        self.send({"model": "toy", "choices": [{"message": {"content": answer}, "finish_reason": "stop"}]})


def test_an_endpoint_is_asked_in_messages_and_its_labels_are_written(resources):
    server = ToyServer(TeaHandler)
    try:
        choices = {"k": "0,2", "settings": "full", "performance": "auto", "judge": ""}
        expected = cost.estimate_run(spec_of(resources, server.name, **choices), resources)
        folder = run(resources, server.name, **choices)
        # Each item is finished once a k, and its label is written three times a k.
        assert len(server.asked) == expected.requests == 6 * 2 + 6 * 2 * 3
    finally:
        server.shutdown()
        server.server_close()
    table = verdict_table(folder.read)
    tea = table["reference"].str.endswith("drank tea.")
    assert (table[tea]["rule"] == "exact").all() and not (table[~tea]["rule"] == "exact").any()
    assert finding(folder, "label_accuracy_written", k=2, part=None)["n"] == 3
    assert finding(folder, "label_accuracy_written", k=2, part=1)["value"] == 0.5
    gap = finding(folder, "accuracy_gap", setting="full", condition="rule", k=2)
    assert not math.isnan(gap["value"]) or gap["reason"]


# --- findings from made-up rows


def verdicts(rows: dict[int, list[str]]) -> pd.DataFrame:
    made = [
        {"instance_id": f"i{i}", "setting": "full", "k": k, "grp": "yes" if i % 2 else "no", "rule": kind,
         "judge": None, "people": None, "final": kind, "completion": "x"}
        for k, kinds in rows.items()
        for i, kind in enumerate(kinds)
    ]  # fmt: skip
    return pd.DataFrame(made)


KINDS = {
    0: ["exact", "near-exact", "near-exact", "inexact"],
    1: ["exact", "exact", "near-exact", "inexact"],
}
ABOUT = {"setting": "full", "condition": "rule"}


def test_near_exact_counts_as_memorized_and_exact_is_told_apart():
    rows = icl_findings.replication(verdicts(KINDS), "rule", ABOUT)
    value = {(row["finding"], row["grp"], row["k"]): row["value"] for row in rows}
    assert value["replication", "overall", 0] == 0.75 and value["replication_exact", "overall", 0] == 0.25
    assert value["replication_exact", "overall", 1] == 0.5
    assert value["replication", "no", 0] == 1.0 and value["replication", "yes", 0] == 0.5


def test_transitions_count_what_becomes_exact():
    (row,) = icl_findings.transitions(verdicts(KINDS), "rule", ABOUT)
    # Two were near-exact; one of them is exact now.
    assert (row["value"], row["n"], row["k"]) == (0.5, 2, 1)
    detail = json.loads(row["detail"])
    assert detail["from"] == 0 and detail["counts"]["near-exact → exact"] == 1


def test_pearson_needs_four_k_and_says_so():
    rows = icl_findings.replication(verdicts(KINDS), "rule", ABOUT)
    both, exact = icl_findings.correlations(rows, {0: 0.5, 1: 0.6}, ABOUT)
    assert math.isnan(both["value"]) and "at least 4" in both["reason"] and exact["n"] == 2
    four = {k: ["exact"] * k + ["inexact"] * (4 - k) for k in (1, 2, 3, 4)}
    rows = icl_findings.replication(verdicts(four), "rule", ABOUT)
    found, _ = icl_findings.correlations(rows, {1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4}, ABOUT)
    # A straight line: of the 24 orders only itself and its reverse are as far from zero.
    assert found["value"] == pytest.approx(1.0) and found["p"] == pytest.approx(2 / 24)
    flat, _ = icl_findings.correlations(rows, {1: 0.1, 2: 0.1, 3: 0.1, 4: 0.1}, ABOUT)
    assert "constant" in flat["reason"]


def test_accuracy_of_memorized_items_stands_beside_that_of_the_others():
    labels = pd.DataFrame(
        {"instance_id": [f"i{i}" for i in range(4)], "k": 0, "part": 0, "correct": [1.0, 1.0, 0.0, 0.0],
         "correct_written": np.nan}
    )  # fmt: skip
    rows = icl_findings.gaps(verdicts({0: KINDS[0]}), "rule", labels, ABOUT)
    value = {row["finding"]: row["value"] for row in rows}
    assert value == {
        "accuracy_memorized": pytest.approx(2 / 3), "accuracy_other": 0.0, "accuracy_gap": pytest.approx(2 / 3)
    }  # fmt: skip


def test_kappa_leaves_out_what_is_simply_equal():
    table = verdicts({0: ["exact", "near-exact", "inexact", "inexact"]})
    table["judge"] = ["exact", "near-exact", "near-exact", "unparsed"]
    table["people"] = [None, "near-exact", "inexact", None]
    found = {row["grp"]: row for row in icl_findings.agreements(table)}
    assert found["rule, judge"]["n"] == 2 and found["rule, judge"]["left_out"] == 1
    assert found["rule, people"]["value"] == 1.0
    assert found["judge, people"]["n"] == 2


def test_the_papers_correlations_are_kept_as_printed():
    found = {(one.setting, one.metric): one.value for one in icl_published.figures_of("rte") if not one.condition}
    assert found["full", "pearson"] == -0.55 and found["pairs", "pearson_exact"] == -0.47
    assert sum(len(icl_published.figures_of(name)) for name in ("wnli", "trec", "dbpedia14", "rte")) == 28


@pytest.mark.parametrize(
    "nonsense",
    [{"settings": ""}, {"instances": 0}, {"max_new_tokens": 0}, {"orders": 0}, {"rouge": 7}, {"cosine": 1.5}],
)
def test_settings_that_leave_nothing_to_ask_or_to_compare_are_refused(resources, nonsense):
    spec = RunSpec("icl", icl_study.STUDY.version, "", "starter_entailment", settings=icl_study.STUDY.resolve(nonsense))
    with pytest.raises(UsageError, match=f"The setting {next(iter(nonsense))} "):
        icl_study.STUDY.select(spec, resources)
