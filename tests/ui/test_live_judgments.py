"""What a page says of an instance now is what a full run stores of it: in every study one function judges both."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from pathlib import Path

import pandas as pd
import pytest

from explorer.popularity.ips import DecileEdges
from explorer.prompts import option_texts
from explorer.rows.builders import instance_of
from explorer.runs.folder import RunFolder
from explorer.studies.icl import context as icl_context
from explorer.studies.judged import Judgment
from explorer.studies.memorization import study as memorization_study
from explorer.studies.priming import run_settings
from explorer.ui import live, resources
from explorer.ui.cockpit import gauges
from explorer.ui.icl import lab as icl_lab
from explorer.ui.instance import ngram_rating
from explorer.ui.layout import Chosen
from explorer.ui.ontology import inspector
from explorer.ui.priming import live as priming_live
from explorer.variants.contexts import read_context, rebuild_text
from tests.runs import small_worlds

HALF_A_LETTER = re.compile("[\ud800-\udfff]")


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    return small_worlds.folder_of_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def full_run(tmp_path, model, monkeypatch):
    """A full run of a small world by its name, after which the pages live in that world."""

    def run(name: str) -> RunFolder:
        monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
        folder = small_worlds.run(name, tmp_path, model)
        world = small_worlds.world(tmp_path)
        monkeypatch.setattr(resources, "resources", lambda: world)
        return folder

    return run


def rows_of(measures: pd.DataFrame, instance_id: str, **factors) -> Judgment:
    """What the run stored of an instance under these factors; an empty one where `factors` has None."""
    own = measures[measures["instance_id"] == instance_id]
    for name, value in factors.items():
        own = own[own[name].isna() if value is None else own[name] == value]
    return Judgment.of_rows(own.to_dict("records"))


def same(live_judgment: Judgment, stored: Judgment) -> bool:
    """Whether both have the same measures with the same numbers and reasons."""
    pairs = zip(live_judgment.measured, stored.measured, strict=True)
    return all(
        dataclasses.replace(one, value=0.0) == dataclasses.replace(other, value=0.0)
        and (one.value == other.value or (math.isnan(one.value) and math.isnan(other.value)))
        for one, other in pairs
    )


@pytest.mark.parametrize("name", ["accuracy", "accuracy_pmi", "accuracy_regions", "accuracy_cloze", "accuracy_choice"])
def test_accuracy(full_run, model, name):
    folder = full_run(name)
    measures, ids = folder.read("measures"), set(folder.read("instances")["instance_id"])
    loaded = [one for one in resources.resources().instances(folder.spec.benchmark).instances if one.id in ids]
    # Half a letter cannot be typed or shown, and is stored as another text.
    items = [one for one in loaded if not any(map(HALF_A_LETTER.search, one.options))]
    for item in items:
        judged = live.judge(item, str(model), folder.spec.settings)
        assert same(judged.judgment, rows_of(measures, item.id)), item.id
    assert len(items) > 2


def test_popularity(full_run):
    folder = full_run("popularity")
    measures = folder.read("measures")
    source = ngram_rating.Source("words", DecileEdges.from_rows(folder.read("findings").to_dict("records")))
    for payload in folder.read("instances")["payload"]:
        item = instance_of(payload)
        rated = ngram_rating.rate(option_texts(item), source)
        for option, text in enumerate(rated):
            (stored,) = (one for one in rows_of(measures, item.id, option=option).measured if one.name == "ips")
            assert text.ips.value == pytest.approx(stored.value, nan_ok=True, abs=0)
            assert text.ips.reason == stored.reason


def test_perturbation(full_run, model):
    folder = full_run("perturbation")
    measures, variants = folder.read("measures"), folder.read("variants")
    originals = {row["instance_id"]: instance_of(row["payload"]) for row in folder.read("instances").to_dict("records")}
    likeness = 0
    for row in variants[variants["accepted"]].to_dict("records"):
        old, new = originals[row["instance_id"]], instance_of(row["payload"])
        stored = rows_of(measures, old.id, setting=row["setting"])
        before, after = (live.judge(one, str(model), {}).judgment for one in (old, new))
        assert before.value("margin") == rows_of(measures, old.id, condition="original").value("margin")
        for name in ("correct", "margin", "chosen"):
            assert after.get(name) == stored.get(name)
        alike = stored.get("rouge_l")
        if not math.isnan(alike.value):  # the right option's text was changed
            likeness += 1
            assert gauges.LIKENESS["ROUGE-L"](old, new).after == pytest.approx(alike.value)
    assert likeness > 3


def test_memorization(full_run):
    # No page measures memorization now: an instance alone is measured as among the others of its run.
    folder = full_run("memorization")
    measures = folder.read("measures")
    world = resources.resources()
    for payload in folder.read("instances")["payload"][:4]:
        item = instance_of(payload)
        alone = memorization_study.run_part(folder.spec, world, [item], lambda done, total: None)
        table = alone["measures"]
        rows = table if isinstance(table, list) else table.to_pylist()
        rows = [{**row, "value": math.nan if row["value"] is None else row["value"]} for row in rows]
        assert same(Judgment.of_rows(rows), rows_of(measures, item.id))


def test_priming(full_run, model):
    folder = full_run("priming")
    world = resources.resources()
    pools = run_settings.context_source_of(folder.spec, world).pools
    measures, variants = folder.read("measures"), folder.read("variants")
    items = {row["instance_id"]: instance_of(row["payload"]) for row in folder.read("instances").to_dict("records")}
    compared = 0
    for row in variants[variants["accepted"]].head(6).to_dict("records"):
        context = read_context(json.loads(row["edit"]))
        for point in context.checkpoints:
            if not point.sentences:
                continue
            text = rebuild_text(context, pools, point.sentences)
            now = priming_live.growth(items[row["instance_id"]], [text], str(model), "natural")[-1]
            stored = rows_of(measures, row["instance_id"], condition=context.condition, length=point.length)
            assert same(now.judgment, stored)
            compared += 1
    assert compared > 6


def test_ontology(full_run, tmp_path, model):
    folder = full_run("ontology")
    measures = folder.read("measures")
    chosen = Chosen(str(model), str(tmp_path / "toy.csv"))
    given = folder.read("generations")
    for payload in folder.read("instances")["payload"]:
        item = instance_of(payload)
        stored = rows_of(measures, item.id)
        now = inspector.ask_concept(item, chosen)
        for name in ("gold_logprob", "gold_gain"):
            assert now.judgment.get(name) == stored.get(name)
        # The fake model answers the same question in the same way: what it says stands among the answers now.
        text = given[(given["instance_id"] == item.id) & (given["request"] == 0)]["text"].iloc[0]
        verdicts = set(now.answers.loc[now.answers["Answer"] == text, "Verdict"])
        assert verdicts == {"right" if stored.value("correct") == 1 else "wrong"}


@pytest.mark.parametrize("k", [0, 2])
def test_icl(full_run, model, monkeypatch, k):
    folder = full_run("icl")
    world = resources.resources()
    world.once(("tagger",), small_worlds.Capitals)
    drawn = icl_context.sampled_items(folder.spec, world)
    monkeypatch.setattr(icl_lab, "_draw_items", lambda chosen: drawn)
    measures, given = folder.read("measures"), folder.read("generations")
    replications = given[(given["role"] == "replication") & (given["k"] == k)].set_index("instance_id")
    for name, row in replications.iterrows():
        now = icl_lab.answer(str(model), "toy", str(name), "full", k, 0)
        assert (now.text, now.match.kind) == (row["text"], row["verdict"])
        completion = rows_of(measures, name, setting="full", k=k)
        assert now.match.rouge == pytest.approx(completion.value("rouge_l_recall"))
        assert now.match.cosine == pytest.approx(completion.value("cosine"))
        stored = rows_of(measures, name, setting=None, k=k, part=0)
        for measure in ("correct", "margin", "chosen"):
            assert dataclasses.replace(now.judgment.get(measure), part=0) == stored.get(measure)


def test_half_a_letter_in_a_text_is_answered_and_not_a_fault_of_the_page(tmp_path, tiny_gpt2, monkeypatch):
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    pair = resources.instances("starter_pairs").instances[0]
    broken = live.edited(pair, options=("She \ud83d sings.", pair.options[1]))
    judged = live.judge(broken, str(tiny_gpt2), {})
    assert judged.scores[0].reason and not judged.scores[1].reason
    assert math.isnan(judged.judgment.value("margin"))
