"""How many members each attack finds at few false alarms, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme
from explorer.studies.memorization.membership import AttackResult
from explorer.studies.memorization.rows import Attack


def found_at(results: Sequence[AttackResult], attacks: Mapping[str, Attack]) -> go.Figure:
    """Two dots an attack, one a rate of false alarms; the dotted lines are what chance finds. The best is on top."""
    rows = list(results)[::-1]
    figure = theme.figure(height=120 + 36 * max(4, len(rows)))
    rates = [at.rate for at in rows[0].at] if rows else []
    for number, (rate, color) in enumerate(zip(rates, theme.in_order(2), strict=False)):
        shown = [(place, row) for place, row in enumerate(rows) if row.at[number].value == row.at[number].value]
        values = [row.at[number].value for _, row in shown]
        figure.add_trace(
            go.Scatter(
                x=values,
                y=[place + (0.14 if number else -0.14) for place, _ in shown],
                mode="markers",
                name=f"at {rate:.0%} false alarms",
                marker={"size": 9, "color": color},
                cliponaxis=False,
                error_x=theme.interval_bars(
                    values, [row.at[number].low for _, row in shown], [row.at[number].high for _, row in shown], color
                ),
                customdata=[
                    theme.hover(
                        attacks[row.attack].title,
                        f"{display.share(row.at[number].value, row.at[number].low, row.at[number].high)} of "
                        f"{row.at[number].members:,} members at {rate:.0%} false alarms",
                    )
                    for _, row in shown
                ],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
        figure.add_vline(x=rate, line={"color": color, "width": 1, "dash": "dot"})
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text="Members found", tickformat=".0%", rangemode="tozero", nticks=5)
    figure.update_yaxes(
        tickmode="array", tickvals=list(range(len(rows))), range=[-0.7, len(rows) - 0.3],
        ticktext=[theme.escape(attacks[row.attack].title) for row in rows],
    )  # fmt: skip
    return figure
