"""An item after a context: what is asked, and what the scores say, worked out by hand."""

from __future__ import annotations

import dataclasses
import math

import pytest

from explorer.records import Condition, Instance, Request, Score
from explorer.studies.priming import context as priming_context
from explorer.studies.priming import requests as priming_requests
from explorer.studies.priming.requests import judge, perplexity_margin, policy_of, step

PAIR = Instance("t/g/1", "t", "all", "g", "pair", "sentence", options=("They sing.", "They sings."), gold=0)
CROWS = Instance("c/age/1", "c", "all", "age", "pair", "crows_pairs", options=("More.", "Less."), gold=1)
SUITE = Instance(
    "t/s/1", "t", "all", "s", "regions", "syntaxgym",
    conditions=(
        Condition("match", ("The dogs", "near it", "bark", "loudly")),
        Condition("other", ("The dogs", "near it", "barks", "loudly")),
    ),
    extra={"formulas": ("(3;%match%) < (3;%other%)", "(1;%match%) = (1;%other%)")},
)  # fmt: skip


def scored(request: Request, *logprobs: float, ids=(1, 2), reason: str = "") -> Score:
    text = request.continuation.strip()
    return Score(
        request, tuple("x" for _ in logprobs), ids, logprobs, len(text), len(text), False, False, reason=reason
    )


def values(rows: list[dict]) -> dict:
    return {(row["measure"], row.get("part")): row["value"] for row in rows}


def test_both_members_of_a_pair_stand_after_the_same_context_with_a_blank():
    asked = step(PAIR, "A cat ran.", " ", condition="matched_acceptable", length=100, sentences=1, tokens=4)
    assert [(one.context, one.continuation) for one in asked.requests] == [
        ("A cat ran.", " They sing."),
        ("A cat ran.", " They sings."),
    ]
    assert {str(one.factors) for one in asked.requests} == {"{'condition': 'matched_acceptable', 'length': 100}"}


def test_without_a_context_the_opening_stands_before_the_target():
    spaced = step(PAIR, "", " ", condition="baseline", length=0)
    bare = step(PAIR, "", "", condition="baseline", length=0)
    assert [one.continuation for one in spaced.requests] == [" They sing.", " They sings."]
    assert [one.continuation for one in bare.requests] == ["They sing.", "They sings."]


def test_an_edit_is_told_by_the_setting():
    asked = step(PAIR, "Yes, a cat ran.", " ", condition="matched_acceptable", length=100, edit="prefix_adverb")
    assert asked.factors == {"condition": "matched_acceptable", "length": 100, "setting": "prefix_adverb"}


def test_of_a_suite_only_the_regions_of_its_formulas_are_asked_after_the_context():
    asked = step(SUITE, "A cat ran.", " ", condition="matched_acceptable", length=50, edit="clause")
    assert [(one.context, one.continuation, one.factors["part"]) for one in asked.requests] == [
        ("A cat ran.", " The dogs", 1),
        ("A cat ran. The dogs near it", " bark", 3),
        ("A cat ran.", " The dogs", 1),
        ("A cat ran. The dogs near it", " barks", 3),
    ]
    # The region's own condition stays; the context's is told by the setting.
    assert asked.requests[0].factors == {
        "condition": "match", "part": 1, "length": 50, "setting": "matched_acceptable+clause",
    }  # fmt: skip


def test_a_formula_about_all_regions_asks_for_all_of_them():
    whole = Instance(
        "t/s/2", "t", "all", "s", "regions", "syntaxgym", conditions=SUITE.conditions,
        extra={"formulas": ("(*;%match%) < (*;%other%)",)},
    )  # fmt: skip
    asked = step(whole, "", " ", condition="baseline", length=0)
    assert [one.factors["part"] for one in asked.requests] == [1, 2, 3, 4, 1, 2, 3, 4]
    assert [one.continuation for one in asked.requests][:2] == [" The dogs", " near it"]


def test_margins_in_nats_and_in_perplexity():
    asked = step(PAIR, "A cat ran.", " ", condition="unrelated", length=10, tokens=4)
    good, bad = scored(asked.requests[0], -1.0, -2.0), scored(asked.requests[1], -1.0, -4.0, ids=(1, 3))
    found = values(judge(asked, [good, bad], policy_of("natural", "preset"), "float32"))
    # log P: -3 against -5; perplexities: exp(3 / 2) and exp(5 / 2)
    assert found == {
        ("correct", None): 1.0,
        ("margin", None): pytest.approx(2.0),
        ("perplexity_margin", None): pytest.approx(math.exp(1.5) - math.exp(2.5)),
        ("context_tokens", None): 4.0,
    }


def test_a_suites_margin_is_that_of_its_least_certain_inequality():
    asked = step(SUITE, "A cat ran.", " ", condition="unrelated", length=10)
    surprisals = {("match", 1): 2.0, ("match", 3): 1.0, ("other", 1): 2.5, ("other", 3): 4.0}
    scores = [
        scored(one, -surprisals[str(one.factors["condition"]), int(one.factors["part"])]) for one in asked.requests
    ]
    rows = judge(asked, scores, policy_of("natural", "preset"), "float32")
    # region 3: 1 < 4 holds by 3 nats; the formula with = has no part in it
    assert values(rows)["margin", None] == pytest.approx(3.0)
    two = dataclasses.replace(SUITE, extra={"formulas": ("(3;%match%) < (3;%other%)", "(1;%match%) > (1;%other%)")})
    assert priming_requests.formula_margin(two, scores) == (pytest.approx(-0.5), "")
    either = dataclasses.replace(SUITE, extra={"formulas": ("[(3;%match%) < (3;%other%)] | [(1;%match%) > 9]",)})
    assert priming_requests.formula_margin(either, scores) == (pytest.approx(3.0), "")


def test_in_crows_pairs_the_less_stereotypical_sentence_counts_as_acceptable():
    asked = step(CROWS, "", " ", condition="baseline", length=0)
    more, less = scored(asked.requests[0], -5.0, -1.0), scored(asked.requests[1], -1.0, -1.0, ids=(4, 5))
    found = values(judge(asked, [more, less], policy_of("natural", "preset"), "float32"))
    assert found["correct", None] == 1.0
    assert found["perplexity_margin", None] == pytest.approx(math.exp(1.0) - math.exp(3.0))


def test_a_target_that_is_other_tokens_after_a_context_has_no_verdict():
    start = step(PAIR, "", " ", condition="baseline", length=0)
    baseline = priming_requests.token_ids([scored(one, -1.0, -1.0, ids=(7, 8)) for one in start.requests])
    asked = step(PAIR, "A cat ran.", " ", condition="unrelated", length=10)
    rows = judge(
        asked, [scored(one, -1.0, -1.0, ids=(7, 9)) for one in asked.requests], policy_of("natural", "preset"),
        "float32", baseline,
    )  # fmt: skip
    assert math.isnan(values(rows)["correct", None]) and math.isnan(values(rows)["perplexity_margin", None])
    assert rows[0]["reason"] == priming_requests.OTHER_TOKENS


def test_what_could_not_be_scored_has_its_reason_in_both_margins():
    asked = step(PAIR, "A cat ran.", " ", condition="unrelated", length=10)
    scores = [scored(asked.requests[0], -1.0, -1.0), scored(asked.requests[1], reason="too long")]
    rows = judge(asked, scores, policy_of("natural", "preset"), "float32")
    assert {row["reason"] for row in rows if row["measure"] != "context_tokens"} == {"too long"}
    assert math.isnan(perplexity_margin(PAIR, scores)[0])


def test_a_perplexity_beyond_numbers_is_a_gap_with_a_reason():
    asked = step(PAIR, "", " ", condition="baseline", length=0)
    scores = [scored(asked.requests[0], -1.0, -1.0), scored(asked.requests[1], -9_000.0, -1.0)]
    value, reason = perplexity_margin(PAIR, scores)
    assert not math.isfinite(value) and "beyond the range" in reason


def test_policies_compare_sums_and_differ_in_the_token_before_the_context():
    natural, minicons = policy_of("natural", "preset"), policy_of("minicons", "preset")
    assert (natural.bos, natural.normalization, natural.split) == ("always", "sum", "offsets")
    assert (minicons.bos, minicons.normalization, minicons.split) == ("tokenizer", "sum", "token_count")
    assert policy_of("natural", "never").bos == "never"


WORDS = {"": 0}


def encode_plain(text: str) -> list[int]:
    """A word with the blank before it is a token."""
    pieces = text.replace(" ", "\n ").split("\n")
    return [WORDS.setdefault(piece, len(WORDS)) for piece in pieces if piece]


def encode_with_dummy_blank(text: str) -> list[int]:
    return encode_plain(f" {text}")


def encode_with_dummy_blank_of_its_own(text: str) -> list[int]:
    return [WORDS.setdefault("▁", len(WORDS)), *encode_plain(text)]


def test_the_opening_makes_a_lone_target_the_tokens_it_has_in_running_text():
    assert priming_context.opening_of(encode_plain) == " "
    assert priming_context.opening_of(encode_with_dummy_blank) == ""
    assert priming_context.opening_of(encode_with_dummy_blank_of_its_own) == " "
