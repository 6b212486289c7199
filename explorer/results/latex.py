"""A frame as a LaTeX table: booktabs rules, escaped text, numbers with the digits that matter."""

from __future__ import annotations

import datetime
import math
import numbers
import re
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from explorer import display

LONG = 45  # rows from which a table runs over pages
LONGEST_CELL = 120  # characters; a longer text is cut, since no line of a page holds it
EMPTY = "--"

_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "−": "$-$", "–": "--", "…": r"\ldots{}",
    "×": r"$\times$", "∞": r"$\infty$",
    **{sign: rf"$^{{{digit}}}$" for sign, digit in zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", strict=True)},
}  # fmt: skip


def latex_table(
    frame: pd.DataFrame,
    *,
    caption: str = "",
    label: str = "",
    titles: Mapping[str, str] | None = None,
    cells: Mapping[str, Callable[[float], str]] | None = None,
) -> str:
    """The frame's columns named in `titles` (all without it) as a table; more than 45 rows make a longtable.

    `cells` says of a column what writes one of its numbers, so that paper and screen agree; any other gets as many
    decimals as its largest number needs.
    """
    titles = dict(titles) if titles else {str(name): str(name) for name in frame.columns}
    cells = cells or {}
    columns = {name: _format_cells(frame[name], cells.get(name)) for name in titles}
    numeric = {name: name in cells or _is_numeric(frame[name]) for name in titles}
    head = " & ".join(escape_text(title) for title in titles.values()) + r" \\"
    body = [" & ".join(row) + r" \\" for row in zip(*columns.values(), strict=True)]
    shape = "".join("r" if numeric[name] else "l" for name in titles)
    about = rf"\caption{{{escape_text(caption, len(caption))}}}" + (
        rf"\label{{tab:{_label_of(label)}}}" if label else ""
    )
    if len(frame) > LONG:
        return "\n".join(
            [
                r"% \usepackage{booktabs,longtable,textcomp} and \usepackage[T1]{fontenc}",
                rf"\begin{{longtable}}{{{shape}}}",
                about + r" \\",
                *(r"\toprule", head, r"\midrule", r"\endfirsthead"),
                *(r"\toprule", head, r"\midrule", r"\endhead"),
                *(r"\bottomrule", r"\endfoot"),
                *body,
                r"\end{longtable}",
                "",
            ]
        )
    return "\n".join(
        [
            r"% \usepackage{booktabs,textcomp} and \usepackage[T1]{fontenc}",
            *(r"\begin{table}[t]", r"\centering", about),
            rf"\begin{{tabular}}{{{shape}}}",
            *(r"\toprule", head, r"\midrule"),
            *body,
            *(r"\bottomrule", r"\end{tabular}", r"\end{table}"),
            "",
        ]
    )


def escape_text(text: str, most: int = LONGEST_CELL) -> str:
    """The text as LaTeX sets it: signs escaped, line ends and control characters as blanks, cut after `most` signs."""
    if len(text) > most:
        text = text[: most - 1] + "…"
    plain = re.sub(r"[\s\x00-\x1f\x7f\ud800-\udfff]+", " ", text)
    return "".join(_SIGNS.get(sign, sign) for sign in plain).strip()


def format_number(value: float, decimals: int) -> str:
    """The number with so many decimals; one that would round to zero as a power of ten."""
    if not math.isfinite(value):
        return EMPTY if math.isnan(value) else ("$\\infty$" if value > 0 else "$-\\infty$")
    if value and abs(value) < 0.5 * 10**-decimals:
        digits, _, power = f"{value:.1e}".partition("e")
        return rf"${digits} \times 10^{{{int(power)}}}$"
    text = f"{abs(value):,.{decimals}f}"
    return f"$-${text}" if value < 0 else text


def _format_cells(column: pd.Series, write: Callable[[float], str] | None = None) -> list[str]:
    if write:
        return [escape_text(write(float(value))) for value in pd.to_numeric(column, errors="coerce")]
    if not _is_numeric(column):
        return [_format_text(value) for value in column]
    values = [math.nan if value is None or value is pd.NA else float(value) for value in column]
    decimals = display.decimals(values)
    return [format_number(value, decimals) for value in values]


def _is_numeric(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _format_text(value: Any) -> str:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return escape_text(", ".join("" if item is None else str(item) for item in value))
    if value is None or value is pd.NaT or value is pd.NA:
        return EMPTY
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, numbers.Real):
        return format_number(float(value), display.decimals([float(value)]))
    if isinstance(value, datetime.datetime):
        return escape_text(value.isoformat(sep=" ", timespec="minutes"))
    return escape_text(str(value)) or EMPTY


def _label_of(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower()
