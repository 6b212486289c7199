"""A frame as a file that other tools read: CSV, Parquet, JSON Lines or a LaTeX table."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import pandas as pd
import pyarrow as pa

from explorer.results import latex


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file: what people call it, its ending, its media type, and who writes it."""

    title: str
    ending: str
    mime: str
    write: Callable[..., None]  # frame, file, and for a table on paper caption, label, titles, cells


def _write_csv(frame: pd.DataFrame, file: BinaryIO, *, spreadsheet_safe: bool = False, **about: Any) -> None:
    lists = {str(name): frame[name].map(_as_json) for name in frame if _holds_lists(frame[name])}
    # "replace": half a surrogate pair is no text that a file can hold.
    text = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="")
    shown = frame.assign(**lists)
    if spreadsheet_safe:
        shown = shown.assign(**{str(name): shown[name].map(_no_formula) for name in shown if _holds_text(shown[name])})
        shown = shown.rename(columns=_no_formula)
    shown.to_csv(text, index=False)
    text.detach()


def _write_parquet(frame: pd.DataFrame, file: BinaryIO, **about: Any) -> None:
    try:
        frame.to_parquet(file, index=False)
    except (pa.ArrowException, TypeError, ValueError):
        # A column of a page's table may mix numbers and words, and hold half a surrogate pair; one of Parquet may not.
        file.seek(0)
        file.truncate()
        mixed = [name for name in frame if frame[name].dtype == object]
        worded = {str(name): pd.Series(map(_in_words, frame[name]), frame.index, dtype=object) for name in mixed}
        frame.assign(**worded).to_parquet(file, index=False)


def _write_jsonl(frame: pd.DataFrame, file: BinaryIO, **about: Any) -> None:
    for row in frame.to_dict(orient="records"):
        line = json.dumps({str(key): plain_value(value) for key, value in row.items()}, ensure_ascii=False, default=str)
        file.write(line.encode("utf-8", "replace") + b"\n")


def _write_latex(frame: pd.DataFrame, file: BinaryIO, *, spreadsheet_safe: bool = False, **about: Any) -> None:
    file.write(latex.latex_table(frame, **about).encode("utf-8", "replace"))


FORMATS: Mapping[str, Format] = {
    "csv": Format("CSV", "csv", "text/csv", _write_csv),
    "parquet": Format("Parquet", "parquet", "application/vnd.apache.parquet", _write_parquet),
    "jsonl": Format("JSON Lines", "jsonl", "application/jsonl", _write_jsonl),
    "latex": Format("LaTeX", "tex", "application/x-tex", _write_latex),
}


def write_frame(
    frame: pd.DataFrame,
    format: str,
    file: BinaryIO,
    *,
    caption: str = "",
    label: str = "",
    titles: Mapping[str, str] | None = None,
    cells: Mapping[str, Callable[[float], str]] | None = None,
    spreadsheet_safe: bool = False,
) -> None:
    """Writes the frame; caption, label, titles (column → heading) and cells (column → what writes a number of it) are
    for the formats that are set on paper.

    With `spreadsheet_safe` no cell of a CSV file is a formula to a spreadsheet: one that begins like one gets a '.
    """
    FORMATS[format].write(
        frame, file, caption=caption, label=label, titles=titles, cells=cells, spreadsheet_safe=spreadsheet_safe
    )


def as_bytes(frame: pd.DataFrame, format: str, **options: Any) -> bytes:
    """The bytes of the file that `write_frame` writes."""
    file = io.BytesIO()
    write_frame(frame, format, file, **options)
    return file.getvalue()


def plain_value(value: Any) -> Any:
    """The value as JSON has it: arrays as lists, gaps as None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if value is pd.NA or value is pd.NaT or value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value


def _no_formula(value: Any) -> Any:
    """A text that no spreadsheet reckons with; a number stays one."""
    if not isinstance(value, str) or not _FORMULA.match(value) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}"


# Spreadsheets pass over blanks and control characters before a formula, and know its signs in full width, too.
_FORMULA = re.compile(r"[\s\x00-\x1f]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?|-?inf", re.ASCII)


def _holds_text(column: pd.Series) -> bool:
    return not pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_datetime64_any_dtype(column)


def _holds_lists(column: pd.Series) -> bool:
    return column.dtype == object and any(hasattr(value, "tolist") or isinstance(value, list) for value in column)


def _as_json(value: Any) -> str | None:
    json_value = plain_value(value)
    return None if json_value is None else json.dumps(json_value, ensure_ascii=False)


def _in_words(value: Any) -> str | None:
    json_value = plain_value(value)
    if json_value is None:
        return None
    text = json_value if isinstance(json_value, str) else json.dumps(json_value, ensure_ascii=False, default=str)
    return text.encode("utf-8", "replace").decode("utf-8")
