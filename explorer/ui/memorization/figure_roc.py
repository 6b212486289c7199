"""How well scores of memorization tell right from wrong answers: true against false positives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme

HEIGHT = 440
DRAWN = ("right", "wrong")  # in this order, which legends have, too: the rarer ones lie over the others
BINS = 40


def roc_curves(curves: Mapping[str, tuple[Sequence[float], Sequence[float], float]]) -> go.Figure:
    """A line per name: (false positive rates, true positive rates, area); the diagonal is a coin's.

    Corners are joined straight: equal scores are told apart by chance, as the area counts them.
    """
    traces: list[go.Scatter] = [
        go.Scatter(
            x=[0, 1], y=[0, 1], mode="lines", name="a coin", line={"color": theme.GRAY, "width": 1, "dash": "dot"},
            hoverinfo="skip",
        )
    ]  # fmt: skip
    for number, (name, (false, true, area)) in enumerate(curves.items()):
        traces.append(
            go.Scatter(
                x=list(false),
                y=list(true),
                mode="lines",
                name=f"{name}, AUC {area:.2f}",
                # A color is one model's everywhere.
                line={"color": theme.GRAY, "width": 2, "dash": theme.DASHES[number % len(theme.DASHES)]},
                hovertemplate=f"%{{y:.0%}} of right answers at %{{x:.0%}} of wrong ones<extra>{name}</extra>",
            )
        )
    figure = theme.figure(*traces, height=HEIGHT)
    figure.update_xaxes(title_text="Wrong answers taken for right", tickformat=".0%", range=[-0.01, 1.01])
    figure.update_yaxes(title_text="Right answers found", tickformat=".0%", range=[-0.01, 1.01])
    return figure


def areas(rows: pd.DataFrame) -> go.Figure:
    """A dot per attack: the AUC of its classifier with its interval, gray where the score decides the verdict itself.

    `rows` has the columns attack, value, low, high, n, decides (whether it does), the best first.
    """
    rows = rows.iloc[::-1]
    places = list(range(len(rows)))
    traces = []
    for decides, color, name in (
        (False, theme.BLUE, "AUC with its 95% interval"),
        (True, theme.GRAY, "shares its log-probabilities with the verdict"),
    ):
        decides_so = (rows["decides"] == decides).tolist()
        part = rows[decides_so]
        if part.empty:
            continue
        traces.append(
            go.Scatter(
                x=part["value"],
                y=[place for place, keep in zip(places, decides_so, strict=True) if keep],
                mode="markers",
                name=name,
                marker={"size": 10, "color": color, "symbol": "circle-open" if decides else "circle"},
                error_x=theme.interval_bars(part["value"], part["low"], part["high"], color),
                customdata=[
                    theme.hover(
                        str(row["attack"]),
                        f"AUC {display.number(row['value'], 3)} ({display.number(row['low'], 3)} to "
                        f"{display.number(row['high'], 3)}), {row['n']:,.0f} instances",
                    )
                    for row in part.to_dict("records")
                ],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
    figure = theme.figure(*traces, height=110 + 30 * len(rows))
    figure.add_vline(x=0.5, line={"color": theme.GRAY, "width": 1, "dash": "dot"})
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text="AUC, 0.5 by chance", range=[min(0.4, float(rows["low"].min()) - 0.02), 1.02])
    figure.update_yaxes(
        tickmode="array", tickvals=places, ticktext=[theme.escape(str(name)) for name in rows["attack"]],
        range=[-0.7, len(rows) - 0.3],
    )  # fmt: skip
    return figure


def two_scores(items: pd.DataFrame, title: str, unit: str, counts: Mapping[str, int]) -> go.Figure:
    """A dot per instance: the score of the right text against that of the other; on the line both are alike.

    `items` has the columns instance_id, text, own, other, verdict; a dot carries its instance's id. `counts` says of
    each verdict how many instances have it, of which perhaps not all are drawn.
    """
    dots = theme.dots(len(items))
    traces = [
        dots(
            x=part["other"], y=part["own"], mode="markers", name=f"{name} ({counts[str(name)]:,})",
            marker={"size": 6, "color": theme.VERDICTS.get(str(name), theme.GRAY)},
            customdata=[
                [
                    row["instance_id"],
                    theme.hover(
                        str(row["text"] or row["instance_id"]),
                        f"{row['verdict']}; right text {display.number(row['own'], 3)}, "
                        f"other {display.number(row['other'], 3)}",
                    ),
                ]
                for row in part.to_dict("records")
            ],
            hovertemplate="%{customdata[1]}<extra></extra>",
        )
        for name, part in sorted(items.groupby("verdict", sort=False), key=_place)
    ]  # fmt: skip
    figure = theme.figure(*traces, height=HEIGHT, dragmode="select")
    figure.update_layout(showlegend=True, margin={"t": 50})
    if len(items):
        values = items[["own", "other"]].to_numpy(dtype=float)
        ends = [values.min(), values.max()]
        figure.add_trace(
            go.Scatter(
                x=ends, y=ends, mode="lines", line={"color": theme.GRAY, "width": 1, "dash": "dot"}, hoverinfo="skip",
                showlegend=False,
            )
        )  # fmt: skip
    within = f", in {unit}" if unit.startswith("nats") else ""
    figure.update_xaxes(title_text=f"{theme.escape(title)} of the other text{theme.escape(within)}")
    figure.update_yaxes(title_text=f"{theme.escape(title)} of the right text{theme.escape(within)}")
    return figure


def one_score(values: Mapping[str, Sequence[float]], title: str) -> go.Figure:
    """How many texts have which score, the right and the wrong answers over one another, in the same bins."""
    every = [value for scores in values.values() for value in scores]
    low, high = min(every, default=0.0), max(every, default=1.0)
    width = (high - low) / BINS or 1.0
    traces = [
        go.Histogram(
            x=list(scores), name=f"{name} ({len(scores):,})", opacity=0.6,
            marker={"color": theme.VERDICTS.get(name, theme.GRAY)},
            xbins={"start": low - width / 2, "end": high + width, "size": width},
            hovertemplate=f"%{{y:,}} {name} at %{{x}}<extra></extra>",
        )
        for name, scores in values.items()
    ]  # fmt: skip
    figure = theme.figure(*traces, height=HEIGHT, barmode="overlay")
    figure.update_xaxes(title_text=theme.escape(title))
    figure.update_yaxes(title_text="Texts")
    return figure


def _place(group: tuple[Any, pd.DataFrame]) -> int:
    verdict = str(group[0])
    return DRAWN.index(verdict) if verdict in DRAWN else len(DRAWN)
