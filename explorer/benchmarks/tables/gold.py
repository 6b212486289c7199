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
NOTATION_WORDS = {
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


def index_of_right(value: Any, options: Sequence[str], notation: str, names: Sequence[str] = ()) -> int | None:
    """The place of the right option, or none where the value names none."""
    text = str(value).strip()
    right: int | None = None
    if notation == "text":
        matches = [i for i, option in enumerate(options) if option.strip() and option.strip() == text]
        right = matches[0] if len(matches) == 1 or len({options[i] for i in matches}) == 1 else None
    elif notation == "names":
        right = names.index(text) if text in names else None
    elif notation == "letter":
        letter = re.fullmatch(r"\(?([A-Za-z])[.):]?", text)
        right = ord(letter[1].upper()) - ord("A") if letter else None
    elif notation in ("0", "1"):
        number = re.fullmatch(r"(\d{1,9})(\.0)?", text)
        right = int(number[1]) - int(notation) if number else None
    return right if right is not None and 0 <= right < len(options) and options[right].strip() else None


def guess_notation(
    rows: Sequence[Row],
    column: str,
    published: tuple[str, str] = ("", ""),
    columns_beside: Mapping[str, Sequence[Any]] | None = None,
) -> tuple[str, str]:
    """(notation, what it rests on); `published` is a known table's notation and title, files beside have the column."""
    if rows and all(row.flagged is not None for row in rows):
        return "flags", "each list marks one option"
    labeled = [row for row in rows if not is_unlabeled(row.value) or _is_an_option(row.value, row.options)]
    if not labeled:
        raise Question(
            "labels", f"No row says which option is right: {column} is empty, ? or -1 throughout. Where the right "
            "options are in a file of their own, a line per row, name it", ()
        )  # fmt: skip
    if any(row.names for row in labeled) and _share_named(labeled, "names") == 1:
        # Names of their own settle it, unless they are only the numbers that another way reads differently.
        return "names", "the list names its options"
    shares = {notation: _share_named(labeled, notation) for notation in ("0", "1", "letter", "text")}
    full = [notation for notation in shares if shares[notation] == max(shares.values())] if max(shares.values()) else []
    if not full:
        return ("text", "no value names an option")
    if set(full) <= {"0", "1"}:
        return _first_number(labeled, column, published, columns_beside or {})
    if _agree(labeled, full):
        notation = "text" if "text" in full else full[0]
        return notation, f"{column} is {NOTATION_WORDS[notation]}"
    raise _notation_question(labeled, column, full)


def _first_number(
    rows: Sequence[Row], column: str, published: tuple[str, str], columns_beside: Mapping[str, Sequence[Any]]
) -> tuple[str, str]:
    """From 0 or from 1: a value that names no option in one way settles it, here or in a file beside."""
    unfitting = {
        notation: next((row for row in rows if index_of_right(row.value, row.options, notation) is None), None)
        for notation in ("0", "1")
    }
    # A 0 can only be counted from 0, and the number of options only from 1: of three options 0 1 2 or 1 2 3.
    # Where 1 and 2 alone occur both ways fit every row, and the wrong one would turn each answer into its neighbor. So
    # files beside this one are looked at, then what is known of a published table; what stays open is asked.
    zero = next((row for row in rows if _number(row.value) == 0), None)
    past = next((row for row in rows if _number(row.value) == _last_option(row.options)), None)
    if zero and past:
        end = _number(past.value)
        raise _notation_question(
            rows, column, ("0", "1"), f"{column} is 0 in {zero.where} and {end}, the last, in {past.where}"
        )
    if zero:
        return "0", f"{column} is 0 in {zero.where}"
    if unfitting["0"] and not unfitting["1"]:
        says = f"{column} is {written_value(unfitting['0'].value)} in {unfitting['0'].where}"
        last = _number(unfitting["0"].value) == _last_option(unfitting["0"].options)
        return "1", f"{says}, the number of options" if last else f"{says}, where counting from 0 finds no option"
    most = max(_last_option(row.options) for row in rows)
    for name, values in columns_beside.items():
        numbers = {_number(value) for value in values}
        if (0 in numbers) != (most in numbers) and all(n is None or n <= most for n in numbers):
            return ("0" if 0 in numbers else "1"), f"{column} is {0 if 0 in numbers else most} in {name} beside it"
    if published[0] in ("0", "1"):
        return published[0], f"the columns are those of {published[1]}, which counts from {published[0]}"
    raise _notation_question(rows, column, ("0", "1"))


def _notation_question(rows: Sequence[Row], column: str, notations: Sequence[str], problem: str = "") -> Question:
    """The question which way it is, shown on the first row on which the ways differ."""
    for row in rows:
        right_by_notation = {notation: index_of_right(row.value, row.options, notation) for notation in notations}
        if len(set(right_by_notation.values())) > 1 and None not in right_by_notation.values():
            break
    else:
        row = rows[0]
    shown = []
    for notation in notations:
        right = index_of_right(row.value, row.options, notation)
        option = "no option" if right is None else f"option {right + 1}, {row.options[right][:80]!r}"
        shown.append(
            Answer(
                notation, f"{column} = {str(row.value)[:20]} in {row.where} as {option} ({NOTATION_WORDS[notation]})"
            )
        )
    problem = problem or f"How {column} writes the right option cannot be told: it is {_sample_values(rows)}"
    return Question("gold", problem, shown)


def _sample_values(rows: Sequence[Row]) -> str:
    distinct = list(dict.fromkeys(str(row.value).strip()[:20] for row in rows))
    shown = ", ".join(distinct[:5]) + (" ..." if len(distinct) > 5 else "")
    return f"{shown} in {len(rows):,} rows, of {_option_count(rows[0].options)} options"


def _share_named(rows: Sequence[Row], notation: str) -> float:
    return sum(index_of_right(row.value, row.options, notation, row.names) is not None for row in rows) / len(rows)


def _agree(rows: Sequence[Row], notations: Sequence[str]) -> bool:
    """Whether all these ways name the same option in every row."""
    return all(len({index_of_right(row.value, row.options, notation) for notation in notations}) == 1 for row in rows)


def written_value(value: Any) -> str:
    """A value as a message shows it."""
    return str(value).strip()[:20]


def _last_option(options: Sequence[str]) -> int:
    """The place of the last option that is there, counted from 1."""
    return max((number for number, option in enumerate(options, 1) if option.strip()), default=0)


def _option_count(options: Sequence[str]) -> int:
    """How many options a row has."""
    return sum(bool(option.strip()) for option in options)


def _number(value: Any) -> int | None:
    match = re.fullmatch(r"(\d{1,9})(\.0)?", str(value).strip())
    return int(match[1]) if match else None


def _is_an_option(value: Any, options: Sequence[str]) -> bool:
    return any(option.strip() and option.strip() == str(value).strip() for option in options)
