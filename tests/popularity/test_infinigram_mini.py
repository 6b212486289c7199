"""The client of the character index service."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from explorer import fetch
from explorer.errors import CountError
from explorer.popularity.count_cache import CountCache
from explorer.popularity.infinigram_mini import InfinigramMini
from explorer.popularity.service import Service

CORPUS = "The cat sees the category. A cat sleeps; the catalog lies there AND the cat sees it."


class _Mini(BaseHTTPRequestHandler):
    """Counts characters in CORPUS, in the service's protocol."""

    def do_POST(self) -> None:
        payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        needle = payload["query"]
        starts = [i for i in range(len(CORPUS)) if CORPUS.startswith(needle, i)]
        if payload["query_type"] == "count":
            body = {"count": len(starts)}
        elif payload["query_type"] == "find":
            body = {"cnt": len(starts), "segment_by_shard": [[100, 100 + len(starts)]]}
        else:
            start = starts[payload["rank"] - 100]
            before = max(0, start - payload["max_ctx_len"])
            text = CORPUS[before : start + len(needle) + payload["max_ctx_len"]]
            body = {
                "doc_ix": 0,
                "doc_len": len(CORPUS),
                "disp_len": len(text),
                "needle_offset": start - before,
                "text": text,
            }
        data = json.dumps({**body, "latency": 1.0}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args) -> None:
        pass


@pytest.fixture
def mini(cache: CountCache) -> Iterator[InfinigramMini]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Mini)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    yield InfinigramMini(Service(url, "v2_small", patience=fetch.Patience(tries=2, delay=0.001)), cache)
    server.shutdown()
    server.server_close()


def test_words_with_their_blanks_are_the_tokens(mini: InfinigramMini):
    [ids, bare] = [mini.encode(["the  cat\nsees"])[0], mini.encode(["the  cat\nsees"], bare=True)[0]]
    assert mini.decode(ids) == (" the", "  cat", "\nsees")
    assert mini.decode(bare) == ("the", "  cat", "\nsees")
    assert ids[1:] == bare[1:]


def test_an_ngram_is_counted_as_one_string(mini: InfinigramMini):
    [ids] = mini.encode(["the cat sees"])
    counts = mini.count([ids, ids[:2], ids[1:2]])
    # " the cat sees" once; " the cat" also before "egory" and "alog"; " cat" also in the latter two
    assert [each.count for each in counts] == [1.0, 3.0, 5.0]
    assert counts[0].index == "mini:v2_small"


def test_an_operator_is_nothing_special_here(mini: InfinigramMini):
    assert mini.count(mini.encode(["there AND the"]))[0].count == 1


def test_documents_show_the_string(mini: InfinigramMini):
    [ids] = mini.encode(["the cat sees"])
    [document] = mini.documents(ids)
    assert "".join(text for text, _ in document.pieces) == CORPUS
    assert [text for text, is_ngram in document.pieces if is_ngram] == [" the cat sees"]


def test_the_number_of_no_word_is_told_plainly(mini: InfinigramMini):
    with pytest.raises(CountError, match="number of no word"):
        mini.decode([12345])
