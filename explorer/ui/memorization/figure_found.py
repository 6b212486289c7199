"""How many members each attack finds at few false alarms, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme
from explorer.studies.memorization.membership import Found
from explorer.studies.memorization.rows import Attack


def found_at(found: Sequence[Found], attacks: Mapping[str, Attack]) -> go.Figure:
    """Two dots an attack, one a rate of false alarms; the dotted lines are what chance finds. The best is on top."""
    rows = list(found)[::-1]
    figure = theme.figure(height=120 + 36 * max(4, len(rows)))
    rates = [at.rate for at in rows[0].at] if rows else []
    for number, (rate, color) in enumerate(zip(rates, (theme.BLUE, theme.VERMILION), strict=False)):
        shown = [(place, one) for place, one in enumerate(rows) if one.at[number].value == one.at[number].value]
        values = [one.at[number].value for _, one in shown]
        figure.add_trace(
            go.Scatter(
                x=values,
                y=[place + (0.14 if number else -0.14) for place, _ in shown],
                mode="markers",
                name=f"at {rate:.0%} false alarms",
                marker={"size": 9, "color": color},
                error_x=theme.interval_bars(
                    values, [one.at[number].low for _, one in shown], [one.at[number].high for _, one in shown], color
                ),
                customdata=[
                    theme.hover(
                        attacks[one.attack].title,
                        f"{display.share(one.at[number].value, one.at[number].low, one.at[number].high)} of "
                        f"{one.at[number].members:,} members at {rate:.0%} false alarms",
                    )
                    for _, one in shown
                ],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
        figure.add_vline(x=rate, line={"color": color, "width": 1, "dash": "dot"})
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text="Members found", tickformat=".0%", rangemode="tozero", nticks=5)
    figure.update_yaxes(
        tickmode="array", tickvals=list(range(len(rows))), range=[-0.7, len(rows) - 0.3],
        ticktext=[theme.escape(attacks[one.attack].title) for one in rows],
    )  # fmt: skip
    return figure
