"""The ontology study on a model that was taught the popular half of a small ontology and not the other half."""

from __future__ import annotations

import dataclasses
import math
import random
from pathlib import Path

import pytest

from explorer.ontologies.prompts import PROMPTS
from explorer.resources import Resources
from explorer.rows.builders import instance_row
from explorer.runs import cost
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from explorer.studies.ontology import declared
from explorer.studies.ontology import study as ontology_study
from tests.endpoint_servers import JsonHandler, ToyServer

WORDS = ("heart", "valve", "cell", "bone", "growth", "repair", "membrane", "left", "early", "acid", "transport", "fold")
POPULAR, ALL = 12, 24
PROMPT = "In the TOY ontology, the TOY ID of the label '{}' is TOY:"


def concepts() -> list[tuple[str, str, int]]:
    """Id, label and count of 24 concepts; the first 12 are popular."""
    chance = random.Random(7)
    labels = list(dict.fromkeys(" ".join(chance.sample(WORDS, 3)) for _ in range(90)))[:ALL]
    ids = [f"TOY:{number:07d}" for number in chance.sample(range(10_000_000), ALL)]
    return [(ids[i], labels[i], 100 + i if i < POPULAR else i - POPULAR) for i in range(ALL)]


@pytest.fixture(scope="module")
def toy(tmp_path_factory) -> Path:
    """The ontology as a table."""
    path = tmp_path_factory.mktemp("ontology") / "toy.csv"
    path.write_text("".join(f"{curie};{label};0;{count}\n" for curie, label, count in concepts()), "utf-8")
    return path


@pytest.fixture(scope="module")
def taught(tmp_path_factory) -> Path:
    """A small model that has learned the ids of the popular concepts by heart, in a few seconds."""
    torch = pytest.importorskip("torch")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    # A token a byte, so that digits are learned one by one.
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = {"</s>": 0, **{letter: i + 1 for i, letter in enumerate(alphabet)}}
    tokenizer = Tokenizer(models.BPE(vocab=words, merges=[]))
    tokenizer.add_special_tokens(["</s>"])
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="</s>", eos_token="</s>", pad_token="</s>")
    torch.manual_seed(1)
    config = GPT2Config(vocab_size=len(words), n_positions=256, n_embd=48, n_layer=2, n_head=4, bos_token_id=0,
                        eos_token_id=0)  # fmt: skip
    model = GPT2LMHeadModel(config).train()
    texts = [PROMPT.format(label) + curie.partition(":")[2] + ".</s>" for curie, label, _ in concepts()[:POPULAR]]
    batch = fast(texts, return_tensors="pt", padding=True)
    # Only what follows the prompt is learned: digits, a full stop, the end.
    answers = torch.tensor([len(PROMPT.format(label)) for _, label, _ in concepts()[:POPULAR]])
    places = torch.arange(batch["input_ids"].shape[1])
    inside = (places >= answers[:, None]) & (batch["attention_mask"] == 1)
    wanted = batch["input_ids"].masked_fill(~inside, -100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(150):
        loss = model(**batch, labels=wanted).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    folder = tmp_path_factory.mktemp("taught") / "toy-model"
    model.eval().save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


def run(settings, model, benchmark, say=print, **choices) -> RunFolder:
    limit = choices.pop("limit", None)
    resources = Resources(settings)
    spec = make_spec(
        resources, study="ontology", model=str(model), benchmark=str(benchmark), limit=limit, dtype="float32",
        settings=choices,
    )  # fmt: skip
    folder = RunFolder.create(settings.runs, spec)
    work(folder, resources, say, wait=False)
    return folder


def finding(folder: RunFolder, name: str, group: str = "overall", **factors) -> float:
    found = folder.read("findings")
    found = found[(found["finding"] == name) & (found["grp"] == group)]
    for column, value in factors.items():
        found = found[found[column] == value]
    assert len(found) == 1, found
    return float(found["value"].iloc[0])


@pytest.fixture(scope="module")
def module_settings(tmp_path_factory):
    from explorer import settings as settings_module

    return dataclasses.replace(settings_module.read(cache=tmp_path_factory.mktemp("cache")), offline=True)


@pytest.fixture(scope="module")
def whole(module_settings, taught, toy) -> RunFolder:
    return run(module_settings, taught, toy, prompt="completion", buckets=4, others=5, samples=3)


def test_what_was_taught_is_answered_and_the_rest_is_not(whole):
    assert whole.progress().status == "complete"
    measures = whole.read("measures")
    right = measures[measures["measure"] == "correct"].set_index("instance_id")["value"]
    answers = [right[f"toy/TOY/{curie}"] for curie, _, _ in concepts()]
    assert sum(answers[:POPULAR]) >= POPULAR - 1
    assert sum(answers[POPULAR:]) == 0
    assert finding(whole, "accuracy", setting="corrected") == pytest.approx(sum(answers) / ALL)
    assert finding(whole, "spearman_items", setting="corrected") > 0.7
    assert finding(whole, "bucket_accuracy", "1", setting="corrected") == 0
    assert finding(whole, "bucket_accuracy", "4", setting="corrected") > 0.8


def test_the_authors_way_of_counting_stands_beside_ours(whole):
    # Their buckets lose the first concept of each but the first; overall accuracy uses every row.
    assert finding(whole, "accuracy", setting="as released") == finding(whole, "accuracy", setting="corrected")
    found = whole.read("findings")
    sizes = found[found["finding"] == "bucket_accuracy"].groupby("setting")["n"].sum()
    assert sizes["corrected"] == ALL
    assert sizes["as released"] == ALL - 3


def test_a_raw_answer_is_kept_and_ends_once_its_id_stands(whole):
    given = whole.read("generations")
    main = given[given["request"] == 0]
    assert len(main) == ALL
    ids = main[main["verdict"] == "id"]
    assert len(ids) >= POPULAR - 1
    assert all(len(text) == 8 and text[:7].isdigit() and not text[7].isdigit() for text in ids["text"])
    assert set(main["setting"]) == {"completion"}
    assert list(given["role"].unique()) == ["prompt", "sample"]


def test_what_is_known_of_right_ids_is_found_over_all_by_bucket_and_against_popularity(whole):
    names = set(whole.read("findings")["finding"])
    assert {"gold_rank_sampled", "bucket_gold_rank_sampled", "spearman_gold_rank_sampled"} <= names
    assert {"sampled_correct", "bucket_sampled_correct", "spearman_sampled_correct"} <= names
    assert names <= {one.name for one in declared.FINDINGS}


def test_the_right_id_is_scored_digit_by_digit_and_ranked(whole):
    scores = whole.read("scores")
    gold = scores[scores["role"] == "target"]
    assert len(gold) == ALL
    assert all(len(texts) == 7 for texts in gold["token_texts"])
    assert all("".join(texts) == asked for texts, asked in zip(gold["token_texts"], gold["continuation"], strict=True))
    assert (scores[scores["role"] == "other id"].groupby("instance_id").size() == 5).all()
    measures = whole.read("measures")
    wide = measures.pivot_table(index="instance_id", columns="measure", values="value", aggfunc="first")
    known = wide.loc[[f"toy/TOY/{curie}" for curie, _, _ in concepts()[:POPULAR]]]
    assert (known["gold_rank"] == 1).mean() > 0.9
    assert known["gold_logprob"].mean() > wide["gold_logprob"].mean()
    assert known["gold_gain"].mean() > 3
    # By chance the right id gains more than half of the others; nothing was learned of the unpopular ones.
    unknown = wide.drop(index=known.index)
    assert abs(unknown["gold_gain_preferred"].mean() - 0.5) < 0.25
    assert known["sampled_correct"].mean() > 0.5 > unknown["sampled_correct"].mean()


def test_a_run_that_was_broken_off_equals_an_unbroken_one(whole, module_settings, taught, toy, tmp_path):
    settings = dataclasses.replace(module_settings, cache=tmp_path)
    resources = Resources(settings)
    folder = RunFolder.create(settings.runs, whole.spec)
    chosen = ontology_study.STUDY.select(whole.spec, resources)
    part = chosen[:7]
    rows = ontology_study.STUDY.run_part(whole.spec, resources, part, lambda done, total: None)
    folder.write_part(0, 6, {"instances": [instance_row(item, i) for i, item in enumerate(part)], **rows})
    work(folder, Resources(settings), print, wait=False)
    for table in ("instances", "generations"):
        assert whole.read(table).equals(folder.read(table))
    unbroken, resumed = (
        one.read("measures").sort_values(["instance_id", "measure"], kind="stable", ignore_index=True)
        for one in (whole, folder)
    )
    assert unbroken.drop(columns="value").equals(resumed.drop(columns="value"))
    # A score may differ by rounding, since other requests were packed beside it.
    assert (unbroken["value"] - resumed["value"]).abs().max() < 1e-3
    assert list(whole.read("findings")["finding"]) == list(folder.read("findings")["finding"])


def test_a_draw_from_each_bucket_keeps_the_buckets_of_the_whole(module_settings, taught, toy):
    folder = run(module_settings, taught, toy, prompt="completion", buckets=4, per_bucket=3, gold=False)
    found = folder.read("findings")
    rows = found[(found["finding"] == "bucket_accuracy") & (found["setting"] == "corrected")]
    assert list(rows["n"]) == [3, 3, 3, 3]
    assert folder.read("scores").empty


def test_questions_are_repeated_in_three_ways(module_settings, taught, toy):
    ways = "PI-1,PI-2,PI-3"
    folder = run(
        module_settings, taught, toy, prompt="chat", buckets=4, again_per_bucket=2, gold=False, invariance=ways,
        languages="en,it",
    )  # fmt: skip
    given = folder.read("generations")
    again = given[given["role"] == "repeat"]
    assert again["instance_id"].nunique() == 8
    assert again.groupby(["instance_id", "setting"]).size().unique().tolist() == [10, 11, 5]
    # Greedy answers of one machine agree with themselves.
    assert finding(folder, "invariance", setting="PI-1", condition="raw") == 1
    assert 0 <= finding(folder, "invariance", setting="PI-2", condition="raw") <= 1
    assert 0 <= finding(folder, "invariance_accuracy", setting="PI-3", condition="parsed") <= 1
    assert finding(folder, "accuracy", language="it") >= 0
    buckets = [finding(folder, "bucket_invariance", str(n), setting="PI-1", condition="parsed") for n in (1, 2, 3, 4)]
    assert buckets == [1, 1, 1, 1]
    right = [
        finding(folder, "bucket_invariance_accuracy", str(n), setting="PI-3", condition="parsed") for n in (1, 2, 3, 4)
    ]
    assert sum(right) / 4 == pytest.approx(finding(folder, "invariance_accuracy", setting="PI-3", condition="parsed"))
    # Invariance that is the same everywhere has no correlation.
    assert math.isnan(finding(folder, "spearman_invariance", setting="PI-1", condition="parsed"))
    found = folder.read("findings")
    languages = found[found["finding"] == "language_accuracy"].set_index("language")
    assert list(languages.index) == ["en", "it", "fr", "de", "es"] and (languages["n"] == 8).all()
    parsed = finding(folder, "invariance_accuracy", setting="PI-3", condition="parsed")
    assert languages["value"].mean() == pytest.approx(parsed)
    agreement = found[found["finding"] == "language_agreement"].set_index(["language", "grp"])["value"]
    assert len(agreement) == 5 * 4 and agreement["en", "it"] == agreement["it", "en"]


def test_a_prompt_without_other_languages_cannot_be_repeated_in_them(module_settings, taught, toy):
    said: list[str] = []
    folder = run(module_settings, taught, toy, said.append, prompt="completion", invariance="PI-3", limit=2)
    assert folder.progress().status == "failed"
    assert "has no text in de, es, fr, it" in said[-1]


def test_the_prompt_chosen_by_itself_has_the_languages_asked_for(module_settings, taught, toy):
    folder = run(module_settings, taught, toy, gold=False, invariance="PI-3", limit=2)
    assert set(folder.read("generations").query("role == 'prompt'")["setting"]) == {"chat"}
    folder = run(module_settings, taught, toy, gold=False, limit=2)
    assert set(folder.read("generations")["setting"]) == {"completion"}


def test_the_most_accurate_prompt_is_picked_on_a_sample(module_settings, taught, toy):
    folder = run(module_settings, taught, toy, prompt="best", gold=False, limit=4)
    found = folder.read("findings")
    tried = found[found["finding"] == "prompt_accuracy"].set_index("grp")["value"]
    assert tried.idxmax() == "completion"  # the one that was taught
    assert "chat" not in tried  # the model has no chat form
    assert list(folder.read("generations")["setting"].unique()) == ["completion"]


def test_counts_can_come_from_elsewhere(module_settings, taught, toy, monkeypatch):
    from explorer.ontologies import web_counts

    asked = []

    def europe_pmc(concepts, settings):
        asked.extend(concepts)
        known = [web_counts.WebCount(one.id, float(len(one.label))) for one in concepts[1:]]
        return [web_counts.WebCount(concepts[0].id, float("nan"), reason="status 500"), *known]

    monkeypatch.setattr(web_counts, "europe_pmc", europe_pmc)
    folder = run(module_settings, taught, toy, counts="europe-pmc", gold=False, buckets=3, limit=9, prompt="completion")
    assert len(asked) == 9
    counts = folder.read("measures").query("measure == 'web_count'")
    assert counts["value"].isna().sum() == 1
    assert set(counts["reason"]) == {"", "status 500"}
    assert finding(folder, "bucket_accuracy", "1", setting="corrected") >= 0


class Server(ToyServer):
    """A chat server that knows three ids by heart and breaks down after `patience` answers."""

    def __init__(self, patience: int) -> None:
        self.patience = patience
        super().__init__(Handler)


class Handler(JsonHandler):
    def do_POST(self) -> None:
        text = self.asked()["messages"][0]["content"]
        if len(self.server.asked) >= self.server.patience:
            self.send({"error": {"message": "no more"}}, 401)
            return
        self.server.asked.append(text)
        known = {label: curie for curie, label, _ in concepts()[:POPULAR]}
        answer = next((curie for label, curie in known.items() if f"'''{label}'''" in text), "I am sorry.")
        self.send({"model": "toy", "choices": [{"message": {"content": answer}, "finish_reason": "stop"}]})


def test_what_a_run_will_cost_is_told_before_it_asks_anything(module_settings, toy):
    priced = dataclasses.replace(module_settings, price_in=1.0, price_out=2.0)
    server = Server(patience=0)
    try:

        def cost_of(**given):
            resources = Resources(priced)
            spec = make_spec(resources, study="ontology", model=server.name, benchmark=str(toy), settings=given)
            return cost.estimate_run(spec, resources)

        chat = cost_of(languages="en,it", samples=2)
        assert chat.requests == ALL * (2 + 2)
        assert chat.new_tokens == ALL * (2 + 2) * 10
        assert chat.cost == pytest.approx((chat.prompt_tokens + 2 * chat.new_tokens) / 1e6)
        # The right id and nine others are scored too, and each id once after the label that says nothing.
        scored = cost_of(prompt="completion")
        assert scored.requests == ALL + ALL * 10 + ALL
        assert scored.new_tokens == ALL * 10 + ALL * 10 + ALL
        best = cost_of(prompt="best", gold=False)
        assert best.requests == ALL * len(PROMPTS) + ALL
        assert cost_of(prompt="completion", gold=False).requests == ALL
        assert server.asked == []
    finally:
        server.shutdown()
        server.server_close()


def test_of_a_run_in_part_done_only_the_rest_is_reckoned(module_settings, toy, tmp_path):
    settings = dataclasses.replace(module_settings, cache=tmp_path)
    resources = Resources(settings)
    spec = make_spec(resources, study="ontology", model="http://127.0.0.1:9/v1#toy", benchmark=str(toy))
    RunFolder.create(settings.runs, spec).write_part(0, 9, {})
    assert cost.estimate_run(spec, resources).requests == ALL - 10
    local = make_spec(resources, study="ontology", model="gemma-3-270m", benchmark=str(toy))
    assert cost.estimate_run(local, resources) is None


def test_an_endpoint_that_breaks_down_is_not_asked_again_for_what_it_answered(module_settings, toy):
    server = Server(patience=15)
    try:
        resources = Resources(module_settings)
        spec = make_spec(resources, study="ontology", model=server.name, benchmark=str(toy), settings={"buckets": 4})
        folder = RunFolder.create(module_settings.runs, spec)
        said: list[str] = []
        assert work(folder, resources, said.append, wait=False) == "failed"
        assert "key" in said[-1]
        assert len(server.asked) == 15
        server.patience = 10_000
        assert work(folder, Resources(module_settings), said.append, wait=False) == "complete"
        assert len(server.asked) == ALL
        assert len(set(server.asked)) == ALL
        assert finding(folder, "accuracy", setting="corrected") == POPULAR / ALL
        reasons = folder.read("measures").query("measure == 'gold_logprob'")["reason"].unique()
        assert reasons.tolist() == ["a chat endpoint gives no log-probabilities"]
        outcomes = folder.read("findings").query("finding == 'outcome' and setting == 'corrected'")
        assert dict(zip(outcomes["grp"], outcomes["value"], strict=True))["refusal"] == 0.5
    finally:
        server.shutdown()
        server.server_close()
