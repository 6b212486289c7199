"""The process that has an index open in the infini-gram engine, and the frames in which it is asked and answers.

    argv: FOLDER DTYPE VOCABULARY VERSION
    in:   n-grams to be counted, of any lengths or as rows of one, or a method of the engine and its arguments, a frame
          each, until there is no more
    out:  one frame that says whether the index is open, then one an answer

A frame is a header (the length of what follows, and of which kind it is) and that many bytes: either packed numbers
(counts, thousands at a time) or JSON (everything else). Lines of text would not do: numbers may hold any byte.
It imports nothing that takes time, NumPy neither, so that an index is open at once. Only where many n-grams are to be
counted is NumPy imported, to search for all of them together (suffix_search.py).
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from explorer.popularity.suffix_search import SuffixSearch

HEADER = struct.Struct("<IB")  # bytes that follow, kind
NUMBERS, JSON, READY, ROWS = 0, 1, 2, 3
MANY = 200  # n-grams from which it is quicker to import NumPy than to ask the engine for one after another

METHODS = (
    "find", "find_cnf", "count", "count_cnf", "prob", "ntd", "infgram_prob", "infgram_ntd", "get_doc_by_rank",
    "get_doc_by_ptr", "get_total_doc_cnt",
)  # fmt: skip


def send(stream: Any, kind: int, payload: bytes) -> None:
    """Writes one frame."""
    stream.write(HEADER.pack(len(payload), kind) + payload)
    stream.flush()


def receive(stream: Any) -> tuple[int, bytes]:
    """The kind and the bytes of the next frame; EOFError where the stream ends before."""
    length, kind = HEADER.unpack(_read_exactly(stream, HEADER.size))
    return kind, _read_exactly(stream, length)


def _read_exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def main(folder: str, dtype: str, vocabulary: int, version: int) -> None:
    """Answers frames from standard input until it ends."""
    # The engine may print; its words must not get between the frames.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which closes our input
    try:
        engine = _open(folder, dtype, vocabulary, version)
    except Exception as error:
        send(answers, JSON, f"{type(error).__name__}: {error}".encode())
        return
    send(answers, READY, b"")

    @cache
    def search() -> SuffixSearch:
        from explorer.popularity.suffix_search import SuffixSearch

        return SuffixSearch(Path(), dtype)  # `_open` made the index's folder the current one

    while True:
        try:
            kind, payload = receive(sys.stdin.buffer)
        except EOFError:
            return
        try:
            if kind == ROWS:
                reply = _count_rows(search(), payload)
            else:
                reply = _counts(engine, search, payload) if kind == NUMBERS else _call(engine, payload)
        except Exception as error:
            send(answers, READY, f"The engine refused a query: {type(error).__name__}: {error}".encode())
        else:
            send(answers, kind, reply)


def _open(folder: str, dtype: str, vocabulary: int, version: int) -> Any:
    from infini_gram.engine import InfiniGramEngine

    # The engine tells its files apart by looking for "table" or "offset" in whole paths, so ours must not be in them.
    os.chdir(folder)
    # The end of a document is an id of its own, the one after the vocabulary.
    return InfiniGramEngine(
        index_dir=".", eos_token_id=vocabulary, vocab_size=vocabulary + 1, version=version, token_dtype=dtype
    )


def _counts(engine: Any, search: Callable[[], SuffixSearch], payload: bytes) -> bytes:
    amount, *numbers = struct.unpack(f"<{len(payload) // 4}I", payload)
    ngrams = []
    start = amount
    for length in numbers[:amount]:
        ngrams.append(numbers[start : start + length])
        start += length
    counts = search().counts(ngrams) if amount >= MANY else [_count(engine, ngram) for ngram in ngrams]
    return struct.pack(f"<{amount}q", *counts)


def _count_rows(search: SuffixSearch, payload: bytes) -> bytes:
    import numpy as np

    (length,) = struct.unpack_from("<I", payload)
    return search.count_rows(np.frombuffer(payload, "<u4", offset=4).reshape(-1, length)).tobytes()


def _count(engine: Any, ngram: list[int]) -> int:
    answer = engine.count(ngram)
    if "error" in answer or answer["approx"]:
        raise ValueError(answer.get("error", "an approximate count"))
    return int(answer["count"])


def _call(engine: Any, payload: bytes) -> bytes:
    method, arguments = json.loads(payload)
    if method not in METHODS:
        raise ValueError(f"no method {method}")
    return json.dumps(getattr(engine, method)(**arguments)).encode()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
