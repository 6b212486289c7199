from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.records import Request, Score
from explorer.scoring.policy import PRESETS, ScoringPolicy
from explorer.scoring.reduce import Option, compare, decide, tolerance, value, word_of

NATURAL, HALF = PRESETS["natural"], "bfloat16"


def scored(*logprobs, ids=None, context="", chars=10, reason=""):
    """A score whose tokens have these log-probabilities; other ids are another text."""
    text = "x" * chars if ids is None else chr(ord("a") + ids[0]) * chars
    ids = tuple(range(len(logprobs))) if ids is None else ids
    return Score(
        Request("i", 0, context, text),
        tokens=("t",) * len(logprobs),
        token_ids=ids,
        logprobs=logprobs,
        chars=chars,
        bytes=2 * chars,
        greedy=False,
        straddles=False,
        reason=reason,
    )


def test_one_number_in_five_ways():
    # three tokens, the first unscored: -2 - 4 = -6 nats over 2 scored tokens, 12 characters, 24 bytes
    score = scored(math.nan, -2.0, -4.0, chars=12)
    assert value(score, "sum") == -6
    assert value(score, "mean_token") == -3
    assert value(score, "per_char") == -0.5
    assert value(score, "per_byte") == -0.25
    assert value(score, "pmi", unconditional=-10.0) == 4


def test_what_cannot_be_reduced_is_no_number():
    assert math.isnan(value(scored(-1.0), "pmi"))
    assert math.isnan(value(scored(-1.0, chars=0), "per_char"))
    assert math.isnan(value(scored(math.nan), "mean_token"))
    assert math.isnan(value(scored(-1.0, reason="too long"), "sum"))


def test_the_higher_sum_wins():
    good, bad = scored(-2.0, -1.0), scored(-5.0, ids=(7,))
    verdict = compare([good, bad], 0, NATURAL, "float32")
    assert (verdict.outcome, verdict.correct, verdict.margin, verdict.chosen) == ("right", 1, 2, 0)
    verdict = compare([good, bad], 1, NATURAL, "float32")
    assert (verdict.outcome, verdict.correct, verdict.margin, verdict.chosen) == ("wrong", 0, -2, 0)


def test_the_tolerance_of_float32_is_a_hundred_thousandth_of_a_nat_a_token():
    assert tolerance(7, "float32") == pytest.approx(7e-5)
    assert tolerance(9, HALF) == pytest.approx(3 * tolerance(1, HALF))


def test_normalization_can_turn_a_verdict():
    long, short = scored(-2.0, -2.0, -2.0), scored(-5.0, ids=(9,))
    assert compare([long, short], 0, NATURAL, "float32").outcome == "wrong"
    assert compare([long, short], 0, ScoringPolicy(normalization="mean_token"), "float32").outcome == "right"


def test_pmi_compares_the_gain_over_no_context():
    policy = ScoringPolicy(normalization="pmi")
    verdict = compare([scored(-4.0), scored(-3.0, ids=(9,))], 0, policy, "float32", unconditional=[-9.0, -5.0])
    assert (verdict.outcome, verdict.margin) == ("right", 3)


def test_the_same_text_after_the_same_context_is_a_tie():
    verdict = compare([scored(-2.0), scored(-2.0)], 0, NATURAL, "float32")
    assert (verdict.outcome, verdict.correct, verdict.chosen) == ("tie", 0.5, None)
    assert compare([scored(-2.0), scored(-2.0)], 0, NATURAL, HALF).outcome == "tie"


def test_the_same_text_after_different_contexts_is_no_tie():
    # WinoGrande scores one continuation after two contexts.
    verdict = compare([scored(-2.0, context="a"), scored(-3.0, context="b")], 0, NATURAL, "float32")
    assert verdict.outcome == "right"


@pytest.mark.parametrize("difference, outcome", [(2.9e-5, "tie"), (3.1e-5, "right")])
def test_a_difference_below_what_float32_can_tell_is_a_tie(difference, outcome):
    # three tokens: 3 * 1e-5 nats
    good, bad = scored(-1.0, -1.0, -1.0 + difference), scored(-1.0, -1.0, -1.0, ids=(7, 8, 9))
    assert compare([good, bad], 0, NATURAL, "float32").outcome == outcome


def test_the_tie_rule_shrinks_with_the_unit():
    # 1e-5 nats a token over ten characters a token are 1e-6 nats a character
    policy = ScoringPolicy(normalization="per_char")
    near, far = scored(-1.0 + 0.9e-5, chars=10), scored(-1.0 + 1.1e-5, chars=10)
    other = scored(-1.0, ids=(9,), chars=10)
    assert compare([near, other], 0, policy, "float32").outcome == "tie"
    assert compare([far, other], 0, policy, "float32").outcome == "right"


def test_in_half_precision_a_near_thing_keeps_its_winner_and_is_flagged():
    near = 0.5 * tolerance(1, HALF)
    verdict = compare([scored(-1.0 + near), scored(-1.0, ids=(9,))], 0, NATURAL, HALF)
    assert (verdict.outcome, verdict.chosen, verdict.undecided) == ("right", 0, True)
    clear = compare([scored(-1.0), scored(-3.0, ids=(9,))], 0, NATURAL, HALF)
    assert not clear.undecided
    assert not compare([scored(-1.0), scored(-1.0 - near, ids=(9,))], 0, NATURAL, "float32").undecided


@pytest.mark.parametrize("preset", ["lm-eval", "minicons"])
def test_the_peers_give_a_tie_to_the_first_option(preset):
    pair = [scored(-2.0), scored(-2.0)]
    assert compare(pair, 0, PRESETS[preset], "float32").correct == 1
    assert compare(pair, 1, PRESETS[preset], "float32").correct == 0


def test_a_missing_score_is_a_missing_verdict():
    verdict = compare([scored(-2.0), scored(reason="too long")], 0, NATURAL, "float32")
    assert verdict.outcome == "missing" and verdict.chosen is None
    assert math.isnan(verdict.correct) and math.isnan(verdict.margin)


def test_of_several_options_the_best_other_counts():
    options = [scored(-4.0), scored(-3.0, ids=(7,)), scored(-9.0, ids=(8,))]
    verdict = compare(options, 0, NATURAL, "float32")
    assert (verdict.outcome, verdict.margin, verdict.chosen) == ("wrong", -1, 1)


def test_a_tie_between_two_wrong_options_is_wrong():
    options = [scored(-4.0), scored(-3.0, ids=(7,)), scored(-3.0, ids=(7,))]
    assert compare(options, 0, NATURAL, "float32").outcome == "wrong"


def test_without_a_gold_option_there_is_a_choice_and_no_verdict():
    verdict = compare([scored(-2.0), scored(-1.0, ids=(9,))], None, NATURAL, "float32")
    assert (verdict.outcome, verdict.chosen, verdict.margin) == ("unlabelled", 1, 1)
    assert math.isnan(verdict.correct)


def test_the_same_text_is_a_tie_whatever_half_precision_made_of_its_scores():
    assert compare([scored(-2.0), scored(-2.05)], 0, NATURAL, HALF).outcome == "tie"


@pytest.mark.parametrize("dtype", ["float32", HALF, ""])
def test_equal_numbers_of_different_texts_are_a_tie_in_every_number_format_and_win_for_nobody(dtype):
    for gold in (0, 1):
        assert compare([scored(-2.0), scored(-2.0, ids=(9,))], gold, NATURAL, dtype).outcome == "tie"


@pytest.mark.parametrize("kind", ["sum", "mean_token", "per_char", "per_byte", "pmi"])
@pytest.mark.parametrize("gap", [scored(reason="too long"), scored(-math.inf), scored(math.nan), None])
def test_an_option_without_a_score_is_never_beaten_but_does_not_save_a_gold_option_that_is(kind, gap):
    policy = ScoringPolicy(normalization=kind)
    low, high = scored(-9.0, ids=(8,)), scored(-1.0)

    def judged(*options, gold):
        return compare(options, gold, policy, "float32", unconditional=[0.0] * len(options))

    assert judged(high, gap, gold=0).outcome == "missing"
    assert judged(gap, high, gold=0).outcome == "missing"
    assert judged(high, low, gap, gold=0).outcome == "missing"
    found = judged(low, high, gap, gold=0)
    # whatever the third would get, the first is not the best
    assert (found.outcome, found.correct, found.chosen) == ("wrong", 0.0, None) and math.isnan(found.margin)
    tied = judged(high, scored(-1.0), gap, gold=0)
    assert tied.outcome == "missing"


def test_a_gold_option_that_is_not_among_the_options_gives_no_verdict():
    assert compare([scored(-1.0), scored(-2.0, ids=(9,))], 2, NATURAL, "float32").outcome == "missing"
    assert compare([scored(-1.0)], 0, NATURAL, "float32").outcome == "missing"


numbers = st.one_of(st.sampled_from([math.nan, math.inf, -math.inf]), st.integers(-3, 3).map(float))


@given(st.lists(numbers, min_size=2, max_size=5), st.data())
def test_the_verdict_is_the_one_that_holds_whatever_the_missing_numbers_are(values, data):
    gold = data.draw(st.integers(0, len(values) - 1))
    verdict = decide([Option(one) for one in values], gold)
    gaps = [i for i, one in enumerate(values) if not math.isfinite(one)]
    possible = set()
    for filled in itertools.product([-9.0, 9.0, 0.5], repeat=len(gaps)):
        whole = list(values)
        for i, one in zip(gaps, filled, strict=True):
            whole[i] = one
        best = max(one for i, one in enumerate(whole) if i != gold)
        possible.add("tie" if best == whole[gold] else "wrong" if best > whole[gold] else "right")
    assert verdict.outcome == (possible.pop() if len(possible) == 1 else "missing")


def test_a_stored_verdict_has_one_word():
    assert [word_of(one) for one in (1.0, 0.0, 0.5, math.nan, None)] == ["right", "wrong", "tie", "none", "none"]
