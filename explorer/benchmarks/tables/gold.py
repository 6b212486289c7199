"""How a table writes which option is right: from 0, from 1, as a letter, as the text; decided by evidence or asked.

"1" of two options is the second where options are counted from 0 and the first where they are counted from 1. Nothing
in such a row tells which; what tells is a 0, or the number of options, anywhere in the column or in a file beside it,
or a published table's known way. Where nothing does, it is asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.benchmarks.tables.questions import Answer, Question

WAYS = ("0", "1", "letter", "text", "names", "flags")
UNLABELED = {"", "-1", "-1.0", "?", "-", "nan", "null", "none", "n/a", "na", "unlabeled", "unlabelled", "unknown"}
TOLD = {
    "0": "options counted from 0",
    "1": "options counted from 1",
    "letter": "a letter",
    "text": "the option's text",
    "names": "as the list names its options",
    "flags": "a mark at the right option",
}


@dataclass(frozen=True, slots=True)
class Row:
    """What a row says about its right option."""

    where: str
    value: Any
    options: tuple[str, ...]  # as they stand in the file, "" for one that is missing
    names: tuple[str, ...] = ()
    flagged: int | None = None


def is_unlabeled(value: Any) -> bool:
    """Whether a cell says that nobody has labeled the row."""
    return value is None or value != value or (not isinstance(value, list) and str(value).strip().lower() in UNLABELED)


def index(value: Any, options: Sequence[str], written: str, names: Sequence[str] = ()) -> int | None:
    """The place of the right option, or none where the value names none."""
    text = str(value).strip()
    place: int | None = None
    if written == "text":
        places = [i for i, option in enumerate(options) if option.strip() and option.strip() == text]
        place = places[0] if len(places) == 1 or len({options[i] for i in places}) == 1 else None
    elif written == "names":
        place = names.index(text) if text in names else None
    elif written == "letter":
        letter = re.fullmatch(r"\(?([A-Za-z])[.):]?", text)
        place = ord(letter[1].upper()) - ord("A") if letter else None
    elif written in ("0", "1"):
        number = re.fullmatch(r"(\d{1,9})(\.0)?", text)
        place = int(number[1]) - int(written) if number else None
    return place if place is not None and 0 <= place < len(options) and options[place].strip() else None


def guess(
    rows: Sequence[Row],
    column: str,
    known: tuple[str, str] = ("", ""),
    beside: Mapping[str, Sequence[Any]] | None = None,
) -> tuple[str, str]:
    """(way, what it rests on); `known` is a published table's way and title, `beside` the column in files beside it."""
    if rows and all(row.flagged is not None for row in rows):
        return "flags", "each list marks one option"
    labeled = [row for row in rows if not is_unlabeled(row.value) or _in(row.value, row.options)]
    if not labeled:
        raise Question(
            "labels", f"No row says which option is right: {column} is empty, ? or -1 throughout. Where the right "
            "options are in a file of their own, a line a row, name it", ()
        )  # fmt: skip
    if any(row.names for row in labeled) and _share(labeled, "names") == 1:
        # Names of their own settle it, unless they are only the numbers that another way reads differently.
        return "names", "the list names its options"
    shares = {way: _share(labeled, way) for way in ("0", "1", "letter", "text")}
    full = [way for way in shares if shares[way] == max(shares.values())] if max(shares.values()) else []
    if not full:
        return ("text", "no value names an option")
    if set(full) <= {"0", "1"}:
        return _count(labeled, column, known, beside or {})
    if _agree(labeled, full):
        way = "text" if "text" in full else full[0]
        return way, f"{column} is {TOLD[way]}"
    raise _question(labeled, column, full)


def _count(
    rows: Sequence[Row], column: str, known: tuple[str, str], beside: Mapping[str, Sequence[Any]]
) -> tuple[str, str]:
    """From 0 or from 1: a value that names no option in one way settles it, here or in a file beside."""
    lost = {way: next((row for row in rows if index(row.value, row.options, way) is None), None) for way in ("0", "1")}
    # A 0 can only be counted from 0, and the number of options only from 1: of three options 0 1 2 or 1 2 3.
    # Where 1 and 2 alone occur both ways fit every row, and the wrong one would turn each answer into its neighbor. So
    # files beside this one are looked at, then what is known of a published table; what stays open is asked.
    zero = next((row for row in rows if _number(row.value) == 0), None)
    past = next((row for row in rows if _number(row.value) == _places(row.options)), None)
    if zero and past:
        end = _number(past.value)
        raise _question(rows, column, ("0", "1"), f"{column} is 0 in {zero.where} and {end}, the last, in {past.where}")
    if zero:
        return "0", f"{column} is 0 in {zero.where}"
    if lost["0"] and not lost["1"]:
        says = f"{column} is {written_value(lost['0'].value)} in {lost['0'].where}"
        last = _number(lost["0"].value) == _places(lost["0"].options)
        return "1", f"{says}, the number of options" if last else f"{says}, where counting from 0 finds no option"
    most = max(_places(row.options) for row in rows)
    for name, values in beside.items():
        numbers = {_number(value) for value in values}
        if (0 in numbers) != (most in numbers) and all(n is None or n <= most for n in numbers):
            return ("0" if 0 in numbers else "1"), f"{column} is {0 if 0 in numbers else most} in {name} beside it"
    if known[0] in ("0", "1"):
        return known[0], f"the columns are those of {known[1]}, which counts from {known[0]}"
    raise _question(rows, column, ("0", "1"))


def _question(rows: Sequence[Row], column: str, ways: Sequence[str], problem: str = "") -> Question:
    """The question which way it is, shown on the first row on which the ways differ."""
    for row in rows:
        places = {way: index(row.value, row.options, way) for way in ways}
        if len(set(places.values())) > 1 and None not in places.values():
            break
    else:
        row = rows[0]
    shown = []
    for way in ways:
        place = index(row.value, row.options, way)
        what = "no option" if place is None else f"option {place + 1}, {row.options[place][:80]!r}"
        shown.append(Answer(way, f"{column} = {str(row.value)[:20]} in {row.where} as {what} ({TOLD[way]})"))
    problem = problem or f"How {column} writes the right option cannot be told: it is {_values(rows)}"
    return Question("gold", problem, shown)


def _values(rows: Sequence[Row]) -> str:
    seen = list(dict.fromkeys(str(row.value).strip()[:20] for row in rows))
    shown = ", ".join(seen[:5]) + (" ..." if len(seen) > 5 else "")
    return f"{shown} in {len(rows):,} rows, of {_last(rows[0].options)} options"


def _share(rows: Sequence[Row], way: str) -> float:
    return sum(index(row.value, row.options, way, row.names) is not None for row in rows) / len(rows)


def _agree(rows: Sequence[Row], ways: Sequence[str]) -> bool:
    """Whether all these ways name the same option in every row."""
    return all(len({index(row.value, row.options, way) for way in ways}) == 1 for row in rows)


def written_value(value: Any) -> str:
    """A value as a message shows it."""
    return str(value).strip()[:20]


def _places(options: Sequence[str]) -> int:
    """The place of the last option that is there, counted from 1."""
    return max((place for place, option in enumerate(options, 1) if option.strip()), default=0)


def _last(options: Sequence[str]) -> int:
    """How many options a row has."""
    return sum(bool(option.strip()) for option in options)


def _number(value: Any) -> int | None:
    match = re.fullmatch(r"(\d{1,9})(\.0)?", str(value).strip())
    return int(match[1]) if match else None


def _in(value: Any, options: Sequence[str]) -> bool:
    return any(option.strip() and option.strip() == str(value).strip() for option in options)
