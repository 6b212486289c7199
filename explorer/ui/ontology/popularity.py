"""What popularity does to a run's answers, by bucket: the paper's figures 1 to 3."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from explorer.figures.models import model_colors
from explorer.results import queries
from explorer.studies.ontology import queries as ontology_queries
from explorer.ui import layout, links, resources, show
from explorer.ui.columns import count_column, number_column, share_column
from explorer.ui.ontology.figure_buckets import COUNT, Series, by_bucket, sizes


def draw_ontology_popularity(run_id: str, setting: str, others: Mapping[str, str]) -> None:
    """The figures of one run, and of another beside it where one is chosen (`others`: id and name)."""
    buckets = resources.ask(ontology_queries.buckets, run_id, setting)
    held = buckets[buckets["n"] > 0]
    if held.empty:
        return
    st.header("Popularity", anchor=False)
    show.lead("Concepts in buckets of equally many distinct counts, from the least to the most popular.")
    show.chart(sizes(held), key="ontology sizes", alt="Concepts and mean count of each popularity bucket")
    show.note("The paper's figure 1.")
    model = layout.model_title(str(resources.ask(queries.run, run_id)["model"].iloc[0]))
    runs = [("this run", held)]
    if others:
        beside = links.pick(
            st.selectbox, "Beside it", "alongside", ["", *others], format_func=lambda name: others.get(name, "nothing")
        )
        other = resources.ask(ontology_queries.buckets, beside, setting) if beside else buckets[:0]
        runs += [(others[beside], other[other["n"] > 0])] if len(other) else []
    colors = model_colors([model, *(name for name, _ in runs[1:])])
    accuracy: list[Series] = [(name, rows, "accuracy") for name, rows in runs]
    left, right = st.columns(2, gap="medium")
    with left:
        show.chart(
            by_bucket(accuracy, "Accuracy", shares=True, over=COUNT, colors=colors),
            key="ontology accuracy by count",
            alt="Accuracy of each bucket over its mean count",
        )
    with right:
        show.chart(by_bucket(accuracy, "Accuracy", shares=True, colors=colors), key="ontology accuracy",
                   alt="Accuracy of each popularity bucket")  # fmt: skip
    show.note("The paper's figures 2a and 2b.")
    repeated: list[Series] = [(name, rows, "repeated") for name, rows in runs]
    show.chart(
        by_bucket(repeated, "500 most repeated IDs: actual over expected", colors=colors),
        key="ontology repeated",
        alt="Repeated ids in each bucket, over its due",
    )
    show.note("The paper's figure 3: above 1, a bucket's IDs are answered more often than their number would suggest.")
    show.table(
        held,
        "popularity buckets",
        columns={
            "bucket": "Bucket",
            "n": count_column("Concepts"),
            "mean_count": number_column("Mean count", 1),
            "accuracy": share_column("Accuracy"),
            "jaccard": number_column("Label overlap", 3),
            "levenshtein": number_column("Edits", 2),
            "repeated": number_column("Repeated, actual over expected", 2),
        },
    )
