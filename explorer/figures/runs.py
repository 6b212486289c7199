"""Several runs side by side: a dot per run with its interval, row by row."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme
from explorer.figures.models import model_colors
from explorer.finding import Unit

ROW, APART = 26, 0.16  # pixels a row; how far the runs of a row stand apart, in rows
MOST_ROWS = 40
FORMATS: Mapping[str, str] = {"share": ".1%", "points": "+.1%", "nats": ".2f", "count": ",.0f", "AUC": ".3f"}


def dots_of_runs(rows: pd.DataFrame, unit: Unit | str, title: str, *, first: str = "") -> go.Figure:
    """A dot per run in each row, with its 95% interval where it has one; at most `MOST_ROWS` rows.

    Rows in which the runs lie widest apart stand at the top, of one run alone the highest; the row `first` above all.

    `rows` has the columns run (its name, in the order of the legend), row (its label), value, low, high, n.
    """
    runs = list(dict.fromkeys(rows["run"]))
    by_row = rows.groupby("row", sort=False)["value"]
    rank = by_row.max() - by_row.min() if len(runs) > 1 else by_row.max()
    if first in rank.index:
        rank[first] = math.inf
    labels = list(rank.sort_values(kind="stable", na_position="first").index)[-MOST_ROWS:]
    place = {label: number for number, label in enumerate(labels)}
    number = FORMATS.get(unit, ".3~g")
    apart = min(APART, 0.7 / max(1, len(runs)))
    traces = []
    for order, (run, color) in enumerate(zip(runs, model_colors(runs), strict=True)):
        run_rows = rows[(rows["run"] == run) & rows["row"].isin(labels)]
        shift = apart * ((len(runs) - 1) / 2 - order)
        traces.append(
            go.Scatter(
                x=run_rows["value"],
                y=[place[label] + shift for label in run_rows["row"]],
                mode="markers",
                name=theme.escape(display.name(run, 60)),
                showlegend=len(runs) > 1,
                marker={"size": 9, "color": color},
                error_x=theme.interval_bars(run_rows["value"], run_rows["low"], run_rows["high"], color),
                customdata=[
                    [
                        theme.escape(str(row["row"])),
                        _with_interval(row["value"], row["low"], row["high"], number),
                        f"{0 if pd.isna(row['n']) else int(row['n']):,}",
                    ]
                    for row in run_rows.to_dict("records")
                ],
                hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}"
                "<br>n = %{customdata[2]}<extra>" + theme.escape(run) + "</extra>",
            )
        )
    legend = 24 * -(-len(runs) // 3) * (len(runs) > 1)  # the legend wraps where names are long
    figure = theme.figure(*traces, height=80 + legend + max(ROW, 9 * len(runs)) * max(2, len(labels)))
    figure.update_xaxes(title_text=theme.escape(title), tickformat=".3~%" if number[-1] == "%" else None)
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(place.values()),
        ticktext=[theme.escape(display.name(str(label))) for label in labels],
        range=[-0.7, max(1, len(labels)) - 0.3],
    )
    return figure


def _with_interval(value: float, low: float, high: float, number: str) -> str:
    shown, least, most = (theme.written(value_or_end, number) for value_or_end in (value, low, high))
    return shown if pd.isna(low) or pd.isna(high) else f"{shown} ({least} to {most})"
