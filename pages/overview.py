"""What the stored runs found, at a glance: a small figure a study, under the sentence that it shows."""

import streamlit as st

from explorer.results import queries
from explorer.ui import layout, resources, show, undecided_verdicts
from explorer.ui.overview import gallery, headlines

chosen = layout.open_page(
    "Overview", "How the data a language model was trained on shapes what it gets right: what the stored runs found."
)
show.about("overview")

with show.problems():
    runs = resources.ask_store(queries.runs)
    if (runs["status"] == "complete").any():
        asked = resources.ask_store(queries.runs_of, "accuracy", chosen.model, chosen.benchmark)
        if (asked["status"] == "complete").any():
            name = layout.model_title(chosen.model)
            layout.link_to(
                "Instance", f"Try it: change one word in a pair that {name} gets wrong by a little",
                model=chosen.model, benchmark=chosen.benchmark, verdict="wrong", order="smallest margin",
            )  # fmt: skip
        gallery.draw_gallery()
        undecided_verdicts.draw_undecided_note(list(resources.ask_store(queries.headline)["run_id"]))
        numbers = st.expander("The numbers behind the figures", key="overview:numbers", on_change="rerun")
        if numbers.open:
            with numbers:
                headlines.draw_headlines()
    else:
        show.nothing_yet(
            "No run has finished yet",
            f"Press Run to score {layout.benchmark_title(chosen.benchmark)} with {layout.model_title(chosen.model)}.",
            f"python -m explorer run accuracy --model {chosen.model} --benchmark {chosen.benchmark} --limit 200",
        )
    with st.container(horizontal=True):
        layout.link_to("Runs", "All runs")
        layout.link_to("Data and models", "Benchmarks and models")
