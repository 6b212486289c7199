"""What comes next: the likeliest tokens in the corpus, in its longest known ending, and by a model, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme

MOST = 8
ROW = 27
APART = 0.14  # of the figure's width, from one column to the next


@dataclass(frozen=True, slots=True)
class Guess:
    """Who says what comes next: its name, and tokens with their probabilities, the likeliest first.

    Without tokens `reason` says why.
    """

    name: str
    tokens: tuple[tuple[str, float], ...]
    reason: str = ""


def next_tokens(guesses: Sequence[Guess]) -> go.Figure:
    """A column of bars a source, all on one scale; a token that two sources name has one color in both.

    A source that has none says why in its column, without axes.
    """
    named = [token for guess in guesses for token, _ in guess.tokens[:MOST]]
    shared = [token for token in dict.fromkeys(named) if named.count(token) > 1]
    colors = dict(zip(shared, theme.in_order(len(shared)), strict=True))
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"annotations": []}
    wide = (1 - APART * (len(guesses) - 1)) / max(1, len(guesses))
    for column, guess in enumerate(guesses):
        shown, place = guess.tokens[:MOST], "" if column == 0 else str(column + 1)
        left = column * (wide + APART)
        traces.append({
            "type": "bar", "orientation": "h", "xaxis": f"x{place}", "yaxis": f"y{place}", "showlegend": False,
            "x": [share for _, share in shown], "y": list(range(len(shown))),
            "marker": {"color": [colors.get(token, theme.GRAY) for token, _ in shown]},
            "text": [display.probability(share) for _, share in shown], "textposition": "outside", "cliponaxis": False,
            "customdata": [theme.hover(f"“{token}”", display.probability(share)) for token, share in shown],
            "hovertemplate": "%{customdata}<extra></extra>",
        })  # fmt: skip
        layout[f"xaxis{place}"] = {
            "domain": [left, left + wide], "anchor": f"y{place}", "range": [0, 1.25], "tickvals": [0, 0.5, 1],
            "tickformat": ".0%", "title": {"text": "Probability"}, "showgrid": False, "fixedrange": True,
            "visible": bool(shown),
        }  # fmt: skip
        layout[f"yaxis{place}"] = {
            "domain": [0, 1], "anchor": f"x{place}", "tickmode": "array", "tickvals": list(range(len(shown))),
            "ticktext": [_label(token) for token, _ in shown], "range": [MOST - 0.4, -0.6], "showgrid": False,
            "zeroline": False, "fixedrange": True, "visible": bool(shown),
        }  # fmt: skip
        layout["annotations"].append({
            "x": left + wide / 2, "y": 1, "xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom",
            "showarrow": False, "text": theme.hover(guess.name, wide=20), "font": {"size": 13},
        })  # fmt: skip
        if not shown:
            layout["annotations"].append({
                "x": 0.5, "y": 0.8, "xref": f"x{place} domain", "yref": f"y{place} domain", "showarrow": False,
                "text": theme.hover(guess.reason or "no token follows", wide=22), "font": {"size": 13},
            })  # fmt: skip
    margin = {"l": 20, "r": 16, "t": 54, "b": 8}
    return theme.figure(*traces, height=112 + ROW * MOST, margin=margin, bargap=0.2, **layout)


def _label(token: str) -> str:
    shown = token.replace("\n", "↵")
    return theme.escape(display.name(shown.strip(" ") or "␣", 18)) + "  "
