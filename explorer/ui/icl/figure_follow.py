"""Does performance follow memorization? A panel per setting; and memorized items against the others over k."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer import display
from explorer.figures import theme
from explorer.ui.icl.figure_curves import ASIDE, COLORS, PERCENT

SLANT = 0.4  # a direction counts as straight across or up below this slope
PANEL = 270  # pixels of a row of panels
BETWEEN = 84
FLAT = 0.1  # share above and below a line that does not vary


def memorization_against_performance(
    points: pd.DataFrame, names: Mapping[str, str], titles: Mapping[str, str] | None = None
) -> go.Figure:
    """A panel per setting: share memorized across, accuracy of labels up, a dot per number of demonstrations, joined in
    their order.

    `points` has the columns setting, k, memorized, accuracy; `titles` says more of a setting than its name.
    """
    settings = [name for name in COLORS if name in set(points["setting"])]
    columns = min(3, max(1, len(settings)))
    rows = max(1, math.ceil(len(settings) / columns))
    height = PANEL * rows + BETWEEN
    figure = make_subplots(
        rows=rows, cols=columns, shared_xaxes="all", shared_yaxes="all", horizontal_spacing=0.06,
        vertical_spacing=BETWEEN / height if rows > 1 else None,
        subplot_titles=[_in_two_lines((titles or {}).get(name, names[name])) for name in settings],
    )  # fmt: skip
    reach = tuple(float(points[name].max() - points[name].min()) or 1.0 for name in ("memorized", "accuracy"))
    for place, setting in enumerate(settings):
        curve = points[points["setting"] == setting].sort_values("k")
        figure.add_trace(
            go.Scatter(
                x=curve["memorized"],
                y=curve["accuracy"],
                mode="lines+markers+text",
                name=names[setting],
                text=_labels(curve),
                textposition=_away(list(zip(curve["memorized"], curve["accuracy"], strict=True)), reach),
                textfont={"size": 13, "weight": 600},
                cliponaxis=False,
                line={"color": COLORS[setting], "width": 1.2},
                marker={"size": 9, "color": COLORS[setting]},
                showlegend=False,
                customdata=[
                    theme.hover(
                        f"{names[setting]}, k = {row['k']}",
                        f"{display.share(row['memorized'])} memorized, {display.share(row['accuracy'])} right labels",
                    )
                    for row in curve.to_dict("records")
                ],
                hovertemplate="%{customdata}<extra></extra>",
            ),
            row=place // columns + 1,
            col=place % columns + 1,
        )
    figure.update_layout(theme.layout(height=height, margin={"l": 8, "r": 16, "t": 64, "b": 8}))
    figure.update_annotations(font={"size": 14}, yshift=12)  # clear of the names of the highest dots
    figure.update_xaxes(tickformat=PERCENT, showticklabels=True)
    figure.update_yaxes(tickformat=PERCENT)
    if points["accuracy"].nunique() == 1:  # Plotly would make room for shares below 0% and above 100%
        level = float(points["accuracy"].iloc[0])
        figure.update_yaxes(range=[max(0.0, level - FLAT), min(1.0, level + FLAT)])
    for row in range(1, rows + 1):
        figure.update_yaxes(title_text="Accuracy of labels", row=row, col=1)
    # Once for the row: at the width of a phone the titles of three panels would stand in each other.
    figure.update_xaxes(title_text="Memorized (exact or near-exact)", row=rows, col=(columns + 1) // 2)
    return figure


def _in_two_lines(title: str) -> str:
    """A panel's title with what more is said of it beneath."""
    return "<br>".join(theme.escape(part) for part in title.split(": ", 1))


def _away(spots: Sequence[tuple[float, float]], reach: Sequence[float]) -> list[str]:
    """On which side of each dot its name lies on no line: opposite to the dots before and after it.

    `reach` is how far all dots lie apart, across and up, since a direction is as it is drawn.
    """
    sides = []
    for place, (x, y) in enumerate(spots):
        across, up = 0.0, 0.0
        for other_x, other_y in (*spots[max(0, place - 1) : place], *spots[place + 1 : place + 2]):
            way = complex((other_x - x) / reach[0], (other_y - y) / reach[1])
            if abs(way):
                across, up = across - way.real / abs(way), up - way.imag / abs(way)
        level = "middle" if abs(up) < SLANT * abs(across) else "top" if up >= 0 else "bottom"
        side = "center" if abs(across) < SLANT * abs(up) or not across else "right" if across > 0 else "left"
        sides.append(f"{level} {side}")
    return sides


def _labels(curve: pd.DataFrame) -> list[str]:
    """The k of each dot, one label where several dots lie on each other: "k = 0", "5", "10, 25"."""
    spots = [(round(row["memorized"], 3), round(row["accuracy"], 3)) for row in curve.to_dict("records")]
    ks = [f"{k}" for k in curve["k"]]
    labels = []
    for place, spot in enumerate(spots):
        alike = [k for k, other in zip(ks, spots, strict=True) if other == spot]
        first = spots.index(spot) == place
        labels.append((("k = " if not place else "") + ", ".join(alike)) if first else "")
    return labels


def gaps_over_k(gaps: pd.DataFrame, names: Mapping[str, str]) -> go.Figure:
    """A dot per setting and k: accuracy of memorized items less that of others, with its interval where there is one.

    `gaps` has the columns setting, k, value, low, high (shares), n.
    """
    most = max(float(gaps["k"].max()), 1.0)
    traces = []
    for setting in (name for name in COLORS if name in set(gaps["setting"])):
        rows = gaps[gaps["setting"] == setting].sort_values("k")
        value, low, high = (theme.points(rows[end]) for end in ("value", "low", "high"))
        traces.append(
            go.Scatter(
                x=rows["k"] + most * ASIDE.get(setting, 0),
                y=value,
                mode="markers",
                name=names[setting],
                marker={"size": 9, "color": COLORS[setting]},
                error_y=theme.interval_bars(value, low, high, COLORS[setting], 1.2),
                customdata=[
                    theme.hover(
                        f"{names[setting]}, k = {row['k']}",
                        f"{display.points(row['value'])} points ({display.points(row['low'])} to "
                        f"{display.points(row['high'])}), {row['n']:,.0f} items",
                    )
                    for row in rows.to_dict("records")
                ],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )  # fmt: skip
    figure = theme.figure(*traces, height=320)
    figure.add_hline(y=0, line={"color": theme.GRAY, "width": 1})
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text="Demonstrations (k)", tickvals=sorted(set(gaps["k"])))
    figure.update_yaxes(title_text="Memorized less other items, in points", tickformat="+")
    return figure
