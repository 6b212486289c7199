"""What popularity does to a run's answers, by bucket: the paper's figures 1 to 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from explorer import display
from explorer.figures.models import model_colors
from explorer.studies.ontology import queries as ontology_queries
from explorer.ui import instances_behind, links, resources, show
from explorer.ui.columns import count_column, number_column, share_column
from explorer.ui.layout import Chosen
from explorer.ui.ontology.concepts import draw_concepts
from explorer.ui.ontology.figure_buckets import COUNT, Series, by_bucket, sizes


def pick_beside(run_id: str, others: Mapping[str, str]) -> str:
    """The id of the run that is drawn beside; "" for none.

    Beside a run without a rising curve stands by default one that has it.
    """
    if not others:
        return ""
    rising = set(resources.ask_store(ontology_queries.rising)["run_id"])
    default = "" if run_id in rising else next((name for name in others if name in rising), "")
    return links.pick(
        st.selectbox, "Beside it", "alongside", ["", *others], default=default,
        format_func=lambda name: others.get(name, "nothing"),
    )  # fmt: skip


def in_words(runs: Sequence[tuple[str, pd.DataFrame]]) -> str:
    """Of each run (its name, and its buckets that hold concepts) where its right IDs are most frequent."""
    parts = []
    for name, rows in runs:
        best = rows.iloc[int(rows["accuracy"].argmax())]
        parts.append(
            f"{name} is most often right in popularity bucket {best['bucket']:.0f} of {rows['bucket'].max():.0f} "
            f"({display.share(best['accuracy'])} of {display.counted(int(best['n']), 'concept')})"
            if best["accuracy"] > 0
            else f"{name} gives no right ID in any bucket"
        )
    return f"{'; '.join(parts)}."


def draw_ontology_popularity(
    run_id: str, own: str, setting: str, beside: str, name: str, chosen: Chosen, *, has_rows: bool = True
) -> None:
    """The figures of one run (its id and its name), and of another beside it where one is chosen.

    `has_rows` tells whether its concepts can be listed.
    """
    buckets = resources.ask_store(ontology_queries.buckets, run_id, setting)
    filled_buckets = buckets[buckets["n"] > 0]
    if filled_buckets.empty:
        return
    runs = [(own if own != name else "this run", filled_buckets)]
    if beside:
        other = resources.ask_store(ontology_queries.buckets, beside, setting)
        runs += [(name, other[other["n"] > 0])] if len(other) else []
    colors = model_colors([own, *(title for title, _ in runs[1:])])
    accuracy: list[Series] = [(title, rows, "accuracy") for title, rows in runs]
    st.header("Accuracy and popularity", anchor=False)
    if any((rows["accuracy"] > 0).any() for _, rows in runs):
        show.says(in_words(runs))
        answer = show.chart(
            resources.drawn(by_bucket, accuracy, "Accuracy", shares=True, over=COUNT, colors=colors),
            key=f"ontology accuracy by count:{run_id}",
            alt="Accuracy of each bucket over its mean count",
            on_select="rerun",
        )
        show.note(
            "One dot per bucket, with its 95% interval; buckets hold equally many distinct web counts (the paper's "
            "figure 2a)." + (" Click one to see its concepts." if has_rows else "")
        )
        draw_concepts(run_id, instances_behind.picked(answer), chosen)
    else:
        show.note("No right ID in any bucket, so that there is no curve of accuracy.")

    def draw() -> None:
        show.chart(sizes(filled_buckets), key="ontology sizes", alt="Concepts and mean count of each popularity bucket")
        show.note("The paper's figure 1.")
        show.chart(by_bucket(accuracy, "Accuracy", shares=True, colors=colors), key="ontology accuracy",
                   alt="Accuracy of each popularity bucket")  # fmt: skip
        show.note("The paper's figure 2b.")
        repeated: list[Series] = [(title, rows, "repeated") for title, rows in runs]
        show.chart(
            by_bucket(repeated, "500 most repeated IDs: actual over expected", colors=colors),
            key="ontology repeated",
            alt="Repeated ids in each bucket, over its due",
        )
        show.note(
            "The paper's figure 3: above 1, a bucket's IDs are answered more often than their number would suggest."
        )
        show.table(
            filled_buckets,
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

    show.folded("Buckets: their sizes, accuracy by bucket, repeated answers", "ontology:buckets", draw)
