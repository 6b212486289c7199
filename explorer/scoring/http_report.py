"""What a model behind a server can do, found out by asking: one short text written, one scored in each known way."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from explorer import stopping
from explorer.errors import ExplorerError, ModelError
from explorer.records import Request
from explorer.scoring.http import Endpoint
from explorer.scoring.policy import PRESETS

PROMPT = "The opposite of hot is"
SCORED = ("The keys to the cabinet", " are on the table.")
NEW_TOKENS = 16
WITHIN = 120.0  # seconds for all questions together; a server may have to load the model first
WAYS = {"echo": "by echo", "vllm": "by prompt_logprobs"}
# What servers call the longest text that they take; llama.cpp keeps it in an object called meta.
WINDOWS = ("max_model_len", "context_length", "context_window", "max_context_length", "n_ctx", "n_ctx_train")


@dataclass(frozen=True, slots=True)
class EndpointReport:
    """What a server answered; a `why_no_...` is "" where the thing was had."""

    offered: tuple[str, ...]  # models, as far as the server lists them
    answer: str
    as_chat: bool
    seconds: float  # until the first answer was there
    why_no_answer: str
    logprob: float  # nats, of " are on the table." after "The keys to the cabinet"; nan without
    way: str
    why_no_scores: str
    window: int  # tokens; 0 where the server does not tell
    ways: tuple[str, ...] = ()  # of all that tell the log-probabilities of a prompt, those that the server has
    why_no_chat: str = ""  # why no answer in a conversation can be scored (chat=always)


def report(endpoint: Endpoint, within: float = WITHIN) -> EndpointReport:
    """Asks the server; an ExplorerError where it cannot be reached, wants another key, lacks the model, or has not
    answered all within so many seconds."""
    try:
        return stopping.call(lambda: _ask_server(endpoint), lambda: within)
    except TimeoutError as error:
        raise ModelError(
            f"{endpoint.base_url} has not ended its answers within {within:.0f} seconds, expected a few short ones. "
            "Look at the server, and test it again."
        ) from error


def _ask_server(endpoint: Endpoint) -> EndpointReport:
    endpoint.check()
    listed = endpoint.listing()
    answer, as_chat, seconds, why_no_answer = _test_generation(endpoint)
    logprob, why_no_scores = _test_scoring(endpoint)
    ways = () if why_no_scores else endpoint.ways()
    return EndpointReport(
        offered=tuple(str(entry.get("id")) for entry in listed),
        answer=answer,
        as_chat=as_chat,
        seconds=seconds,
        why_no_answer=why_no_answer,
        logprob=logprob,
        way="" if why_no_scores else WAYS.get(str(endpoint.record()["prompt_logprobs"]), ""),
        why_no_scores=why_no_scores,
        ways=tuple(WAYS[way] for way in ways),
        why_no_chat=_test_chat_scoring(endpoint),
        window=_window([entry for entry in listed if entry.get("id") == endpoint.model] or listed[:1]),
    )


def _test_generation(endpoint: Endpoint) -> tuple[str, bool, float, str]:
    """The first answer to a conversation, else to plain text; whether it was one, seconds, and why there is none."""
    plain = Request("test", 0, PROMPT, "")
    why = ""
    for request in (replace(plain, conversation=(("user", PROMPT),)), plain):
        begun = time.monotonic()
        try:
            (answer,) = endpoint.generate([request], max_new_tokens=NEW_TOKENS)
        except ExplorerError as error:
            why = why or str(error)
            continue
        if not answer.reason:
            return answer.text, request.conversation is not None, time.monotonic() - begun, ""
        why = why or answer.reason
    return "", False, math.nan, why


def _test_scoring(endpoint: Endpoint) -> tuple[float, str]:
    try:
        (score,) = endpoint.score([Request("test", 0, *SCORED)])
    except ExplorerError as error:
        return math.nan, str(error)
    return (math.nan, score.reason) if score.reason else (score.sum, "")


def _test_chat_scoring(endpoint: Endpoint) -> str:
    """Why the server scores no answer in a conversation, or ""."""
    request = Request("test", 0, "", SCORED[1].strip(), conversation=(("user", SCORED[0]),))
    try:
        (score,) = endpoint.score([request], PRESETS["natural"].as_chat())
    except ExplorerError as error:
        return str(error)
    return score.reason


def _window(listed: Sequence[Mapping[str, Any]]) -> int:
    for entry in listed:
        meta = entry.get("meta")
        for fields in (entry, meta if isinstance(meta, Mapping) else {}):
            for name in WINDOWS:
                value = fields.get(name)
                if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 40:
                    return value
    return 0
