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


KeyedInstance = tuple[str, Instance]  # the source key, and the instance without id


def make_instances(table: Table, reading: Reading, file: str) -> tuple[list[KeyedInstance], list[LeftOut]]:
    """The instances of a table's rows with their keys, and what was left out, in the order of the file."""
    if reading.kind in ("judged", "turns"):
        return _make_pairs(table, reading)
    classes = _class_names(table, reading, file) if reading.kind == "labelled" else ()
    keyed: list[KeyedInstance] = []
    left_out: list[LeftOut] = []
    for row in table.rows:
        try:
            key = _optional_text(row.cells, reading, "id") or str(row.number)
            instance = segmentation.of_row(_make_instance(row.cells, reading, classes), row.cells, reading)
            if isinstance(instance, str):
                raise _Unfit(instance)
            keyed.append((key, table_languages.of_row(instance, row.cells, reading)))
        except _Unfit as error:
            left_out.append(LeftOut(row.where, str(error)))
    return keyed, left_out


def _make_instance(cells: Mapping[str, Any], reading: Reading, classes: tuple[str, ...]) -> Instance:
    makers: Mapping[str, Callable[[Mapping[str, Any], Reading, Instance], Instance]] = {
        "pair": _make_pair, "choice": _make_choice, "contexts": _make_contexts, "cloze": _make_cloze,
        "rating": _make_rating
    }  # fmt: skip
    group = _optional_text(cells, reading, "group")
    base = Instance("", "", "all", group or "all", reading.instance_kind, reading.prompt)
    if reading.kind == "labelled":
        return _make_labelled(cells, reading, base, classes)
    return makers[reading.kind](cells, reading, base)


def _make_pair(cells: Mapping[str, Any], reading: Reading, base: Instance) -> Instance:
    options = (_required_text(cells, reading, "good"), _required_text(cells, reading, "bad"))
    return dataclasses.replace(base, context=_optional_text(cells, reading, "context"), options=options, gold=0)


def _make_choice(cells: Mapping[str, Any], reading: Reading, base: Instance) -> Instance:
    row = gold_row("", cells, reading)
    value, column = row.value, reading.columns["gold"]
    if reading.rules > 1 and row.flagged is None and not row.options:
        raise _Unfit(f"{reading.columns.get('options', 'option1')} is no list of at least two options")
    right = (
        row.flagged
        if reading.gold == "flags"
        else table_gold.index_of_right(value, row.options, reading.gold, row.names)
    )
    if right is None:
        if reading.rules > 1 and table_gold.is_unlabeled(value):
            raise _Unfit(f"unlabeled: {column} is {_quote_value(value)}")
        raise _Unfit(f"{column} is {_quote_value(value)}, which names none of {len(row.options)} options")
    nonempty = [i for i, option in enumerate(row.options) if option.strip()]
    options = tuple(row.options[i] for i in nonempty)
    if len(options) < 2:
        raise _Unfit(f"{len(options)} option, expected at least two")
    gold = nonempty.index(right)
    context = _context_text(cells, reading)
    extra: dict[str, Any] = {}
    if reading.prompt == "copa":
        relation = written(cells.get(reading.columns["relation"])).lower()
        if relation not in ("cause", "effect"):
            raise _Unfit(f"{reading.columns['relation']} is {_quote_value(relation)}, expected cause or effect")
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
    flagged = table_options.flagged_option(value) if isinstance(value, list) else None
    if f"{stem}s" in columns:
        column = columns[f"{stem}s"]
        parsed = table_options.from_list(cells.get(column), reading.separator)
        if parsed is None:
            raise _Unfit(f"{column} is no list of at least two options")
        texts = tuple(_checked_text(item, column) for item in parsed.texts)
        names = parsed.names
        flagged = parsed.flagged if flagged is None else flagged
        beside = reading.cell(cells, "names")
        if isinstance(beside, list) and len(beside) == len(texts):
            names = tuple(str(name).strip() for name in beside)
    elif reading.rules == 1:  # an import of an older version gives the instances it gave then
        texts = tuple(
            _required_text(cells, reading, role) for role in table_roles.numbered_roles(reading.kind, columns)
        )
    else:
        roles = table_roles.numbered_roles(reading.kind, columns)
        texts = tuple(_optional_text(cells, reading, role) for role in roles)
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


def _context_text(cells: Mapping[str, Any], reading: Reading) -> str:
    context = _optional_text(cells, reading, "context")
    if "pronoun" in reading.columns:
        context = _without_pronoun(context, cells, reading)
    if reading.prompt == "winogrande":
        gaps = [1] * context.count("_") if reading.rules == 1 else find_gaps(context)
        if len(gaps) != 1:
            column = reading.columns.get("context", "the context")
            raise _Unfit(f"{column} has {len(gaps)} gaps, expected one _")
    passage = _optional_text(cells, reading, "passage")
    return "\n".join(text for text in (passage, context) if text)


def _without_pronoun(text: str, cells: Mapping[str, Any], reading: Reading) -> str:
    """A Winograd schema with a gap where its pronoun stands."""
    pronoun = written(cells.get(reading.columns["pronoun"]))
    position = number(reading.cell(cells, "place"))
    start = text.find(pronoun) if position is None else int(position)
    if not pronoun or start < 0 or text[start : start + len(pronoun)] != pronoun:
        raise _Unfit(f"{pronoun!r} does not stand at character {start} of the text")
    return f"{text[:start]}_{text[start + len(pronoun) :]}"


def _make_contexts(cells: Mapping[str, Any], reading: Reading, base: Instance) -> Instance:
    row = gold_row("", cells, reading)
    right = (
        row.flagged
        if reading.gold == "flags"
        else table_gold.index_of_right(row.value, row.options, reading.gold, row.names)
    )
    if right is None:
        unlabeled = "unlabeled: " if table_gold.is_unlabeled(row.value) else ""
        raise _Unfit(f"{unlabeled}{reading.columns['gold']} is {_quote_value(row.value)}")
    nonempty = [i for i, option in enumerate(row.options) if option.strip()]
    return dataclasses.replace(
        base,
        second=_required_text(cells, reading, "continuation"),
        options=tuple(row.options[i] for i in nonempty),
        gold=nonempty.index(right),
        label=written(row.value) if not isinstance(row.value, list) else "",
    )


def _make_cloze(cells: Mapping[str, Any], reading: Reading, base: Instance) -> Instance:
    text, target = _required_text(cells, reading, "text"), ""
    if "target" in reading.columns:
        target = _required_text(cells, reading, "target")
        if reading.rules > 1 and target.strip().lower() in NO_CLASS:
            raise _Unfit(f"unlabeled: {reading.columns['target']} is {_quote_value(target)}")
    else:
        text, _, target = text.rstrip().rpartition(" ")
    if not text or not target:
        raise _Unfit(f"{reading.columns['text']} is one word, expected a text and its last word")
    return dataclasses.replace(base, context=text, options=(target,), gold=0)


def _make_rating(cells: Mapping[str, Any], reading: Reading, base: Instance) -> Instance:
    sentence, value = _required_text(cells, reading, "sentence"), cells.get(reading.columns["rating"])
    rating = number(value)
    if reading.acceptable or rating is None:
        judged = written(value)
        if reading.acceptable and judged == reading.acceptable:
            rating = 1.0
        elif reading.acceptable and judged == reading.unacceptable:
            rating = 0.0
        else:
            raise _Unfit(f"unlabeled: {reading.columns['rating']} is {_quote_value(value)}, no number")
    if reading.unrated and rating == number(reading.unrated):
        raise _Unfit(f"unlabeled: {reading.columns['rating']} is {_quote_value(value)}")
    return dataclasses.replace(base, options=(sentence,), label=written(value), extra={"rating": rating})


def _make_labelled(cells: Mapping[str, Any], reading: Reading, base: Instance, classes: tuple[str, ...]) -> Instance:
    value = cells.get(reading.columns["label"])
    if reading.rules > 1 and written(value).lower() in NO_CLASS:
        raise _Unfit(f"unlabeled: {reading.columns['label']} is {_quote_value(value)}")
    label = _required_text(cells, reading, "label").strip()
    return dataclasses.replace(
        base,
        context=_required_text(cells, reading, "text"),
        second=_optional_text(cells, reading, "second"),
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


def _make_pairs(table: Table, reading: Reading) -> tuple[list[KeyedInstance], list[LeftOut]]:
    """Pairs of the acceptable and unacceptable sentences of an item, or of each two rows."""
    left_out: list[LeftOut] = []
    sentences: list[_Judged] = []
    for row in table.rows:
        try:
            sentences.append(_judged_sentence(row, reading))
        except _Unfit as error:
            left_out.append(LeftOut(row.where, str(error)))
    keyed: list[KeyedInstance] = []
    for key, members in _group_sentences(sentences, reading):
        good, bad = ([sentence for sentence in members if sentence.good is is_good] for is_good in (True, False))
        why = _why_unpaired(key, good, bad)
        if why:
            left_out += [LeftOut(sentence.row.where, why) for sentence in members]
            continue
        keyed += [
            (
                key,
                table_languages.of_row(
                    _as_pair(good_sentence, bad_sentence, reading), good_sentence.row.cells, reading
                ),
            )
            for good_sentence in good
            for bad_sentence in bad
        ]
    return keyed, sorted(left_out, key=lambda skipped: _row_number(skipped.where))


def _why_unpaired(key: str, good: Sequence[_Judged], bad: Sequence[_Judged]) -> str:
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


def _row_number(where: str) -> int:
    digits = "".join(sign for sign in where if sign.isdecimal())
    return int(digits) if digits else 0


def _judged_sentence(row: Row, reading: Reading) -> _Judged:
    text = _required_text(row.cells, reading, "sentence")
    if reading.kind == "turns":
        good = (row.number % 2 == 0) == (reading.first == "good")
    else:
        value = written(row.cells.get(reading.columns["judged"]))
        if value not in (reading.acceptable, reading.unacceptable):
            raise _Unfit(f"unlabeled: {reading.columns['judged']} is {_quote_value(value)}")
        good = value == reading.acceptable
    context = _optional_text(row.cells, reading, "context")
    return _Judged(row, text, good, context, _optional_text(row.cells, reading, "group"))


def _group_sentences(sentences: Sequence[_Judged], reading: Reading) -> list[tuple[str, list[_Judged]]]:
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


def _required_text(cells: Mapping[str, Any], reading: Reading, role: str) -> str:
    column = reading.columns[role]
    if column not in cells and "+" in column:
        texts = [
            _checked_text(cells.get(part), part).strip() for part in column.split("+") if not is_empty(cells.get(part))
        ]
        if not texts:
            raise _Unfit(f"{column} is empty")
        return " ".join(texts)
    return _checked_text(cells.get(column), column)


def _optional_text(cells: Mapping[str, Any], reading: Reading, role: str) -> str:
    column = reading.columns.get(role, "")
    if not column or (column in cells and is_empty(cells[column])) or (column not in cells and "+" not in column):
        return ""
    return _required_text(cells, reading, role)


def _checked_text(value: Any, column: str) -> str:
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


def _quote_value(value: Any) -> str:
    return "empty" if is_empty(value) else repr(str(value)[:40])


def _class_names(table: Table, reading: Reading, file: str) -> tuple[str, ...]:
    column = reading.columns["label"]
    labels: set[str] = set()
    for value in table.column(column):
        with contextlib.suppress(_Unfit):
            label = _checked_text(value, column).strip()
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
