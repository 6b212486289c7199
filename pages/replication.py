"""The figures that papers print beside those of stored runs, and where each of their tables and figures is."""

import streamlit as st

from explorer.studies.replication.board import SOURCES
from explorer.ui import layout, links, show
from explorer.ui.replication import board as replication_board

INDEX = "index"
NAMES = {
    "popularity": "Popularity",
    "priming": "Priming",
    "ontologies": "Ontologies",
    "icl": "In-context learning",
    "released": "Released files",
    "pythia": "Pythia",
    "blimp": "BLiMP",
    INDEX: "All tables and figures",
}

chosen = layout.open_page(
    "Replication",
    "What the papers print beside what runs on this machine found, wherever model and setting are the same.",
)
source = links.pick(
    st.segmented_control,
    "Source",
    "source",
    list(NAMES),
    default="ontologies",  # of which runs come along
    required=True,
    label_visibility="collapsed",
    format_func=NAMES.__getitem__,
)
with show.problems():
    if source == INDEX:
        replication_board.index()
    else:
        show.note(f"Published: {SOURCES[source]}.")
        replication_board.draw_replication_board(source, chosen)
