"""Which tokens follow a text in the corpus, and how likely one of them is: what the engine and the services answer.

prob, ntd                    after the whole text before; nothing can be said where that never occurs
infgram_prob, infgram_ntd    after the longest ending of the text before that occurs at all: the ∞-gram model

Source: Liu et al. 2024, Infini-gram: Scaling Unbounded n-gram Language Models to a Trillion Tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

END = "[end of document]"
ENDS = (END, "</s>", "<|endoftext|>")  # how servers spell it


@dataclass(frozen=True, slots=True)
class NextToken:
    """A token that follows, how often, and its share of all that follow; `text` is END where a document ends."""

    id: int
    text: str
    count: int
    probability: float


@dataclass(frozen=True, slots=True)
class Following:
    """The tokens that follow, the likeliest first, after `suffix` tokens that occur `prompt_count` times.

    `approx`: counted in a sample of these places. Without tokens `reason` says why.
    """

    tokens: tuple[NextToken, ...]
    prompt_count: int
    suffix: int
    approx: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Chance:
    """How likely a token is after the `suffix` tokens before it: `count` of `prompt_count`, nan with a reason."""

    value: float
    count: int
    prompt_count: int
    suffix: int
    reason: str = ""


def following_of(
    answer: Mapping[str, Any], length: int, text_of: Callable[[Sequence[int]], Sequence[str]]
) -> Following:
    """What an answer to `ntd` or `infgram_ntd` says about a text of so many tokens."""
    rows_by_id = [(int(token), row) for token, row in answer["result_by_token_id"].items()]
    unnamed = [token for token, row in rows_by_id if not isinstance(row.get("token"), str)]
    texts = dict(zip(unnamed, text_of(unnamed), strict=True)) if unnamed else {}
    tokens = [
        NextToken(token, _name(texts[token] if token in texts else row["token"]), int(row["cont_cnt"]), row["prob"])
        for token, row in rows_by_id
    ]
    tokens.sort(key=lambda next_token: (-next_token.count, next_token.id))
    prompt = int(answer["prompt_cnt"])
    reason = "" if prompt else "the text does not occur in the corpus"
    suffix = int(answer.get("suffix_len", length))
    return Following(tuple(tokens), prompt, suffix, bool(answer.get("approx")), reason)


def chance_of(answer: Mapping[str, Any], length: int) -> Chance:
    """What an answer to `prob` or `infgram_prob` says about the last of so many tokens."""
    prompt, count = int(answer["prompt_cnt"]), int(answer["cont_cnt"])
    suffix = int(answer.get("suffix_len", length - 1))
    if not prompt:  # the engine then answers -1, which is no probability
        return Chance(math.nan, 0, 0, suffix, "the text before it does not occur in the corpus")
    return Chance(float(answer["prob"]), count, prompt, suffix)


def check_following(body: Mapping[str, Any]) -> str:
    """What is wrong with a body that must say which tokens follow, "" for nothing."""
    rows = body.get("result_by_token_id")
    if not _is_whole(body.get("prompt_cnt")):
        return f"prompt_cnt is {str(body.get('prompt_cnt'))[:40]!r}, expected a whole number of at least 0"
    if not isinstance(rows, dict):
        return f"result_by_token_id is {str(rows)[:40]!r}, expected an object of next tokens"
    for token, row in rows.items():
        good = token.isdecimal() and isinstance(row, dict) and _is_whole(row.get("cont_cnt"))
        if not good or not _is_share(row.get("prob")):
            return f"the next token {token[:20]!r} has {str(row)[:60]}, expected a prob from 0 to 1 and a cont_cnt"
    return _check_suffix(body)


def check_chance(body: Mapping[str, Any]) -> str:
    """What is wrong with a body that must say how likely a token is, "" for nothing."""
    if not _is_whole(body.get("prompt_cnt")) or not _is_whole(body.get("cont_cnt")):
        return "prompt_cnt or cont_cnt is no whole number of at least 0"
    if body["prompt_cnt"] and not _is_share(body.get("prob")):
        return f"prob is {str(body.get('prob'))[:40]!r}, expected a number from 0 to 1"
    return _check_suffix(body)


def _check_suffix(body: Mapping[str, Any]) -> str:
    if "suffix_len" in body and not _is_whole(body["suffix_len"]):
        return f"suffix_len is {str(body['suffix_len'])[:40]!r}, expected a whole number of at least 0"
    return ""


def _name(text: str) -> str:
    return END if text in ENDS else text


def _is_whole(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
