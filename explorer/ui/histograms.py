"""A small histogram a numeric column, in one row above a long table: where its values lie before anybody sorts."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from explorer.ui.columns import title_of, writers

LEAST = 25  # rows of a table that is long enough to ask where its values lie
BINS = 16
MOST = 8  # columns


def row(frame: pd.DataFrame, columns: Mapping[str, Any]) -> str:
    """The row as HTML; "" for a short table or one without a column of numbers that differ."""
    if len(frame) < LEAST:
        return ""
    columns = {name: column for name, column in columns.items() if name in frame}
    histograms = []
    for name, write in writers(frame, columns).items():
        values = pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=float)
        finite = values[np.isfinite(values)]
        # Numbers that differ by rounding alone cannot be parted into bins.
        if len(finite) >= LEAST and np.ptp(finite) > 1e-9 * np.abs(finite).max():
            histograms.append(_small(title_of(name, columns[name]), finite, len(values) - len(finite), write))
    return f'<div class="lx-hists">{"".join(histograms[:MOST])}</div>' if histograms else ""


def _small(title: str, values: np.ndarray, missing: int, write: Any) -> str:
    """One histogram: bars as high as their counts, the ends of the axis below, the same in words for who cannot see."""
    counts, edges = np.histogram(values, bins=BINS)
    top = int(counts.argmax())
    gaps = f", {missing:,} missing" if missing else ""
    label = (
        f"{title}: {len(values):,} values from {write(values.min())} to {write(values.max())}{gaps}; "
        f"most, {counts[top]:,}, between {write(edges[top])} and {write(edges[top + 1])}"
    )
    bars = "".join(f'<span style="height:{_height(int(count), int(counts.max())):.0f}%"></span>' for count in counts)
    ends = f"<span>{html.escape(write(values.min()))}</span><span>{html.escape(write(values.max()))}</span>"
    label = html.escape(label, quote=True)
    return (
        f'<div class="lx-hist" title="{label}"><span class="lx-hist-title">{html.escape(title)}</span>'
        f'<div class="lx-hist-bars" role="img" aria-label="{label}">{bars}</div><div class="lx-hist-ends">{ends}</div>'
        "</div>"
    )


def _height(count: int, most: int) -> float:
    """A bar's height in percent; one that holds anything is seen."""
    return max(6.0, 100 * count / most) if count else 0.0
