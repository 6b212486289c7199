"""All runs, a table per study with its rows by benchmark: what is going on, what was found, and which are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import pandas as pd
import streamlit as st

from explorer.errors import ExplorerError
from explorer.figures.model_names import model_title
from explorer.records import RunSpec
from explorer.results import queries, queries_overview
from explorer.results.packed_run import as_infos
from explorer.runs import queue
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder
from explorer.runs.queue import RunInfo
from explorer.studies import STUDIES, declared
from explorer.ui import links, progress, resources, run_names, show
from explorer.ui.columns import id_column, name_column, text_column, unit_column
from explorer.ui.layout import Chosen

SOURCES = {"here": "this machine", "imported": "imported", "precomputed": "Lexiscope"}  # where a run comes from
SHOWN = "shown"  # the name of the choice: which run is looked at
OTHER = "other"  # runs of no study that is known here, and folders that cannot be read
OTHER_TITLE = "Cannot be read"
STATES = {
    "complete": ("complete",),
    "going on": progress.LIVE,
    "stopped": ("interrupted", "cancelled", "failed"),
    "cannot be read": (queue.DAMAGED, "unreadable"),
}
ROW, MOST_ROWS = 35, 12
FILTERS = ("of_benchmark", "of_model", "of_state")  # names of the choices that narrow the list


def choose(chosen: Chosen) -> tuple[RunInfo | None, list[str]]:
    """The run that is looked at (the first, or the one picked in the table or by a link) and all that are ticked."""
    runs = everything()
    if not runs:
        return None, []
    by_id = {run.run_id: run for run in runs}
    first = first_of(runs, chosen).run_id
    shown = links.recall(SHOWN, first, list(by_id), lambda run_id: progress.name_of(by_id[run_id]))
    study = _pick_study(runs, shown, chosen)
    of_study = [run for run in runs if study_of(run) == study]
    listed = _filtered_runs(of_study)
    if shown not in {run.run_id for run in listed} and listed:
        shown = listed[0].run_id
    ticked: list[str] = []
    if not listed:
        show.note("No run of this study matches. Choose other filters.")
    elif any(run.status in progress.LIVE for run in listed):
        ticked = _live_table(study, [run.run_id for run in listed], shown)
    else:
        ticked = _table(study, listed, shown)
    links.remember(SHOWN, shown, first)
    return next((run for run in listed if run.run_id == shown), None), ticked


def everything() -> list[RunInfo]:
    """The runs of this machine, then those that came with the explorer."""
    local = queue.list_runs(resources.settings())
    return local + as_infos(resources.ask_shared(queries.stored_runs), {run.run_id for run in local})


def first_of(runs: Sequence[RunInfo], chosen: Chosen) -> RunInfo:
    """The newest run of this machine; where all came with Lexiscope, that of the model and benchmark in the bar."""
    if runs[0].source == "here":
        return runs[0]
    matching = [run for run in runs if (run.model, run.benchmark) == (chosen.model, chosen.benchmark)]
    studies = [*STUDIES, OTHER]
    return min(matching, key=lambda run: studies.index(study_of(run)), default=runs[0])


def study_of(run: RunInfo) -> str:
    """The study under which a run is listed."""
    return run.study if run.study in STUDIES else OTHER


def _pick_study(runs: Sequence[RunInfo], shown: str, chosen: Chosen) -> str:
    """The study whose runs are listed: that of the run looked at, until the reader presses another."""
    many = pd.Series([study_of(run) for run in runs]).value_counts()
    options = [name for name in (*STUDIES, OTHER) if name in many]

    def title(name: str) -> str:
        return f"{OTHER_TITLE if name == OTHER else run_names.study_title(name)} {many[name]}"

    def show_first() -> None:
        if pressed := st.session_state.get("runs:study"):
            links.choose(SHOWN, first_of([run for run in runs if study_of(run) == pressed], chosen).run_id)
            for name in FILTERS:
                links.choose(name, "")

    study = study_of(next(run for run in runs if run.run_id == shown))
    st.session_state["runs:study"] = study
    st.pills("Study", options, key="runs:study", format_func=title, on_change=show_first, label_visibility="collapsed")
    return study


def _filtered_runs(runs: list[RunInfo]) -> list[RunInfo]:
    """The runs that the reader's filters leave, by benchmark and model."""
    states_present = [state for state, statuses in STATES.items() if any(run.status in statuses for run in runs)]
    titles = {run.benchmark: run_names.benchmark_title(run.benchmark) for run in runs}
    benchmarks = sorted(titles, key=lambda name: titles[name].casefold())
    models = sorted({run.model for run in runs}, key=str.casefold)
    left, middle, right = st.columns(3)
    with left:
        benchmark = _filter("Benchmark", "of_benchmark", benchmarks, "All benchmarks", titles.__getitem__)
    with middle:
        model = _filter("Model", "of_model", models, "All models", model_title)
    with right:
        state = _filter("State", "of_state", states_present, "Any state", str.capitalize)
    matching = [
        run
        for run in runs
        if benchmark in ("", run.benchmark) and model in ("", run.model) and (not state or run.status in STATES[state])
    ]
    return in_order(matching, titles)


def in_order(runs: Sequence[RunInfo], titles: Mapping[str, str]) -> list[RunInfo]:
    """What goes on, then what stopped, then what is complete; of each by the benchmark's title, the newest first."""

    def place(run: RunInfo) -> tuple[bool, bool, str, float]:
        return run.status not in progress.LIVE, run.status == "complete", titles[run.benchmark].casefold(), -run.created

    return sorted(runs, key=place)


def _started(created: pd.Series, this_year: int) -> Any:
    """The column of days, which fits a narrow screen; with the year where they are not all of this one."""
    other_years = any(day.year != this_year for day in created)
    return st.column_config.DatetimeColumn(
        "Started", format="D MMM YYYY" if other_years else "D MMM", width=94 if other_years else 62
    )


def _filter(label: str, name: str, options: Sequence[str], every: str, title: Any) -> str:
    return links.pick(
        st.selectbox,
        f"Show: {label.lower()}",
        name,
        ["", *options],
        format_func=lambda choice: title(choice) if choice else every,
        label_visibility="collapsed",
        disabled=len(options) < 2,
    )


@st.fragment(run_every=progress.EVERY)
def _live_table(study: str, listed: list[str], shown: str) -> list[str]:
    now = {run.run_id: run for run in everything()}
    before = st.session_state.get("runs:ticked", [])
    ticked = _table(study, [now[name] for name in listed if name in now], shown)
    if ticked != before:
        links.run_page()  # what stands below the table follows it
    return ticked


def _table(study: str, runs: list[RunInfo], shown: str) -> list[str]:
    """Draws the runs; the ids of those that are ticked."""
    names = [run.run_id for run in runs]
    head_findings, columns = _head_findings(study)
    frame = pd.DataFrame(
        {
            "run": names,
            "study": [run.study for run in runs],
            "model": [run.model for run in runs],
            "benchmark": [run.benchmark for run in runs],
            "source": [SOURCES[run.source] for run in runs],
            "status": [run.status for run in runs],
            "so_far": [_so_far(run) for run in runs],
            "created": [datetime.fromtimestamp(run.created) for run in runs],
            "remark": [progress.remark(run) for run in runs],
        }
    )
    frame = frame.merge(head_findings, on="run", how="left")
    readable = frame.assign(
        model=[model_title(run.model) for run in runs],
        benchmark=[run_names.benchmark_title(run.benchmark) for run in runs],
        settings=_settings(runs),
        status=[run.status if run.status != "complete" else "" for run in runs],
    )
    shown_columns: dict[str, Any] = {
        "benchmark": text_column("Benchmark", width=148),
        "model": name_column("Model", width=152),
        **columns,
        "so_far": text_column("Instances", right=True, width=72),
        "settings": text_column("Settings", "what is not the study's default", width=130),
        "status": text_column("State", width=105),
        "created": _started(frame["created"], datetime.now().year),
        "source": "From",
        "remark": "Remark",
    }
    if study == OTHER:
        shown_columns = {"run": id_column("Folder", width=None), "status": "State", "remark": "Remark"}
    spoken = {
        name: column
        for name, column in shown_columns.items()
        if name in ("benchmark", "model", "run") or _says_something(readable[name])
    }
    rows = show.table(
        readable,
        f"runs of {study}",
        columns=spoken,
        height=ROW * min(len(runs) + 1, MOST_ROWS) + 3,
        caption=f"Runs of the study {run_names.study_title(study)}",
        about=show.About(),
        # The key changes with the list, so that a remembered row never means another run.
        picks=f"runs:{hash(tuple(names))}",
        several=True,
        whole=frame,
    )
    ticked = [names[row] for row in rows]
    last = next((name for name in ticked if name not in st.session_state.get("runs:ticked", ())), "")
    st.session_state["runs:ticked"] = ticked
    if last and last != shown:
        links.choose(SHOWN, last)
        st.rerun()
    return ticked


def _says_something(column: pd.Series) -> bool:
    return bool((column.notna() & (column.astype(str) != "")).any())


def _so_far(run: RunInfo) -> str:
    if run.status in progress.LIVE:
        return progress.describe(run)
    return f"{run.done:,}" if run.done == run.total else f"{run.done:,} of {run.total:,}"


def _head_findings(study: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """What each run of the study found first of all, and the column that shows it."""
    nothing = pd.DataFrame({"run": [], "value": []})
    heads = resources.ask_store(queries_overview.study_headlines)
    heads = heads[heads["study"] == study].drop_duplicates("run_id")
    if heads.empty or not (finding := declared.find(study, str(heads["finding"].iloc[0]))):
        return nothing, {}
    head_findings = pd.DataFrame({"run": heads["run_id"], "value": heads["value"]})
    return head_findings, {"value": unit_column(finding.unit, finding.title, show.meaning(finding.meaning))}


@lru_cache(maxsize=1024)  # the list is drawn anew whenever anything on its page changes
def _spec_of(text: str) -> RunSpec:
    return specs.from_json(text)


def _settings(runs: Sequence[RunInfo]) -> list[str]:
    """What each run was asked for beyond its study's defaults, in words."""
    stored = resources.ask_store(queries.runs).set_index("run_id")
    specs_of_runs = [_stored_spec(run.run_id, stored) for run in runs]
    dtypes = dtypes_in_words(specs_of_runs)
    sentences = []
    settings_of_runs: list[tuple[str, Any, Mapping[str, Any]]] = []
    for run, spec, dtype in zip(runs, specs_of_runs, dtypes, strict=True):
        if spec is None:
            sentences.append("")
            settings_of_runs.append(("", run.created, {}))
            continue
        parts = [f"{len(spec.suites)} groups" if len(spec.suites) > 1 else "1 group"] if spec.suites else []
        parts += [run_names.settings_in_words(spec.settings, spec.study), dtype]
        parts += [f"seed {spec.seed}"] if spec.seed else []
        sentences.append(", ".join(filter(None, parts)))
        files = {"weights": spec.weights, "data_hash": spec.data_hash, "benchmark": spec.benchmark}
        settings_of_runs.append((spec.model, run.created, {**spec.settings, **files}))
    changed = run_names.changes_in_words(settings_of_runs)
    return [", ".join(filter(None, pair)) for pair in zip(sentences, changed, strict=True)]


def _stored_spec(run_id: str, stored: pd.DataFrame) -> RunSpec | None:
    """What a run was asked for; none where nobody can tell any more."""
    if run_id in stored.index:
        return _spec_of(str(stored.at[run_id, "spec"]))
    try:
        return RunFolder(resources.settings().runs / run_id).spec
    except ExplorerError:
        return None


def dtypes_in_words(specs_of_runs: Sequence[RunSpec | None]) -> list[str]:
    """The dtype of each run, where a model was asked about a benchmark in more than one; else ""."""
    known: dict[tuple[str, str], set[str]] = {}
    for spec in filter(None, specs_of_runs):
        known.setdefault((spec.model, spec.benchmark), set()).update(filter(None, [spec.dtype]))
    return [
        f"dtype {spec.dtype}" if spec and spec.dtype and len(known[spec.model, spec.benchmark]) > 1 else ""
        for spec in specs_of_runs
    ]
