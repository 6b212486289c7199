"""Endpoints that give something else where a number belongs: the request says so, and nothing is made up."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from explorer.records import Request
from explorer.scoring.http import Endpoint
from explorer.scoring.http_calls import Limits
from explorer.settings import Settings
from tests.slow_servers import serving

ASKED = [Request(instance_id="a", option=0, context="A cat", continuation=" sat down")]


def ask(answer: dict[str, Any], what: str) -> Any:
    body = json.dumps(answer).encode()

    def way(caller, asked):
        caller.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    with serving(way) as server:
        endpoint = Endpoint(server.url, "m", Settings(Path("cache")), limits=Limits(tries=1))
        if what == "score":
            return endpoint.score(ASKED)[0]
        return endpoint.generate(ASKED, max_new_tokens=3)[0]


def echo(*logprobs: Any, **more: Any) -> dict[str, Any]:
    told = {"tokens": ["A", " cat", " sat", " down", "."], "token_logprobs": list(logprobs), **more}
    return {"choices": [{"text": "", "logprobs": told}]}


def vllm(*logprobs: Any) -> dict[str, Any]:
    texts = ["A", " cat", " sat", " down"]
    places = [
        None,
        *(
            {"5": {"logprob": one, "rank": 1, "decoded_token": text}}
            for one, text in zip(logprobs, texts[1:], strict=False)
        ),
    ]
    return {"choices": [{"text": "", "prompt_logprobs": places}]}


def test_numbers_are_scored():
    assert ask(echo(None, -1.0, -2.0, -3.0, -0.1), "score").sum == pytest.approx(-5.0)
    assert ask(vllm(-1.0, -2.0, -3.0), "score").sum == pytest.approx(-5.0)


NO_LOGPROBS = ["-1.5", "-inf", "NaN", True, [], {}, math.nan, math.inf, -math.inf, 0.5, 10**400, None]


@pytest.mark.parametrize("value", NO_LOGPROBS, ids=lambda value: str(value)[:12])
@pytest.mark.parametrize("form", [echo, vllm])
def test_what_is_no_log_probability_costs_the_request_with_a_reason(form, value):
    answer = form(None, -1.0, value, -3.0, -0.1) if form is echo else form(-1.0, value, -3.0)
    score = ask(answer, "score")
    assert math.isnan(score.sum)
    assert score.reason.startswith("the server gave ") and "for a log-probability" in score.reason


def test_what_is_wrong_in_the_context_alone_costs_nothing():
    assert ask(echo(None, "x", -2.0, -3.0, -0.1), "score").sum == pytest.approx(-5.0)


@pytest.mark.parametrize("top", [None, "x", [None] * 5, [{"a": None}] * 5, [{"a": "b"}] * 5, [[]] * 5, []])
def test_odd_likeliest_tokens_cost_no_score(top):
    assert ask(echo(None, -1.0, -2.0, -3.0, -0.1, top_logprobs=top), "score").sum == pytest.approx(-5.0)


ODD_USAGE = [None, [], "x", *({"completion_tokens": one} for one in (None, "9", -5, 10**18, math.inf, True))]


@pytest.mark.parametrize("usage", ODD_USAGE, ids=str)
def test_odd_usage_costs_no_answer(usage):
    answer = ask({"choices": [{"text": "word", "finish_reason": None}], "usage": usage}, "generate")
    assert answer.text == "word" and answer.token_ids == ()
