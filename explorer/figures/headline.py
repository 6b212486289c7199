"""The accuracy of every model on every benchmark that has a finished run."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from explorer.figures import theme
from explorer.figures.models import model_colors

ROW = 44


def headline(results: pd.DataFrame) -> go.Figure:
    """A row per benchmark, a dot per model with its interval.

    `results` has the columns benchmark, model, value, low, high (shares), n.
    """
    benchmarks = list(dict.fromkeys(results["benchmark"]))[::-1]
    models = list(dict.fromkeys(results["model"]))
    place = {name: number for number, name in enumerate(benchmarks)}
    traces = []
    for number, (model, color) in enumerate(zip(models, model_colors(models), strict=True)):
        rows = results[results["model"] == model]
        # Models of one benchmark stand a little above each other, so that intervals do not hide each other.
        shift = 0.0 if len(models) == 1 else 0.22 - 0.44 * number / (len(models) - 1)
        traces.append(
            go.Scatter(
                x=rows["value"],
                y=[place[name] + shift for name in rows["benchmark"]],
                mode="markers",
                name=theme.escape(str(model)),
                marker={"size": 10, "color": color},
                error_x=theme.interval_bars(rows["value"], rows["low"], rows["high"], color, 1.6),
                customdata=rows[["n"]].to_numpy(),
                hovertemplate="%{x:.1%} of %{customdata[0]} instances<extra>" + theme.escape(str(model)) + "</extra>",
            )
        )
    figure = theme.figure(*traces, height=100 + ROW * max(2, len(benchmarks)))
    figure.update_xaxes(tickformat=".0%", range=[0, 1.01], title_text="Accuracy, with its 95% interval")
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(place.values()),
        ticktext=[theme.escape(str(name)) for name in benchmarks],
        range=[-0.6, len(benchmarks) - 0.4],
    )
    figure.update_layout(showlegend=True)
    return figure
