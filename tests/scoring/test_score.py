from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
import transformers

from explorer import settings as settings_module
from explorer.records import Request
from explorer.scoring import hf
from explorer.scoring.model import Encoding, RowScores
from explorer.scoring.policy import PRESETS, ScoringPolicy
from explorer.scoring.reduce import tolerance
from explorer.scoring.score import ModelScorer, policy_record, score

ARCHITECTURES = ("gpt_neox", "gpt2", "opt", "llama", "olmo", "olmo2", "gemma3_text")
LONG = "What did the teachers say that the pupils had written on the old board? " * 3
MIXED = [
    ("", "The keys to the old cabinet are on the table."),
    ("", "The keys to the old cabinet is on the table."),
    ("  ", "The keys"),
    ("The keys to the old", " cabinet"),
    ("The keys to the old  ", "cabinet"),
    ("Some café in Zürich", " sold naïve visitors — twice"),
    ("日本語の文も", "あります。"),
    ("a 🙂", "🙂👩‍👩‍👧 b"),
    ("line one\n\n", "line two\tand a tab"),
    ("They said:\n", "\n"),
    ("The key", "s straddle"),
    ("", "x"),
    ("null \x00", " is \x00 kept"),
    (LONG, "They said: nothing."),
    (LONG, "They said: something."),
    (LONG[:-10], " nobody"),
]


def requests(pairs):
    return [Request(f"i{i}", 0, context, continuation) for i, (context, continuation) in enumerate(pairs)]


@pytest.fixture(scope="module")
def models(tiny_folders, tmp_path_factory):
    made = {}
    found = settings_module.read(cache=tmp_path_factory.mktemp("cache"))

    def model(architecture):
        if architecture not in made:
            made[architecture] = hf.load(str(tiny_folders(architecture)), found, device="cpu")
        return made[architecture]

    return model


def agrees(model, naive, pairs_by_budget, plain_bos=None):
    """Asserts that in batches of each of these sizes every request scores as it does alone, in the reference."""
    every = dict.fromkeys(pair for pairs in pairs_by_budget.values() for pair in pairs)
    alone = {pair: naive.score(model.model, model.tokenizer, *pair, plain_bos) for pair in every}
    for token_budget, pairs in pairs_by_budget.items():
        scores = score(model, requests(pairs), token_budget=token_budget)
        for pair, found in zip(pairs, scores, strict=True):
            expected, greedy = alone[pair]
            assert not found.reason
            values = [value for value in found.logprobs if not math.isnan(value)]
            assert len(values) == len(expected)
            assert abs(found.sum - math.fsum(expected)) <= max(1e-3, 1e-5 * len(expected)), pair
            assert found.greedy == greedy


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_mixed_file_scores_as_one_at_a_time(models, naive, architecture):
    agrees(models(architecture), naive, {16: MIXED, 100_000: MIXED})


def long_contexts(sentences):
    long = " ".join(f"The lamp of number {i} was seen by the old keeper." for i in range(sentences))
    return [(long, " The end."), (long + " ", "日本 \n")]


@pytest.mark.slow
# Contexts of more than the 512 tokens that layers of Gemma look back; SmolLM2 looks back at all that there is.
@pytest.mark.parametrize(
    "name, plain_bos, sentences, tokens", [("gemma-3-270m", None, 48, 600), ("smollm2-135m-instruct", 0, 16, 200)]
)
def test_the_embedded_models_score_a_mixed_file_as_one_at_a_time(
    embedded_model, naive, name, plain_bos, sentences, tokens
):
    model = embedded_model(name)
    long, pairs = long_contexts(sentences), MIXED
    assert len(model.encode(*long[0], "auto", "offsets").ids) > tokens
    if plain_bos is not None:  # plain_bos stands before an empty context alone
        pairs = [pair for pair in pairs if pair[0].strip(" ")] + [("", "The keys to the old cabinet")]
    # All at once; a batch of few tokens holds one long context, as the reference does, and is asked of the others.
    agrees(model, naive, {8192: [*pairs, *long], 64: pairs}, plain_bos=plain_bos)


def test_scores_come_back_in_the_order_asked(models):
    shuffled = np.random.default_rng(0).permutation(len(MIXED)).tolist()
    plain = score(models("gpt2"), requests(MIXED))
    other = score(models("gpt2"), requests([MIXED[i] for i in shuffled]))
    for place, i in enumerate(shuffled):
        assert other[place].request.continuation == MIXED[i][1]
        assert other[place].logprobs == pytest.approx(plain[i].logprobs, abs=1e-4, nan_ok=True)


def test_what_a_score_holds(models):
    (found,) = score(models("gpt2"), requests([("The keys", " to the naïve ")]))
    assert "".join(found.tokens) == " to the naïve "
    assert len(found.tokens) == len(found.token_ids) == len(found.logprobs) == found.scored
    # "to the naïve " without its delimiter blank: 13 characters, one of them of two bytes
    assert (found.chars, found.bytes) == (13, 14)
    assert (found.truncated, found.straddles, found.reason) == (0, False, "")


def test_blanks_moved_from_the_context_are_not_counted_but_scored(models):
    moved, given = score(models("gpt2"), requests([("The  ", "keys"), ("The", "  keys")]))
    assert moved.logprobs == given.logprobs
    assert (moved.chars, given.chars) == (4, 5)


def test_a_context_of_blanks_is_empty(models):
    blanks, empty = score(models("gpt2"), requests([("   ", "keys"), ("", "   keys")]))
    assert blanks.logprobs == empty.logprobs
    assert not math.isnan(blanks.logprobs[0])


def test_newlines_stay_in_the_context(models):
    (found,) = score(models("gpt2"), requests([("The\n", "keys")]))
    assert "".join(found.tokens) == "keys"
    (moved,) = score(models("gpt2"), requests([("The\n", "keys")]), PRESETS["lm-eval"])
    assert "".join(moved.tokens) == "\nkeys"


def test_never_a_bos_leaves_the_first_token_unscored(models):
    policy = ScoringPolicy(bos="never")
    first, second, only = score(models("opt"), requests([("", "The keys"), ("The", " keys"), ("", "x")]), policy)
    assert math.isnan(first.logprobs[0]) and first.scored == len(first.tokens) - 1
    assert first.sum == pytest.approx(math.fsum(first.logprobs[1:]))
    assert second.scored == len(second.tokens)
    assert only.scored == 0 and math.isnan(only.sum) and "nothing stands before" in only.reason


def test_a_bos_before_every_context(models):
    always = score(models("gpt2"), requests([("The", " keys")]), ScoringPolicy(bos="always"))[0]
    assert always.sum != score(models("gpt2"), requests([("The", " keys")]))[0].sum
    assert always.sum == pytest.approx(score(models("gpt2"), requests([("<s>The", " keys")]))[0].sum)


@pytest.mark.parametrize(
    "context, continuation, reason",
    [
        ("The", "", "the continuation is empty"),
        ("The ", "", "the continuation is empty"),
        ("The", " k\ud800", "unpaired surrogate"),
        ("T\udfff", " keys", "unpaired surrogate"),
        ("The " * 400, "keys", "more than the model's window of 256"),
    ],
)
def test_what_cannot_be_scored_says_why_and_stops_nothing(models, context, continuation, reason):
    good, bad, after = score(models("gpt2"), requests([("The", " keys"), (context, continuation), ("The", " keys")]))
    assert reason in bad.reason
    assert math.isnan(bad.sum) and not bad.greedy
    assert good.logprobs == after.logprobs and not good.reason


def test_a_conversation_is_not_scored(models):
    (found,) = score(models("gpt2"), [Request("i", 0, "", "x", conversation=(("user", "Hello"),))])
    assert found.reason == "a conversation can be answered, not scored"


def test_nothing_asked_nothing_answered(models):
    assert score(models("gpt2"), []) == []


def test_a_sequence_as_long_as_the_window_and_one_predicted_token_fits(models):
    # 256 places and one token more, which is only predicted.
    model = models("gpt2")
    fits, too_long = score(model, requests([("x" * 256, "x"), ("x" * 257, "x")]))
    assert not fits.reason
    assert too_long.reason == "258 tokens, more than the model's window of 256"


def test_truncation_takes_from_the_left_and_says_how_much(models, naive):
    model = models("opt")
    (found,) = score(model, requests([("x" * 300, "yz")]), truncate="left")
    # BOS, 300 and 2 tokens; of 303 the first 302 are read, 46 more than there is room for.
    assert found.truncated == 46
    expected, _ = naive.score_ids(model.model, [1, *model.encode("x" * 254, "yz", "never", "offsets").ids], 255)
    assert found.logprobs == pytest.approx(expected, abs=1e-4)
    (hopeless,) = score(model, requests([("x", "y" * 300)]), truncate="left")
    assert "the continuation alone" in hopeless.reason


def test_progress_counts_requests(models):
    seen = []
    ModelScorer(models("gpt2"), token_budget=64).score(
        requests(MIXED), progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (len(MIXED), len(MIXED))
    assert all(total == len(MIXED) for _, total in seen)


class Coin:
    """A stand-in whose every token has probability one half."""

    name, window = "coin", 16

    def record(self):
        return {"model": "coin", "dtype": "float32"}

    def encode(self, context, continuation, bos, split):
        ids = tuple(ord(letter) for letter in context + continuation)
        return Encoding((0, *ids), 1 + len(context), 1, False)

    def decode(self, ids):
        return tuple(chr(number) for number in ids)

    def logprobs(self, rows, progress=None):
        return [RowScores(np.full(sum(row.scored), -math.log(2)), np.ones(sum(row.scored), bool)) for row in rows]


def test_any_model_of_the_protocol_can_be_scored():
    (found,) = ModelScorer(Coin()).score(requests([("ab", "cde")]))
    assert found.sum == pytest.approx(3 * math.log(0.5))
    assert found.tokens == ("c", "d", "e") and found.greedy


def test_a_model_that_gives_no_number_says_so():
    class Broken(Coin):
        def logprobs(self, rows, progress=None):
            return [dataclasses.replace(row, logprobs=row.logprobs * math.nan) for row in super().logprobs(rows)]

    (found,) = score(Broken(), requests([("a", "b")]))
    assert "gave no number" in found.reason and not found.greedy


def test_the_policy_record_holds_all_that_can_change_a_score(models):
    record = policy_record(models("gpt2"), PRESETS["lm-eval"])
    assert record["dtype"] == "float32" and record["batches"] == "packed"
    assert record["weights"].startswith("sha256:")
    assert (record["bos"], record["split"], record["preset"]) == ("declared", "spliced", "lm-eval")
    assert record["tokenizer"] and record["lexiscope"] and record["transformers"] == transformers.__version__
    json.dumps(record)


@pytest.mark.slow
def test_in_bfloat16_batches_of_any_shape_agree_within_the_stated_tolerance(embedded_cache):
    model = hf.load("smollm2-135m-instruct", settings_module.read(cache=embedded_cache), device="cpu", dtype="bfloat16")
    asked = requests(MIXED[:13:2])
    for together, alone in zip(score(model, asked), [score(model, [request])[0] for request in asked], strict=True):
        assert abs(together.sum - alone.sum) <= tolerance(together.scored, "bfloat16")
