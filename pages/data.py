"""Models, benchmarks and tables of one's own: what is on this machine, what is missing, and how to add it."""

import streamlit as st

from explorer.ui import data_shelf, frame, links, model_shelf, show, table_import

VIEWS = ["Models", "Benchmarks", "Import a table"]

chosen = frame.open_page(
    "Data and models", "What is on this machine, what is missing, and how to bring your own models and data."
)
show.about("data")
view = links.pick(
    st.segmented_control, "View", "shelf", VIEWS, default=VIEWS[0], required=True, label_visibility="collapsed"
)
with show.problems():
    if view == "Models":
        model_shelf.draw()
    elif view == "Benchmarks":
        data_shelf.draw(chosen.benchmark)
    else:
        table_import.draw()
