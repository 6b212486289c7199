"""Bars of every task in one picture, formal tasks above and functional below, with the line of the dummy."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer import display
from explorer.figures import theme

PANEL = 270  # pixels of a row of bars
ROOM = 0.8  # of a task's place that its bars take
PALE = 0.55


def bars_by_task(rows: pd.DataFrame, fields: Sequence[str]) -> go.Figure:
    """A row of bars a field: a group per task, a bar per attack, and over each bar the line of the dummy in gray.

    `rows` has the columns field, task, attack, value, dummy, n, decides (the score shares the verdict's number).
    """
    shown = [field for field in fields if field in set(rows["field"])]
    attacks = list(dict.fromkeys(rows.sort_values("decides", kind="stable")["attack"]))
    colors = dict(zip(attacks, theme.in_order(len(attacks)), strict=True))
    width = ROOM / max(1, len(attacks))
    figure = make_subplots(
        rows=len(shown), cols=1, subplot_titles=[theme.escape(field) for field in shown], vertical_spacing=0.16
    )
    for number, field in enumerate(shown, 1):
        of_field = rows[rows["field"] == field]
        tasks = list(dict.fromkeys(of_field["task"]))
        place = {task: float(order) for order, task in enumerate(tasks)}
        lines_x: list[float | None] = []
        lines_y: list[float | None] = []
        for order, attack in enumerate(attacks):
            bars = of_field[of_field["attack"] == attack]
            if bars.empty:
                continue
            middles = [place[task] - ROOM / 2 + width * (order + 0.5) for task in bars["task"]]
            decides = bool(bars["decides"].iloc[0])
            figure.add_trace(
                go.Bar(
                    x=middles, y=bars["value"], width=width * 0.92, name=theme.escape(attack), legendgroup=attack,
                    showlegend=number == 1 or attack not in set(rows.loc[rows["field"] == shown[0], "attack"]),
                    marker={"color": colors[attack], "opacity": PALE if decides else 1.0},
                    customdata=[
                        theme.hover(
                            f"{row['task']}, {attack}",
                            f"macro-F1 {display.number(row['value'], 3)}, dummy {display.number(row['dummy'], 3)}, "
                            f"n = {row['n']:,.0f}",
                        )
                        for row in bars.to_dict("records")
                    ],
                    hovertemplate="%{customdata}<extra></extra>",
                ),
                row=number, col=1,
            )  # fmt: skip
            for middle, dummy in zip(middles, bars["dummy"], strict=True):
                if dummy == dummy:
                    lines_x += [middle - width / 2, middle + width / 2, None]
                    lines_y += [dummy, dummy, None]
        figure.add_trace(
            go.Scatter(
                x=lines_x, y=lines_y, mode="lines", line={"color": theme.GRAY, "width": 3}, name="dummy",
                legendgroup="dummy", showlegend=number == 1, hoverinfo="skip",
            ),
            row=number, col=1,
        )  # fmt: skip
        figure.update_xaxes(
            tickvals=list(place.values()), ticktext=[theme.broken(task) for task in tasks], tickangle=0,
            range=[-0.55, max(1, len(tasks)) - 0.45], row=number, col=1,
        )  # fmt: skip
    figure.update_layout(theme.layout(height=PANEL * len(shown) + 120))
    figure.update_layout(
        showlegend=True, barmode="overlay", margin={"t": 84}
    )  # fmt: skip
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(title_text="Macro-F1", range=[0, 1.02])
    return figure
