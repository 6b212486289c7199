"""The same things down and across, a colored cell a pair: suites against suites, runs against runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme

MARGIN = 190  # pixels
NAMED = 80  # rows up to which each is named
NAMED_ACROSS = 30  # columns up to which each is named: more lie over each other in a narrow window


def square_heatmap(
    cells: pd.DataFrame,
    *,
    value_name: str,
    tick: str,
    rows: str,
    columns: str,
    centered: bool = False,
    diagonal: bool = True,
) -> go.Figure:
    """A cell a pair; with `centered` colors go out from zero both ways; the diagonal may be left empty.

    `cells` has the columns grp (row), other (column), value, n.
    """
    names = sorted(set(cells["grp"]) | set(cells["other"]))
    wide = cells.pivot_table(index="grp", columns="other", values="value", aggfunc="first", dropna=False)
    values = wide.reindex(index=names, columns=names).to_numpy(dtype=float, copy=True)
    if not diagonal:
        np.fill_diagonal(values, np.nan)
    shown = [theme.escape(display.name(display.words(name), 36)) for name in names]
    reach = float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 1.0
    scale = (
        [[0, theme.VERMILION], [0.5, "rgba(127, 127, 127, 0.10)"], [1, theme.BLUE]]
        if centered
        else [[0, "rgba(0, 114, 178, 0.04)"], [1, theme.BLUE]]
    )
    grid = go.Heatmap(
        z=values,
        x=list(range(len(names))),
        y=list(range(len(names))),
        zmin=-reach if centered else None,
        zmax=reach if centered else None,
        colorscale=scale,
        customdata=[
            [
                [theme.escape(row), theme.escape(column), theme.written(value, tick)]
                for column, value in zip(names, line, strict=True)
            ]
            for row, line in zip(names, values, strict=True)
        ],
        hovertemplate=(
            f"{rows}: <b>%{{customdata[0]}}</b><br>{columns}: <b>%{{customdata[1]}}</b>"
            f"<br>{value_name} %{{customdata[2]}}<extra></extra>"
        ),
        hoverongaps=False,
        xgap=1,
        ygap=1,
        colorbar={
            "title": {"text": value_name, "side": "right"},
            "tickformat": tick,
            "thickness": 12,
            "outlinewidth": 0,
        },
    )
    figure = theme.figure(grid, height=MARGIN + (17 if len(names) > 24 else 26) * max(6, len(names)))
    few = len(names) <= NAMED
    axis = {"tickmode": "array", "tickvals": list(range(len(names))), "showgrid": False, "zeroline": False}
    font = {"size": 11 if len(names) > 24 else 12}
    across = len(names) <= NAMED_ACROSS
    title = columns if across else f"{columns}, in the order of the rows"
    figure.update_xaxes(**axis, ticktext=shown, showticklabels=across, tickangle=-60, tickfont=font, title_text=title)
    figure.update_yaxes(**axis, ticktext=shown if few else None, autorange="reversed", tickfont=font, title_text=rows)
    return figure
