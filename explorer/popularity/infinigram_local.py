"""The infini-gram engine in a child process, and the counter over it.

A damaged index kills the process that reads it, so that process is not ours: it is started again a few times, then the
trouble is told in one sentence. The child, and how it is asked, stand in infinigram_child.py.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from explorer.errors import CountError
from explorer.popularity import manifest as manifests
from explorer.popularity import tokenizer as tokenizers
from explorer.popularity.cached import Answer, Ngram, count_with_cache
from explorer.popularity.count_cache import CountCache
from explorer.popularity.counter import Document, Places, Progress
from explorer.popularity.infinigram_api import source_of
from explorer.popularity.infinigram_child import JSON, MANY, NUMBERS, READY, ROWS, receive, send
from explorer.popularity.next_tokens import END, Chance, Following, chance_of, following_of
from explorer.records import Count

PACKAGE = "infini_gram"
MODULE = "explorer.popularity.infinigram_child"
BATCH = 16_000  # n-grams whose counts are kept at once
FITS = 4 << 30  # bytes of an index that stays in memory once it is read, so that it is searched faster than the cache
FIRST_FRAME = 1_000  # n-grams in the first frame of a batch: a hundredth of a second, minutes from a slow disk
QUICK_FRAME = 1.0  # seconds within which a frame is answered if the next may be larger
RESTARTS = 3  # for one question; a killed child is worth another try, a damaged index is not worth many
PATIENCE = 600.0  # seconds for one frame
SHOWN = 1000  # tokens of a document
SUPPORT = (
    1_000_000  # places up to which all next tokens are counted; the engine's own 1,000 makes samples of small ones
)


def available() -> bool:
    """Whether the engine's package is installed here."""
    return importlib.util.find_spec(PACKAGE) is not None


def require_engine() -> None:
    """Says plainly that the engine is missing, where it is."""
    if not available():
        raise CountError(
            "Local indexes need the package infini-gram, which is not installed here (it comes for Linux and macOS, "
            "Python up to 3.13): pip install infini-gram. The public service and a lab's own server work without it."
        )


class Engine:
    """One index open in a child process; its methods may be called from any thread."""

    def __init__(self, folder: Path, dtype: str, vocabulary: int) -> None:
        self.folder = folder
        self._command = [
            sys.executable,
            "-m",
            MODULE,
            str(folder),
            dtype,
            str(vocabulary),
            str(manifests.ENGINE_VERSION),
        ]
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.RLock()
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The child's process id, or none while it is not running."""
        return self._child.pid if self._child else None

    def counts(self, ngrams: Sequence[Ngram]) -> list[int]:
        """How often each n-gram occurs; one frame, so a few thousand at most."""
        lengths = np.array([len(ngram) for ngram in ngrams], dtype="<u4")
        flat = np.array([token_id for ngram in ngrams for token_id in ngram], dtype="<u4")
        reply = self._ask(NUMBERS, struct.pack("<I", len(ngrams)) + lengths.tobytes() + flat.tobytes())
        return np.frombuffer(reply, dtype="<i8").tolist()

    def count_rows(self, ngrams: np.ndarray) -> np.ndarray:
        """How often the n-gram of each row occurs; one frame."""
        rows = np.ascontiguousarray(ngrams, dtype="<u4")
        return np.frombuffer(self._ask(ROWS, struct.pack("<I", rows.shape[1]) + rows.tobytes()), dtype="<i8")

    def call(self, method: str, **arguments: Any) -> Any:
        """What a method of the engine answers; its own errors come as {"error": ...}."""
        return json.loads(self._ask(JSON, json.dumps([method, arguments]).encode()))

    def close(self) -> None:
        """Ends the child."""
        with self._lock:
            self._closed = True
            self._stop()

    def _ask(self, kind: int, payload: bytes) -> bytes:
        """The reply to one frame, the child being started again if it dies."""
        with self._lock:
            if self._closed:
                raise CountError(f"The engine of {self.folder} was closed. Open the index again.")
            for _ in range(RESTARTS):
                try:
                    child = self._child or self._start()
                    send(child.stdin, kind, payload)
                    reply_kind, reply = self._receive(child)
                except (OSError, EOFError):
                    how = self._stop()
                    continue
                except BaseException:
                    self._stop()  # a half-read reply must not answer the next question
                    raise
                if reply_kind != kind:
                    raise CountError(reply.decode("utf-8", "replace"))
                return reply
            raise CountError(
                f"The engine died {RESTARTS} times over {self.folder} ({how}). The index is probably damaged: run "
                f"`python -m explorer index check --in {self.folder}`, or build it anew."
            )

    def _start(self) -> subprocess.Popen[bytes]:
        require_engine()
        package = Path(__file__).resolve().parents[2]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])}
        child = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        self._child = child
        kind, message = self._receive(child)
        if kind != READY:
            self._stop()
            raise CountError(f"The engine cannot open {self.folder}: {message.decode('utf-8', 'replace')}")
        return child

    def _receive(self, child: subprocess.Popen[bytes]) -> tuple[int, bytes]:
        # A child that hangs is killed, so that the read below ends.
        timer = threading.Timer(PATIENCE, child.kill)
        timer.daemon = True
        timer.start()
        try:
            return receive(child.stdout)
        finally:
            timer.cancel()

    def _stop(self) -> str:
        """Ends the child and says how it ended."""
        child, self._child = self._child, None
        if child is None:
            return "it did not start"
        for pipe in (child.stdin, child.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        try:
            code = child.wait(timeout=2)
        except subprocess.TimeoutExpired:
            child.kill()
            code = child.wait()
        if code >= 0:
            return f"exit code {code}"
        try:
            return f"signal {signal.Signals(-code).name}"
        except ValueError:
            return f"signal {-code}"


class LocalCounter:
    """Counter over an index on this machine."""

    def __init__(self, folder: Path, cache: CountCache) -> None:
        self.folder = folder
        self.manifest = manifests.read(folder)
        manifests.check_sizes(folder, self.manifest)
        manifests.check_tokenizer(folder, self.manifest)
        manifests.check_content(folder, self.manifest)
        self.index = self.manifest.key
        self.tokenizer = tokenizers.load(folder)
        self.engine = Engine(folder.resolve(), self.manifest.dtype, self.manifest.vocabulary)
        self._cache = cache

    def encode(self, texts: Sequence[str], *, bare: bool = False) -> list[tuple[int, ...]]:
        """Ids of running text; `bare` without the leading blank."""
        return self.tokenizer.encode(texts, bare=bare)

    def decode(self, ids: Sequence[int]) -> tuple[str, ...]:
        """The text of each token."""
        return self.tokenizer.decode(ids)

    def count(self, ngrams: Sequence[tuple[int, ...]], progress: Progress | None = None) -> list[Count]:
        """One Count per n-gram, in the order asked."""
        if self.counts_at_once and len(ngrams) >= MANY and self._are_rows(ngrams):
            counts = self.count_rows(np.array(ngrams, dtype="<u4"), progress).tolist()
            return [Count(self.index, ngram, count) for ngram, count in zip(ngrams, counts, strict=True)]
        return count_with_cache(self.index, ngrams, self._cache, self._ask, BATCH, progress)

    @property
    def counts_at_once(self) -> bool:
        """Whether the index is so small that many counts are searched for anew faster than they are looked up."""
        return sum(self.manifest.sizes.values()) <= FITS

    def count_rows(self, ngrams: np.ndarray, progress: Progress | None = None) -> np.ndarray:
        """How often the n-gram of each row occurs; nan where an id is beyond the vocabulary. Nothing is kept."""
        counts = np.full(len(ngrams), np.nan)
        countable = np.flatnonzero((ngrams < self.manifest.vocabulary).all(axis=1))
        for first in range(0, len(countable), BATCH):
            places = countable[first : first + BATCH]
            counts[places] = self.engine.count_rows(ngrams[places])
            if progress:
                progress(len(ngrams) - len(countable) + first + len(places), len(ngrams))
        return counts

    def total_tokens(self) -> float:
        """The corpus size in tokens."""
        return float(self.manifest.tokens)

    def find(self, ids: Sequence[int]) -> Places:
        """Where an n-gram stands."""
        answer = _answer_or_raise(self.engine.call("find", input_ids=[int(each) for each in ids]))
        return Places(int(answer["cnt"]), tuple((int(a), int(b)) for a, b in answer["segment_by_shard"]))

    def document(self, ids: Sequence[int], shard: int, rank: int) -> Document:
        """The document at a place, the n-gram marked."""
        answer = _answer_or_raise(self.engine.call("get_doc_by_rank", s=shard, rank=rank, max_disp_len=SHOWN))
        pieces = tuple((self.text(part), is_needle) for part, is_needle in split_at_needle(answer["token_ids"], ids))
        return Document(answer["doc_ix"], answer["doc_len"], pieces, source=source_of(answer["metadata"]))

    def documents(self, ids: Sequence[int], limit: int = 5) -> list[Document]:
        """The first `limit` places that hold the n-gram."""
        return [self.document(ids, *hit) for hit in self.find(ids).first(limit)]

    def chance(self, ids: Sequence[int], *, back_off: bool = False) -> Chance:
        """How likely the last token is after the others."""
        *prompt, last = self._asked(ids)
        method = "infgram_prob" if back_off else "prob"
        return chance_of(_answer_or_raise(self.engine.call(method, prompt_ids=prompt, cont_id=last)), len(ids))

    def following(self, ids: Sequence[int], *, back_off: bool = False) -> Following:
        """Which tokens follow; from a sample where the text stands in more than SUPPORT places."""
        prompt = self._asked(ids) if len(ids) else []
        method = "infgram_ntd" if back_off else "ntd"
        answer = _answer_or_raise(self.engine.call(method, prompt_ids=prompt, max_support=SUPPORT))
        return following_of(answer, len(ids), self._names)

    def count_together(self, clauses: Sequence[Sequence[Ngram]]) -> Count:
        """In how many places an n-gram of each clause stands near the others; from a sample where they are frequent."""
        cnf = [[[int(each) for each in ngram] for ngram in clause] for clause in clauses]
        answer = _answer_or_raise(self.engine.call("count_cnf", cnf=cnf))
        return Count(self.index, (), float(answer["count"]), approx=bool(answer["approx"]))

    def close(self) -> None:
        """Ends the engine."""
        self.engine.close()

    def _ask(self, ngrams: Sequence[Ngram]) -> Generator[tuple[Ngram, Answer]]:
        good = [ngram for ngram in ngrams if self._is_countable(ngram)]
        first, size = 0, FIRST_FRAME
        while first < len(good):
            frame = good[first : first + size]
            started = time.monotonic()
            answers = self.engine.counts(frame)
            first += size
            # Many n-grams are searched for together much faster, but a slow disk must let somebody hear of it.
            size *= 4 if time.monotonic() - started < QUICK_FRAME else 1
            yield from zip(frame, answers, strict=True)
        reason = f"the index has ids from 0 to {self.manifest.vocabulary - 1:,} only"
        yield from ((ngram, reason) for ngram in ngrams if not self._is_countable(ngram))

    def _are_rows(self, ngrams: Sequence[Ngram]) -> bool:
        """Whether all are of one length and can be counted."""
        [length, *others] = {len(ngram) for ngram in ngrams}
        return length > 0 and not others and min(map(min, ngrams)) >= 0 and all(map(self._is_countable, ngrams))

    def _is_countable(self, ngram: Ngram) -> bool:
        return max(ngram) < self.manifest.vocabulary

    def _asked(self, ids: Sequence[int]) -> list[int]:
        """The ids if the engine can be asked about them."""
        plain_ids = [int(each) for each in ids]
        if not plain_ids or min(plain_ids) < 0 or max(plain_ids) >= self.manifest.vocabulary:
            raise CountError(
                f"{self.index} was asked about the ids {str(plain_ids)[:60]}, expected at least one, each from 0 to "
                f"{self.manifest.vocabulary - 1:,}. Encode the text with this index's own tokenizer."
            )
        return plain_ids

    def _names(self, ids: Sequence[int]) -> list[str]:
        """The text of each token; the id behind the vocabulary is a document's end."""
        return [END if each >= self.manifest.vocabulary else self.tokenizer.decode([each])[0] for each in ids]

    def text(self, ids: Sequence[int]) -> str:
        """The text of ids that stand side by side."""
        return self.tokenizer.join(ids)


def split_at_needle(haystack: Sequence[int], needle: Sequence[int]) -> list[tuple[list[int], bool]]:
    """The haystack cut into pieces that are the needle and pieces that are not."""
    pieces: list[tuple[list[int], bool]] = []
    n, start, i = len(needle), 0, 0
    while n and i <= len(haystack) - n:
        if list(haystack[i : i + n]) == list(needle):
            pieces += [(list(haystack[start:i]), False), (list(needle), True)]
            start = i = i + n
        else:
            i += 1
    pieces.append((list(haystack[start:]), False))
    return [piece for piece in pieces if piece[0]]


def _answer_or_raise(answer: Any) -> Any:
    if isinstance(answer, dict) and "error" in answer:
        raise CountError(f"The engine refused the query: {answer['error']}")
    return answer
