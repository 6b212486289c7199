"""A user's own table as a benchmark: CSV, TSV, JSON, JSON Lines or Parquet → pairs, choices, cloze, classes, ratings.

reading = guess_reading(path)     what the file seems to be, to be shown; a Question where that is not sure
reading = guess_reading(path, kind="pair", columns={"good": "ok", "bad": "wrong"}, delimiter=";")    and overridden
parsed = read_file(path, reading, "mine")     instances, and the rows left out with the reason
store_import(path, "mine", settings, reading) keeps it: `imported_mine` is then a benchmark for every process

The way: bytes → text (encoding.py) → cells (text.py) → rows (rows.py) → kind (kinds.py) and roles (roles.py), both
asked by guessing.py → instances (instances.py, suites.py), put together by parsing.py. What is kept: imports.py.
"""

from __future__ import annotations

from explorer.benchmarks.tables.guessing import column_names, guess_reading
from explorer.benchmarks.tables.imports import MANIFEST, clean_name, imported_benchmark, imported_names, store_import
from explorer.benchmarks.tables.parsing import PREFIX, read_file
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
    "guess_reading",
    "imported_benchmark",
    "imported_names",
    "read_file",
    "store_import",
]
