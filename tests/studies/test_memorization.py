"""Memorization runs over a small real model and a proposer by hand; what they store, resumed and on odd texts."""

from __future__ import annotations

import dataclasses
import json
import math

import pandas as pd
import pytest

from explorer.benchmarks.core.benchmark import Loaded
from explorer.errors import UsageError
from explorer.popularity import index as builder
from explorer.popularity.documents import SourceDocument
from explorer.records import Instance, RunSpec
from explorer.resources import Resources
from explorer.runs import cost
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from explorer.settings import Settings
from explorer.stats.auc import auc
from explorer.studies.memorization.rows import ATTACKS
from explorer.studies.memorization.study import STUDY
from tests.stand_ins import Proposer, pair

pytestmark = pytest.mark.usefixtures("few_resamples")

PAIRS = (
    pair("0", "The cats sleep near the stove.", "The cats sleeps near the stove."),
    pair("1", "She said that he would comes back.", "She said that he would come back."),  # so that one is wrong
    pair("2", "The cats sleep near the stove.", "The cats sleeps near the stove."),  # a duplicate
    pair("3", "Nobody has seen the lighthouse.", "Nobody have seen the lighthouse.", "anaphor_agreement"),
    pair("4", "a", "b", "anaphor_agreement"),  # one token
    pair("5", "The teachers write.", "", "anaphor_agreement"),  # an empty option
)


def world_of(cache, instances, benchmark="blimp") -> Resources:
    resources = Resources(Settings(cache=cache, offline=True))
    resources.once(("instances", benchmark, ()), lambda: Loaded(tuple(instances), (), "here", "hash"))
    resources.once(("proposer", "auto"), Proposer)
    return resources


def run_of(world: Resources, model, benchmark="blimp", **given) -> RunFolder:
    spec = make_spec(world, study="memorization", model=str(model), benchmark=benchmark, settings=given)
    return RunFolder.create(world.settings.runs, spec)


def do(world: Resources, folder: RunFolder) -> RunFolder:
    assert work(folder, world, lambda text: None, wait=False) == "complete", folder.progress().message
    return folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory, tiny_gpt2) -> RunFolder:
    world = world_of(tmp_path_factory.mktemp("memorization"), PAIRS)
    return do(world, run_of(world, tiny_gpt2, neighbours=5))


def value(folder: RunFolder, key: str, option: int, measure: str) -> float:
    measures = folder.read("measures")
    found = measures[
        measures["instance_id"].str.endswith(f"/{key}")
        & (measures["option"] == option)
        & (measures["measure"] == measure)
    ]
    assert len(found) == 1
    return float(found["value"].iloc[0])


def test_every_option_gets_every_measure_or_a_reason(finished):
    measures = finished.read("measures")
    own = measures[measures["option"] >= 0]
    for name in ATTACKS:
        rows = own[own["measure"] == name]
        assert len(rows) == 12, name
        assert (rows["value"].notna() | (rows["reason"] != "")).all()


def test_stored_measures_follow_from_stored_tokens(finished):
    scores = finished.read("scores")
    whole = scores[scores["role"] == "text"].set_index(["instance_id", "option"])
    first = whole.loc[("blimp/subject_verb_agreement/0", 0)]
    logprobs = list(first["token_logprobs"])
    assert first["continuation"] == PAIRS[0].options[0] and first["context"] == ""
    assert value(finished, "0", 0, "mia_loss") == pytest.approx(-sum(logprobs) / len(logprobs), abs=1e-5)
    assert value(finished, "0", 0, "text_logprob") == pytest.approx(sum(logprobs), abs=1e-4)
    assert value(finished, "0", 0, "mia_perplexity") == pytest.approx(
        math.exp(-sum(logprobs) / len(logprobs)), rel=1e-4
    )
    # This tokenizer puts nothing before a prompt, so the second half is scored apart, without the BOS.
    prompted = scores[scores["role"] == "extraction"].set_index(["instance_id", "option"])
    apart = list(prompted.loc[("blimp/subject_verb_agreement/0", 0)]["token_logprobs"])
    assert math.isnan(apart[0])
    assert value(finished, "0", 0, "tde_likelihood") == pytest.approx(sum(apart[len(apart) // 2 :]), abs=1e-4)


def test_neighbours_are_stored_with_who_proposed_them_and_their_mean_is_subtracted(finished):
    scores = finished.read("scores")
    near = scores[(scores["role"] == "neighbour") & (scores["instance_id"] == "blimp/subject_verb_agreement/0")]
    own = near[near["option"] == 0]
    assert own["part"].tolist() == [0, 1, 2, 3, 4]
    mean = (-own["logprob"] / own["scored"]).mean()
    assert value(finished, "0", 0, "neighbour_loss") == pytest.approx(mean)
    assert value(finished, "0", 0, "mia_neighbours") == pytest.approx(value(finished, "0", 0, "mia_loss") - mean)
    assert value(finished, "0", 0, "neighbours") == 5
    variants = finished.read("variants")
    rows = variants[variants["instance_id"] == "blimp/subject_verb_agreement/0"].to_dict("records")
    assert {row["setting"] for row in rows} == {"three words by hand"}
    for row in rows:
        edit = json.loads(row["edit"])
        text = PAIRS[0].options[edit["option"]]
        end = edit["start"] + len(edit["original"])
        changed = text[: edit["start"]] + edit["substitute"] + text[end:]
        stored = near[(near["option"] == edit["option"]) & (near["part"] == row["part"])]
        assert stored["continuation"].tolist() == [changed]


def test_odd_texts_are_told_and_stop_nothing(finished):
    measures = finished.read("measures").set_index(["instance_id", "option", "measure"])
    one_token = measures.loc[("blimp/anaphor_agreement/4", 0, "tde_likelihood")]
    assert math.isnan(one_token["value"]) and "first half" in one_token["reason"]
    assert value(finished, "4", 0, "mia_loss") > 0
    empty = measures.loc[("blimp/anaphor_agreement/5", 1, "mia_loss")]
    assert math.isnan(empty["value"]) and empty["reason"] == "the continuation is empty"
    assert value(finished, "2", 0, "mia_loss") == pytest.approx(value(finished, "0", 0, "mia_loss"), abs=1e-5)


def test_findings_say_what_could_not_be_fitted_and_who_made_neighbours(finished):
    findings = finished.read("findings")
    about = findings[findings["grp"] == "overall"]

    def rows(finding: str, attack: str) -> dict[str, dict]:
        own = about[(about["finding"] == finding) & (about["setting"] == attack)]
        return {row["condition"]: row for row in own.to_dict("records")}

    extracted = rows("classifier_coefficient", "tde_accuracy")["correct"]
    assert math.isnan(extracted["value"]) and "constant feature" in extracted["reason"]
    assert json.loads(extracted["detail"])["stars"] == ""
    assert set(rows("classifier_f1", "mia_loss")) == {"logistic", "svm", "majority"}
    assert set(rows("memorization_half", "mia_loss")) == {"low", "high"}
    by = findings[findings["finding"] == "neighbours_by"].iloc[0]
    assert by["setting"] == "three words by hand" and by["value"] == 6
    assert json.loads(by["detail"])["per_text"] == 5
    assert by["left_out"] == 0


def test_the_cap_spares_instances_of_each_task_and_says_so(tmp_path, tiny_gpt2):
    world = world_of(tmp_path, PAIRS)
    folder = do(world, run_of(world, tiny_gpt2, neighbours=3, neighbours_cap=1))
    measures = folder.read("measures").query("measure == 'mia_neighbours' and option == 0")
    spared = measures[measures["reason"].str.contains("beyond the cap of 1 instances")]
    assert len(spared) == 4  # two tasks of three instances
    by = folder.read("findings").query("finding == 'neighbours_by'").iloc[0]
    assert by["value"] == 2 and by["left_out"] == 4 and "at most 1 instances of each task" in by["reason"]


def test_without_neighbours_nobody_is_asked_to_propose(tmp_path, tiny_gpt2):
    world = world_of(tmp_path, PAIRS[:2])
    world._kept.pop(("proposer", "auto"))
    folder = do(world, run_of(world, tiny_gpt2, neighbours=0))
    assert folder.read("variants").empty
    assert "neighbours_by" not in set(folder.read("findings")["finding"])


def test_a_resumed_run_equals_an_unbroken_one(tmp_path, tiny_gpt2):
    many = [dataclasses.replace(PAIRS[i % 4], id=f"blimp/g/{i}") for i in range(24)]
    whole_world = world_of(tmp_path / "whole", many)
    whole = do(whole_world, run_of(whole_world, tiny_gpt2, neighbours=2))
    world = world_of(tmp_path / "broken", many)
    folder = run_of(world, tiny_gpt2, neighbours=2)

    def cancel(done: int, total: int) -> None:
        if folder.finished():
            folder.ask_to_cancel()

    assert work(folder, world, lambda text: None, cancel, wait=False) == "cancelled"
    assert len(folder.finished()) > 0
    fresh = world_of(tmp_path / "broken", many)  # as a new process would
    do(fresh, folder)
    order = ["instance_id", "option", "measure"]
    ours, theirs = (one.read("measures").sort_values(order).reset_index(drop=True) for one in (folder, whole))
    pd.testing.assert_frame_equal(ours, theirs, rtol=0, atol=1e-3)
    assert not ours.duplicated([*order, "part"]).any()
    keys = ["variant_id", "edit"]
    pd.testing.assert_frame_equal(folder.read("variants")[keys], whole.read("variants")[keys])


def test_texts_without_options_are_measured_and_have_no_classifier(tmp_path, tiny_gpt2):
    texts = [
        Instance(id=f"mine/g/{i}", benchmark="mine", split="train", group="g", kind="text", format="text", context=text)
        for i, text in enumerate(["The cats sleep near the stove.", "Nobody has ever seen it.", "What did she write?"])
    ]
    world = world_of(tmp_path, texts, "mine")
    folder = do(world, run_of(world, tiny_gpt2, "mine", neighbours=2))
    findings = folder.read("findings")
    assert set(findings["finding"]) == {"memorization_score", "neighbours_by"}
    assert set(findings["condition"].dropna()) == {"text"}


def test_a_server_that_scores_prompts_is_measured_like_a_model(tmp_path, letters):
    world = world_of(tmp_path, PAIRS[:2])
    folder = run_of(world, letters.name, neighbours=2)
    # Four sentences, asked for the verdict and as texts, and two neighbours of each: at most.
    assert cost.estimate_run(folder.spec, world).requests == 16 and letters.asked == []
    do(world, folder)
    assert len(letters.asked) == 12  # a sentence is its own text
    # Every letter but the first has log P -1.
    assert value(folder, "0", 0, "mia_loss") == 1.0
    size = len(PAIRS[0].options[0])
    assert value(folder, "0", 0, "tde_likelihood") == size // 2 - size
    assert value(folder, "0", 0, "mia_neighbours") == 0.0
    assert (folder.read("scores")["role"] == "extraction").sum() == 0


def test_the_settings_are_refused_where_they_do_not_exist(tmp_path, tiny_gpt2):
    with pytest.raises(UsageError, match="no setting neighbors"):
        run_of(world_of(tmp_path, PAIRS), tiny_gpt2, neighbors=2)


@pytest.mark.slow
def test_planted_memorization_shows_in_extraction_and_membership(planted, tmp_path):
    texts = [
        Instance(
            id=f"planted/{group}/{i}", benchmark="planted", split="train", group=group, kind="text", format="text",
            context=text,
        )
        for group, own in (("seen", planted.seen), ("unseen", planted.unseen))
        for i, text in enumerate(own)
    ]  # fmt: skip
    world = world_of(tmp_path, texts, "planted")
    folder = do(world, run_of(world, planted.folder, "planted", neighbours=5))
    measures = folder.read("measures")
    seen = measures["instance_id"].str.contains("/seen/")
    extracted = measures["measure"] == "tde_accuracy"
    assert measures.loc[extracted & seen, "value"].mean() > 0.8
    assert measures.loc[extracted & ~seen, "value"].mean() < 0.1
    for name, attack in ATTACKS.items():
        if name == "tde_accuracy":
            continue
        rows = measures[measures["measure"] == name]
        sign = 1.0 if attack.seen == "high" else -1.0
        member = rows["instance_id"].str.contains("/seen/").astype(float)
        assert auc(member.to_numpy(), sign * rows["value"].to_numpy()).value > 0.9, name


@pytest.mark.parametrize("percent", [0, 101])
def test_a_percentage_of_tokens_that_cannot_be_meant_is_refused(percent, tmp_path):
    resources = Resources(Settings(cache=tmp_path, offline=True))
    spec = RunSpec("memorization", 1, "", "starter_pairs", settings=STUDY.resolve({"min_k": percent}))
    with pytest.raises(UsageError, match="min_k"):
        STUDY.select(spec, resources)


def test_further_attacks_are_measured_of_every_text_where_a_run_asks_for_them(finished, tmp_path_factory, tiny_gpt2):
    world = world_of(tmp_path_factory.mktemp("more"), PAIRS)
    folder = do(world, run_of(world, tiny_gpt2, neighbours=0, more="min_k_plus,recall"))
    own = folder.read("measures")
    for name in ("min_k_plus", "recall"):
        rows = own[own["measure"] == name]
        assert len(rows) == 12 and (rows["value"].notna() | (rows["reason"] != "")).all(), name
        assert rows["value"].notna().sum() >= 11, name
    assert not set(finished.read("measures")["measure"]) & {"min_k_plus", "recall"}
    assert value(folder, "0", 0, "mia_loss") == pytest.approx(value(finished, "0", 0, "mia_loss"), abs=1e-5)


def test_labels_of_an_index_are_stored_with_the_run(tmp_path, tiny_gpt2):
    index = tmp_path / "index"
    documents = [SourceDocument("The cats that the old woman feeds sleep near the stove. And so on.", "a.txt", 0)]
    builder.build(lambda: documents, index, name="mine", vocabulary=300)
    instances = [
        dataclasses.replace(
            PAIRS[0],
            options=(
                "The cats that the old woman feeds sleep near the stove.",
                "Nobody writes books about zinc buckets.",
            ),
        )
    ]
    world = world_of(tmp_path, instances)
    folder = do(world, run_of(world, tiny_gpt2, neighbours=0, labels="index", index=str(index)))
    key = instances[0].id.rpartition("/")[2]
    assert [value(folder, key, option, "member") for option in (0, 1)] == [1, 0]
    assert value(folder, key, 0, "verbatim_share") == 1 and value(folder, key, 1, "verbatim_share") < 0.5
    plain = STUDY.resolve({})
    assert not {"labels", "index"} & set(plain), "runs made before keep their ids"
