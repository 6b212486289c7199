"""Studies of a reasoning model: thoughts are counted, and an answer that is all thought is neither right nor wrong."""

from __future__ import annotations

import math
import re

import pytest

from explorer.resources import Resources
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from tests.endpoint_servers import Call, Reply, Server, chat

LABELS = [f"part {name}" for name in ("one", "two", "three", "four", "five", "six", "seven", "eight")]
IDS = {label: f"TOY:{1_000_000 + 37 * number}" for number, label in enumerate(LABELS)}
CUT_OFF = LABELS[:2]  # the model thinks about them until the limit
WRONG = LABELS[2:4]


def thinking(call: Call, number: int) -> Reply:
    """Thinks about every label, in a field of its own or in the text, and answers most of them."""
    asked = call.body["messages"][-1]["content"]
    label = next(one for one in LABELS if re.search(rf"{one}\b", asked))
    thought = f"It may be {IDS[label]} or not."
    if label in CUT_OFF:
        return Reply(body=chat(None, message={"content": None, "reasoning": thought}, finish_reason="length"))
    answer = "TOY:0000001" if label in WRONG else IDS[label]
    if LABELS.index(label) % 2:
        return Reply(body=chat(f"<think>{thought}</think>\n\n{answer}"))
    return Reply(body=chat(answer, message={"content": answer, "reasoning_content": thought}))


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    path = tmp_path_factory.mktemp("thinking") / "toy.csv"
    path.write_text("".join(f"{curie};{label};0;{i + 1}\n" for i, (label, curie) in enumerate(IDS.items())))
    return path


def made(settings, toy, **given) -> RunFolder:
    server = Server(thinking)
    resources = Resources(settings)
    spec = make_spec(resources, study="ontology", model=f"{server.url}#m", benchmark=str(toy), settings=given)
    folder = RunFolder.create(settings.runs, spec)
    assert work(folder, resources, print, wait=False) == "complete", folder.progress().message
    server.close()
    return folder


def test_an_ids_answer_is_read_without_its_thought_and_a_thought_alone_is_left_out(settings, toy):
    folder = made(settings, toy, gold=False, buckets=2)
    answers = folder.read("generations").set_index("instance_id")
    assert set(answers["text"]) == {"", "TOY:0000001", *(IDS[label] for label in LABELS[4:])}
    out = answers[answers["text"] == ""]
    assert len(out) == len(CUT_OFF) and out["reason"].str.contains("still thought, after 3 tokens").all()
    assert (out["verdict"].fillna("") == "").all()
    measures = folder.read("measures")
    correct = measures[measures["measure"] == "correct"].set_index("instance_id")
    assert correct.loc[out.index, "value"].isna().all() and correct["value"].sum() == 4
    assert correct.loc[out.index, "reason"].str.contains("still thought").all()
    thought = measures[measures["measure"] == "thought_chars"]
    assert len(thought) == len(LABELS) and thought["value"].min() >= len("It may be TOY:1000000 or not.")
    found = folder.read("findings")
    share = found[(found["finding"] == "accuracy") & (found["grp"] == "overall") & (found["setting"] == "corrected")]
    assert share["value"].item() == pytest.approx(4 / 6) and share["left_out"].item() == len(CUT_OFF)
    assert share["n"].item() == 6


def test_a_run_whose_answers_are_all_thought_has_no_accuracy_and_says_why(settings, toy, monkeypatch):
    monkeypatch.setattr("tests.studies.test_thoughts.CUT_OFF", LABELS)
    found = made(settings, toy, gold=False, buckets=2).read("findings")
    share = found[found["finding"] == "accuracy"]
    assert len(share) == 1 and math.isnan(share["value"].item()) and share["left_out"].item() == len(LABELS)
    assert "still thought" in share["reason"].item()


def test_repeats_are_compared_where_all_of_them_were_answered(settings, toy):
    folder = made(settings, toy, gold=False, buckets=2, invariance="PI-1", again_per_bucket=4)
    found = folder.read("findings")
    same = found[(found["finding"] == "invariance") & (found["condition"] == "parsed") & (found["grp"] == "overall")]
    assert len(same) and same["n"].iloc[0] == len(LABELS) - len(CUT_OFF) and same["value"].iloc[0] == 1
