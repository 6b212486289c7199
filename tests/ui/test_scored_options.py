import math

import pandas as pd
import pytest

from explorer.records import Condition, Instance, Request, Score
from explorer.rows.builders import score_row
from explorer.ui import scored_options
from explorer.ui.scored_options import ScoredOption

PAIR = Instance("s/g/1", "s", "test", "g", "pair", "sentence", options=("It is.", "It are."), gold=0)
CLOZE = Instance("l/t/1", "l", "test", "t", "cloze", "cloze", context="He sat on the", options=("chair",), gold=0)
SUITE = Instance(
    "y/g/1", "y", "test", "g", "regions", "syntaxgym",
    conditions=(Condition("match", ("The cat", "sleeps", ".")), Condition("mismatch", ("The cat", "sleep", "."))),
    extra={"formulas": ["(2;%match%) < (2;%mismatch%)"]},
)  # fmt: skip


def score(option=0, **changes):
    request = Request(PAIR.id, option, "", "It is.", factors={"condition": "match", "part": 2})
    return Score(request, ("It", " is."), (1, 2), (-1.0, -2.0), 6, 6, greedy=True, straddles=False, **changes)


def test_stored_and_fresh_scores_look_the_same():
    fresh = scored_options.of_scores([score(), score(1)])
    rows = pd.DataFrame([score_row(score(), 0), score_row(score(1), 1)])
    assert scored_options.of_rows(rows) == fresh


def test_scores_stored_without_tokens_keep_their_sum():
    rows = pd.DataFrame([score_row(score(), 0, tokens=False)])
    (one,) = scored_options.of_rows(rows)
    assert one.tokens == ()
    assert one.logprob == -3.0


def test_a_verdict_says_by_how_much():
    ones = scored_options.of_scores([score(), score(1)])
    told = scored_options.verdict_sentence(PAIR, ones, 1.0, math.log(20), "")
    assert told == "the model prefers the acceptable sentence by 3.00 nats, 20 times as probable"
    assert "unacceptable" in scored_options.verdict_sentence(PAIR, ones, 0.0, -1.0, "")
    near = scored_options.verdict_sentence(PAIR, ones, 0.0, -0.01, "")
    assert near.endswith("by 0.01 nats: they are about equally probable")
    assert scored_options.verdict_sentence(PAIR, ones, 0.5, 0.0, "tie") == "the options cannot be told apart"
    assert scored_options.verdict_sentence(PAIR, ones, math.nan, math.nan, "too long") == "too long"


def test_a_last_word_tells_its_probability():
    one = ScoredOption(0, "target", "", 0, "", " chair", math.log(0.25), (), True, "")
    assert scored_options.verdict_sentence(CLOZE, [one], 1.0, math.nan, "").startswith(
        "the last word has a probability of 25.0%"
    )


@pytest.mark.parametrize(("correct", "kind"), [(1.0, "right"), (0.0, "wrong"), (0.5, "tie"), (math.nan, "none")])
def test_outcomes_have_their_verdicts(correct, kind):
    assert scored_options.verdict_of(correct) == kind


def test_a_margin_of_means_is_told_in_its_unit_and_not_as_how_many_times_as_probable():
    # Sums of -38.38 and -44.33 nats are 381 times apart; their means over 9 tokens, 0.66 nats, say nothing of that.
    said = scored_options.verdict_sentence(PAIR, [], 1.0, 0.66, "", "nats a token")
    assert said == "the model prefers the acceptable sentence by 0.66 nats a token"
