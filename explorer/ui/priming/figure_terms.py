"""The terms of a regression: a dot per term with its interval, on one side of zero or the other."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme

ROW = 30


def regression_terms(terms: pd.DataFrame, color: str) -> go.Figure:
    """`terms` has the columns term, estimate, low, high (log odds), p, in the order to be shown, the first at the top.

    Filled where the interval leaves out zero; `color` is the model's.
    """
    rows = terms.iloc[::-1]
    places = list(range(len(rows)))
    clear = ((rows["low"] > 0) | (rows["high"] < 0)).tolist()
    dots = go.Scatter(
        x=rows["estimate"],
        y=places,
        mode="markers",
        showlegend=False,
        marker={
            "size": 10,
            "color": color,
            "symbol": ["circle" if is_clear else "circle-open" for is_clear in clear],
            "line": {"width": 2, "color": color},
        },
        error_x=theme.interval_bars(rows["estimate"], rows["low"], rows["high"], color),
        customdata=[
            theme.hover(
                str(row["term"]),
                f"{display.number(row['estimate'], signed=True)} log odds ({display.number(row['low'], signed=True)} "
                f"to {display.number(row['high'], signed=True)}), {display.p_in_words(row['p'])}",
            )
            for row in rows.to_dict("records")
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )
    figure = theme.figure(dots, height=80 + ROW * max(2, len(rows)))
    figure.add_vline(x=0, line={"color": theme.GRAY, "width": 1})
    figure.update_xaxes(title_text="Change in the log odds of being right, with its 95% interval", zeroline=False)
    figure.update_yaxes(
        tickmode="array", tickvals=places, ticktext=[theme.escape(str(term)) for term in rows["term"]],
        range=[-0.7, len(rows) - 0.3], zeroline=False,
    )  # fmt: skip
    return figure
