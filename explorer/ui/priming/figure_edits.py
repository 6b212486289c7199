"""What mild changes of the context sentences do to their effect."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer import display
from explorer.figures import theme
from explorer.ui.priming.figure_curves import LOOKS, name_of

NAMES: Mapping[str, str] = {
    "none": "as they are",
    "prefix_adverb": "adverb before",
    "suffix_adverb": "adverb after",
    "long_prefix_adverb": "long adverb before",
    "clause": "added clause",
    "quotation": "quoted",
    "all": "all of these",
}
CHANGE = "Change of accuracy, in points"
COLORS = dict(zip(NAMES, (theme.GRAY, *theme.in_order(len(NAMES) - 1)), strict=True))
DASHES = dict(zip(NAMES, ("solid", *theme.DASHES), strict=True))


def edit_curves(curves: pd.DataFrame) -> go.Figure:
    """A line per edit over the tokens of context. `curves` has the columns setting, length, value, low, high, n."""
    traces = []
    for edit in (name for name in NAMES if name in set(curves["setting"])):
        curve = curves[curves["setting"] == edit].sort_values("length")
        traces.append(
            go.Scatter(
                x=curve["length"],
                y=theme.points(curve["value"]),
                mode="lines+markers",
                name=NAMES[edit],
                line={"color": COLORS[edit], "width": 3 if edit == "none" else 1.8, "dash": DASHES[edit]},
                marker={"size": 6},
                customdata=[
                    [*(display.points(row[name]) for name in ("value", "low", "high")), f"{row['n']:,.0f}"]
                    for row in curve.to_dict("records")
                ],
                hovertemplate="%{x:,} tokens: %{customdata[0]} points<br>%{customdata[1]} to %{customdata[2]} over "
                f"suites, %{{customdata[3]}} judgments<extra>{NAMES[edit]}</extra>",
            )
        )
    figure = theme.figure(*traces, height=360)
    figure.update_layout(showlegend=True)
    figure.add_hline(y=0, line={"color": theme.GRAY, "width": 1, "dash": "dot"})
    figure.update_xaxes(title_text="Tokens of context", rangemode="tozero")
    figure.update_yaxes(title_text=CHANGE, tickformat="+")
    return figure


def edit_effects(effects: pd.DataFrame) -> go.Figure:
    """A panel per condition, a dot per edit: how like the plain sentences, and the change of accuracy over all lengths.

    `effects` has the columns setting, condition, similarity, value, low, high.
    """
    conditions = [name for name in LOOKS if name in set(effects["condition"])]
    figure = make_subplots(
        rows=len(conditions), cols=1, shared_xaxes=True, vertical_spacing=0.12,
        subplot_titles=[f"{name_of(name)} contexts" for name in conditions],
    )  # fmt: skip
    for row, condition in enumerate(conditions, 1):
        of_condition, color = (
            effects[effects["condition"] == condition].sort_values("similarity"),
            LOOKS[condition].color,
        )
        value, low, high = (theme.points(of_condition[end]) for end in ("value", "low", "high"))
        figure.add_trace(
            go.Scatter(
                x=of_condition["similarity"],
                y=value,
                mode="markers+text",
                text=[NAMES[name] for name in of_condition["setting"]],
                # Neighbours' names would lie over each other on one side.
                textposition=["top right" if place % 2 else "bottom right" for place in range(len(of_condition))],
                textfont={"size": 12, "color": theme.GRAY},
                marker={"size": 10, "color": color},
                error_y=theme.interval_bars(value, low, high, color, 1.2),
                customdata=list(map(display.points, of_condition["value"])),
                hovertemplate="%{text}: token F1 %{x:.2f}, %{customdata} points<extra></extra>",
                showlegend=False,
            ),
            row=row,
            col=1,
        )
        figure.add_hline(y=0, line={"color": theme.GRAY, "width": 1, "dash": "dot"}, row=row, col=1)
        figure.update_yaxes(title_text=CHANGE, tickformat="+", row=row, col=1)
    figure.update_layout(theme.layout(height=60 + 250 * len(conditions)))
    figure.update_annotations(font={"size": 14})
    most = effects["similarity"].max()
    figure.update_xaxes(range=[effects["similarity"].min() - 0.03, most + 0.1])
    figure.update_xaxes(
        title_text="Token F1 of the changed with the plain context sentences", row=len(conditions), col=1
    )
    return figure
