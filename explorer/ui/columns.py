"""Columns of the tables on pages: what a number is decides how it is written, aligned, sorted and downloaded.

A page says `share_column("Accuracy")`, and not which format Streamlit needs for it. Streamlit's own formats know no
true minus and no "< 0.001", so `as_text` has pandas write the texts beside the numbers: a cell shows the text, sorting
and downloads take the number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from explorer import display

Width = Literal["small", "medium", "large"] | int | None
Write = Callable[[Any], str]

# pandas takes about 10 microseconds a cell; a longer table gets Streamlit's own formats, and so a hyphen for a minus.
MOST_CELLS = 20_000


@dataclass(frozen=True, slots=True)
class Column:
    """A column's heading and help, and how its numbers are written; without `write` it holds texts."""

    title: str
    help: str = ""
    width: Width = None
    write: Callable[[pd.Series], Write] | None = None  # the whole column may decide how many decimals a number has
    printf: str = ""  # the nearest that Streamlit has, for long tables
    factor: float = 1.0  # what `printf` needs the numbers to be multiplied by
    link: str = ""  # the text of a column of links
    is_check: bool = False
    is_name: bool = False  # whether stored names are shown as words
    is_right: bool = False  # whether a text stands at the right, as numbers do

    def config(self, *, written: bool) -> Any:
        """The column as Streamlit takes it; `written` where pandas has written its texts."""
        common: dict[str, Any] = {"label": self.title, "help": self.help or None, "width": self.width}
        if self.link:
            return st.column_config.LinkColumn(display_text=self.link, **common)
        if self.is_check:
            return st.column_config.CheckboxColumn(**common)
        if not self.write:
            return st.column_config.TextColumn(alignment="right" if self.is_right else None, **common)
        return st.column_config.NumberColumn(format=None if written else self.printf, **common)


def share_column(title: str, help: str = "", *, width: Width = None) -> Column:
    """Shares between 0 and 1, in percent."""
    return Column(title, help, width, lambda _: display.share, "%.1f%%", 100)


def points_column(title: str, help: str = "", *, width: Width = None) -> Column:
    """Differences of shares, in percentage points; the heading says so."""
    return Column(title, help, width, lambda _: display.points, "%+.1f", 100)


def number_column(
    title: str, decimals: int | None = None, help: str = "", *, signed: bool = False, width: Width = None
) -> Column:
    """Numbers with so many decimals; without, with those that the largest of the column needs."""

    def write(numbers: pd.Series) -> Write:
        places = display.decimals(numbers) if decimals is None else decimals
        return partial(display.number, decimals=places, signed=signed)

    return Column(title, help, width, write, f"%{'+' if signed else ''}.{3 if decimals is None else decimals}f")


def nats_column(title: str, help: str = "", *, signed: bool = False, width: Width = None) -> Column:
    """Log-probabilities or margins in nats; the heading or the help says so."""
    return number_column(title, 2, help or "nats", signed=signed, width=width)


def mixed_column(title: str, help: str = "", *, width: Width = None) -> Column:
    """Numbers of several units under one heading, each with the digits that matter."""
    return Column(title, help, width, lambda _: display.significant, "%.4g")


def count_column(title: str, help: str = "", *, width: Width = None) -> Column:
    """Counts, with thousands separators."""
    return Column(title, help, width, lambda _: display.count, "localized")


def size_column(title: str, help: str = "", *, width: Width = None) -> Column:
    """Large numbers in millions or billions."""
    return Column(title, help, width, lambda _: display.compact, "compact")


def p_column(title: str = "p", help: str = "", *, width: Width = None) -> Column:
    """p-values: three decimals, "< 0.001" below; they sort by their value."""
    return Column(title, help, width, lambda _: display.p_value, "%.3f")


def text_column(title: str, help: str = "", *, right: bool = False, width: Width = None) -> Column:
    """Texts as they are; at the `right` where they are numbers with a remark."""
    return Column(title, help, width, is_right=right)


def name_column(title: str, help: str = "", *, width: Width = "medium") -> Column:
    """Names of models, benchmarks, groups."""
    return Column(title, help, width)


def group_column(title: str, help: str = "", *, width: Width = None) -> Column:
    """Stored names of groups, conditions or settings, shown as words; files keep them as they are."""
    return Column(title, help, width, is_name=True)


def unit_column(unit: str, title: str, help: str = "", *, width: Width = None) -> Column:
    """Numbers of a finding's unit (explorer/finding.py)."""
    if unit == "share":
        return share_column(title, help, width=width)
    if unit == "points":
        return points_column(title, help, width=width)
    if unit == "nats":
        return nats_column(title, help, width=width)
    return number_column(title, help=help, width=width)


def id_column(title: str, help: str = "", *, width: Width = "small") -> Column:
    """Ids: they stand last and narrow, after all that people read."""
    return Column(title, help, width)


def link_column(title: str, text: str = "look", help: str = "", *, width: Width = "small") -> Column:
    """Addresses of other pages, each shown as this word."""
    return Column(title, help, width, link=text)


def check_column(title: str, help: str = "", *, width: Width = "small") -> Column:
    """Yes or no."""
    return Column(title, help, width, is_check=True)


def saying_something(frame: pd.DataFrame, columns: Mapping[str, Any], keep: Sequence[str] = ()) -> dict[str, Any]:
    """The columns without those that are empty in every row, or 0 where a count is of what is left out."""
    shown_columns = {}
    for name, column in columns.items():
        values = frame[name]
        is_empty = values.isna().all() or (values.fillna("").astype(str).isin(["", "nan"])).all()
        is_idle = name in ("left_out", "unparsed") and not pd.to_numeric(values, errors="coerce").fillna(0).any()
        if name in keep or not (is_empty or is_idle):
            shown_columns[name] = column
    return shown_columns


def as_shown(frame: pd.DataFrame, columns: Mapping[str, Any]) -> tuple[pd.DataFrame | Styler, dict[str, Any]]:
    """What `st.dataframe` takes: the frame with its numbers written as texts beside them, and Streamlit's columns."""
    frame = frame.reset_index(drop=True)  # pandas writes texts only where each row has a label of its own
    ours = {name: column for name, column in columns.items() if isinstance(column, Column)}
    numbers = {name: _numbers(frame[name]) for name, column in ours.items() if column.write}
    names = {
        name: frame[name].map(display.words, na_action="ignore") for name, column in ours.items() if column.is_name
    }
    frame = frame.assign(**numbers, **names)
    written = frame.size <= MOST_CELLS
    config = {**columns, **{name: column.config(written=written) for name, column in ours.items()}}
    if written and numbers:
        return frame.style.format(dict(writers(frame, columns)), na_rep=display.MISSING), config
    scaled = {name: values * ours[name].factor for name, values in numbers.items() if ours[name].factor != 1}
    return frame.assign(**scaled), config


def writers(frame: pd.DataFrame, columns: Mapping[str, Any]) -> dict[str, Write]:
    """Column → what writes one of its numbers."""
    return {
        name: column.write(_numbers(frame[name]))
        for name, column in columns.items()
        if isinstance(column, Column) and column.write
    }


def _numbers(column: pd.Series) -> pd.Series:
    """The column as numbers: gaps may have made objects of it."""
    return pd.to_numeric(column, errors="coerce").astype(float)


def title_of(name: str, column: Any) -> str:
    """What stands over a column."""
    if isinstance(column, Column):
        return column.title
    if isinstance(column, dict):
        return str(column.get("label") or name)
    return str(column or name)


def is_link(column: Any) -> bool:
    """Whether a column holds addresses."""
    if isinstance(column, Column):
        return bool(column.link)
    return isinstance(column, dict) and (column.get("type_config") or {}).get("type") == "link"
