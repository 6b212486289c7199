"""What an exact match hides: how likely a run's model finds the right ids, by popularity."""

from __future__ import annotations

import streamlit as st

from explorer.studies.ontology import queries as ontology_queries
from explorer.ui import resources, show
from explorer.ui.columns import count_column, nats_column, number_column, share_column
from explorer.ui.ontology.figure_buckets import by_bucket

HALF = 0.5  # of the other ids come before the right one by chance


def draw_ontology_knowledge(run_id: str) -> None:
    """Log-probability, rank and the label's part in it, bucket by bucket; nothing where the run did not score ids."""
    rows = resources.ask(ontology_queries.knowledge, run_id)
    held = rows[rows["gold_logprob"].notna()]
    if held.empty:
        return
    st.header("Partial knowledge", anchor=False)
    show.lead(
        "Also where the answer is wrong, the right ID may be likelier than others. Each concept's ID is scored after "
        "the question and ranked among IDs of other concepts, drawn at random."
    )
    left, right = st.columns(2, gap="medium")
    with left:
        show.chart(by_bucket([("log P", held, "gold_logprob")], "log P of the right ID (nats)"),
                   key="ontology gold logprob", alt="Log-probability of the right id in each bucket")  # fmt: skip
    with right:
        show.chart(by_bucket([("rank", held, "gold_rank")], "Rank of the right ID, 1 is the likeliest"),
                   key="ontology gold rank", alt="Rank of the right id among others in each bucket")  # fmt: skip
    series = [
        ("right ID likelier", held, "gold_preferred"),
        ("label adds more to the right ID", held, "gold_gain_preferred"),
    ]
    show.chart(by_bucket(series, "Share of other IDs", shares=True, chance=HALF), key="ontology gold preferred",
               alt="Share of other ids that come after the right one in each bucket")  # fmt: skip
    show.note(
        "Some IDs are likely after any label. What a label adds is the log P of an ID after it, less that after a "
        "label that says nothing; it is compared between the right ID and the others."
    )
    show.table(
        held,
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
