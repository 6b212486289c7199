"""Are popular instances answered better? Accuracy along the popularity score, in bins and as a fitted chance."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme
from explorer.stats.logistic import LogisticCurve


def popularity_curve(
    bins: pd.DataFrame,
    chance: LogisticCurve | None,
    *,
    score: str,
    tick: str,
    overall: float,
    color: str,
    write: Callable[[float], str] = display.number,
) -> go.Figure:
    """A dot per quantile bin of the score with its interval; the logistic curve with its band; the overall accuracy.

    `bins` has the columns value, low, high (shares), n, mean, lowest, highest (of the score). `score` names the score,
    `tick` is the format of its axis, `write` tells one of its values, `color` is the model's. A dot carries the number
    of its row.
    """
    traces: list[go.Scatter] = []
    if chance is not None:
        traces += [
            go.Scatter(
                x=[*chance.x, *chance.x[::-1]], y=[*chance.high, *chance.low[::-1]], fill="toself", mode="none",
                fillcolor="rgba(127, 127, 127, 0.16)", hoverinfo="skip", showlegend=False,
            ),
            go.Scatter(
                x=chance.x, y=chance.chance, mode="lines", name="logistic regression, with its 95% band",
                line={"color": theme.GRAY, "width": 2.5},
                hoverinfo="skip",
            ),
        ]  # fmt: skip
    traces.append(
        go.Scatter(
            x=bins["mean"],
            y=bins["value"],
            mode="markers",
            name="bins of the score, with their 95% intervals",
            marker={"size": 9, "color": color},
            error_y=theme.interval_bars(bins["value"], bins["low"], bins["high"], color),
            customdata=[
                [
                    place,
                    theme.hover(
                        f"{score} from {write(row['lowest'])} to {write(row['highest'])}",
                        f"{display.share(row['value'])} right ({display.share(row['low'])} to "
                        f"{display.share(row['high'])}), {display.counted(int(row['n']), 'instance')}",
                    ),
                ]
                for place, row in enumerate(bins.to_dict("records"))
            ],
            hovertemplate="%{customdata[1]}<extra></extra>",
        )
    )
    figure = theme.figure(*traces, height=380)
    figure.add_hline(y=overall, line={"color": theme.GRAY, "width": 1, "dash": "dot"})
    # On the side where the dots lie farther from the line, so that its name stands on none.
    ends = [abs(float(bins["value"].iloc[place]) - overall) for place in (0, -1)]
    side = {"x": 0, "xanchor": "left"} if ends[0] > ends[1] else {}
    figure.add_annotation({**theme.line_name(f"all {display.share(overall)}", overall), **side})
    figure.update_xaxes(title_text=score, tickformat=tick, range=_across(bins))
    figure.update_yaxes(title_text="Accuracy", tickformat=".0%", range=_up(bins, overall))
    figure.update_layout(showlegend=True)
    return figure


def _across(bins: pd.DataFrame) -> list[float]:
    """An axis that holds the dots: the few scores far out would squeeze all bins together."""
    first, last = float(bins["mean"].min()), float(bins["mean"].max())
    margin = 0.06 * (last - first) or 0.5
    return [first - margin, last + margin]


def _up(bins: pd.DataFrame, overall: float) -> list[float]:
    """An axis that holds the dots, their intervals and the overall accuracy, and at least 20 points."""
    low, high = min(overall, *bins["low"]), max(overall, *bins["high"])
    reach = max((high - low) / 2 + 0.02, 0.1)
    top = min(1.02, (low + high) / 2 + reach)
    return [max(-0.02, top - 2 * reach), top]
