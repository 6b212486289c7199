"""The schedule: everything that is planted, in order, as records and as a table that can be read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

from explorer.errors import UsageError
from explorer.glassbox import ontology, pairs, starters, synonyms
from explorer.glassbox.planting import Planting
from explorer.settings import Settings

COLUMNS = ("kind", "id", "group", "ngram", "dose")
MOST_OWN = 100_000  # lines that one's own file may plant


def plantings(settings: Settings, own: Path | None = None) -> Iterator[Planting]:
    """Everything that is planted, what a person plants last."""
    yield from pairs.plantings()
    yield from synonyms.plantings()
    yield from ontology.plantings()
    yield from starters.plantings(settings)
    if own is not None:
        yield from read_own(own)


def as_table(planted: Iterable[Planting]) -> str:
    """The schedule as CSV, a line per planted thing."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for each in planted:
        writer.writerow((each.kind, each.id, each.group, each.ngram, each.dose))
    return text.getvalue()


def read_own(path: Path) -> list[Planting]:
    """The texts of a person's own file: CSV with the columns text and dose; UsageError where it is something else."""
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path} cannot be read ({error}), expected a CSV file in UTF-8.") from error
    if not rows or not {"text", "dose"} <= set(rows[0]):
        named = ", ".join(filter(None, rows[0])) if rows else "no row"
        raise UsageError(f"{path} has {named}, expected the columns text and dose and at least one row.")
    made = []
    for number, row in enumerate(rows, 2):
        text, dose = " ".join((row["text"] or "").split()), (row["dose"] or "").strip()
        if not text or not dose.isdecimal() or not dose.isascii():
            raise UsageError(
                f"{path}, line {number}: found {row['text']!r}, {row['dose']!r}, expected a text and a count."
            )
        made.append(Planting("own", f"own/{number - 1}", "own", text, int(dose), (text,)))
    if (lines := sum(each.dose for each in made)) > MOST_OWN:
        raise UsageError(f"{path} plants {lines:,} lines, expected at most {MOST_OWN:,}. Lower the doses.")
    return made
