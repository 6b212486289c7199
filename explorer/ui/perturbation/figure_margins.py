"""What swaps do to each instance, and to accuracy beside what the paper prints."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from explorer import display
from explorer.figures import theme
from explorer.figures.models import model_colors

# What became of an instance → its color; the words are those of the page.
FATES = ("right both times", "lost", "gained", "wrong both times")
COLORS: Mapping[str, str] = dict(zip(FATES, theme.TWO_AND_TWO, strict=True))
ROW = 26


def before_and_after(items: pd.DataFrame, label: str, counts: Mapping[str, int]) -> go.Figure:
    """A dot per instance: its margin (nats) before the swaps and after; on the line nothing changed.

    `items` has the columns instance_id, text, changed, fate (a key of COLORS), margin_before, margin_after; a dot
    carries its instance's id. `label` names the number on the axes; `counts` says how many instances have each fate, of
    which perhaps not all are drawn.
    """
    traces, dots = [], theme.dots(len(items))
    for fate, color in COLORS.items():
        part = items[items["fate"] == fate]
        if part.empty:
            continue
        traces.append(
            dots(
                x=part["margin_before"],
                y=part["margin_after"],
                mode="markers",
                name=f"{fate} ({counts[fate]:,})",
                marker={"size": 6 if fate == "right both times" else 8, "color": color},
                customdata=[
                    [
                        row["instance_id"],
                        theme.hover(
                            str(row["text"] or row["instance_id"]),
                            f"→ {row['changed']}" if row["changed"] else "",
                            f"{fate}; {label.lower()} {display.number(row['margin_before'])} → "
                            f"{display.number(row['margin_after'])} nats",
                        ),
                    ]
                    for row in part.to_dict("records")
                ],
                hovertemplate="%{customdata[1]}<extra></extra>",
            )
        )
    figure = theme.figure(*traces, height=440, dragmode="select")
    if len(items):
        both = items[["margin_before", "margin_after"]].to_numpy(dtype=float)
        ends = [both.min(), both.max()]
        figure.add_trace(
            go.Scatter(
                x=ends, y=ends, mode="lines", line={"color": theme.GRAY, "width": 1, "dash": "dot"}, hoverinfo="skip",
                showlegend=False,
            )
        )  # fmt: skip
        figure.add_vline(x=0, line={"color": theme.GRAY, "width": 1})
        figure.add_hline(y=0, line={"color": theme.GRAY, "width": 1})
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text=f"{label} before the swaps, in nats")
    figure.update_yaxes(title_text=f"{label} after the swaps, in nats")
    return figure


def changes_beside_the_paper(ours: pd.DataFrame, printed: pd.DataFrame, loose: pd.DataFrame) -> go.Figure:
    """Changes of accuracy in percent of the original: a dot per model of ours, a ring each that the paper prints.

    `ours`, `printed` and `loose` (ours, swapped as published: a diamond) have the columns task, model, change, and ours
    n. Tasks come in the order of `ours`.
    """
    tasks = list(dict.fromkeys(ours["task"]))[::-1]
    place = {task: number for number, task in enumerate(tasks)}
    printed = printed[printed["task"].isin(tasks)]
    models = list(dict.fromkeys(ours["model"]))
    traces = [
        go.Scatter(
            x=printed["change"],
            y=[place[task] - 0.14 for task in printed["task"]],
            mode="markers",
            name="printed: the paper's models, labels not kept",
            marker={"size": 11, "color": theme.MOST, "symbol": "circle-open", "line": {"width": 2}},
            customdata=[
                theme.hover(
                    f"{row['task']}, {row['model']}", f"{display.number(row['change'], 1, signed=True)}%, printed"
                )
                for row in printed.to_dict("records")
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
    ]
    looks = (("labels kept", ours, 0.14, "circle"), ("swapped as published", loose, 0.0, "diamond-open"))
    for model, color in zip(models, model_colors(models), strict=True):
        for how, table, shift, symbol in looks:
            rows = table[table["model"] == model] if len(table) else table
            traces.append(
                go.Scatter(
                    x=rows["change"],
                    y=[place[task] + shift for task in rows["task"]],
                    mode="markers",
                    name=f"{theme.escape(model)}, {how}",
                    marker={"size": 10, "color": color, "symbol": symbol, "line": {"width": 2, "color": color}},
                    customdata=[
                        theme.hover(
                            f"{row['task']}, {model}, {how}",
                            f"{display.number(row['change'], 1, signed=True)}%, n = {row['n']:,.0f}",
                        )
                        for row in rows.to_dict("records")
                    ],
                    hovertemplate="%{customdata}<extra></extra>",
                )
            )
    traces = [trace for trace in traces if len(trace.x)]
    figure = theme.figure(*traces, height=130 + ROW * max(3, len(tasks)))
    figure.add_vline(x=0, line={"color": theme.GRAY, "width": 1})
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title_text="Change of accuracy, in percent of the original", ticksuffix="%")
    figure.update_yaxes(
        tickmode="array", tickvals=list(place.values()), ticktext=[theme.escape(task) for task in tasks],
        range=[-0.7, len(tasks) - 0.3], zeroline=False,
    )  # fmt: skip
    return figure
