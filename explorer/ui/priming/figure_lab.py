"""One pair, one context: how the margin moves with every sentence of it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import pairwise

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer import display
from explorer.figures import theme
from explorer.ui.priming.figure_curves import LOOKS

TYPED = "#a0522d"  # brown, which no model and no condition has
KINDS: Mapping[str, str] = {**{name: look.color for name, look in LOOKS.items()}, "typed": TYPED}


def margin_growth(margins: Sequence[float], sentences: Sequence[str], kinds: Sequence[str], unit: str) -> go.Figure:
    """Above, the margin without a context and after each sentence; below, what each sentence added.

    `margins` has one more value than `sentences`, in `unit`; `kinds` are keys of KINDS.
    """
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.66, 0.34], vertical_spacing=0.07)
    hover = ["no context", *(_wrapped(f"{i}. {text}") for i, text in enumerate(sentences, 1))]
    figure.add_trace(
        go.Scatter(
            x=list(range(len(margins))),
            y=list(margins),
            mode="lines+markers",
            line={"color": theme.GRAY, "width": 2},
            marker={
                "size": 11,
                "color": [theme.VERDICTS["right" if value > 0 else "wrong"] for value in margins],
                "symbol": ["circle" if value > 0 else "x" for value in margins],
            },
            customdata=[[display.number(value, signed=True), text] for value, text in zip(margins, hover, strict=True)],
            hovertemplate=f"%{{customdata[0]}} {unit}<br>%{{customdata[1]}}<extra></extra>",
            showlegend=False,
        ),
        row=1,
        col=1,
    )
    steps = [after - before for before, after in pairwise(margins)]
    figure.add_trace(
        go.Bar(
            x=list(range(1, len(margins))),
            y=steps,
            marker={"color": [KINDS[kind] for kind in kinds]},
            width=0.55,
            customdata=[[display.number(step, signed=True), text] for step, text in zip(steps, hover[1:], strict=True)],
            hovertemplate=f"adds %{{customdata[0]}} {unit}<br>%{{customdata[1]}}<extra></extra>",
            showlegend=False,
        ),
        row=2,
        col=1,
    )
    figure.update_layout(theme.layout(height=420))
    figure.add_hline(y=0, line={"color": theme.GRAY, "width": 1}, row=1, col=1)
    figure.add_hline(y=0, line={"color": theme.GRAY, "width": 1}, row=2, col=1)
    figure.update_yaxes(title_text=f"Margin ({unit})", row=1, col=1)
    figure.update_yaxes(title_text="Added", row=2, col=1)
    many = max(1, len(sentences))
    step = 1 if many <= 25 else 5
    figure.update_xaxes(
        tickmode="array", tickvals=list(range(0, many + 1, step)), range=[-0.6, many + 0.6], showgrid=False
    )
    figure.update_xaxes(title_text="Sentences of context", row=2, col=1)
    return figure


def _wrapped(text: str) -> str:
    return "<br>".join(theme.escape(line) for line in textwrap.wrap(text, 70))
