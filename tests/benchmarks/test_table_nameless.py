"""A table's column without a name is nobody's role."""

from __future__ import annotations

from explorer.benchmarks.tables.reading import Reading


def test_the_cell_of_a_role_that_no_column_has_is_none_though_a_column_has_no_name():
    reading = Reading("csv", "pair", {"good": "right", "bad": "wrong"})
    cells = {"": "3", "right": "a cat sleeps", "wrong": "a cat sleep"}
    assert reading.cell(cells, "good") == "a cat sleeps"
    assert reading.cell(cells, "gold") is None and reading.cell(cells, "good_words") is None
