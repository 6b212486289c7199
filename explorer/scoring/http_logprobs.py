"""A server's log-probabilities of a prompt → a Score, after checking that its tokens spell the text."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from explorer import numbers
from explorer.records import Request, Score
from explorer.scoring.encode import REPLACEMENT_CHARACTER
from explorer.scoring.policy import ScoringPolicy

ROUNDING = 1e-3  # nats by which a log-probability may lie above 0 in half precision
FRONT = 3  # tokens that a server may put before a text


@dataclass(frozen=True, slots=True)
class PromptToken:
    """A token as the server tells it; `logprob` is nan for the first, and where `fault` says that it is none."""

    text: str
    logprob: float
    top: bool  # whether it was the likeliest at its place
    id: int
    fault: str = ""


def _logprob(value: Any) -> tuple[float, str]:
    """A log-probability of JSON, and what is wrong with it; nan where it is none, without a fault where it is null."""
    logprob = numbers.number(value)
    if math.isnan(logprob) or logprob > ROUNDING:
        return math.nan, "" if value is None else f"{json.dumps(value)[:40]} for a log-probability"
    return logprob, ""


def tokens_of_echo(choice: Mapping[str, Any]) -> list[PromptToken] | None:
    """The tokens of an answer to echo and logprobs; none where the server left the prompt out."""
    logprobs = choice.get("logprobs")
    if not isinstance(logprobs, Mapping) or not logprobs.get("tokens") or not logprobs.get("token_logprobs"):
        return None
    texts, values = logprobs["tokens"], logprobs["token_logprobs"]
    if not isinstance(texts, list) or not isinstance(values, list):
        return None
    tops = logprobs.get("top_logprobs")
    tops = tops if isinstance(tops, list) and len(tops) == len(texts) else [None] * len(texts)
    tokens = []
    for text, value, top in zip(texts, values, tops, strict=False):
        others = [_logprob(alternative)[0] for alternative in top.values()] if isinstance(top, Mapping) else [math.inf]
        logprob, fault = _logprob(value)
        is_top = logprob >= max(others, default=-math.inf)  # also false beside a nan
        tokens.append(PromptToken(str(text), logprob, is_top, _placeholder_id(str(text)), fault))
    return tokens


def tokens_of_prompt_logprobs(choice: Mapping[str, Any]) -> list[PromptToken] | None:
    """The tokens of an answer to vLLM's prompt_logprobs; none where there are none."""
    places = choice.get("prompt_logprobs")
    if not isinstance(places, Sequence) or not places:
        return None
    tokens = []
    for place in places:
        if not place:
            tokens.append(PromptToken("", math.nan, False, -1))  # the first has no log-probability, nor a text
            continue
        if not isinstance(place, Mapping) or not all(isinstance(entry, Mapping) for entry in place.values()):
            return None
        # Each place has the likeliest token and the actual one, which is the lower in rank where they differ.
        token_id, entry = max(place.items(), key=lambda item: numbers.number(item[1].get("rank") or 0))
        logprob, fault = _logprob(entry.get("logprob"))
        number = numbers.whole(str(token_id))
        text = str(entry.get("decoded_token") or "")
        tokens.append(
            PromptToken(
                text, logprob, entry.get("rank") == 1, _placeholder_id(text) if number is None else number, fault
            )
        )
    return tokens


def score_of(request: Request, policy: ScoringPolicy, tokens: Sequence[PromptToken], reason: str = "") -> Score:
    """The score of the continuation: of the tokens that end beyond the context."""
    context, _ = policy.move(request.context, request.continuation)
    text = request.context + request.continuation
    spelled = [] if reason else _locate_tokens(tokens, text)
    if not spelled and not reason:
        broken = any(REPLACEMENT_CHARACTER in token.text or token.text.startswith("bytes:") for token in tokens)
        reason = "the server shows parts of characters" if broken else "the server's tokens do not spell the text"
    first = next((i for i, (_, _, end) in enumerate(spelled) if end > len(context)), len(spelled))
    placed = spelled[first:]
    if not reason and (fault := _fault(placed, first)):
        return score_of(request, policy, (), f"the server gave {fault}")
    scored = [token for token, _, _ in placed if not math.isnan(token.logprob)]
    if not scored and not reason:
        reason = "nothing stands before the only token (no BOS)" if placed else "no token belongs to the continuation"
    counted = request.continuation.removeprefix(" ")
    return Score(
        request=request,
        tokens=tuple(text[start:end] for _, start, end in placed),
        token_ids=tuple(token.id for token, _, _ in placed),
        logprobs=tuple(token.logprob for token, _, _ in placed),
        chars=len(counted),
        bytes=len(counted.encode("utf-8", "surrogatepass")),
        greedy=bool(scored) and all(token.top for token in scored),
        straddles=bool(placed) and placed[0][1] < len(context),
        reason=reason,
        likeliest=tuple(token.top and not math.isnan(token.logprob) for token, _, _ in placed),
    )


def score_of_answer(request: Request, policy: ScoringPolicy, tokens: Sequence[PromptToken]) -> Score:
    """The score of an answer in a conversation that the server wrote by its template: of the tokens at its end."""
    whole, answer = "".join(token.text for token in tokens), request.context + request.continuation
    if not whole.endswith(answer):
        broken = any(REPLACEMENT_CHARACTER in token.text for token in tokens)
        reason = "the server shows parts of characters" if broken else "the server's tokens do not end with the answer"
        return score_of(request, policy, (), reason)
    before = whole.removesuffix(answer) + request.context
    return score_of(replace(request, context=before, conversation=None), policy, tokens)


def _fault(target_tokens: Sequence[tuple[PromptToken, int, int]], first: int) -> str:
    """What the server gave in place of a log-probability; null is right for the very first token alone."""
    for place, (token, _, _) in enumerate(target_tokens, start=first):
        if token.fault:
            return token.fault
        if place and math.isnan(token.logprob):
            return "null for a log-probability"
    return ""


def _locate_tokens(tokens: Sequence[PromptToken], text: str) -> list[tuple[PromptToken, int, int]]:
    """Each token of the text with its first and last character; [] where they do not spell it.

    Tokens that the server put in front, a blank before the first word, an untold first token and what was generated
    after the text are allowed for.
    """
    # A server may put a BOS and other marks in front and does not say which tokens these are. So tokens are left out
    # from the front, one more each time, until the others spell the text.
    for front in range(min(FRONT, len(tokens)) + 1):
        spelled = tokens[front:]
        joined = "".join(token.text for token in spelled)
        blank = int(joined.startswith(" ") and not text.startswith(" "))
        if joined[blank:].startswith(text):
            return _with_places(spelled, -blank, len(text))
        # vLLM does not tell the first token: where it is no special one, it is what the others leave over.
        if spelled and not spelled[0].text and math.isnan(spelled[0].logprob):
            rest = "".join(token.text for token in spelled[1:])
            missing = len(text) - len(rest)
            if missing > 0 and text.endswith(rest):
                return [(spelled[0], 0, missing), *_with_places(spelled[1:], missing, len(text))]
    return []


def _with_places(tokens: Sequence[PromptToken], start: int, length: int) -> list[tuple[PromptToken, int, int]]:
    placed = []
    waiting: list[PromptToken] = []  # without a text of their own: parts of a character that a later token spells
    for token in tokens:
        end = start + len(token.text)
        if start >= length:
            break
        if not token.text:
            # A first token without a text is special, and no part of what follows.
            waiting += [] if math.isnan(token.logprob) else [token]
            continue
        placed += [(part, max(start, 0), min(end, length)) for part in (*waiting, token)]
        waiting = []
        start = end
    return placed


def _placeholder_id(text: str) -> int:
    """A number for a token whose id the server does not tell: negative, and equal for equal texts."""
    return -2 - zlib.crc32(text.encode("utf-8", "surrogatepass"))
