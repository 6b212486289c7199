"""What follows a text in an index, where it stands, and its verbatim spans: engine and service, by brute force."""

from __future__ import annotations

import collections
import json
import math
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from explorer import fetch
from explorer.errors import CountError
from explorer.popularity import brute_force, infinigram_local, verbatim
from explorer.popularity.count_cache import CountCache
from explorer.popularity.counter import TokenIndex
from explorer.popularity.infinigram_api import InfinigramAPI
from explorer.popularity.infinigram_local import LocalCounter
from explorer.popularity.next_tokens import END
from explorer.popularity.service import Service
from explorer.records import Count

SEPARATOR = 0xFFFF
PATIENT = fetch.Patience(connect=30.0, read=30.0, tries=2, delay=0.001, longest_delay=0.002)


@pytest.fixture(params=["engine", "service"])
def token_index(request, index_folder, server, cache: CountCache) -> Iterator[TokenIndex]:
    """The small index by its engine, and by a server in the protocol of the public service."""
    if request.param == "service":
        yield InfinigramAPI(Service(server.url, "small", patience=PATIENT), cache)
        return
    made = LocalCounter(index_folder, cache)
    yield made
    made.close()


@pytest.fixture(scope="session")
def stream(index_folder) -> list[int]:
    """All tokens of the small index, documents parted by separators."""
    return [int(each) for each in brute_force.token_stream(index_folder, "u16")]


def follow(stream: list[int], prompt: tuple[int, ...]) -> collections.Counter[int]:
    """What follows a prompt in the stream, and how often, by looking at every place; a separator ends a document."""
    n = len(prompt)
    return collections.Counter(stream[i + n] for i in range(len(stream) - n) if tuple(stream[i : i + n]) == prompt)


def longest_ending(stream: list[int], prompt: tuple[int, ...]) -> tuple[int, ...]:
    """The longest ending of a prompt that stands in the stream at all."""
    tokens = np.array(stream)
    return next((prompt[k:] for k in range(len(prompt)) if brute_force.count(tokens, prompt[k:])), ())


def prompts(stream: list[int], amount: int, shortest: int = 1) -> list[tuple[int, ...]]:
    """N-grams of which some never occur, none so frequent that the service would draw a sample."""
    tokens = np.array(stream)
    drawn = brute_force.sample_ngrams(tokens, SEPARATOR, 4 * amount, seed=5, longest=6)
    return [one for one in drawn if len(one) >= shortest and brute_force.count(tokens, one) <= 900][:amount]


def counted(found, stream: list[int]) -> dict[int, int]:
    return {SEPARATOR if one.text == END else one.id: one.count for one in found.tokens}


def test_next_tokens_equal_brute_force(token_index: TokenIndex, stream):
    seen_none = 0
    for prompt in prompts(stream, 25):
        truth = follow(stream, prompt)
        found = token_index.following(prompt)
        assert counted(found, stream) == truth and found.prompt_count == sum(truth.values()) and not found.approx
        assert found.suffix == len(prompt)
        assert [one.count for one in found.tokens] == sorted(truth.values(), reverse=True), "the likeliest first"
        assert all(one.probability == pytest.approx(one.count / found.prompt_count) for one in found.tokens)
        assert bool(found.reason) == (not truth)
        seen_none += not truth
    assert seen_none, "a prompt that never occurs is among them"


def test_next_tokens_after_the_longest_ending_that_occurs_equal_brute_force(token_index: TokenIndex, stream):
    for prompt in prompts(stream, 25):
        ending = longest_ending(stream, prompt)
        found = token_index.following(prompt, back_off=True)
        if len(np.flatnonzero(np.array(stream) == ending[-1:])) > 900 and len(ending) == 1:
            continue  # so frequent that the service draws a sample
        assert found.suffix == len(ending)
        assert counted(found, stream) == follow(stream, ending)


def test_the_chance_of_a_token_equals_brute_force(token_index: TokenIndex, stream):
    tokens = np.array(stream)
    for ids in prompts(stream, 25, shortest=2):
        before, whole = brute_force.count(tokens, ids[:-1]), brute_force.count(tokens, ids)
        found = token_index.chance(ids)
        assert (found.prompt_count, found.count) == (before, whole)
        if before:
            assert found.value == pytest.approx(whole / before)
        else:
            assert math.isnan(found.value) and "does not occur" in found.reason, "never a stand-in number"
        ending = longest_ending(stream, ids[:-1])
        backed = token_index.chance(ids, back_off=True)
        assert backed.suffix == len(ending)
        assert backed.value == pytest.approx(
            brute_force.count(tokens, (*ending, ids[-1])) / brute_force.count(tokens, ending)
        )


def test_find_gives_every_place_and_its_document_holds_the_ngram(token_index: TokenIndex, stream):
    tokens = np.array(stream)
    for ngram in prompts(stream, 8):
        places = token_index.find(ngram)
        assert places.count == brute_force.count(tokens, ngram)
        for shard, rank in places.first(2):
            document = token_index.document(ngram, shard, rank)
            assert any(is_hit for _, is_hit in document.pieces) and document.source
        assert len(places.first(10**6)) == places.count


def test_what_cannot_be_asked_is_said_in_one_sentence(token_index: TokenIndex):
    with pytest.raises(
        CountError, match=r"was asked about .* expected .*tokens|was asked about .* expected .*tokenizer"
    ):
        token_index.chance([70_000, 1])
    with pytest.raises(CountError, match="expected"):
        token_index.chance([])


# --- a service that answers in the documented form, and one that does not


class Scripted(ThreadingHTTPServer):
    """Answers each query type with the body it was given."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Script)
        self.bodies: dict[str, Any] = {}
        self.asked: list[dict[str, Any]] = []


class _Script(BaseHTTPRequestHandler):
    server: Scripted

    def do_POST(self) -> None:
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(query)
        body = json.dumps({"token_ids": query.get("query_ids"), **self.server.bodies[query["query_type"]]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def scripted(cache: CountCache) -> Iterator[tuple[Scripted, InfinigramAPI]]:
    made = Scripted()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{made.server_address[1]}/"
    yield made, InfinigramAPI(Service(url, "v4_pileval_llama", patience=PATIENT), cache)
    made.shutdown()
    made.server_close()


def test_answers_in_the_documented_form_are_read(scripted):
    service, client = scripted
    row = {"token": "ab", "prob": 0.75, "cont_cnt": 3}
    end = {"token": "</s>", "prob": 0.25, "cont_cnt": 1}
    service.bodies["infgram_ntd"] = {
        "approx": False, "latency": 0.8, "longest_suffix": "x", "prompt_cnt": 4, "suffix_len": 1,
        "result_by_token_id": {"2": end, "370": row},
    }  # fmt: skip
    service.bodies["prob"] = {"prob": -1.0, "prompt_cnt": 0, "cont_cnt": 0, "latency": 1.0}
    found = client.following([5, 6], back_off=True)
    assert [(one.id, one.text, one.count, one.probability) for one in found.tokens] == [
        (370, "ab", 3, 0.75), (2, END, 1, 0.25)
    ]  # fmt: skip
    assert (found.prompt_count, found.suffix, found.approx) == (4, 1, False)
    assert math.isnan(client.chance([5, 6]).value)
    assert service.asked[0] == {"index": "v4_pileval_llama", "query_type": "infgram_ntd", "query_ids": [5, 6]}


@pytest.mark.parametrize(
    ("kind", "body", "told"),
    [
        ("ntd", {"prompt_cnt": None, "result_by_token_id": {}}, "prompt_cnt is 'None', expected"),
        ("ntd", {"prompt_cnt": 1, "result_by_token_id": []}, "expected an object"),
        ("ntd", {"prompt_cnt": 1, "result_by_token_id": {"7": {"prob": 2, "cont_cnt": 1}}}, "from 0 to 1"),
        ("ntd", {"prompt_cnt": 1, "result_by_token_id": {}, "token_ids": [9]}, "the answer is for the ids"),
        ("ntd", {"error": "index is closed"}, "index is closed"),
        ("prob", {"prompt_cnt": 3, "cont_cnt": "1", "prob": 0.3}, "whole number"),
        ("prob", {"prompt_cnt": 3, "cont_cnt": 1, "prob": -1.0}, "from 0 to 1"),
    ],
)
def test_an_answer_that_makes_no_sense_is_told_and_never_believed(scripted, kind, body, told):
    service, client = scripted
    service.bodies[kind] = body
    with pytest.raises(CountError, match=told):
        client.following([1, 2]) if kind == "ntd" else client.chance([1, 2])


def test_an_engine_of_another_shape_is_refused(index_folder, cache):
    made = LocalCounter(index_folder, cache)
    made.engine.call = lambda *words, **named: {"error": "no such prompt"}  # type: ignore[method-assign]
    with pytest.raises(CountError, match="no such prompt"):
        made.following([1])
    made.close()
    assert infinigram_local.SUPPORT > 1000, "the engine's own bound makes a sample of what small corpora hold whole"


# --- verbatim spans


def occurrences(part: str, whole: str) -> int:
    """How often a part stands in a text, overlapping places included."""
    count, at = 0, whole.find(part)
    while at >= 0:
        count, at = count + 1, whole.find(part, at + 1)
    return count


class Letters:
    """An index whose tokens are letters; it holds the strings it was made of."""

    index = "letters"

    def __init__(self, *held: str):
        self.held, self.asked = held, 0

    def encode(self, texts, *, bare=False):
        return [tuple(map(ord, text)) for text in texts]

    def decode(self, ids):
        return tuple(map(chr, ids))

    def count(self, ngrams, progress=None):
        self.asked += len(ngrams)
        texts = ["".join(map(chr, ids)) for ids in ngrams]
        return [
            Count(self.index, ids, float(sum(occurrences(text, held) for held in self.held)))
            for ids, text in zip(ngrams, texts, strict=True)
        ]


def every_maximal_span(text: str, held: tuple[str, ...], least: int) -> set[tuple[int, int]]:
    """By looking at every part of the text: those between borders of words, held, and in no other such part."""

    def is_border(place: int) -> bool:
        return not (text[place - 1 : place].isalnum() and text[place : place + 1].isalnum()) if place else True

    borders = [place for place in range(len(text) + 1) if is_border(place)]
    parts = {(a, b) for a in borders for b in borders if b > a and any(text[a:b] in one for one in held)}
    # Blanks at the ends belong to no span's text, but to its tokens: compare without them.
    return {
        (a, b) for a, b in parts
        if b - a >= least and not any((c, d) != (a, b) and c <= a and b <= d for c, d in parts)
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_spans_are_all_maximal_parts_that_the_corpus_holds(seed):
    chance = np.random.default_rng(seed)
    words = ["ab", "a", "b", "ba", "c"]

    def some(many: int) -> str:
        return " ".join(chance.choice(words, many))

    held = tuple(some(int(chance.integers(3, 30))) for _ in range(4))
    text = some(int(chance.integers(5, 60)))
    found = verbatim.trace_text(Letters(*held), text, least=4)
    assert {(span.start, span.end) for span in found.spans} == every_maximal_span(text, held, 4)
    for span in found.spans:
        part = text[span.start : span.end]
        assert span.text == part.strip() and span.count == sum(occurrences(part, one) for one in held)
    covered = {i for span in found.spans for i in range(span.first, span.last) if text[i] != " "}
    assert found.covered == pytest.approx(len(covered) / len(text.replace(" ", "")))


def test_a_text_is_looked_up_in_about_two_ngrams_a_token():
    text = " ".join(f"word{i % 97} and" for i in range(400))
    for held in ((text,), (text[: len(text) // 2], text[len(text) // 3 :]), ("nothing",), ("word1 and word2", "and")):
        index = Letters(*held)
        verbatim.trace_text(index, text, least=4)
        assert index.asked < 3 * len(text)


@pytest.mark.parametrize(
    ("text", "label", "member"),
    [
        ("the cat sat on the mat", verbatim.WHOLE, 1),
        (
            "the cat sat on a red rug",
            verbatim.PART,
            math.nan,
        ),
        ("a dog ate the cat quickly", verbatim.ABSENT, 0),
        ("the", verbatim.UNKNOWN, math.nan),
        ("  ", verbatim.UNKNOWN, math.nan),
    ],
)
def test_the_label_follows_from_the_spans(text, label, member):
    found = verbatim.trace_text(Letters("see: the cat sat on the mat.", "one dog"), text, least=4)
    assert found.label == label and found.member == pytest.approx(member, nan_ok=True)
    assert bool(found.reason) == (label == verbatim.UNKNOWN)


def test_characters_of_several_tokens_keep_their_place():
    places = verbatim.character_places([" Zo", "\ufffd", "\ufffd", "’", "s", " 日", "\ufffd", "\ufffd"], "Zoë’s 日本")
    text = "Zoë’s 日本"
    assert [text[a:b] for a, b in places] == ["Zo", "ë", "ë", "’", "s", "日", "本", "本"]


def test_spans_of_a_real_index_stand_in_its_documents(token_index: TokenIndex):
    [place] = token_index.find(token_index.encode([" the cat sees"])[0]).first(1)
    document = token_index.document(token_index.encode([" the cat sees"])[0], *place)
    words = "".join(text for text, _ in document.pieces).split()[40:70]
    text = " ".join([*words[:12], "zzz", *words[14:]])
    found = verbatim.trace_text(token_index, text)
    assert found.label in (verbatim.PART, verbatim.ABSENT) and found.covered > 0.8
    assert not any("zzz" in span.text for span in found.spans)
    assert {" ".join(words[:12]), " ".join(words[14:])} <= {span.text for span in found.spans}
    assert verbatim.trace_text(token_index, " ".join(words)).label == verbatim.WHOLE
