"""Scores behind a shared prefix equal those of whole prompts, and the prefix is read once, also by a longer one."""

from __future__ import annotations

import math

import pytest

from explorer import settings as settings_module
from explorer.records import Request
from explorer.scoring import hf, shared_prefix_scorer
from explorer.scoring.generate import ModelGenerator
from explorer.scoring.policy import PRESETS
from explorer.scoring.score import score
from explorer.scoring.shared_prefix_scorer import SharedPrefixScorer

pytest.importorskip("torch")

ARCHITECTURES = ("gpt_neox", "gpt2", "opt", "llama", "olmo2", "gemma3_text")
SHOTS = ["The keys are on the table.\nLabel: keys", "Nobody has seen the lid.\nLabel: the lid", "A day.\nLabel: keys"]
OWN = ["The cabinet is old.", "They said: nothing.", "Some café in Zürich 🙂", "The keys", "The keys to the cabinet"]


@pytest.fixture(scope="module", params=ARCHITECTURES)
def model(request, tiny_folders, tmp_path_factory):
    settings = settings_module.read(cache=tmp_path_factory.mktemp("cache"))
    return hf.load(str(tiny_folders(request.param)), settings, dtype="float32", device="cpu")


@pytest.fixture(scope="module")
def neox(tiny_folders, tmp_path_factory):
    settings = settings_module.read(cache=tmp_path_factory.mktemp("cache"))
    return hf.load(str(tiny_folders("gpt_neox")), settings, dtype="float32", device="cpu")


def ask(shots, texts=OWN, labels=("keys", "the lid", "nothing at all")):
    before = "".join(f"{shot}\n\n" for shot in shots)
    return [
        Request(f"{text}", option, f"{before}Text: {text}\nLabel:", f" {label}")
        for text in texts
        for option, label in enumerate(labels)
    ]


def test_scores_equal_a_naive_loop_over_whole_prompts(model, naive):
    requests = ask(SHOTS[:2])
    found = SharedPrefixScorer(ModelGenerator(model)).score(requests)
    for one, request in zip(found, requests, strict=True):
        wanted, greedy = naive.score(model.model, model.tokenizer, request.context, request.continuation)
        assert one.request is request
        assert one.logprobs == pytest.approx(wanted, abs=1e-3)
        assert one.greedy == greedy


def test_the_shared_part_is_read_once_and_a_longer_one_goes_on_from_it(model):
    scorer = SharedPrefixScorer(ModelGenerator(model))
    few = scorer.score(ask(SHOTS[:2]))
    read = scorer.stats.read_tokens
    assert scorer.stats.prompt_tokens > 2.5 * read
    more = scorer.score(ask(SHOTS))
    whole = len(model.tokenizer(ask(SHOTS)[0].context)["input_ids"])
    assert scorer.stats.read_tokens - read < read + whole // 3
    for requests, scores in ((ask(SHOTS[:2]), few), (ask(SHOTS), more)):
        plain = score(model, requests)
        assert [one.sum for one in scores] == pytest.approx([one.sum for one in plain], abs=1e-3)
        assert [one.token_ids for one in scores] == [one.token_ids for one in plain]


def test_the_next_requests_are_prepared_while_others_are_scored(neox):
    asked = [ask(SHOTS[:2]), ask(SHOTS), ask([], ["One", "Two"])]
    wanted = [[one.sum for one in score(neox, requests)] for requests in asked]
    scorer = SharedPrefixScorer(ModelGenerator(neox))
    prepared = [scorer.prepare(requests) for requests in asked]
    for each in prepared:
        scorer.run(each)
    for each, sums in zip(prepared, wanted, strict=True):
        assert [one.sum for one in scorer.finish(each)] == pytest.approx(sums, abs=1e-3)


def test_several_are_begun_before_anybody_waits_for_the_first(neox):
    asked, told = [ask(SHOTS[:2]), ask(SHOTS), ask([], ["One", "Two"])], []
    scorer = SharedPrefixScorer(ModelGenerator(neox))
    prepared = [scorer.prepare(requests) for requests in asked]
    waiting = [scorer.begin(each, lambda done, of: told.append((done, of))) for each in prepared]
    for wait in waiting:
        wait()
    alone = SharedPrefixScorer(ModelGenerator(neox))
    for each, requests in zip(prepared, asked, strict=True):
        assert scorer.finish(each) == alone.score(requests)
    assert {(len(requests), len(requests)) for requests in asked} <= set(told)


def test_own_parts_whose_first_tokens_differ_are_split_where_the_cut_is():
    from explorer.scoring.model import Encoding

    class Letters:
        """A token a letter, but a text with a z in it has others before the cut, encoded without what stands before."""

        def encode_all(self, pairs, bos, split):
            return [Encoding(self.ids(a + b, bos), len(a), 0, False) for a, b in pairs]

        def ids(self, text, bos):
            other = 1000 if bos == "never" and "z" in text else 0
            return tuple(ord(letter) + other * (letter == "o") for letter in text)

    shared = "One.\n\nTwo.\n\n"
    pairs = [(f"{shared}Text: {own}", " end") for own in ("abc", "bz", "cc")]
    prefix, tails = shared_prefix_scorer.split_shared_prefix(Letters(), pairs, "auto")
    assert bytes(prefix).decode() == shared
    assert [bytes(tail.ids).decode() for tail in tails] == ["Text: abc end", "Text: bz end", "Text: cc end"]
    assert [tail.start for tail in tails] == [9, 8, 8]


@pytest.mark.parametrize("bos", ["auto", "always", "never"])
def test_bos_policies_are_kept(neox, bos):
    import dataclasses

    policy = dataclasses.replace(PRESETS["natural"], bos=bos)
    found = SharedPrefixScorer(ModelGenerator(neox)).score(ask(SHOTS), policy)
    assert [one.sum for one in found] == pytest.approx(
        [one.sum for one in score(neox, ask(SHOTS), policy)], abs=1e-3
    )  # fmt: skip


def test_prompts_without_a_common_beginning_are_scored_all_the_same(neox):
    requests = ask([], ["One", "Two"])
    requests = [Request(one.instance_id, 0, one.context[6:], one.continuation) for one in requests]
    scorer = SharedPrefixScorer(ModelGenerator(neox))
    assert [one.sum for one in scorer.score(requests)] == [one.sum for one in score(neox, requests)]
    assert scorer.stats.read_tokens == scorer.stats.prompt_tokens > 0
    assert scorer.score([]) == []


def test_what_cannot_be_scored_has_its_reason_and_keeps_its_place(neox):
    long = " and the keys" * 200
    requests = ask(SHOTS)
    requests[1] = Request("empty", 0, requests[1].context, "")
    requests[4] = Request("long", 0, requests[4].context.removesuffix("\nLabel:") + long, " keys")
    found = SharedPrefixScorer(ModelGenerator(neox)).score(requests)
    assert found[1].reason == "the continuation is empty"
    assert "more than the model's window of 256" in found[4].reason and math.isnan(found[4].sum)
    others = [i for i in range(len(requests)) if i not in (1, 4)]
    plain = score(neox, requests)
    assert [found[i].sum for i in others] == pytest.approx([plain[i].sum for i in others], abs=1e-3)


def test_a_cut_lies_after_the_last_common_empty_line():
    assert shared_prefix_scorer._paragraph_cut("a\n\nb\n\nText: ") == 6
    assert shared_prefix_scorer._paragraph_cut("a\n\nb\n\n") == 3  # what follows the last one may be anything
    assert shared_prefix_scorer._paragraph_cut("a\n\n\n\nb") == 5
    assert shared_prefix_scorer._paragraph_cut("a b") == 0


def test_prompts_that_tokens_cannot_be_told_apart_in_are_not_split(neox):
    class Joined:
        window = neox.window

        def encode_all(self, pairs, bos, split):
            # A tokenizer that looks back over empty lines: the ids depend on all that stands before.
            from explorer.scoring.model import Encoding

            return [
                Encoding(tuple(ord(c) + len(a) for c in a + b), len(a), 0, False) for a, b in pairs
            ]  # fmt: skip

    pairs = [(one.context, one.continuation) for one in ask(SHOTS)]
    assert shared_prefix_scorer.split_shared_prefix(Joined(), pairs, "auto") is None
