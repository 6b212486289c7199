"""Every count and encoding ever had, in one SQLite file that many processes may read and write.

Only what a counter really answered is kept: a count that could not be had leaves no row, and is asked again.
The file must lie on a local disk; write-ahead logging does not work over a network file system.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from explorer import sharing
from explorer.errors import CountError

FILE = "counts.sqlite"
CHUNK = 20_000  # keys in one statement; SQLite allows 32,766
LARGEST_ID = 2**32 - 1
PATIENCE = 60.0  # seconds to wait for another process that is writing

# `ids` is a blob of little-endian 32-bit token ids, shorter than any text and compared byte by byte.
# Without ROWID the rows lie in the key's own tree, so that a lookup is one search and a sorted insert writes few pages.
# Rows name their index by a number, so that its name stands once and not in every row.
SCHEMA = """
CREATE TABLE IF NOT EXISTS indexes (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, tokens INTEGER
);
CREATE TABLE IF NOT EXISTS counts (
    index_number INTEGER NOT NULL, ids BLOB NOT NULL,
    count INTEGER NOT NULL CHECK (count >= 0), approx INTEGER NOT NULL,
    PRIMARY KEY (index_number, ids)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS encodings (
    index_number INTEGER NOT NULL, text TEXT NOT NULL, ids BLOB NOT NULL, start TEXT NOT NULL,
    PRIMARY KEY (index_number, text)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS keys (name TEXT PRIMARY KEY, key TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS words (number INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE);
"""

Ngram = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text's token ids as a service gave them, and what it did at the start of the text."""

    ids: Ngram
    start: str  # "blank put in" or "no blank"


class CachedIndex(TypedDict):
    """What is kept of an index: its size in tokens (None: never asked), and how many counts and encodings."""

    index: str
    tokens: int | None
    counts: int
    encodings: int


class CountCache:
    """The store of counts; safe to use from several threads and processes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        # One connection for all threads: SQLite lets one write at a time anyway. Processes are kept apart by its own
        # locks.
        self._lock = threading.RLock()
        self._numbers: dict[str, int] = {}
        with self._plainly():
            folder.mkdir(parents=True, exist_ok=True)
            self._connection = connect(self.path)
            self._connection.executescript(SCHEMA)

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._connection.close()

    def counts(self, index: str, ngrams: Iterable[Ngram]) -> dict[Ngram, tuple[int, bool]]:
        """The known ones among the n-grams: how often they occur, and whether that is approximate."""
        keys = {pack_ids(ngram): ngram for ngram in ngrams}
        rows = self._lookup("SELECT ids, count, approx FROM counts WHERE index_number = ? AND ids IN", index, keys)
        return {keys[blob]: (count, bool(approx)) for blob, count, approx in rows}

    def store_counts(self, index: str, counts: Mapping[Ngram, tuple[int, bool]]) -> None:
        """Keeps counts; each is a whole number that the index answered."""
        number = self._number(index)
        # Sorted, as the tree is: neighbors fall into the same page, which is written once.
        rows = [(number, pack_ids(ngram), _checked_id(count), int(approx)) for ngram, (count, approx) in counts.items()]
        self._write("INSERT OR REPLACE INTO counts VALUES (?, ?, ?, ?)", sorted(rows))

    def encodings(self, index: str, texts: Iterable[str]) -> dict[str, Encoded]:
        """The known ones among the texts, as sent to the service."""
        sent = {text: text for text in texts}
        rows = self._lookup("SELECT text, ids, start FROM encodings WHERE index_number = ? AND text IN", index, sent)
        return {text: Encoded(unpack_ids(blob), start) for text, blob, start in rows}

    def store_encodings(self, index: str, encodings: Mapping[str, Encoded]) -> None:
        """Keeps the token ids of texts."""
        number = self._number(index)
        rows = [(number, text, pack_ids(encoded.ids), encoded.start) for text, encoded in encodings.items()]
        self._write("INSERT OR REPLACE INTO encodings VALUES (?, ?, ?, ?)", rows)

    def tokens(self, index: str) -> int | None:
        """The size of the corpus when its counts were stored, in tokens, or none where it was never asked."""
        rows = self._read("SELECT tokens FROM indexes WHERE name = ?", (index,))
        return rows[0][0] if rows else None

    def store_tokens(self, index: str, tokens: int) -> None:
        """Keeps the size of an index's corpus, in tokens."""
        self._write("UPDATE indexes SET tokens = ? WHERE number = ?", [(_checked_id(tokens), self._number(index))])

    def key(self, index: str) -> str:
        """What the index's server called its very content when counts were stored, "" where it did not tell."""
        rows = self._read("SELECT key FROM keys WHERE name = ?", (index,))
        return rows[0][0] if rows else ""

    def store_key(self, index: str, key: str) -> None:
        """Keeps what an index's server calls its very content."""
        self._write("INSERT OR REPLACE INTO keys VALUES (?, ?)", [(index, key)])

    def word_numbers(self, words: Iterable[str]) -> dict[str, int]:
        """A number for each word, the same ever after; new words get the next ones."""
        distinct = list(dict.fromkeys(words))
        numbers = self._known_words(distinct)
        missing = [(word,) for word in distinct if word not in numbers]
        if missing:
            # IGNORE, then read: another process may have numbered the same word in between.
            self._write("INSERT OR IGNORE INTO words (word) VALUES (?)", missing)
            numbers |= self._known_words([word for (word,) in missing])
        return numbers

    def words(self, numbers: Iterable[int]) -> dict[int, str]:
        """The words that have these numbers."""
        return dict(self._chunked("SELECT number, word FROM words WHERE number IN", (), list(set(numbers))))

    def sizes(self) -> list[CachedIndex]:
        """One row per index: its name, tokens, and how many counts and encodings are kept."""
        rows = self._read(
            """
            SELECT name, tokens,
                (SELECT count(*) FROM counts WHERE index_number = number),
                (SELECT count(*) FROM encodings WHERE index_number = number)
            FROM indexes ORDER BY name
            """
        )
        return [
            CachedIndex(index=name, tokens=tokens, counts=counts, encodings=encodings)
            for name, tokens, counts, encodings in rows
        ]

    def forget(self, index: str) -> None:
        """Deletes all that is kept of an index."""
        number = self._number(index)
        for table, column in (("counts", "index_number"), ("encodings", "index_number"), ("indexes", "number")):
            self._write(f"DELETE FROM {table} WHERE {column} = ?", [(number,)])
        self._write("DELETE FROM keys WHERE name = ?", [(index,)])
        self._numbers.pop(index, None)

    def _known_words(self, words: Sequence[str]) -> dict[str, int]:
        return dict(self._chunked("SELECT word, number FROM words WHERE word IN", (), words))

    def _number(self, index: str) -> int:
        if index not in self._numbers:
            self._write("INSERT OR IGNORE INTO indexes (name) VALUES (?)", [(index,)])
            [(number,)] = self._read("SELECT number FROM indexes WHERE name = ?", (index,))
            self._numbers[index] = number
        return self._numbers[index]

    def _lookup(self, statement: str, index: str, keys: Iterable[Any]) -> list[tuple[Any, ...]]:
        # In key order the search walks the tree from left to right instead of jumping about.
        return self._chunked(statement, (self._number(index),), sorted(keys))

    def _chunked(self, statement: str, fixed: tuple[Any, ...], keys: Sequence[Any]) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        for first in range(0, len(keys), CHUNK):
            chunk = keys[first : first + CHUNK]
            rows += self._read(f"{statement} ({','.join('?' * len(chunk))})", (*fixed, *chunk))
        return rows

    def _read(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._lock, self._plainly():
            return self._connection.execute(statement, values).fetchall()

    def _write(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        with self._lock, self._plainly():
            # IMMEDIATE takes the right to write before anything is read. A transaction that begins by reading and then
            # wants to write is refused at once, without waiting, where another process has written in between.
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.executemany(statement, rows)
                self._connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _plainly(self) -> Iterator[None]:
        """Turns SQLite's errors into one sentence."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise CountError(_explain(error, self.path)) from error


def connect(path: Path) -> sqlite3.Connection:
    """A connection to a count file, in autocommit, waiting for other writers."""
    sharing.new_file(path)  # SQLite would let nobody else write it, whatever the umask
    connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    # Write-ahead: readers go on while one process writes. NORMAL: a crash of the machine may lose the last counts,
    # which are then asked again, but leaves the file sound.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -65536")  # in KiB where negative: 64 MiB
    return connection


def find_damage(folder: Path) -> str:
    """What SQLite's own check finds wrong with the count file, or "" where it is sound or absent."""
    path = folder / FILE
    if not path.exists() or sharing.kept_from_us(path, writing=True):
        return ""  # another account's, which it lets nobody look into, is not known to be damaged
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=PATIENCE)) as connection:
            problems = [row[0] for row in connection.execute("PRAGMA integrity_check(3)")]
    except sqlite3.Error as error:
        return str(error)
    return "" if problems == ["ok"] else "; ".join(problems)


def rebuild_file(folder: Path) -> tuple[Path | None, int]:
    """Sets the count file aside and starts a new one with every row still readable; the old file, and rows saved."""
    path = folder / FILE
    if not path.exists():
        return None, 0
    if why := sharing.kept_from_us(path, writing=True):
        raise CountError(why)
    aside = folder / f"{path.stem}.damaged-{time.strftime('%Y%m%d-%H%M%S')}{path.suffix}"
    # The log goes with its file: beside a new, empty one SQLite would write it into that.
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(aside.with_name(aside.name + suffix))
    new = CountCache(folder)
    saved = sum(_salvage(aside, new.path, table) for table in ("indexes", "counts", "encodings", "keys", "words"))
    new.close()
    return aside, saved


def _salvage(damaged: Path, target: Path, table: str) -> int:
    """Copies a table's rows up to the first that cannot be read."""
    saved = 0
    with contextlib.closing(sqlite3.connect(damaged)) as source, contextlib.closing(connect(target)) as sink:
        sink.execute("BEGIN IMMEDIATE")
        with contextlib.suppress(sqlite3.Error):
            for row in source.execute(f"SELECT * FROM {table}"):
                sink.execute(f"INSERT OR IGNORE INTO {table} VALUES ({','.join('?' * len(row))})", row)
                saved += 1
        sink.execute("COMMIT")
    return saved


def pack_ids(ids: Sequence[int]) -> bytes:
    """Token ids as a blob."""
    return np.asarray(ids, dtype="<u4").tobytes()


def unpack_ids(blob: bytes) -> Ngram:
    """The token ids of a blob."""
    return tuple(np.frombuffer(blob, dtype="<u4").tolist())


def _checked_id(value: int) -> int:
    if isinstance(value, bool) or int(value) != value or value < 0:
        raise CountError(f"{value!r} is no count: expected a whole number of at least 0. It was not stored.")
    return int(value)


def _explain(error: Exception, path: Path) -> str:
    text = str(error)
    if "locked" in text or "busy" in text:
        return (
            f"{path} has been busy for {PATIENCE:.0f} seconds: another process is writing. Try again when it is done."
        )
    if why := sharing.kept_from_us(path, writing=True):
        return why
    if isinstance(error, sqlite3.OperationalError | OSError) and "malformed" not in text:
        return f"{path} could not be used ({text}). Check free disk space and rights, then try again."
    return (
        f"{path} is damaged ({text}). Run `python -m explorer index check --counts --repair`: it keeps every count "
        "that can still be read and sets the damaged file aside."
    )
