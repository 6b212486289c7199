"""`index serve` speaks the protocol of the public service."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import numpy as np
import pytest

from explorer.errors import CountError
from explorer.popularity import brute_force
from explorer.popularity.infinigram_server import QUERY_TYPES, IndexServer


def post(server: IndexServer, body: object) -> tuple[int, dict]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(server.url, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def ask(server: IndexServer, query_type: str, **fields) -> dict:
    status, body = post(server, {"index": "small", "query_type": query_type, **fields})
    assert status == 200
    return body


def test_get_lists_the_indexes(server):
    with urllib.request.urlopen(server.url, timeout=10) as answer:
        assert json.load(answer) == ["small"]


def test_a_count_has_the_keys_that_are_documented(server):
    body = ask(server, "count", query="the cat")
    assert set(body) == {"count", "approx", "latency", "token_ids", "tokens"}
    assert body["approx"] is False
    assert len(body["tokens"]) == len(body["token_ids"])
    assert body["tokens"][0].startswith("Ġ")
    assert ask(server, "count", query_ids=body["token_ids"])["count"] == body["count"]


def test_a_blank_is_put_before_a_text_once(server):
    assert ask(server, "count", query="the cat")["token_ids"] == ask(server, "count", query=" the cat")["token_ids"]


def test_the_empty_query_counts_all_positions(server, index_folder):
    assert ask(server, "count", query="")["count"] == len(brute_force.token_stream(index_folder, "u16"))


def test_the_older_name_of_the_index_field_is_taken(server):
    status, body = post(server, {"corpus": "small", "index": "nonsense", "query_type": "count", "query": "cat"})
    assert status == 200 and body["count"] > 0


def test_or_binds_tighter_than_and(server):
    body = ask(server, "count", query="cat OR dog AND bird")
    assert [len(clause) for clause in body["token_ids"]] == [2, 1]
    assert body["count"] > 0
    assert ask(server, "find_cnf", query="cat OR dog AND bird")["ptrs_by_shard"]


def test_prob_is_a_quotient_of_counts(server):
    ids = ask(server, "count", query="the cat")["token_ids"]
    body = ask(server, "prob", query_ids=ids)
    assert body["cont_cnt"] == ask(server, "count", query_ids=ids)["count"]
    assert body["prompt_cnt"] == ask(server, "count", query_ids=ids[:-1])["count"]
    assert body["prob"] == pytest.approx(body["cont_cnt"] / body["prompt_cnt"])


def test_next_tokens_are_named_and_add_up(server):
    body = ask(server, "ntd", query="the small")
    assert sum(each["cont_cnt"] for each in body["result_by_token_id"].values()) == body["prompt_cnt"]
    assert all(isinstance(each["token"], str) for each in body["result_by_token_id"].values())


def test_the_longest_suffix_is_shown(server):
    body = ask(server, "infgram_prob", query="日 zzz the cat")
    assert body["suffix_len"] >= 1
    assert body["longest_suffix"].endswith(" the")
    assert ask(server, "infgram_ntd", query="日 zzz the cat")["longest_suffix"].endswith(" cat")


def test_documents_are_found_by_rank_and_by_pointer(server):
    found = ask(server, "find", query="café")
    assert found["cnt"] == 1
    [[first, last]] = found["segment_by_shard"]
    assert last - first == 1
    document = ask(server, "get_doc_by_rank", query="café", s=0, rank=first)
    assert ["café" in text for text, label in document["spans"] if label == "0"] == [True]
    assert document["doc_len"] >= document["disp_len"] > 0
    pointers = ask(server, "find_cnf", query="café AND bar")["ptrs_by_shard"]
    by_pointer = ask(server, "get_doc_by_ptr", query="café AND bar", s=0, ptr=pointers[0][0])
    assert by_pointer["doc_ix"] == document["doc_ix"]


def test_a_document_is_cut_to_the_length_asked(server):
    [[first, _]] = ask(server, "find", query="the cat")["segment_by_shard"]
    assert ask(server, "get_doc_by_rank", query="the cat", s=0, rank=first, max_disp_len=5)["disp_len"] <= 5


@pytest.mark.parametrize(
    "body",
    [
        {"query_type": "count", "query": "a"},
        {"index": "small", "query": "a"},
        {"index": "other", "query_type": "count", "query": "a"},
        {"index": ["small"], "query_type": "count", "query": "a"},
        {"index": "small", "query_type": "drop", "query": "a"},
        {"index": "small", "query_type": "count"},
        {"index": "small", "query_type": "count", "query": "a", "query_ids": [1]},
        {"index": "small", "query_type": "get_doc_by_rank", "query": "a", "s": 0},
        [1, 2],
        b"not json",
        b"[" * 200_000,
    ],
)
def test_a_request_that_is_not_understood_has_status_400(server, body):
    status, answer = post(server, body)
    assert status == 400
    assert answer["error"].startswith("[Server]")


@pytest.mark.parametrize(
    "fields",
    [
        {"query": "x" * 1001},
        {"query": 5},
        {"query": "half \ud83d"},
        {"query": "a AND \ud83d"},
        {"query_ids": [1] * 501},
        {"query_ids": [60_000]},
        {"query_ids": [-1]},
        {"query_ids": [1.5]},
        {"query_ids": "1"},
        {"query_ids": [[1, 2]]},
        {"query_ids": [[[1]]] * 5},
        {"query_ids": [[[1]] * 5]},
        {"query": "a AND b", "max_clause_freq": 500_001},
        {"query": "a AND b", "max_diff_tokens": 0},
    ],
)
def test_a_query_out_of_bounds_has_status_200_and_an_error(server, fields):
    body = ask(server, "count", **fields)
    assert set(body) == {"error"}


@pytest.mark.parametrize(
    ("query_type", "fields"),
    [
        ("ntd", {"query": "a", "max_support": 1001}),
        ("prob", {"query": ""}),
        ("prob", {"query": "a AND b"}),
        ("find_cnf", {"query": "a"}),
        ("get_doc_by_rank", {"query": "a", "s": 9, "rank": 0}),
        ("get_doc_by_rank", {"query": "a", "s": 0, "rank": "0"}),
        ("get_doc_by_ptr", {"query": "a", "s": 0, "ptr": 1}),
        ("get_doc_by_ptr", {"query": "a", "s": 0, "ptr": 0, "max_disp_len": 10_001}),
    ],
)
def test_each_query_type_has_its_bounds(server, query_type, fields):
    assert set(ask(server, query_type, **fields)) == {"error"}


def test_the_separator_may_be_asked_for(server):
    assert ask(server, "count", query_ids=[65535])["count"] == 41  # before each document and at the end


def test_random_requests_are_always_answered_with_json(server):
    random = np.random.default_rng(0)
    values = [None, 0, -1, "a", "a AND", [], [[]], [[[]]], {"a": 1}, [1, "x"], 1e9, True]
    for _ in range(200):
        fields = {
            key: values[int(random.integers(len(values)))] for key in ("query", "s", "rank", "ptr", "max_support")
        }
        if random.random() < 0.5:
            fields["query_ids"] = fields.pop("query")
        query_type = str(random.choice(list(QUERY_TYPES)))
        status, body = post(server, {"index": "small", "query_type": query_type, **fields})
        assert status in (200, 400), (query_type, fields, body)
    assert ask(server, "count", query="the cat")["count"] > 0


def test_a_body_that_is_too_long_is_not_read(server):
    request = urllib.request.Request(server.url, b"x", {"Content-Length": str(10**9)})
    with pytest.raises(urllib.error.HTTPError, match="413"):
        urllib.request.urlopen(request, timeout=10)


def test_two_indexes_of_one_name_are_refused(server):
    [index] = server.indexes.values()
    with pytest.raises(CountError, match="same name"):
        IndexServer([index, index])


def test_a_port_in_use_is_told_plainly(server):
    with pytest.raises(CountError, match="Choose another --port"):
        IndexServer([], port=server.server_address[1])
