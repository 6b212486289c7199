"""A small real index, a real server over it, and a server that misbehaves on demand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.popularity import brute_force, index
from explorer.popularity.count_cache import CountCache
from explorer.popularity.documents import SourceDocument
from explorer.popularity.infinigram_server import IndexServer, open_index

WORDS = [
    *("the", "a", "cat", "dog", "bird", "house", "garden", "old", "small", "green", "sees", "likes", "finds"),
    *("near", "under", "with", "and", "but", "never", "often"),
]


def sentences(amount: int, seed: int) -> list[str]:
    """Sentences of random words, so that short n-grams repeat and long ones do not."""
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, size=int(random.integers(4, 14)))).capitalize() + "." for _ in range(amount)]


def corpus() -> list[SourceDocument]:
    """Forty documents of a hundred sentences, with some text beyond ASCII."""
    documents = [SourceDocument(" ".join(sentences(100, seed)), f"text-{seed}.txt", 0) for seed in range(39)]
    return [
        *documents,
        SourceDocument("Zoë’s café AND bar, naïve 日本 text.\n\nÜber the cat sees the dog.", "odd.txt", 3),
    ]


@pytest.fixture(scope="session")
def index_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real index of the small corpus."""
    # The engine looks for these words in whole paths; they must not disturb it.
    folder = tmp_path_factory.mktemp("a table with offset and tokenized metadata") / "small"
    index.build(corpus, folder, name="small", vocabulary=400)
    return folder


@pytest.fixture(scope="session")
def ngrams(index_folder: Path) -> list[tuple[int, ...]]:
    """Random n-grams of 1 to 10 tokens, some of which never occur."""
    return brute_force.sample_ngrams(brute_force.token_stream(index_folder, "u16"), 0xFFFF, 150, seed=11)


@pytest.fixture(scope="session")
def truth(index_folder: Path, ngrams: list[tuple[int, ...]]) -> list[float]:
    """How often each of the n-grams really occurs."""
    stream = brute_force.token_stream(index_folder, "u16")
    return [float(brute_force.count(stream, ngram)) for ngram in ngrams]


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[CountCache]:
    """A count cache of the test's own."""
    made = CountCache(tmp_path / "counts")
    yield made
    made.close()


@pytest.fixture(scope="session")
def server(index_folder: Path) -> Iterator[IndexServer]:
    """`index serve` over the small index."""
    made = IndexServer([open_index(index_folder)])
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()


Mood = Callable[[int, dict[str, Any]], str]  # number of the request from 0, its payload → what to do to it


class NastyServer(ThreadingHTTPServer):
    """Passes requests on to a real server, except when its mood says otherwise."""

    daemon_threads = True

    def __init__(self, real: IndexServer) -> None:
        super().__init__(("127.0.0.1", 0), _Nasty)
        self.real = real
        self.mood: Mood = lambda number, payload: "well"
        self.requests: list[dict[str, Any]] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _Nasty(BaseHTTPRequestHandler):
    server: NastyServer
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            number = len(self.server.requests)
            self.server.requests.append(payload)
        status, answer = self.server.real.answer(payload)
        mood = self.server.mood(number, payload)
        if mood == "hang":
            time.sleep(1.0)
            self.close_connection = True
        elif mood == "close":
            self.close_connection = True
        elif mood == "half":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"count": 1')
            self.close_connection = True
        else:
            self._send(*_spoiled(mood, status, answer))

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _spoiled(mood: str, status: int, answer: dict[str, Any]) -> tuple[int, bytes]:
    if mood.isdigit():
        return int(mood), json.dumps({"error": "go away"}).encode()
    without = {key: value for key, value in answer.items() if key != "count"}
    bodies: dict[str, Any] = {
        "well": answer,
        "error": {"error": "something is wrong"},
        "no count": without,
        "null count": {**answer, "count": None},
        "text count": {**answer, "count": "17"},
        "true count": {**answer, "count": True},
        "negative count": {**answer, "count": -1},
        "other query": {**answer, "token_ids": [1, 2, 3], "count": 999},
        "approximate": {**answer, "approx": True, "count": 999},
        "list": [1, 2, 3],
    }
    if mood == "garbage":
        return 200, b"<html>502 Bad Gateway</html>"
    return (status if mood == "well" else 200), json.dumps(bodies[mood]).encode()


@pytest.fixture
def nasty(server: IndexServer) -> Iterator[NastyServer]:
    """A misbehaving server in front of the real one."""
    made = NastyServer(server)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
