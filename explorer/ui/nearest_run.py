"""Which runs a page shows where the chosen model or benchmark has none of its study."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from explorer import display
from explorer.results import queries
from explorer.runs import imported
from explorer.ui import layout, resources, show
from explorer.ui.layout import Chosen


def with_runs(
    study: str, chosen: Chosen, *, useful: Callable[[str], bool] = lambda run_id: True, far: bool = False
) -> Chosen:
    """The choice itself where the study has a run of it, else the nearest that has a finished one, which is said.

    Nearest is the same benchmark, else the same model, else the largest run; of these one that is `useful`, if any is.
    With `far`, a useful run of another model and benchmark goes before one of these that is not.
    """
    runs = resources.ask_store(queries.runs)
    runs = runs[runs["study"] == study]
    chosen_runs = (runs["model"] == chosen.model) & (runs["benchmark"] == chosen.benchmark)
    runs = runs[runs["status"] == "complete"]
    if runs.empty or chosen_runs.any():
        return chosen
    model, benchmark = runs["model"] == chosen.model, runs["benchmark"] == chosen.benchmark
    pool = runs[benchmark] if benchmark.any() else runs[model] if model.any() else runs
    ordered = pool.sort_values("done", ascending=False, kind="stable")
    further = runs.sort_values("done", ascending=False, kind="stable") if far and not benchmark.any() else ordered[:0]
    tried = pd.concat([ordered, further])
    best = next((row for _, row in tried.iterrows() if useful(str(row["run_id"]))), ordered.iloc[0])
    other = Chosen(str(best["model"]), str(best["benchmark"]))
    named = display.remarked(layout.model_title(other.model), imported.short_label(str(best["spec"])))
    show.note(
        f"There is no run of this study with {layout.model_title(chosen.model)} on "
        f"{layout.benchmark_title(chosen.benchmark)} yet; shown is {named} on "
        f"{layout.benchmark_title(other.benchmark)}."
    )
    return other
