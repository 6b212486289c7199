"""All runs as a table that follows their progress, and the one that is looked at."""

from __future__ import annotations

from datetime import datetime

import pandas as pd
import streamlit as st

from explorer.results import queries
from explorer.results.packed_run import as_infos
from explorer.runs import queue
from explorer.runs.queue import RunInfo
from explorer.studies import STUDIES, study
from explorer.ui import layout, links, progress, resources, show
from explorer.ui.columns import id_column, name_column, text_column

SOURCES = {"here": "this machine", "imported": "imported", "precomputed": "the explorer"}  # where a run comes from
SHOWN = "shown"  # the name of the choice: which run is looked at


def choose() -> RunInfo | None:
    """The run that is looked at: the newest, or the one picked in the table or by a link."""
    runs = _everything()
    if not runs:
        return None
    names = [run.run_id for run in runs]
    shown = links.recall(SHOWN, names[0], names)
    if any(run.status in progress.LIVE for run in runs):
        _live_table(shown)
    else:
        _table(runs, shown)
    links.remember(SHOWN, shown, names[0])
    return next(run for run in runs if run.run_id == shown)


@st.fragment(run_every=progress.EVERY)
def _live_table(shown: str) -> None:
    _table(_everything(), shown)


def _everything() -> list[RunInfo]:
    """The runs of this machine, then those that came with the explorer."""
    local = queue.list_runs(resources.settings())
    return local + as_infos(resources.ask(queries.runs).to_dict("records"), {run.run_id for run in local})


def _table(runs: list[RunInfo], shown: str) -> None:
    names = [run.run_id for run in runs]
    frame = pd.DataFrame(
        {
            "run": names,
            "study": [run.study for run in runs],
            "model": [run.model for run in runs],
            "benchmark": [run.benchmark for run in runs],
            "source": [SOURCES[run.source] for run in runs],
            "status": [run.status for run in runs],
            "share": [min(100, 100 * run.done // run.total) if run.total else 0 for run in runs],
            "so_far": [progress.describe(run) if run.status in progress.LIVE else f"{run.done:,}" for run in runs],
            "created": [datetime.fromtimestamp(run.created) for run in runs],
            "remark": [run.message if run.status not in progress.LIVE else "" for run in runs],
        }
    )
    rows = show.table(
        frame.assign(
            study=[study(run.study).title if run.study in STUDIES else run.study for run in runs],
            model=[layout.model_title(run.model) for run in runs],
            benchmark=[layout.benchmark_title(run.benchmark) for run in runs],
        ),
        "runs",
        columns={
            "study": "Study",
            "model": name_column("Model", width=None),
            "benchmark": "Benchmark",
            "so_far": text_column("Instances", right=True),
            "status": "Status",
            "share": st.column_config.ProgressColumn("Progress", format="%d%%", min_value=0, max_value=100),
            "created": st.column_config.DatetimeColumn("Started", format="D MMM, HH:mm"),
            "source": "From",
            "remark": "Remark",
            "run": id_column("Run", width=None),
        },
        height=min(38 + 35 * len(runs), 330),
        caption="Runs on this machine, and those that came with the explorer",
        about=show.About(),
        # The key changes with the list, so that a remembered row never means another run.
        picks=f"runs:{hash(tuple(names))}",
        whole=frame,
    )
    if rows and names[rows[0]] != shown and names[rows[0]] != st.session_state.get("runs:picked"):
        st.session_state["runs:picked"] = names[rows[0]]
        links.choose(SHOWN, names[rows[0]])
        st.rerun()
