"""Models, benchmarks and tables of one's own: what is on this machine, what is missing, and how to add it."""

import streamlit as st

from explorer.ui import layout, links, show
from explorer.ui.data import benchmark_list, model_list, table_import

VIEWS = ["Models", "Benchmarks", "Import a table"]

chosen = layout.open_page(
    "Data and models", "What is on this machine, what is missing, and how to bring your own models and data."
)
show.about("data")
view = links.pick(
    st.segmented_control, "View", "shelf", VIEWS, default=VIEWS[0], required=True, label_visibility="collapsed"
)
with show.problems():
    if view == "Models":
        model_list.draw_model_list()
    elif view == "Benchmarks":
        benchmark_list.draw_benchmark_list(chosen.benchmark)
    else:
        table_import.draw_table_import()
