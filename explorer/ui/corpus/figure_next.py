"""What comes next: the likeliest tokens in the corpus, in its longest known ending, and by a model, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer import display
from explorer.figures import theme

MOST = 8
ROW = 27


@dataclass(frozen=True, slots=True)
class Guess:
    """Who says what comes next: its name, and tokens with their probabilities, the likeliest first.

    Without tokens `reason` says why.
    """

    name: str
    tokens: tuple[tuple[str, float], ...]
    reason: str = ""


def next_tokens(guesses: Sequence[Guess]) -> go.Figure:
    """A column of bars a source, all on one scale; a token that two sources name has one color in both."""
    named = [token for guess in guesses for token, _ in guess.tokens[:MOST]]
    shared = [token for token in dict.fromkeys(named) if named.count(token) > 1]
    colors = {token: theme.PALETTE[i] for i, token in enumerate(shared[: len(theme.PALETTE) - 1])}
    figure = make_subplots(
        rows=1, cols=len(guesses), horizontal_spacing=0.14,
        subplot_titles=[theme.hover(guess.name, wide=20) for guess in guesses],
    )  # fmt: skip
    for column, guess in enumerate(guesses, 1):
        shown = guess.tokens[:MOST]
        figure.add_trace(
            go.Bar(
                x=[share for _, share in shown],
                y=list(range(len(shown))),
                orientation="h",
                marker={"color": [colors.get(token, theme.GRAY) for token, _ in shown]},
                text=[display.probability(share) for _, share in shown],
                textposition="outside",
                cliponaxis=False,
                customdata=[theme.hover(f"“{token}”", display.probability(share)) for token, share in shown],
                hovertemplate="%{customdata}<extra></extra>",
                showlegend=False,
            ),
            row=1, col=column,
        )  # fmt: skip
        figure.update_xaxes(
            range=[0, 1.25], tickvals=[0, 0.5, 1], tickformat=".0%", showgrid=False, row=1, col=column, fixedrange=True
        )
        figure.update_yaxes(
            tickmode="array", tickvals=list(range(len(shown))), ticktext=[_label(token) for token, _ in shown],
            range=[MOST - 0.4, -0.6], showgrid=False, zeroline=False, row=1, col=column, fixedrange=True,
        )  # fmt: skip
        if not shown:
            place = "" if column == 1 else str(column)
            figure.add_annotation(
                x=0.5, y=0.8, xref=f"x{place} domain", yref=f"y{place} domain", showarrow=False,
                text=theme.hover(guess.reason or "no token follows", wide=22), font={"size": 13},
            )  # fmt: skip
    figure.update_annotations(font_size=13)
    return figure.update_layout(theme.figure(height=90 + ROW * MOST).layout, overwrite=False).update_layout(
        template=theme.template(), height=90 + ROW * MOST, margin={"l": 8, "r": 16, "t": 54, "b": 8}, bargap=0.2
    )


def _label(token: str) -> str:
    shown = token.replace("\n", "↵")
    return theme.escape(display.name(shown.strip(" ") or "␣", 18)) + "  "
