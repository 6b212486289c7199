"""The client of an infini-gram server: a real engine behind a real server, and one that misbehaves."""

from __future__ import annotations

import dataclasses
import math
import threading
from pathlib import Path

import pytest

from explorer import fetch
from explorer.errors import CountError
from explorer.popularity import tokenizer as tokenizers
from explorer.popularity.cached import UNREACHABLE, may_pass
from explorer.popularity.count_cache import CountCache
from explorer.popularity.counter import TextNotEncoded
from explorer.popularity.infinigram_api import InfinigramAPI, served_names
from explorer.popularity.service import Service, check_count

Ngrams = list[tuple[int, ...]]

# Short silences and pauses, so that troubles pass quickly.
HURRIED = fetch.Patience(connect=2.0, read=0.3, tries=6, delay=0.001, longest_delay=0.002)
SPOILERS = [
    "429", "500", "503", "403", "hang", "close", "half", "garbage", "no count", "null count", "text count",
    "true count", "negative count", "other query", "approximate", "list",
]  # fmt: skip


# Where no silence is tested, an answer that comes late on a busy machine is none.
PATIENT = dataclasses.replace(HURRIED, connect=30.0, read=30.0)


def client(url: str, cache: CountCache, patience: fetch.Patience = PATIENT, **kwargs) -> InfinigramAPI:
    return InfinigramAPI(Service(url, "small", patience=patience), cache, **kwargs)


def test_counts_over_http_equal_brute_force(server, cache: CountCache, ngrams: Ngrams, truth: list[float]):
    counts = client(server.url, cache).count(ngrams)
    assert [each.count for each in counts] == truth
    assert [each.ids for each in counts] == ngrams
    assert not any(each.approx or each.reason for each in counts)


@pytest.mark.parametrize("spoiler", SPOILERS)
def test_a_trouble_that_passes_leaves_right_counts(nasty, cache: CountCache, ngrams: Ngrams, truth, spoiler: str):
    few = 1 if spoiler in ("hang", "half") else 3
    nasty.mood = lambda number, payload: spoiler if number % 7 == 2 and number < 7 * few else "well"
    counts = client(nasty.url, cache, HURRIED if spoiler == "hang" else PATIENT).count(ngrams[:40])
    assert [each.count for each in counts] == truth[:40]


def test_an_outage_leaves_unknowns_and_never_a_wrong_number(nasty, cache: CountCache, ngrams: Ngrams, truth):
    nasty.mood = lambda number, payload: "well" if number < 30 else SPOILERS[number % 4]
    counts = client(nasty.url, cache).count(ngrams)
    known = [i for i, each in enumerate(counts) if not each.reason]
    assert 0 < len(known) < len(ngrams)
    assert all(counts[i].count == truth[i] for i in known)
    lost = [each for each in counts if each.reason]
    assert all(math.isnan(each.count) and each.reason.startswith(UNREACHABLE) and may_pass(each) for each in lost)
    assert len(nasty.requests) < 30 + 5 * 4 * HURRIED.tries  # the rest was not asked once the service was away


def test_a_run_completes_after_the_server_recovers_and_asks_nothing_twice(nasty, cache: CountCache, ngrams, truth):
    nasty.mood = lambda number, payload: "well" if number < 30 else "503"
    first = client(nasty.url, cache).count(ngrams)
    answered = {each.ids for each in first if not each.reason}
    nasty.mood = lambda number, payload: "well"
    nasty.requests.clear()
    second = client(nasty.url, cache).count(ngrams)
    assert [each.count for each in second] == truth
    asked = [tuple(each["query_ids"]) for each in nasty.requests if "query_ids" in each]
    assert sorted(asked) == sorted(set(ngrams) - answered)


@pytest.mark.parametrize("spoiler", [each for each in SPOILERS if each not in ("hang", "half")])
def test_a_server_that_only_misbehaves_stores_nothing(nasty, cache: CountCache, ngrams: Ngrams, spoiler: str):
    nasty.mood = lambda number, payload: spoiler
    counts = client(nasty.url, cache).count(ngrams[:10])
    assert all(math.isnan(each.count) and each.reason for each in counts)
    assert cache.counts("small", ngrams) == {}


def test_an_error_with_status_200_is_a_refusal_and_not_a_zero(nasty, cache: CountCache, ngrams: Ngrams, truth):
    refused = ngrams[3]
    nasty.mood = lambda number, payload: "error" if payload.get("query_ids") == list(refused) else "well"
    counts = client(nasty.url, cache).count(ngrams[:10])
    assert counts[3].reason == "the service refused the query: something is wrong"
    assert math.isnan(counts[3].count) and not may_pass(counts[3])
    assert [each.count for i, each in enumerate(counts) if i != 3] == truth[:3] + truth[4:10]
    assert refused not in cache.counts("small", ngrams)


def test_ids_out_of_range_are_refused_without_a_zero(server, cache: CountCache):
    counts = client(server.url, cache).count([(60_000,), (70_000,), (), (-1,)])
    assert all(math.isnan(each.count) and each.reason for each in counts)
    assert "out-of-range" in counts[0].reason


def test_known_counts_need_no_server(server, cache: CountCache, ngrams: Ngrams, truth):
    client(server.url, cache).count(ngrams)
    away = InfinigramAPI(Service("http://127.0.0.1:9/", "small", patience=HURRIED), cache)
    assert [each.count for each in away.count(ngrams)] == truth


def test_offline_the_unknown_stay_unknown(server, cache: CountCache, ngrams: Ngrams, truth):
    client(server.url, cache).count(ngrams[:5])
    offline = InfinigramAPI(Service(server.url, "small", patience=HURRIED, offline=True), cache)
    counts = offline.count(ngrams[:8])
    assert [each.count for each in counts[:5]] == truth[:5]
    assert all("offline" in each.reason for each in counts[5:] if each.ids not in ngrams[:5])


def test_counts_come_in_the_order_asked_and_repeats_are_asked_once(nasty, cache: CountCache, ngrams: Ngrams, truth):
    asked = [*ngrams[:10], *reversed(ngrams[:10])]
    counts = client(nasty.url, cache).count(asked)
    assert [each.count for each in counts] == truth[:10] + truth[9::-1]
    assert len([each for each in nasty.requests if "query_ids" in each]) == len(set(ngrams[:10]))


def test_progress_ends_at_the_number_of_distinct_ngrams(server, cache: CountCache, ngrams: Ngrams):
    seen: list[tuple[int, int]] = []
    client(server.url, cache).count(ngrams, lambda done, total: seen.append((done, total)))
    assert seen[0] == (0, len(set(ngrams)))
    assert seen[-1] == (len(set(ngrams)), len(set(ngrams)))


def test_an_index_that_became_another_corpus_is_refused(server, cache: CountCache, ngrams: Ngrams):
    cache.store_tokens("small", 5)
    with pytest.raises(CountError, match="had 5 when its counts were stored"):
        client(server.url, cache).count(ngrams)


def test_another_corpus_of_the_same_size_is_told_by_its_key(server, cache: CountCache, ngrams: Ngrams):
    client(server.url, cache).count(ngrams[:3])
    [index] = server.indexes.values()
    assert cache.key("small") == index.key and index.key.startswith("small-")
    cache.store_key("small", "small-000000000000")
    assert all(not each.reason for each in client(server.url, cache).count(ngrams[:3]))  # those that were kept
    with pytest.raises(CountError, match="but was small-000000000000 when its counts were stored"):
        client(server.url, cache).count(ngrams)
    cache.forget("small")
    assert cache.key("small") == ""
    assert all(not each.reason for each in client(server.url, cache).count(ngrams))


def test_the_rate_limit_is_asked_before_every_request(server, cache: CountCache, ngrams: Ngrams):
    calls: list[float] = []
    service = Service(server.url, "small", patience=HURRIED, limit=lambda: calls.append(1))
    InfinigramAPI(service, cache).count(ngrams[:10])
    assert len(calls) == len(set(ngrams[:10])) + 1  # and one for the size


# Encoding


@pytest.fixture
def tokenizer(index_folder: Path) -> tokenizers.IndexTokenizer:
    return tokenizers.load(index_folder)


def test_the_service_encodes_as_the_index_does(server, cache: CountCache, tokenizer):
    texts = ["The cat sees the dog.", "  small birds", "Zoë’s café", ""]
    api = client(server.url, cache)
    assert api.encode(texts) == tokenizer.encode(texts)
    assert api.decode(api.encode(texts)[0]) == tokenizer.decode(tokenizer.encode(texts)[0])


def test_a_text_is_encoded_once(nasty, cache: CountCache):
    client(nasty.url, cache).encode(["The cat sees the dog."])
    asked = len(nasty.requests)
    client(nasty.url, cache).encode(["The cat sees the dog."])
    assert len(nasty.requests) == asked


def test_what_the_service_did_at_the_start_is_recorded(server, cache: CountCache):
    client(server.url, cache).encode(["the cat"])
    assert cache.encodings("small", ["the cat"])["the cat"].start == "blank put in"


@pytest.mark.parametrize(
    "text",
    [
        "the cat AND the dog OR the bird near AND under",
        "OR the cat AND AND the dog",
        " ".join(f"word{i} sees the small cat," for i in range(120)),
        " ".join(f"naïve{i} AND café" for i in range(150)),
        " ".join(["日本語のテキスト"] * 60),  # over 500 tokens in under 1,000 characters
    ],
)
def test_long_texts_and_operators_are_encoded_in_pieces(server, cache: CountCache, tokenizer, text: str):
    assert client(server.url, cache).encode([text]) == tokenizer.encode([text])


def test_seams_that_do_not_match_are_told_plainly(nasty, cache: CountCache):
    cache.store_encodings("small", {"AND": dataclasses.replace(_encoded(), ids=(1, 2))})
    with pytest.raises(TextNotEncoded, match="two sides of a seam"):
        client(nasty.url, cache).encode(["the cat AND the dog"])


def _encoded():
    from explorer.popularity.count_cache import Encoded

    return Encoded((), "blank put in")


def test_a_text_that_cannot_be_split_is_told_plainly(server, cache: CountCache):
    with pytest.raises(TextNotEncoded, match="no single blank"):
        client(server.url, cache).encode(["x" * 1200])


def test_encoding_during_an_outage_raises_and_stores_nothing(nasty, cache: CountCache):
    nasty.mood = lambda number, payload: "garbage"
    with pytest.raises(CountError, match=UNREACHABLE):
        client(nasty.url, cache).encode(["the cat"])
    assert cache.encodings("small", ["the cat"]) == {}


def test_a_local_tokenizer_gives_the_ids_and_the_bare_form(server, cache: CountCache, tokenizer):
    api = client(server.url, cache, tokenizer=tokenizer)
    assert api.encode(["the cat"]) == tokenizer.encode(["the cat"])
    assert api.encode(["the cat"], bare=True) == tokenizer.encode(["the cat"], bare=True)
    with pytest.raises(CountError, match="local folder"):
        client(server.url, cache).encode(["the cat"], bare=True)


def test_a_local_tokenizer_of_another_index_is_refused(server, cache: CountCache):
    other = tokenizers.train(["quite other words than those"] * 3, 280)
    with pytest.raises(CountError, match="is not the tokenizer of small"):
        client(server.url, cache, tokenizer=other).encode(["the cat"])


# The rest


def test_documents_show_where_an_ngram_stands(server, cache: CountCache, tokenizer):
    api = client(server.url, cache)
    [ids] = api.encode(["日本"])
    [document] = api.documents(ids, 3)
    assert document.source == "odd.txt:4"
    assert [text for text, is_ngram in document.pieces if is_ngram] == [" 日本"]
    assert (
        "".join(text for text, _ in document.pieces)
        == "Zoë’s café AND bar, naïve 日本 text.\n\nÜber the cat sees the dog."
    )


def test_the_corpus_size_is_asked_once_and_kept(nasty, cache: CountCache):
    api = client(nasty.url, cache)
    size = api.total_tokens()
    assert size > 10_000
    assert client(nasty.url, cache).total_tokens() == size
    assert len(nasty.requests) == 1


def test_a_server_tells_its_indexes(server):
    assert served_names(server.url, HURRIED) == ["small"]


def test_the_documented_answer_of_the_public_service_is_understood(nasty, cache: CountCache, monkeypatch):
    # As printed in the service's documentation.
    recorded = {
        "count": 2349754, "approx": False, "latency": 0.724, "token_ids": [3014, 310, 7660],
        "tokens": ["▁University", "▁of", "▁Washington"],
    }  # fmt: skip
    monkeypatch.setattr(nasty, "real", _Recorded(recorded))
    api = client(nasty.url, cache)
    assert api.encode(["University of Washington"]) == [(3014, 310, 7660)]
    assert api.decode((3014, 310, 7660)) == (" University", " of", " Washington")
    assert api.count([(3014, 310, 7660)])[0].count == 2349754


class _Recorded:
    def __init__(self, answer: dict) -> None:
        self._answer = answer

    def answer(self, request: dict) -> tuple[int, dict]:
        return 200, self._answer


def test_many_threads_may_count_at_once(server, cache: CountCache, ngrams: Ngrams, truth):
    api = client(server.url, cache)
    results: list[list[float]] = []
    threads = [
        threading.Thread(target=lambda: results.append([each.count for each in api.count(ngrams)])) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [truth] * 4


@pytest.mark.parametrize(
    ("body", "good"),
    [({"count": 0}, True), ({"count": 3, "approx": False}, True), ({"count": 3.0}, False), ({}, False)],
)
def test_only_whole_numbers_are_counts(body, good):
    assert (check_count(body) == "") is good
