"""Endpoints against servers on this machine: a faulty one, one that scores with a real model, and llama.cpp's."""

from __future__ import annotations

import dataclasses
import math
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer import stopping
from explorer.errors import ExplorerError, FetchError, ModelError, ScoringError
from explorer.records import Generation, Request
from explorer.scoring import http, http_report
from explorer.scoring.http import Endpoint, from_name, is_endpoint
from explorer.scoring.http_calls import Limits
from explorer.scoring.http_cost import Planned, Prices, estimate
from explorer.scoring.policy import PRESETS
from explorer.settings import Settings
from tests.endpoint_servers import Call, Reply, Server, chat, completion, echoed, scoring

KEY = "sk-very-secret-0123456789"
QUICK = Limits(concurrency=4, timeout=5, tries=3, delay=0.01)


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    made: list[Server] = []

    def start(answer: Callable[[Call, int], Reply], models: Any = None) -> Server:
        made.append(Server(answer, models))
        return made[-1]

    yield start
    for server in made:
        server.close()


@pytest.fixture
def keyed(settings: Settings) -> Settings:
    return dataclasses.replace(settings, api_key=KEY)


def requests(n: int) -> list[Request]:
    return [Request(f"toy/{i}", 0, f"prompt {i}", role="prompt") for i in range(n)]


def ask(server: Server, settings: Settings, n: int = 1, limits: Limits = QUICK, **rest: Any) -> list[Generation]:
    endpoint = Endpoint(server.url, "m", dataclasses.replace(settings, api_url=server.url), limits=limits)
    return endpoint.generate(requests(n), max_new_tokens=7, **rest)


def echo_prompt(call: Call, number: int) -> Reply:
    return Reply(body=completion(f"after {call.body['prompt']}"))


# What is sent and what comes back


def test_answers_come_back_in_the_order_asked_from_several_calls_at_a_time(serve, settings):
    def slow_first(call: Call, number: int) -> Reply:
        return Reply(body=completion(f"after {call.body['prompt']}"), after=0.05 if number % 2 == 0 else 0)

    server = serve(slow_first)
    told: list[tuple[int, int]] = []
    answers = ask(server, settings, 12, progress=lambda done, of: told.append((done, of)))
    assert [answer.text for answer in answers] == [f"after prompt {i}" for i in range(12)]
    assert [answer.request.instance_id for answer in answers] == [f"toy/{i}" for i in range(12)]
    assert 1 < server.busiest <= QUICK.concurrency
    assert told == [(i, 12) for i in range(1, 13)]


def test_a_plain_prompt_is_completed_and_a_conversation_is_chatted(serve, keyed):
    def answer(call: Call, number: int) -> Reply:
        return Reply(body=chat("hello") if "messages" in call.body else completion(" world"))

    server = serve(answer)
    keyed = dataclasses.replace(keyed, api_url=server.url)
    endpoint = Endpoint(server.url + "/", "m", keyed, limits=QUICK)
    turns = (("system", "Be brief."), ("user", "Hi"))
    asked = [Request("a", 0, "Hi", conversation=turns), Request("b", 0, "Hello")]
    one, other = endpoint.generate(asked, max_new_tokens=7, stop=["\n"])
    assert (one.text, one.finish, len(one.token_ids)) == ("hello", "stop", 3)
    assert (other.text, other.finish) == (" world", "length")
    by_path = {call.path: call for call in server.calls}
    talked, completed = by_path["/v1/chat/completions"].body, by_path["/v1/completions"].body
    assert talked["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    assert completed["prompt"] == "Hello"
    assert talked["model"] == "m" and talked["max_tokens"] == 7 and talked["temperature"] == 0
    assert talked["stop"] == ["\n"] and "seed" not in talked
    assert server.calls[0].headers["Authorization"] == f"Bearer {KEY}"
    assert endpoint.record()["served"] == "served-name"


def test_a_sampled_request_has_a_seed_of_its_own_that_a_second_run_repeats(serve, settings):
    server = serve(echo_prompt)
    asked = [Request("a", 0, "x", factors={"part": part, "temperature": 0.5}) for part in (0, 1)]
    endpoint = Endpoint(server.url, "m", settings, limits=dataclasses.replace(QUICK, concurrency=1))
    for _ in range(2):
        endpoint.generate(asked, max_new_tokens=7, seed=3)
    seeds = [call.body["seed"] for call in server.calls]
    assert seeds[:2] == seeds[2:] and seeds[0] != seeds[1]
    assert all(call.body["temperature"] == 0.5 for call in server.calls)


def test_without_a_key_none_is_sent(serve, settings):
    server = serve(echo_prompt)
    ask(server, dataclasses.replace(settings, api_key=""))
    assert "Authorization" not in server.calls[0].headers


def test_an_answer_without_text_is_a_gap_with_its_reason(serve, settings):
    server = serve(lambda call, number: Reply(body=chat(None, finish_reason="content_filter")))
    endpoint = Endpoint(server.url, "m", settings, kind="chat", limits=QUICK)
    (answer,) = endpoint.generate(requests(1), max_new_tokens=7)
    assert answer.text == "" and "content_filter" in answer.reason


def test_models_that_want_the_budget_under_another_name_get_it(serve, settings):
    def newer(call: Call, number: int) -> Reply:
        if "max_tokens" in call.body:
            message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return Reply(400, {"error": {"message": message}})
        return Reply(body=chat(str(call.body["max_completion_tokens"])))

    server = serve(newer)
    endpoint = Endpoint(server.url, "m", settings, kind="chat", limits=dataclasses.replace(QUICK, concurrency=1))
    answers = endpoint.generate(requests(3), max_new_tokens=7)
    assert [answer.text for answer in answers] == ["7"] * 3
    assert len(server.calls) == 4


def test_a_text_that_cannot_be_sent_is_a_gap_and_is_not_asked(serve, settings):
    server = serve(echo_prompt)
    asked = [Request("a", 0, "half \ud83d"), Request("b", 0, "whole")]
    gap, answer = Endpoint(server.url, "m", settings, limits=QUICK).generate(asked, max_new_tokens=7)
    assert "surrogate" in gap.reason and answer.text
    assert len(server.calls) == 1


def test_no_requests_need_no_server(settings):
    assert Endpoint("http://127.0.0.1:9/v1", "m", settings).generate([], max_new_tokens=7) == []


# Faults


def assert_keyless(error: BaseException, endpoint_or_text: object = "") -> None:
    shown = "".join(traceback.format_exception(error)) + repr(endpoint_or_text)
    assert KEY not in shown and KEY[3:] not in shown


def test_a_refused_key_ends_the_run_in_one_sentence_that_does_not_show_it(serve, keyed):
    said = {"error": {"message": f"Incorrect API key provided: {KEY}. Find yours on our pages."}}
    server = serve(lambda call, number: Reply(401, said))
    with pytest.raises(ModelError, match=r"refused the key \(status 401\)\. Set EXPLORER_API_KEY") as caught:
        ask(server, keyed, 50)
    assert_keyless(caught.value)
    assert len(server.calls) <= 2 * QUICK.concurrency


def test_a_missing_key_is_told_apart_from_a_wrong_one(serve, settings):
    server = serve(lambda call, number: Reply(401, {"error": "no key"}))
    with pytest.raises(ModelError, match="wants a key, and none is set"):
        ask(server, dataclasses.replace(settings, api_key=""))


def test_a_server_that_repeats_the_key_does_not_get_it_into_results(serve, keyed):
    server = serve(lambda call, number: Reply(400, {"error": {"message": f"bad request with {KEY}"}}))
    (answer,) = ask(server, keyed)
    assert "bad request with [key]" in answer.reason
    server = serve(lambda call, number: Reply(500, {"error": {"message": f"crashed on {KEY}"}}))
    with pytest.raises(FetchError, match=r"crashed on \[key\]") as caught:
        ask(server, keyed)
    assert_keyless(caught.value)


def test_a_key_with_a_line_break_is_refused_without_being_shown(serve, settings):
    server = serve(echo_prompt)
    with pytest.raises(ExplorerError) as caught:
        ask(server, dataclasses.replace(settings, api_key=KEY[:9] + "\n" + KEY[9:]))
    assert_keyless(caught.value)
    assert not server.calls


def test_a_server_that_limits_the_rate_is_given_the_pause_it_asks_for(serve, settings):
    def limited(call: Call, number: int) -> Reply:
        if number == 0:
            return Reply(429, {"error": {"message": "slow down"}}, {"Retry-After": "1"})
        return echo_prompt(call, number)

    server = serve(limited)
    answers = ask(server, settings, 3, dataclasses.replace(QUICK, concurrency=1))
    assert [answer.text for answer in answers] == [f"after prompt {i}" for i in range(3)]
    assert server.calls[1].at - server.calls[0].at >= 0.99
    assert server.calls[1].body == server.calls[0].body


def test_a_pause_longer_than_the_user_allows_ends_the_run(serve, settings):
    server = serve(lambda call, number: Reply(429, {"error": {"message": "quota used up"}}, {"Retry-After": "3600"}))
    with pytest.raises(FetchError, match=r"limiting the rate or the quota \(quota used up\)"):
        ask(server, settings)
    assert len(server.calls) == 1


def test_a_server_that_stumbles_is_asked_again(serve, settings):
    server = serve(lambda call, number: Reply(503, {}) if number < 2 else echo_prompt(call, number))
    assert ask(server, settings)[0].text == "after prompt 0"
    assert len(server.calls) == 3


def test_what_was_answered_before_a_server_failed_is_kept_and_not_asked_again(serve, settings):
    broken = threading.Event()

    def fails_later(call: Call, number: int) -> Reply:
        if call.body["prompt"] == "prompt 6":
            broken.set()
        return Reply(500, {"error": {"message": "out of memory"}}) if broken.is_set() else echo_prompt(call, number)

    server = serve(fails_later)
    kept: dict[int, Generation] = {}
    with pytest.raises(FetchError, match=r"failed with status 500 \(out of memory\)\. What was answered is kept"):
        ask(server, settings, 20, dataclasses.replace(QUICK, concurrency=2), on_answer=kept.__setitem__)
    assert {0, 1, 2, 3, 4} <= set(kept) and 6 not in kept
    assert all(kept[i].text == f"after prompt {i}" for i in kept)

    healthy = serve(echo_prompt)
    rest = [request for place, request in enumerate(requests(20)) if place not in kept]
    more = Endpoint(healthy.url, "m", settings, limits=QUICK).generate(rest, max_new_tokens=7)
    assert sorted(call.body["prompt"] for call in healthy.calls) == sorted(request.context for request in rest)
    assert len(more) + len(kept) == 20


def test_few_answers_wait_to_be_kept_however_slow_their_keeper_is(serve, settings):
    server = serve(echo_prompt)
    waiting: list[int] = []

    def keep(place: int, answer: Generation) -> None:
        time.sleep(0.01)
        waiting.append(len(server.calls) - len(waiting))

    ask(server, settings, 30, dataclasses.replace(QUICK, concurrency=2), on_answer=keep)
    assert len(waiting) == 30
    assert max(waiting) <= 2 * 2


def test_a_silent_server_ends_the_run_after_its_tries(serve, settings):
    server = serve(lambda call, number: Reply(body=completion("late"), after=1.0))
    with pytest.raises(FetchError, match=r"was silent for 0\.2 s.*try again"):
        ask(server, settings, 1, dataclasses.replace(QUICK, timeout=0.2, tries=2))
    assert len(server.calls) == 2


def test_half_an_answer_is_asked_for_again(serve, settings):
    server = serve(lambda call, number: dataclasses.replace(echo_prompt(call, number), cut=20 if number == 0 else 0))
    assert ask(server, settings)[0].text == "after prompt 0"
    server = serve(lambda call, number: dataclasses.replace(echo_prompt(call, number), cut=20))
    with pytest.raises(FetchError, match=r"broke.*try again"):
        ask(server, settings)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"choices": [{"te', "something that is not JSON"),
        (b"<html>busy</html>", "something that is not JSON"),
        ({"ok": 1}, "JSON without choices"),
        ({"choices": []}, "JSON without choices"),
        ([1], "JSON without choices"),
    ],
)
def test_garbled_answers_are_asked_for_again_and_then_end_the_run(serve, settings, body, said):
    server = serve(lambda call, number: Reply(body=body) if number == 0 else echo_prompt(call, number))
    assert ask(server, settings)[0].text == "after prompt 0"
    server = serve(lambda call, number: Reply(body=body))
    with pytest.raises(FetchError, match=f"answered 3 times with {said}"):
        ask(server, settings)
    assert len(server.calls) == 3


def test_a_wrong_model_name_is_answered_with_the_right_ones(serve, settings):
    models = {"data": [{"id": "llama-3"}, {"id": "pythia"}]}
    server = serve(lambda call, number: Reply(404, {"error": {"message": "The model does not exist"}}), models)
    with pytest.raises(ModelError, match="has no model 'm'; it offers llama-3, pythia"):
        ask(server, settings, 30)
    assert len(server.calls) <= 2 * QUICK.concurrency


def test_a_server_that_answers_to_any_name_is_asked_for_its_own(serve, settings):
    models = {"data": [{"id": "gemma.gguf", "owned_by": "llamacpp"}]}
    server = serve(echo_prompt, models)
    with pytest.raises(ModelError, match=r"has no model 'm'; it offers gemma\.gguf"):
        ask(server, settings)
    assert not server.calls
    assert Endpoint(server.url, "gemma.gguf", settings).models() == ["gemma.gguf"]


def test_a_wrong_address_is_told(serve, settings):
    server = serve(lambda call, number: Reply(404, {"detail": "Not Found"}))
    with pytest.raises(ModelError, match=r"or nothing at /completions \(Not Found\).*ends in /v1"):
        ask(server, settings)


def test_an_unreachable_server_is_told(settings):
    with pytest.raises(FetchError, match="cannot be reached"):
        Endpoint("http://127.0.0.1:9/v1", "m", settings, limits=QUICK).generate(requests(1), max_new_tokens=7)


def test_one_refused_request_is_a_gap_and_the_rest_are_answered(serve, settings):
    def too_long(call: Call, number: int) -> Reply:
        if call.body["prompt"] == "prompt 1":
            return Reply(400, {"error": {"message": "context length exceeded"}})
        return echo_prompt(call, number)

    answers = ask(serve(too_long), settings, 4)
    assert [bool(answer.text) for answer in answers] == [True, False, True, True]
    assert answers[1].reason == "status 400: context length exceeded"


def test_a_server_that_refuses_from_the_start_is_not_asked_a_thousand_times(serve, settings):
    server = serve(lambda call, number: Reply(400, {"error": {"message": "temperature is not supported"}}))
    with pytest.raises(
        ScoringError, match=r"refused the first 3 requests \(status 400: temperature is not supported\)"
    ):
        ask(server, settings, 1_000)
    assert len(server.calls) < 20


def test_staying_offline_forbids_the_network_and_not_this_machine(serve, settings):
    assert settings.offline
    assert ask(serve(echo_prompt), settings)[0].text
    with pytest.raises(FetchError, match="stay offline"):
        Endpoint("http://192.0.2.1/v1", "m", settings).generate(requests(1), max_new_tokens=7)


# Names and costs


def test_a_name_tells_the_server_and_the_model(settings):
    endpoint = from_name("http://localhost:8000/v1#org/model-7b", settings)
    assert (endpoint.base_url, endpoint.model) == ("http://localhost:8000/v1", "org/model-7b")
    assert from_name(endpoint.name, settings).name == endpoint.name
    assert is_endpoint(endpoint.name) and not is_endpoint("EleutherAI/pythia-160m")


@pytest.mark.parametrize(
    "name",
    [
        "http://localhost:8000/v1",
        "http://#m",
        "https://user:pw@host/v1#m",
        "https://u:pw@h:x/v1#m",
        "http://u:pw@[#m",
        "http://h?k=1#m",
    ],
)
def test_a_name_without_a_model_or_with_a_secret_is_refused(name, settings):
    with pytest.raises(ModelError) as caught:
        from_name(name, settings)
    assert "pw" not in str(caught.value)


def test_the_key_is_in_no_record_and_no_repr(keyed):
    keyed = dataclasses.replace(keyed, host_keys=(("EXPLORER_API_KEY_LOCALHOST_8000", KEY),))
    endpoint = from_name("http://localhost:8000/v1#m", keyed)
    assert endpoint._caller._headers() == {"Authorization": f"Bearer {KEY}"}
    assert KEY not in f"{endpoint!r} {endpoint.record()} {endpoint.name} {keyed!r} {vars(endpoint)}"


def test_a_cost_is_estimated_from_bytes_and_the_longest_answers():
    asked = [Request("a", 0, "x" * 400), Request("b", 0, "", conversation=(("user", "y" * 40),))]
    found = estimate([Planned(asked, 10)], Prices(0.5, 1.5))
    # 400 / 4 and 4 + 40 / 4 tokens read, 2 * 10 written
    assert (found.requests, found.prompt_tokens, found.new_tokens) == (2, 114, 20)
    assert found.cost == pytest.approx((114 * 0.5 + 20 * 1.5) / 1e6)
    thrice = estimate([Planned(asked, 10, times=2), Planned(asked, 1)], Prices(0.5, 1.5))
    assert (thrice.requests, thrice.prompt_tokens, thrice.new_tokens) == (6, 3 * 114, 42)
    assert math.isnan(estimate([Planned(asked, 10)]).cost)  # without prices
    said = "At most 2 requests to host: about 114 tokens read and up to 20 written"
    assert estimate([Planned(asked, 10)]).in_words("host") == f"{said}."
    assert estimate([Planned(asked, 10)], Prices(1e4)).in_words("host") == f"{said}, 1.14 at the prices given."


# Scoring


def scores(choice: dict[str, Any], serve: Any, settings: Settings, request: Request, **rest: Any) -> Any:
    server = serve(lambda call, number: Reply(body={"choices": [choice]}))
    (score,) = Endpoint(server.url, "m", settings, limits=QUICK, **rest).score([request])
    return score, server.calls[0].body


def test_the_tokens_that_end_beyond_the_context_are_scored(serve, settings):
    tops = [None, {" cat": -1.0}, {" sat": -0.5}, {".": -0.1}, {"\n": -0.2}]
    choice = echoed(["The", " cat", " sat", "!", "\n"], [None, -1.0, -2.0, -3.0, -0.2], top_logprobs=tops)
    score, body = scores(choice, serve, settings, Request("a", 0, "The cat", " sat!"))
    assert score.tokens == (" sat", "!") and score.logprobs == (-2.0, -3.0)
    assert score.sum == -5.0 and not score.greedy and not score.straddles and not score.reason
    assert (score.chars, score.bytes) == (4, 4)
    assert (body["prompt"], body["echo"], body["logprobs"], body["max_tokens"]) == ("The cat sat!", True, 1, 1)
    greedy, _ = scores(choice, serve, settings, Request("a", 0, "The", " cat"))
    assert greedy.greedy and greedy.sum == -1.0


def test_equal_tokens_have_equal_stand_in_ids(serve, settings):
    choice = echoed(["The", " cat", " cat"], [None, -1.0, -2.0])
    score, _ = scores(choice, serve, settings, Request("a", 0, "The", " cat cat"))
    assert score.token_ids[0] == score.token_ids[1] < 0


@pytest.mark.parametrize("front", [["<s>"], ["<|begin_of_text|>"], [""]])
def test_a_token_that_the_server_puts_first_is_no_part_of_the_text(serve, settings, front):
    choice = echoed([*front, "The", " cat"], [None, -4.0, -1.0])
    score, _ = scores(choice, serve, settings, Request("a", 0, "", "The cat"))
    assert score.tokens == ("The", " cat") and score.sum == -5.0


def test_without_such_a_token_the_first_of_an_empty_context_is_left_unscored(serve, settings):
    score, _ = scores(echoed(["The", " cat"], [None, -1.0]), serve, settings, Request("a", 0, "", "The cat"))
    assert (score.scored, score.sum) == (1, -1.0)
    score, _ = scores(echoed(["The"], [None]), serve, settings, Request("a", 0, "", "The"))
    assert score.sum != score.sum and "no BOS" in score.reason


def test_a_token_over_the_edge_of_the_context_straddles_and_trailing_blanks_move(serve, settings):
    choice = echoed(["The", " ca", "ts"], [None, -1.0, -2.0])
    score, _ = scores(choice, serve, settings, Request("a", 0, "The c", "ats"))
    assert score.straddles and score.tokens == (" ca", "ts")
    score, _ = scores(choice, serve, settings, Request("a", 0, "The ", "cats"))
    assert not score.straddles and score.tokens == (" ca", "ts")


def test_a_blank_that_a_tokenizer_puts_first_is_no_part_of_the_text(serve, settings):
    score, _ = scores(
        echoed(["<s>", " The", " cat"], [None, -3.0, -1.0]), serve, settings, Request("a", 0, "The", " cat")
    )
    assert score.tokens == (" cat",) and score.sum == -1.0


def test_parts_of_a_character_are_scored_where_a_later_token_spells_it(serve, settings):
    choice = echoed(["A,", "", "人", ".", "!"], [None, -1.0, -2.0, -3.0, -4.0])
    score, _ = scores(choice, serve, settings, Request("a", 0, "A,", "人."))
    assert score.logprobs == (-1.0, -2.0, -3.0)


@pytest.mark.parametrize("parts", [["\ufffd", "\ufffd"], ["bytes:\\xe4\\xba", "bytes:\\xba"]])
def test_parts_of_a_character_that_no_token_spells_are_a_gap(serve, settings, parts):
    choice = echoed(["A,", *parts, "."], [None, -1.0, -2.0, -3.0])
    score, _ = scores(choice, serve, settings, Request("a", 0, "A,", "人."))
    assert score.sum != score.sum and score.reason == "the server shows parts of characters"


def test_tokens_that_do_not_spell_the_text_are_a_gap(serve, settings):
    score, _ = scores(echoed(["Another", " text"], [None, -1.0]), serve, settings, Request("a", 0, "The", " cat"))
    assert score.sum != score.sum and score.reason == "the server's tokens do not spell the text"


def test_vllms_prompt_logprobs_tell_ids_and_ranks(serve, settings):
    def place(*told: tuple[int, float, int, str]) -> dict[str, Any]:
        return {str(i): {"logprob": lp, "rank": rank, "decoded_token": text} for i, lp, rank, text in told}

    told = [None, place((7, -1.0, 1, " cat")), place((9, -0.5, 1, " ran"), (8, -2.0, 4, " sat"))]
    score, body = scores(
        {"text": "!", "prompt_logprobs": told},
        serve,
        settings,
        Request("a", 0, "The", " cat sat"),
        prompt_logprobs="vllm",
    )
    assert score.tokens == (" cat", " sat") and score.token_ids == (7, 8)
    assert score.logprobs == (-1.0, -2.0) and not score.greedy
    assert body["prompt_logprobs"] == 1 and "echo" not in body
    with_bos = [None, place((3, -3.0, 1, "The")), *told[1:]]
    score, _ = scores(
        {"text": "!", "prompt_logprobs": with_bos},
        serve,
        settings,
        Request("a", 0, "", "The cat sat"),
        prompt_logprobs="vllm",
    )
    assert score.token_ids == (3, 7, 8) and score.sum == -6.0


@pytest.mark.parametrize("way", ["echo", "vllm"])
def test_a_server_without_prompt_logprobs_is_told_in_one_sentence(serve, settings, way):
    with pytest.raises(ScoringError, match="returned no log-probabilities of the prompt"):
        scores({"text": "x", "logprobs": None}, serve, settings, Request("a", 0, "The", " cat"), prompt_logprobs=way)


def test_what_a_server_decides_for_itself_cannot_be_asked_of_it(serve, settings):
    endpoint = Endpoint(serve(echo_prompt).url, "m", settings)
    with pytest.raises(ScoringError, match="preset natural"):
        endpoint.score([Request("a", 0, "The", " cat")], PRESETS["lm-eval"])
    with pytest.raises(ScoringError, match="chat endpoint"):
        Endpoint(endpoint.base_url, "m", settings, kind="chat").score([Request("a", 0, "The", " cat")])


# A real model behind a server of ours: its numbers must be those of the model itself


@pytest.fixture(scope="module")
def scoring_server(tiny_gpt2: Path) -> Iterator[Server]:
    server = Server(scoring(tiny_gpt2))
    yield server
    server.close()


@pytest.mark.parametrize("way", ["echo", "vllm"])
def test_scores_over_http_are_the_models_own(scoring_server, tiny_gpt2, settings, way):
    from explorer.scoring import hf
    from explorer.scoring.score import ModelScorer

    asked = [
        Request("a", 0, "The cats that", " sleep near the stove."),
        Request("b", 0, "Nobody has ever ", "seen it"),
        Request("c", 0, "She sai", "d that"),
        Request("d", 0, "", "What did he write?"),
    ]
    policy = dataclasses.replace(PRESETS["natural"], bos="tokenizer")
    local = ModelScorer(hf.load(str(tiny_gpt2), settings, dtype="float32")).score(asked, policy)
    remote = Endpoint(scoring_server.url, "m", settings, prompt_logprobs=way).score(asked, policy)
    for mine, theirs in zip(local, remote, strict=True):
        assert theirs.logprobs == pytest.approx(mine.logprobs, abs=1e-4, nan_ok=True)
        assert theirs.tokens == mine.tokens
        assert (theirs.chars, theirs.bytes, theirs.straddles, theirs.greedy) == (
            mine.chars,
            mine.bytes,
            mine.straddles,
            mine.greedy,
        )
        if way == "vllm":
            assert theirs.token_ids[1:] == mine.token_ids[1:]


# llama.cpp's own server


@pytest.mark.slow
def test_llama_cpps_server_completes_chats_and_says_no_in_plain_words(llama_server, keyed):
    endpoint = http.from_name(f"{llama_server}#gemma", keyed, limits=Limits(concurrency=2))
    asked = [Request(f"a{i}", 0, f"The capital of {land} is") for i, land in enumerate(["France", "Italy", "Spain"])]
    first = endpoint.generate(asked, max_new_tokens=6)
    assert [len(answer.token_ids) for answer in first] == [6, 6, 6]
    assert all(answer.finish == "length" and answer.text.strip() and not answer.reason for answer in first)
    assert [answer.text for answer in endpoint.generate(asked, max_new_tokens=6)] == [answer.text for answer in first]
    stopped = endpoint.generate(asked[:1], max_new_tokens=6, stop=[first[0].text[3:6]])[0]
    assert stopped.text == first[0].text[:3] and stopped.finish == "stop"

    talk = Request("b", 0, "Hi", conversation=(("user", "Say hello."),))
    assert endpoint.generate([talk], max_new_tokens=4)[0].token_ids

    long = Request("c", 0, "word " * 1_000)
    gap, answer = endpoint.generate([long, asked[0]], max_new_tokens=4)
    assert "exceeds the available context size" in gap.reason and answer.text

    with pytest.raises(ModelError, match=r"it offers .*gemma"):
        http.from_name(f"{llama_server}#another", keyed).generate(asked, max_new_tokens=4)
    with pytest.raises(ScoringError, match="no log-probabilities of the prompt"):
        endpoint.score([Request("d", 0, "The capital of France is", " Paris")])


def test_a_test_of_a_server_that_never_ends_its_answers_has_a_deadline_for_the_whole():
    class Dripping:
        base_url = "http://drip.lab.org/v1"

        def check(self) -> None:
            stopping.pause(60)

    with pytest.raises(ModelError, match="not ended its answers within 1 seconds"):
        http_report.report(Dripping(), within=1.0)


@pytest.mark.parametrize(
    "address", ["http://[", "http://[::1", "http://a\u2100b/v1", "http://a:99999/v1", "http://a:x/v1"]
)
def test_an_endpoint_without_an_address_is_refused_in_a_sentence(address, settings):
    with pytest.raises(ModelError, match="is no endpoint, expected http://host:port/v1#model-name"):
        from_name(f"{address}#m", settings)
