"""Vectors of texts kept on disk between runs: one SQLite file an encoder, which many processes may write."""

from __future__ import annotations

import contextlib
import hashlib
import re
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from explorer import sharing
from explorer.errors import LexiconError
from explorer.scoring.model import Encoder

ASK = 500  # rows a query


class VectorStore:
    """The encoder's vectors (float32) of texts; what is not yet known is encoded once and kept."""

    def __init__(self, encoder: Encoder, folder: Path) -> None:
        self.encoder = encoder
        self._path = folder / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', encoder.name)}.sqlite"
        self._lock = threading.Lock()
        self._memory: dict[bytes, np.ndarray] = {}
        with self._open():
            pass

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of the texts, shape (texts, dimensions)."""
        # Half of a SHA-256 tells any two texts apart, and keeps the file's index small.
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16] for text in texts]
        with self._lock:
            self._recall({key for key in keys if key not in self._memory})
            new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._memory}
            if new:
                self._learn(list(new), list(new.values()))
            return np.stack([self._memory[key] for key in keys]) if keys else np.zeros((0, 0), np.float32)

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The file, begun anew where it is damaged: the encoder can make all of it again."""
        try:
            try:
                database = self._connect()
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                self._discard()
                database = self._connect()
            with contextlib.closing(database), database:
                yield database
        except (sqlite3.OperationalError, OSError) as error:
            raise LexiconError(
                sharing.kept_from_us(self._path, writing=True)
                or f"{self._path} could not be used ({error}). Check free disk space and rights, then try again."
            ) from error

    def _connect(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        sharing.new_file(self._path)  # SQLite would let nobody else write it, whatever the umask
        database = sqlite3.connect(self._path, timeout=60)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB NOT NULL)")
        except sqlite3.Error:
            database.close()
            raise
        return database

    def _discard(self) -> None:
        if why := sharing.kept_from_us(self._path, writing=True):
            raise LexiconError(why)
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def _recall(self, keys: Iterable[bytes]) -> None:
        sorted_keys = sorted(keys)
        if not sorted_keys:
            return
        try:
            with self._open() as database:
                for first in range(0, len(sorted_keys), ASK):
                    batch = sorted_keys[first : first + ASK]
                    marks = ",".join("?" * len(batch))
                    rows = database.execute(f"SELECT text, vector FROM vectors WHERE text IN ({marks})", batch)
                    self._memory |= {key: np.frombuffer(vector, np.float32) for key, vector in rows}
        except sqlite3.DatabaseError:  # damaged further inside than opening looks
            self._discard()

    def _learn(self, keys: Sequence[bytes], texts: Sequence[str]) -> None:
        vectors = np.asarray(self.encoder.encode(texts), np.float32)
        self._memory |= dict(zip(keys, vectors, strict=True))
        rows = [(key, vector.tobytes()) for key, vector in zip(keys, vectors, strict=True)]
        try:
            with self._open() as database:
                database.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
        except sqlite3.DatabaseError:
            self._discard()
