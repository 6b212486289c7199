"""The sidebar's panel that starts a full run of a study with the chosen model on the chosen benchmark."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from explorer import benchmarks
from explorer.errors import ExplorerError
from explorer.runs import cost, request
from explorer.runs.folder import RunFolder
from explorer.scoring import http
from explorer.settings import Settings
from explorer.studies import STUDIES, study
from explorer.studies.study import Setting, Study
from explorer.ui import links, resources, run_where, show, starting, visitor

LABELS = {"bos": "BOS"}
DTYPES = ("auto", "float32", "bfloat16", "float16")


def draw_run_panel(model: str, benchmark: str, preferred: str = "") -> None:
    """The study (the preferred one where it takes the benchmark and none was chosen), its options and the button."""
    try:
        fitting = studies_for(benchmark)
    except ExplorerError as error:  # an import whose files are damaged
        show.problem(error)
        return
    if not fitting:
        show.note("No study takes this kind of benchmark.")
        return
    first = preferred if preferred in fitting else fitting[0]
    name = links.pick(
        st.selectbox, "Study", "study", fitting, default=first, format_func=lambda name: study(name).title
    )
    recipe = study(name)
    show.note(recipe.question)
    options = st.popover("Options", key="run:options", icon=":material/tune:", width="stretch", on_change="rerun")
    if options.open:
        with options:
            _draw_options(recipe, benchmark)
    chosen_options = options_asked(recipe, benchmark)
    if st.button("Run", type="primary", width="stretch", key="run:start", icon=":material/play_arrow:"):
        _start(recipe, model, benchmark, chosen_options)
    _answer()
    show.note(in_words(chosen_options))
    if recipe.plan and http.is_endpoint(model) and not visitor.why_not(model):
        with show.problems(), st.spinner("Reckoning what is asked"):
            show.note(_cost(name, model, benchmark, json.dumps(chosen_options, default=list), resources.settings()))


# What is left of a run changes while it goes on.
@st.cache_data(ttl=30, max_entries=32, show_spinner=False)
def _cost(study: str, model: str, benchmark: str, options: str, settings: Settings) -> str:
    """What the run will ask of its endpoint, in one sentence."""
    spec = request.make_spec(
        resources.resources(), study=study, model=model, benchmark=benchmark, **json.loads(options)
    )
    estimate = cost.of_run(spec, resources.resources())
    return cost.in_words(spec, estimate)


def studies_for(benchmark: str) -> list[str]:
    """The studies that take this kind of benchmark."""
    kind = benchmarks.find(benchmark, resources.settings()).kind
    return [name for name in STUDIES if kind in study(name).kinds]


def options_asked(recipe: Study, benchmark: str) -> dict[str, Any]:
    """What the options say, also while their drawer is closed."""
    state = st.session_state
    limit = state.get("run:limit")
    given = {name: state.get(_key(recipe, name)) for name in recipe.settings}
    return {
        "suites": tuple(state.get(f"run:groups:{benchmark}") or ()),
        "limit": int(limit) if limit else None,
        "seed": int(state.get("run:seed") or 0),
        "dtype": state.get("run:dtype") or "auto",
        "settings": {name: value for name, value in given.items() if value is not None},
    }


def in_words(options: Mapping[str, Any]) -> str:
    """What the button will start, in one line."""
    amount = f"First {options['limit']:,} instances" if options["limit"] else "All instances"
    groups = f" of {len(options['suites'])} groups" if options["suites"] else ""
    per_group = options["settings"].get("per_group")
    drawn = f", {per_group} a group drawn with seed {options['seed']}" if per_group else ""
    return f"{amount}{groups}{drawn}"


def _draw_options(recipe: Study, benchmark: str) -> None:
    with show.problems():
        with st.spinner("Reading the groups"):
            groups = list(dict.fromkeys(item.group for item in resources.instances(benchmark).instances))
        st.multiselect(
            "Groups", groups, key=f"run:groups:{benchmark}", placeholder="All groups", persist_state="session"
        )
    left, right = st.columns(2)
    left.number_input(
        "Limit", min_value=1, value=None, step=50, key="run:limit", placeholder="all", persist_state="session",
        help="Only the first instances, in benchmark order.",
    )  # fmt: skip
    right.number_input("Seed", min_value=0, value=0, step=1, key="run:seed", persist_state="session")
    for name, setting in recipe.settings.items():
        _draw_setting(recipe, name, setting)
    st.selectbox("Number format", DTYPES, key="run:dtype", persist_state="session", help="auto: float32 on a CPU")
    run_where.draw_run_where()


def _draw_setting(recipe: Study, name: str, setting: Setting) -> None:
    label = LABELS.get(name, name.replace("_", " ").capitalize())
    shared: dict[str, Any] = {"key": _key(recipe, name), "help": show.plain(setting.help), "persist_state": "session"}
    default = setting.default
    if isinstance(default, bool):
        st.toggle(label, value=default, **shared)
    elif isinstance(default, tuple) and setting.choices:
        st.multiselect(label, setting.choices, default=list(default), **shared)
    elif isinstance(default, tuple):
        st.text_input(label, value=", ".join(map(str, default)), **shared)
    elif setting.choices:
        st.selectbox(label, setting.choices, index=setting.choices.index(str(default)), **shared)
    elif isinstance(default, int | float):
        st.number_input(label, value=default, **shared)
    else:
        st.text_input(label, value=default, **shared)


def _start(recipe: Study, model: str, benchmark: str, options: Mapping[str, Any]) -> None:
    settings = resources.settings()
    try:
        where = run_where.asked()
        with st.spinner("Preparing the run"):
            run_id = starting.submit(recipe.name, model, benchmark, where, **options)
    except ExplorerError as error:
        st.session_state["run:answer"] = ("fault", str(error))
        return
    done = RunFolder.find(settings.runs, run_id).progress().status == "complete"
    st.session_state["run:answer"] = ("complete" if done else "started", run_id)


def _answer() -> None:
    kind, text = st.session_state.pop("run:answer", ("", ""))
    if kind == "fault":
        st.error(show.plain(text))
    elif kind == "complete":
        st.info(f"This run is here already: `{text}`.")
    elif kind == "started":
        st.success(f"Started `{text}`.")


def _key(recipe: Study, name: str) -> str:
    return f"run:{recipe.name}:{name}"
