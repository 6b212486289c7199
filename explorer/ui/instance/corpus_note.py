"""Which corpus counts are of, and whether that is what the model was trained on."""

from __future__ import annotations

import streamlit as st

from explorer.popularity import indexes
from explorer.popularity.ips import DecileEdges
from explorer.ui import layout, run_names, show


def corpus_note(edges: DecileEdges, model: str) -> None:
    """In plain sentences: what was counted, and whether the model was trained on it."""
    index = indexes.short_name(edges.index)
    tell = st.info if indexes.is_pretraining_data(index, model) else st.warning
    tell(show.plain(indexes.describe_relation(index, layout.model_title(model))), icon=":material/database:")
    if edges.warning:
        st.warning(show.plain(edges.warning), icon=":material/warning:")
    show.note(
        f"{edges.n}-grams of {run_names.reference_title(edges.reference)}: {edges.ngrams:,} distinct ones"
        + (f", {edges.never / edges.ngrams:.0%} of which never occur" if edges.never else "")
        + (f"; {edges.left_out:,} without a count are left out" if edges.left_out else "")
        + "."
    )
