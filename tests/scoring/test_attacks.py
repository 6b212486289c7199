"""Attack scores against hand-worked numbers, and against a loop that shares no code with the explorer."""

from __future__ import annotations

import dataclasses
import math
import zlib

import pytest
import torch

from explorer import settings as settings_module
from explorer.records import Request, Score
from explorer.scoring import attacks, hf
from explorer.scoring.policy import PRESETS, ScoringPolicy
from explorer.scoring.score import ModelScorer

TEXTS = [
    "The keys to the old cabinet are on the kitchen table, and nobody has seen the lid.",
    "Some café in Zürich sold naïve visitors 1,250 cups a day",
    "What did the teachers say?\nThey said: nothing.",
    "🙂 日本語",
    "a",
]


def made(logprobs, likeliest=None, reason=""):
    size = len(logprobs)
    return Score(
        Request("x/g/0", 0, "", "abc"), ("a",) * size, tuple(range(size)), tuple(logprobs), 3, 3, False, False,
        reason=reason, likeliest=tuple(likeliest or (False,) * size),
    )  # fmt: skip


def test_extraction_looks_at_the_tokens_after_the_first_floor_of_half():
    # 5 tokens: 2 are the prompt; -3 - 4 - 5 = -12
    found = attacks.extraction(made([-1, -2, -3, -4, -5], [False, False, True, True, True]))
    assert (found.accuracy.value, found.likelihood.value, found.tokens) == (1.0, -12.0, 3)
    one_wrong = attacks.extraction(made([-1, -2, -3, -4, -5], [True, True, True, False, True]))
    assert one_wrong.accuracy.value == 0.0


def test_one_token_has_no_half_and_a_failed_score_keeps_its_reason():
    assert "first half" in attacks.extraction(made([-1.0])).likelihood.reason
    failed = made([], reason="too long")
    for found in (
        attacks.loss(failed),
        attacks.perplexity(failed),
        attacks.min_k(failed),
        attacks.zlib_ratio(failed, ""),
    ):
        assert math.isnan(found.value) and found.reason == "too long"
    assert attacks.extraction(failed).accuracy.reason == "too long"


def test_loss_perplexity_min_k_and_zlib_by_hand():
    score = made([math.nan, -1, -2, -3, -4, -5])  # no BOS: the first token is left out
    assert attacks.loss(score).value == 3
    assert attacks.perplexity(score).value == pytest.approx(math.exp(3))
    assert attacks.min_k(score, 0.4).value == 4.5  # the two lowest of five
    assert attacks.min_k(score, 0.01).value == 5  # at least one
    assert attacks.zlib_ratio(score, "abc abc").value == 3 / len(zlib.compress(b"abc abc"))


def test_neighbours_are_averaged_without_their_gaps():
    own, gap = attacks.Signal(3.0), attacks.Signal(math.nan, "too long")
    assert attacks.against_neighbours(own, [attacks.Signal(4.0), gap, attacks.Signal(6.0)]).value == -2.0
    assert attacks.against_neighbours(own, [gap]).reason == "too long"
    assert "no word" in attacks.against_neighbours(own, []).reason


@pytest.mark.parametrize("architecture", ["gpt2", "gemma3_text"])
def test_all_attacks_equal_a_loop_that_shares_no_code(architecture, tiny_folders, naive, tmp_path):
    import torch
    import transformers

    folder = tiny_folders(architecture)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    scorer = ModelScorer(hf.load(str(folder), settings_module.read(cache=tmp_path), dtype="float32"))
    policy = PRESETS["natural"]
    apart = attacks.extraction_policy(scorer, policy)
    # GPT-2's tokenizer puts nothing before a prompt, Gemma's its BOS before everything.
    assert (apart is None) == (architecture == "gemma3_text")
    requests = [Request(f"x/g/{i}", 0, "", text, "text") for i, text in enumerate(TEXTS)]
    whole = scorer.score(requests, policy)
    prompted = whole if apart is None else scorer.score(requests, apart)
    for text, own, other in zip(TEXTS, whole, prompted, strict=True):
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        bos = [tokenizer.bos_token_id]
        logprobs, _ = naive.score_ids(model, bos + ids, 1)
        near = pytest.approx(-sum(logprobs) / len(ids), abs=1e-4)
        assert attacks.loss(own).value == near
        lowest = sorted(logprobs)[: max(1, len(ids) // 5)]
        assert attacks.min_k(own).value == pytest.approx(-sum(lowest) / len(lowest), abs=1e-4)
        found = attacks.extraction(other)
        half = len(ids) // 2
        if not half:
            assert found.accuracy.reason
            continue
        front = bos if architecture == "gemma3_text" else []
        rest, _ = naive.score_ids(model, front + ids, len(front) + half)
        assert found.likelihood.value == pytest.approx(sum(rest), abs=1e-3)
        assert found.tokens == len(ids) - half
        written = list(front + ids[:half])
        for _ in range(len(ids) - half):  # greedy, token by token
            with torch.no_grad():
                written.append(int(model(torch.tensor([written])).logits[0, -1].argmax()))
        assert found.accuracy.value == float(written == front + ids)


@pytest.mark.parametrize("bos", ["always", "never"])
def test_a_policy_with_one_front_for_all_needs_one_pass(bos, tiny_folders, tmp_path):
    scorer = ModelScorer(hf.load(str(tiny_folders("gpt2")), settings_module.read(cache=tmp_path)))
    assert attacks.extraction_policy(scorer, ScoringPolicy(bos=bos)) is None


def with_moments(logprobs, means, deviations):
    return dataclasses.replace(made(logprobs), means=tuple(means), deviations=tuple(deviations))


def test_min_k_plus_is_the_mean_of_the_lowest_standardized_tokens():
    # (-1 + 2) / 1 = 1, (-6 + 2) / 2 = -2, (-3 + 1) / 4 = -0.5, nan is no token; 40 % of three tokens is the lowest one
    score = with_moments([math.nan, -1, -6, -3], [math.nan, -2, -2, -1], [math.nan, 1, 2, 4])
    assert attacks.min_k_plus(score, 0.4).value == -2.0
    assert attacks.min_k_plus(score, 0.67).value == pytest.approx((-2 - 0.5) / 2)
    assert "not asked for" in attacks.min_k_plus(made([-1, -2])).reason
    assert attacks.min_k_plus(made([], reason="too long")).reason == "too long"
    assert "no place" in attacks.min_k_plus(with_moments([-1.0], [-1.0], [0.0])).reason


def test_recall_and_calibrated_loss_compare_two_losses():
    loss, after, gap = attacks.Signal(2.0), attacks.Signal(1.5), attacks.Signal(math.nan, "too long")
    assert attacks.recall(loss, after).value == 0.75
    assert attacks.calibrated(loss, after).value == 0.5
    assert attacks.recall(loss, gap).reason == "too long"
    assert attacks.calibrated(loss, gap).reason == "reference model: too long"
    assert attacks.recall(attacks.Signal(0.0), after).reason == "the loss without a prefix is 0"


@pytest.mark.parametrize("architecture", ("gpt2", "gemma3_text"))
def test_min_k_plus_equals_a_loop_over_a_whole_forward_pass(tiny_folders, naive, tmp_path, architecture):
    model = hf.load(str(tiny_folders(architecture)), settings_module.read(cache=tmp_path), dtype="float32")
    requests = [Request(f"x/g/{i}", 0, "", text) for i, text in enumerate(TEXTS)]
    scores = ModelScorer(model).score_with_moments(requests, PRESETS["natural"])
    assert [score.logprobs for score in scores] == [score.logprobs for score in ModelScorer(model).score(requests)]
    for text, score in zip(TEXTS, scores, strict=True):
        if score.reason:
            continue
        ids, start = naive.encode(model.tokenizer, "", text)
        with torch.no_grad():
            logits = model.model(torch.tensor([ids])).logits[0].double()
        values = []
        for place in range(max(start, 1), len(ids)):
            logprobs = logits[place - 1].log_softmax(-1)
            mean = (logprobs.exp() * logprobs).sum()
            deviation = ((logprobs.exp() * logprobs**2).sum() - mean**2).sqrt()
            values.append(((logprobs[ids[place]] - mean) / deviation).item())
        lowest = sorted(values)[: max(1, int(0.2 * len(values)))]
        assert attacks.min_k_plus(score).value == pytest.approx(sum(lowest) / len(lowest), abs=2e-3)
