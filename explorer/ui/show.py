"""What pages show: sentences, figures, tables with a download, numbers, and what to do where there is nothing yet."""

from __future__ import annotations

import contextlib
import html
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from explorer.errors import ExplorerError

Figure = Any  # a Plotly figure, made in explorer/figures


def lead(text: str) -> None:
    """One quiet sentence under a title."""
    st.html(f'<p class="lx-lead">{html.escape(text)}</p>')


def note(text: str) -> None:
    """A small remark; the text is shown as it is."""
    st.html(f'<p class="lx-quiet lx-note">{html.escape(text)}</p>')


def section(text: str) -> None:
    """A small heading over a group of controls."""
    st.html(f'<p class="lx-section">{html.escape(text)}</p>')


def nothing_yet(title: str, advice: str, command: str = "") -> None:
    """An empty state that says what to do."""
    code = f"<code>{html.escape(command)}</code>" if command else ""
    st.html(
        f'<div class="lx-empty"><h3>{html.escape(title)}</h3><p>{html.escape(advice)}</p>{code}</div>',
    )


def chart(figure: Figure, *, alt: str, key: str | None = None, on_select: Any = "ignore") -> Any:
    """A figure as wide as the page, and what was picked in it; `alt` says in words what it shows."""
    return st.plotly_chart(
        figure,
        theme="streamlit",
        key=key,
        alt=alt,
        on_select=on_select,
        config={"displaylogo": False, "toImageButtonOptions": {"format": "svg", "filename": key or "lexiscope"}},
    )


def table(
    frame: pd.DataFrame,
    name: str,
    *,
    columns: Mapping[str, Any] | None = None,
    height: int | None = None,
    download: bool = True,
) -> None:
    """A table that can be sorted, searched and downloaded; `columns` names the shown ones, in order."""
    shown = frame[list(columns)] if columns else frame
    st.dataframe(
        shown,
        hide_index=True,
        column_config=dict(columns) if columns else None,
        height=height or "auto",
        placeholder="–",
        key=f"table:{name}",
        alt=f"{name}, {len(frame)} rows",
    )
    if download:
        save(frame, name)


def save(frame: pd.DataFrame, name: str) -> None:
    """A button that downloads the whole frame as CSV."""
    st.download_button(
        "Download CSV",
        frame.to_csv(index=False).encode("utf-8"),
        file_name=f"{re.sub(r'[^A-Za-z0-9._-]+', '_', name)}.csv",
        mime="text/csv",
        key=f"save:{name}",
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
    )


def numbers(cells: Sequence[tuple[str, str, str]]) -> None:
    """A row of labelled numbers: label, value, what it means."""
    for column, (label, value, meaning) in zip(st.columns(len(cells)), cells):
        column.metric(label, value, help=meaning or None)


def percent(value: float, low: float = float("nan"), high: float = float("nan")) -> str:
    """A share with its interval where there is one."""
    if value != value:
        return "–"
    interval = f" ({low:.1%} – {high:.1%})" if low == low and high == high else ""
    return f"{value:.1%}{interval}"


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds != seconds or seconds < 0:
        return "unknown"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    marked = re.sub(r"([\\`*_{}\[\]<>#|~$:])", r"\\\1", text)
    return re.sub(r"^(\s*\d*)([-+.)])", r"\1\\\2", marked)


def problem(error: ExplorerError) -> None:
    """An error of ours as one sentence."""
    st.error(plain(str(error)), icon=":material/error:")


@contextlib.contextmanager
def problems() -> Iterator[None]:
    """Shows an error of ours as one sentence and leaves out the rest of the block."""
    try:
        yield
    except ExplorerError as error:
        problem(error)
