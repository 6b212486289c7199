"""Rows → instances, and the rows left out with the reason."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from explorer.benchmarks.core.benchmark import LeftOut
from explorer.benchmarks.tables import gold as table_gold
from explorer.benchmarks.tables import languages as table_languages
from explorer.benchmarks.tables import options as table_options
from explorer.benchmarks.tables import roles as table_roles
from explorer.benchmarks.tables import segmentation
from explorer.benchmarks.tables.reading import Reading
from explorer.benchmarks.tables.rows import Row, Table
from explorer.benchmarks.tables.values import is_empty, number, written
from explorer.errors import UsageError
from explorer.gaps import find_gaps
from explorer.records import Instance

MOST_CLASSES = 200
# Of a class only these mean that a row has none: "none" and "n/a" may well be classes.
NO_CLASS = {"", "-1", "-1.0", "?", "-", "nan", "null"}


class _Unfit(Exception):
    """A row that becomes no instance; the text says why."""


Made = tuple[str, Instance]  # the source key, and the instance without id


def make(table: Table, reading: Reading, file: str) -> tuple[list[Made], list[LeftOut]]:
    """The instances of a table's rows with their keys, and what was left out, in the order of the file."""
    if reading.kind in ("judged", "turns"):
        return _paired(table, reading)
    classes = _classes(table, reading, file) if reading.kind == "labelled" else ()
    made: list[Made] = []
    left_out: list[LeftOut] = []
    for row in table.rows:
        try:
            key = _optional(row.cells, reading, "id") or str(row.number)
            instance = segmentation.of_row(_instance(row.cells, reading, classes), row.cells, reading)
            if isinstance(instance, str):
                raise _Unfit(instance)
            made.append((key, table_languages.of_row(instance, row.cells, reading)))
        except _Unfit as error:
            left_out.append(LeftOut(row.where, str(error)))
    return made, left_out


def _instance(cells: Mapping[str, Any], reading: Reading, classes: tuple[str, ...]) -> Instance:
    makers: Mapping[str, Callable[[Mapping[str, Any], Reading, Instance], Instance]] = {
        "pair": _pair, "choice": _choice, "contexts": _contexts, "cloze": _cloze, "rating": _rating
    }  # fmt: skip
    group = _optional(cells, reading, "group")
    base = Instance("", "", "all", group or "all", reading.instance_kind, reading.prompt)
    if reading.kind == "labelled":
        return _labelled(cells, reading, base, classes)
    return makers[reading.kind](cells, reading, base)


def _pair(cells: Mapping[str, Any], reading: Reading, base: Instance) -> Instance:
    options = (_text(cells, reading, "good"), _text(cells, reading, "bad"))
    return dataclasses.replace(base, context=_optional(cells, reading, "context"), options=options, gold=0)


def _choice(cells: Mapping[str, Any], reading: Reading, base: Instance) -> Instance:
    row = gold_row("", cells, reading)
    value, column = row.value, reading.columns["gold"]
    if reading.rules > 1 and row.flagged is None and not row.options:
        raise _Unfit(f"{reading.columns.get('options', 'option1')} is no list of at least two options")
    place = row.flagged if reading.gold == "flags" else table_gold.index(value, row.options, reading.gold, row.names)
    if place is None:
        if reading.rules > 1 and table_gold.is_unlabeled(value):
            raise _Unfit(f"unlabeled: {column} is {_shown(value)}")
        raise _Unfit(f"{column} is {_shown(value)}, which names none of {len(row.options)} options")
    nonempty = [i for i, option in enumerate(row.options) if option.strip()]
    options = tuple(row.options[i] for i in nonempty)
    if len(options) < 2:
        raise _Unfit(f"{len(options)} option, expected at least two")
    gold = nonempty.index(place)
    context = _context(cells, reading)
    extra: dict[str, Any] = {}
    if reading.prompt == "copa":
        relation = written(cells.get(reading.columns["relation"])).lower()
        if relation not in ("cause", "effect"):
            raise _Unfit(f"{reading.columns['relation']} is {_shown(relation)}, expected cause or effect")
        extra["question"] = relation
        if reading.connectors:
            extra["connector"] = reading.connectors[relation == "effect"]
    label = written(value) if not isinstance(value, list) else str(gold)
    return dataclasses.replace(
        base, context=context, options=options, gold=gold, label=label if reading.rules > 1 else str(value), extra=extra
    )


def gold_row(where: str, cells: Mapping[str, Any], reading: Reading) -> table_gold.Row:
    """What a row says about its right option; without options where they cannot be read."""
    columns = reading.columns
    value = reading.cell(cells, "gold")
    stem = table_roles.NUMBERED[reading.kind]
    names: tuple[str, ...] = ()
    flagged = table_options.flagged(value) if isinstance(value, list) else None
    if f"{stem}s" in columns:
        column = columns[f"{stem}s"]
        parsed = table_options.from_list(cells.get(column), reading.separator)
        if parsed is None:
            raise _Unfit(f"{column} is no list of at least two options")
        texts = tuple(_checked(item, column) for item in parsed.texts)
        names = parsed.names
        flagged = parsed.flagged if flagged is None else flagged
        beside = reading.cell(cells, "names")
        if isinstance(beside, list) and len(beside) == len(texts):
            names = tuple(str(name).strip() for name in beside)
    elif reading.rules == 1:
        texts = tuple(_text(cells, reading, role) for role in table_roles.numbered(reading.kind, columns))
    else:
        roles = table_roles.numbered(reading.kind, columns)
        texts = tuple(_optional(cells, reading, role) for role in roles)
        if sum(bool(text) for text in texts) < 2:
            empty = next(columns[role] for role, text in zip(roles, texts, strict=True) if not text)
            raise _Unfit(f"{empty} is empty")
    return table_gold.Row(where, value, texts, names, flagged)


def gold_rows(table: Table, reading: Reading) -> list[table_gold.Row]:
    """What each readable row says about its right option."""
    rows = []
    for row in table.rows:
        with contextlib.suppress(_Unfit):
            rows.append(gold_row(row.where, row.cells, reading))
    return rows


def _context(cells: Mapping[str, Any], reading: Reading) -> str:
    context = _optional(cells, reading, "context")
    if "pronoun" in reading.columns:
        context = _without_pronoun(context, cells, reading)
    if reading.prompt == "winogrande":
        gaps = [1] * context.count("_") if reading.rules == 1 else find_gaps(context)
        if len(gaps) != 1:
            named = reading.columns.get("context", "the context")
            raise _Unfit(f"{named} has {len(gaps)} gaps, expected one _")
    passage = _optional(cells, reading, "passage")
    return "\n".join(text for text in (passage, context) if text)


def _without_pronoun(text: str, cells: Mapping[str, Any], reading: Reading) -> str:
    """A Winograd schema with a gap where its pronoun stands."""
    pronoun = written(cells.get(reading.columns["pronoun"]))
    place = number(reading.cell(cells, "place"))
    start = text.find(pronoun) if place is None else int(place)
    if not pronoun or start < 0 or text[start : start + len(pronoun)] != pronoun:
        raise _Unfit(f"{pronoun!r} does not stand at character {start} of the text")
    return f"{text[:start]}_{text[start + len(pronoun) :]}"


def _contexts(cells: Mapping[str, Any], reading: Reading, base: Instance) -> Instance:
    row = gold_row("", cells, reading)
    place = (
        row.flagged if reading.gold == "flags" else table_gold.index(row.value, row.options, reading.gold, row.names)
    )
    if place is None:
        unlabeled = "unlabeled: " if table_gold.is_unlabeled(row.value) else ""
        raise _Unfit(f"{unlabeled}{reading.columns['gold']} is {_shown(row.value)}")
    nonempty = [i for i, option in enumerate(row.options) if option.strip()]
    return dataclasses.replace(
        base,
        second=_text(cells, reading, "continuation"),
        options=tuple(row.options[i] for i in nonempty),
        gold=nonempty.index(place),
        label=written(row.value) if not isinstance(row.value, list) else "",
    )


def _cloze(cells: Mapping[str, Any], reading: Reading, base: Instance) -> Instance:
    text, target = _text(cells, reading, "text"), ""
    if "target" in reading.columns:
        target = _text(cells, reading, "target")
        if reading.rules > 1 and target.strip().lower() in NO_CLASS:
            raise _Unfit(f"unlabeled: {reading.columns['target']} is {_shown(target)}")
    else:
        text, _, target = text.rstrip().rpartition(" ")
    if not text or not target:
        raise _Unfit(f"{reading.columns['text']} is one word, expected a text and its last word")
    return dataclasses.replace(base, context=text, options=(target,), gold=0)


def _rating(cells: Mapping[str, Any], reading: Reading, base: Instance) -> Instance:
    sentence, value = _text(cells, reading, "sentence"), cells.get(reading.columns["rating"])
    rating = number(value)
    if reading.acceptable or rating is None:
        judged = written(value)
        if reading.acceptable and judged == reading.acceptable:
            rating = 1.0
        elif reading.acceptable and judged == reading.unacceptable:
            rating = 0.0
        else:
            raise _Unfit(f"unlabeled: {reading.columns['rating']} is {_shown(value)}, no number")
    if reading.unrated and rating == number(reading.unrated):
        raise _Unfit(f"unlabeled: {reading.columns['rating']} is {_shown(value)}")
    return dataclasses.replace(base, options=(sentence,), label=written(value), extra={"rating": rating})


def _labelled(cells: Mapping[str, Any], reading: Reading, base: Instance, classes: tuple[str, ...]) -> Instance:
    value = cells.get(reading.columns["label"])
    if reading.rules > 1 and written(value).lower() in NO_CLASS:
        raise _Unfit(f"unlabeled: {reading.columns['label']} is {_shown(value)}")
    label = _text(cells, reading, "label").strip()
    return dataclasses.replace(
        base,
        context=_text(cells, reading, "text"),
        second=_optional(cells, reading, "second"),
        options=classes,
        gold=classes.index(label),
        label=label,
        group=base.group if base.group != "all" else label,
    )


# --- sentences → pairs


@dataclasses.dataclass(frozen=True, slots=True)
class _Judged:
    row: Row
    text: str
    good: bool
    context: str
    group: str


def _paired(table: Table, reading: Reading) -> tuple[list[Made], list[LeftOut]]:
    """Pairs of the acceptable and unacceptable sentences of an item, or of each two rows."""
    left_out: list[LeftOut] = []
    sentences: list[_Judged] = []
    for row in table.rows:
        try:
            sentences.append(_judged(row, reading))
        except _Unfit as error:
            left_out.append(LeftOut(row.where, str(error)))
    made: list[Made] = []
    for key, members in _sets(sentences, reading):
        good, bad = ([sentence for sentence in members if sentence.good is side] for side in (True, False))
        why = _unpaired(key, good, bad)
        if why:
            left_out += [LeftOut(sentence.row.where, why) for sentence in members]
            continue
        made += [
            (key, table_languages.of_row(_as_pair(one, other, reading), one.row.cells, reading))
            for one in good
            for other in bad
        ]
    return made, sorted(left_out, key=lambda left: _place(left.where))


def _unpaired(key: str, good: Sequence[_Judged], bad: Sequence[_Judged]) -> str:
    """Why the sentences of an item make no pair, "" where they do."""
    if not good or not bad:
        return f"item {key} has no {'acceptable' if not good else 'unacceptable'} sentence beside this one"
    if len(good) > 1 and len(bad) > 1:
        return (
            f"item {key} has {len(good)} acceptable and {len(bad)} unacceptable sentences, and which belong together "
            "is not said"
        )
    return (
        ""
        if len({sentence.context for sentence in (*good, *bad)}) == 1
        else f"the sentences of item {key} differ in context"
    )


def _place(where: str) -> int:
    digits = "".join(sign for sign in where if sign.isdecimal())
    return int(digits) if digits else 0


def _judged(row: Row, reading: Reading) -> _Judged:
    text = _text(row.cells, reading, "sentence")
    if reading.kind == "turns":
        good = (row.number % 2 == 0) == (reading.first == "good")
    else:
        value = written(row.cells.get(reading.columns["judged"]))
        if value not in (reading.acceptable, reading.unacceptable):
            raise _Unfit(f"unlabeled: {reading.columns['judged']} is {_shown(value)}")
        good = value == reading.acceptable
    context = _optional(row.cells, reading, "context")
    return _Judged(row, text, good, context, _optional(row.cells, reading, "group"))


def _sets(sentences: Sequence[_Judged], reading: Reading) -> list[tuple[str, list[_Judged]]]:
    """The sentences that belong together, by item or two rows at a time, with the item's name."""
    sets: dict[tuple[str, str], list[_Judged]] = {}
    for sentence in sentences:
        if "item" in reading.columns:
            key = (sentence.group, written(sentence.row.cells.get(reading.columns["item"])))
        else:
            key = ("", str(sentence.row.number // 2))
        sets.setdefault(key, []).append(sentence)
    return [(item, members) for (_, item), members in sets.items()]


def _as_pair(good: _Judged, bad: _Judged, reading: Reading) -> Instance:
    return Instance(
        "", "", "all", good.group or "all", "pair", reading.prompt,
        context=good.context, options=(good.text, bad.text), gold=0,
    )  # fmt: skip


# --- cells


def _text(cells: Mapping[str, Any], reading: Reading, role: str) -> str:
    column = reading.columns[role]
    if column not in cells and "+" in column:
        texts = [_checked(cells.get(part), part).strip() for part in column.split("+") if not is_empty(cells.get(part))]
        if not texts:
            raise _Unfit(f"{column} is empty")
        return " ".join(texts)
    return _checked(cells.get(column), column)


def _optional(cells: Mapping[str, Any], reading: Reading, role: str) -> str:
    column = reading.columns.get(role, "")
    if not column or (column in cells and is_empty(cells[column])) or (column not in cells and "+" not in column):
        return ""
    return _text(cells, reading, role)


def _checked(value: Any, column: str) -> str:
    if isinstance(value, bytes):
        try:
            value = value.decode("utf-8")
        except UnicodeDecodeError:
            raise _Unfit(f"{column} holds bytes that are no UTF-8") from None
    if isinstance(value, list | dict):
        raise _Unfit(f"{column} holds a {type(value).__name__}, expected text")
    if is_empty(value):
        raise _Unfit(f"{column} is empty")
    text = str(value)
    if "\0" in text:
        raise _Unfit(f"{column} holds a NUL character")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise _Unfit(f"{column} holds half a surrogate pair")
    return text


def _shown(value: Any) -> str:
    return "empty" if is_empty(value) else repr(str(value)[:40])


def _classes(table: Table, reading: Reading, file: str) -> tuple[str, ...]:
    column = reading.columns["label"]
    labels: set[str] = set()
    for value in table.column(column):
        with contextlib.suppress(_Unfit):
            label = _checked(value, column).strip()
            if reading.rules == 1 or label.lower() not in NO_CLASS:
                labels.add(label)
    if len(labels) > MOST_CLASSES:
        raise UsageError(
            f"The column {column!r} of {file} has {len(labels)} different values, expected at most {MOST_CLASSES} "
            "classes. Name another with --column label=COLUMN."
        )
    return tuple(
        sorted(labels, key=lambda label: (not label.isdecimal(), int(label) if label.isdecimal() else 0, label))
    )
