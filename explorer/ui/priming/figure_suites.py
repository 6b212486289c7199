"""Suite by suite: accuracy without a context against accuracy after the longest, and the suites that move most."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme
from explorer.ui.priming.figure_curves import LOOKS, name_of

ROW = 22


def baseline_against_longest(suites: pd.DataFrame, *, stereotypes: bool = False) -> go.Figure:
    """A dot per suite and condition. `suites` has the columns grp, condition, baseline, longest, longest_length."""
    traces: list[go.Scatter] = [
        go.Scatter(
            x=[0, 1], y=[0, 1], mode="lines", line={"color": theme.GRAY, "width": 1, "dash": "dot"}, hoverinfo="skip",
            name="no change", showlegend=True,
        )
    ]  # fmt: skip
    for condition in (name for name in LOOKS if name in set(suites["condition"])):
        of_condition, look = suites[suites["condition"] == condition], LOOKS[condition]
        name = name_of(condition, stereotypes=stereotypes)
        traces.append(
            go.Scatter(
                x=of_condition["baseline"],
                y=of_condition["longest"],
                mode="markers",
                name=name,
                # Suites of both conditions often lie on one place: a diamond within a ring hides neither.
                marker={"size": 14, "color": look.color, "symbol": "circle-open", "line": {"width": 2}}
                if look.symbol == "circle"
                else {"size": 7, "color": look.color, "symbol": look.symbol},
                customdata=[
                    [
                        f"{row['grp']}|{condition}",
                        theme.hover(
                            f"{display.words(str(row['grp']))}, {name}",
                            f"{display.share(row['baseline'])} without a context, {display.share(row['longest'])} "
                            f"after {row['longest_length']:,} tokens",
                        ),
                    ]
                    for row in of_condition.to_dict("records")
                ],
                hovertemplate="%{customdata[1]}<extra></extra>",
            )
        )
    figure = theme.figure(*traces, height=460)
    figure.update_layout(showlegend=True)
    least = float(np.nanmin(suites[["baseline", "longest"]].to_numpy(dtype=float)))
    ends = [max(0.0, least - 0.05) - 0.03 if least == least else -0.03, 1.03]
    figure.update_xaxes(title_text="Accuracy without a context", tickformat=".0%", range=ends)
    figure.update_yaxes(title_text="Accuracy after the longest context", tickformat=".0%", range=ends)
    return figure


def moved_suites(suites: pd.DataFrame, published: pd.DataFrame) -> go.Figure:
    """A dot per suite: its mean change of accuracy over lengths, a line for its sd, a ring for the published change.

    `suites` has the columns grp, delta, sd in the order to be shown, the first at the top; `published` grp, delta, sd.
    """
    rows = suites.iloc[::-1]
    names = list(rows["grp"])
    place = {name: number for number, name in enumerate(names)}
    traces = [
        go.Scatter(
            x=theme.points(rows["delta"]),
            y=list(place.values()),
            mode="markers",
            name="this run",
            marker={"size": 9, "color": theme.LEAST},
            error_x={
                "type": "data",
                "array": theme.points(rows["sd"].fillna(0)),
                "color": theme.LEAST,
                "thickness": 1.4,
                "width": 0,
            },
            customdata=[
                [
                    name,
                    theme.hover(
                        display.words(str(name)), f"{display.points(delta)} points on average over lengths, this run"
                    ),
                ]
                for name, delta in zip(names, rows["delta"], strict=True)
            ],
            hovertemplate="%{customdata[1]}<extra></extra>",
        )
    ]
    theirs = published[published["grp"].isin(names)]
    if len(theirs):
        traces.append(
            go.Scatter(
                x=theme.points(theirs["delta"]),
                y=[place[name] for name in theirs["grp"]],
                mode="markers",
                name="published, mean of six models",
                marker={"size": 10, "color": theme.MOST, "symbol": "circle-open", "line": {"width": 2}},
                customdata=[
                    [name, theme.hover(display.words(str(name)), f"{display.points(delta)} points, published")]
                    for name, delta in zip(theirs["grp"], theirs["delta"], strict=True)
                ],
                hovertemplate="%{customdata[1]}<extra></extra>",
            )
        )
    figure = theme.figure(*traces, height=96 + ROW * max(4, len(names)))
    figure.add_vline(x=0, line={"color": theme.GRAY, "width": 1})
    figure.update_layout(showlegend=len(traces) > 1)
    figure.update_xaxes(
        title_text="Change of accuracy in points, mean and standard deviation over lengths", tickformat="+"
    )
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(place.values()),
        ticktext=[theme.escape(display.name(display.words(str(name)))) for name in names],
        range=[-0.8, len(names) - 0.2],
    )
    return figure
