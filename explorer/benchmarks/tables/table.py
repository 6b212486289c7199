"""A user's own table as a benchmark: CSV, TSV, JSON, JSON Lines or Parquet → pairs, choices, cloze, classes, ratings.

reading = guess(path)                  what the file seems to be, to be shown; a Question where that is not sure
reading = guess(path, kind="pair", columns={"good": "ok", "bad": "wrong"}, delimiter=";")    and overridden
parsed = read(path, reading, "mine")   instances, and the rows left out with the reason
store(path, "mine", settings, reading) keeps it: `imported_mine` is then a benchmark for every process

The way: bytes → text (encoding.py) → cells (text.py) → rows (rows.py) → kind (kinds.py) and roles (roles.py), both
asked by guessing.py → instances (instances.py, suites.py), put together by parsing.py. What is kept: imports.py.
"""

from __future__ import annotations

from explorer.benchmarks.tables.guessing import column_names, guess
from explorer.benchmarks.tables.imports import MANIFEST, clean_name, imported, imported_names, store
from explorer.benchmarks.tables.parsing import PREFIX, read
from explorer.benchmarks.tables.questions import Answer, Question
from explorer.benchmarks.tables.reading import Reading

__all__ = [
    "MANIFEST",
    "PREFIX",
    "Answer",
    "Question",
    "Reading",
    "clean_name",
    "column_names",
    "guess",
    "imported",
    "imported_names",
    "read",
    "store",
]
