"""Words that a table brings for its sentences, where blanks do not part them, or not as a study wants them.

A cell of words is a list, or a text with | or blanks between the words: 他|是|学生|。 Without regard to white space the
words of a cell make up the sentence they stand for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from explorer.benchmarks.tables.names import find_column
from explorer.benchmarks.tables.options import from_list
from explorer.benchmarks.tables.reading import Reading
from explorer.benchmarks.tables.rows import Table
from explorer.benchmarks.tables.values import is_empty, written
from explorer.records import Instance
from explorer.scoring.word_scores import align

# Kind → the role of words, the role of the sentence they make up, and the number of its option.
ROLES: Mapping[str, Mapping[str, tuple[str, int]]] = {
    "pair": {"good_words": ("good", 0), "bad_words": ("bad", 1)},
    "rating": {"words": ("sentence", 0)},
}
NAMES = tuple(role for roles in ROLES.values() for role in roles)


def with_words(reading: Reading, table: Table) -> Reading:
    """The reading with the columns of words that are called so and hold the words of all their sentences."""
    columns = dict(reading.columns)
    for role, (text, _) in ROLES.get(reading.kind, {}).items():
        column = find_column(role, table.names, columns.values())
        if role in columns or not column or text not in reading.columns:
            continue
        cells = [(words_of(row.cells.get(column)), row.cells.get(reading.columns[text])) for row in table.rows]
        cells_with_words = [(words, written(sentence)) for words, sentence in cells if words]
        if cells_with_words and all(
            not isinstance(align(sentence, words), str) for words, sentence in cells_with_words
        ):
            columns[role] = column
    return dataclasses.replace(reading, columns=columns)


def words_of(value: Any) -> list[str]:
    """The words of a cell; none of an empty one."""
    listed = from_list(value, "json") or from_list(value, "python")
    if listed is not None:
        return [str(word) for word in listed.texts]
    if is_empty(value):
        return []
    text = written(value)
    return [word.strip() for word in text.split("|") if word.strip()] if "|" in text else text.split()


def of_row(instance: Instance, cells: Mapping[str, Any], reading: Reading) -> Instance | str:
    """The instance with the words of its options, or why those are not the words of their sentence."""
    words_by_option: dict[str, list[str]] = {}
    for role, (_, option) in ROLES.get(reading.kind, {}).items():
        if not (words := words_of(reading.cell(cells, role))):
            continue
        if isinstance(problem := align(instance.options[option], words), str):
            return f"{reading.columns[role]}: {problem}"
        words_by_option[str(option)] = words
    return (
        dataclasses.replace(instance, extra={**instance.extra, "words": words_by_option})
        if words_by_option
        else instance
    )
