"""What an exact match hides: how likely a run's model finds the right ids, by popularity."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from explorer import display
from explorer.ui import instances_behind, resources, show
from explorer.ui.columns import count_column, nats_column, number_column, share_column
from explorer.ui.layout import Chosen
from explorer.ui.ontology.concepts import draw_concepts
from explorer.ui.ontology.figure_buckets import by_bucket

HALF = 0.5  # of the other ids come before the right one by chance


def draw_ontology_knowledge(run_id: str, rows: pd.DataFrame, chosen: Chosen) -> None:
    """How likely the right IDs are, bucket by bucket; nothing where the run did not score IDs.

    `rows` is what `queries.knowledge` gives of the run.
    """
    scored = rows[rows["gold_logprob"].notna()]
    if scored.empty:
        return
    st.header("Partial knowledge", anchor=False)
    show.says(in_words(scored))
    series = [
        ("right ID likelier", scored, "gold_preferred"),
        ("label adds more to the right ID", scored, "gold_gain_preferred"),
    ]
    answer = show.chart(
        resources.drawn(by_bucket, series, "Share of other IDs", shares=True, chance=HALF),
        key=f"ontology gold preferred:{run_id}",
        alt="Share of other ids that come after the right one in each bucket", on_select="rerun",
    )  # fmt: skip
    show.note(
        "Each concept's ID is scored after the question and compared with IDs of other concepts, drawn at random from "
        "the whole ontology. Some IDs are likely after any label; what a label adds is the log P of an ID after it, "
        "minus that after a label that says nothing. Click a dot to see its concepts."
    )
    draw_concepts(run_id, instances_behind.picked(answer), chosen)

    def draw() -> None:
        show.chart(by_bucket([("log P", scored, "gold_logprob")], "log P of the right ID (nats)"),
                   key="ontology gold logprob", alt="Log-probability of the right id in each bucket")  # fmt: skip
        show.chart(by_bucket([("rank", scored, "gold_rank")], "Rank of the right ID, 1 is the likeliest"),
                   key="ontology gold rank", alt="Rank of the right id among others in each bucket")  # fmt: skip
        show.table(
            scored,
            "partial knowledge by bucket",
            columns={
                "bucket": "Bucket",
                "n": count_column("Concepts"),
                "gold_logprob": nats_column("log P (nats)"),
                "gold_rank": number_column("Rank", 2),
                "gold_preferred": share_column("Right ID likelier"),
                "gold_gain_preferred": share_column("Label adds more to it"),
            },
        )

    show.folded("log P, rank, and the numbers", "ontology:knowledge", draw)


def in_words(scored: pd.DataFrame) -> str:
    """In how many buckets the right ID, and the label's part in it, is beyond chance."""
    likelier = int((scored["gold_preferred_low"] > HALF).sum())
    gains = int((scored["gold_gain_preferred_low"] > HALF).sum())
    return (
        f"In {display.none_or(likelier)} of {len(scored)} popularity buckets the right ID is likelier than chance has "
        f"it; in {display.none_or(gains)} the label speaks for it. An ID that is likely after any label tells of the "
        "ID, not of the concept."
    )
