"""The concepts behind a bucket that was clicked."""

from __future__ import annotations

from typing import Any

import pandas as pd

from explorer import display, numbers
from explorer.studies.ontology import queries as ontology_queries
from explorer.ui import instances_behind, resources
from explorer.ui.columns import check_column, count_column, nats_column, number_column, saying_something, share_column
from explorer.ui.layout import Chosen

MOST_BUCKETS = 1_000


def draw_concepts(run_id: str, picked: list[str], chosen: Chosen) -> None:
    """The concepts of the popularity buckets that were clicked, with the way to the inspector of each."""
    buckets = numbers.places(picked, MOST_BUCKETS)
    if not buckets:
        return
    rows = pd.concat([resources.ask_store(ontology_queries.concepts, run_id, bucket) for bucket in buckets])
    if rows.empty:
        return
    columns: dict[str, Any] = {
        "web_count": count_column("Web count"),
        "given": check_column("Right", "the ID was given"),
        "gold_logprob": nats_column("log P", "of the right ID, nats"),
        "gold_rank": number_column("Rank", 0, "among it and IDs of other concepts; 1 is the likeliest"),
        "gold_preferred": share_column("Likelier", "share of other IDs that are less likely than the right one"),
    }
    rows = rows.assign(given=rows["correct"] == 1)
    named = ", ".join(map(str, buckets))
    instances_behind.draw_instances(
        rows, chosen, "concepts of a bucket", saying_something(rows, columns), key="bucket",
        title=f"{display.counted(len(rows), 'concept')} of popularity bucket {named}", suggestion=f"bucket {named}",
        page="Ontologies", also={"view": "Concept inspector"},
    )  # fmt: skip
