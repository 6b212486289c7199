"""What is here: models, benchmarks, runs, and what the runs found."""

import streamlit as st

from explorer.figures.headline import headline
from explorer.results import queries
from explorer.studies import STUDIES, study
from explorer.ui import inventory, layout, resources, show, undecided
from explorer.ui.columns import count_column, id_column
from explorer.ui.overview import headlines

chosen = layout.open_page(
    "Overview", "How the data a language model was trained on shapes what it gets right: what is on this machine."
)
show.about("overview")

benchmarks = inventory.benchmarks()
models = inventory.models()
with show.problems():
    runs = resources.ask(queries.runs)
    found = resources.ask(queries.headline)

    show.numbers(
        [
            ("Models ready", str(sum(model.ready for model in models)), "Models whose weights are on this machine."),
            (
                "Benchmarks here",
                f"{sum(known.here for known in benchmarks)} of {len(benchmarks)}",
                "Benchmarks whose files are on this machine; the others are downloaded when they are first used.",
            ),
            ("Finished runs", f"{(runs['status'] == 'complete').sum():,}", "Runs in the database."),
            ("Instances judged", f"{int(runs['done'].sum()):,}", "Over all runs, unfinished ones included."),
        ]
    )

    st.header("What the runs found", anchor=False)
    if found.empty:
        show.nothing_yet(
            "No run has finished yet",
            f"Press Run in the sidebar to score {layout.benchmark_title(chosen.benchmark)} with "
            f"{layout.model_title(chosen.model)}, or type in a terminal:",
            f"python -m explorer run accuracy --model {chosen.model} --benchmark {chosen.benchmark} --limit 200",
        )
    else:
        show.lead(
            "How often each model preferred what the benchmark calls right. A dot is a model's share over all "
            "instances of its largest accuracy run; the line is the 95% Wilson interval."
        )
        named = found.assign(benchmark=found["benchmark"].map(layout.benchmark_title), model=layout.models_in(found))
        show.chart(
            headline(named),
            key="headline",
            alt="Accuracy of each model on each benchmark, with its 95% Wilson interval",
            about=show.About("accuracy"),
        )
        undecided.tell(list(found["run_id"]))
    if len(runs):
        headlines.draw_headlines()

        st.header("Latest runs", anchor=False)
        show.table(
            runs.head(8).assign(
                model=layout.models_in(runs.head(8)),
                benchmark=runs["benchmark"].map(layout.benchmark_title),
                study=[study(name).title if name in STUDIES else name for name in runs.head(8)["study"]],
            ),
            "latest runs",
            columns={
                "study": "Study",
                "model": "Model",
                "benchmark": "Benchmark",
                "status": "Status",
                "done": count_column("Instances"),
                "created": st.column_config.DatetimeColumn("Started", format="distance"),
                "run_id": id_column("Run", width=None),
            },
        )
        layout.link_to("Runs", "All runs, with their progress and log")

st.header("Benchmarks", anchor=False)
show.lead(
    "Each is a set of instances with a known right answer. "
    "Pick one in the sidebar, then look at its instances or run it."
)
show.table(
    inventory.benchmark_table(benchmarks),
    "benchmarks",
    columns={"title": "Benchmark", "kind": "Kind", "field": "Competence", "state": "Files", "license": "License"},
)
layout.link_to("Data and models", "Add models and data")
