"""The pairs behind a dot of a curve or a suite: each before a context and after it."""

from __future__ import annotations

import pandas as pd

from explorer import display, numbers
from explorer.studies.priming import queries as priming_queries
from explorer.ui import instances_behind, resources
from explorer.ui.columns import number_column
from explorer.ui.layout import Chosen
from explorer.ui.priming.figure_curves import LOOKS, name_of
from explorer.ui.scored_options import verdict_of


def draw_pairs(run_id: str, picked: list[str], chosen: Chosen, *, group: str = "") -> None:
    """The pairs of the dots that were picked ("condition|length", the longest where no length is given)."""
    frames = []
    titles = []
    stereotypes = chosen.benchmark == "crows_pairs"
    for dot in picked:
        condition, _, length = dot.partition("|")
        if condition not in LOOKS:
            continue
        items = resources.ask_store(priming_queries.items, run_id, condition, numbers.whole_or(length, -1))
        items = items[items["grp"] == group] if group else items
        if len(items):
            name = name_of(condition, stereotypes=stereotypes)
            after = f"{int(items['length'].max()):,} tokens of {name} contexts"
            frames.append(items.assign(context=after))
            titles.append(after)
    if not frames:
        return
    rows = pd.concat(frames, ignore_index=True)
    rows = rows.assign(
        moved=rows["margin_after"] - rows["margin_before"],
        before=[verdict_of(value) for value in rows["correct_before"]],
        after=[verdict_of(value) for value in rows["correct_after"]],
    ).sort_values("moved", key=abs, ascending=False)
    columns = {
        "before": "Before",
        "after": "After",
        "margin_before": number_column("Margin before", 2, "nats, without a context"),
        "margin_after": number_column("Margin after", 2),
        "moved": number_column("Moved", 2, signed=True),
    }
    if len(titles) > 1:
        columns["context"] = "After what"
    of = f" of {group.replace('_', ' ')}" if group else ""
    instances_behind.draw_instances(
        rows, chosen, "primed pairs", columns, key="primed",
        title=f"{display.counted(len(rows), 'pair')}{of} after {', '.join(titles)}",
        suggestion=" ".join(["primed", group, picked[0].replace("|", " ")]),
    )  # fmt: skip
