"""The dialog that starts a full run of a study with the chosen model on the chosen benchmark."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from explorer import benchmarks, display
from explorer.errors import ExplorerError, UsageError
from explorer.figures.model_names import model_title
from explorer.runs import cost, pace, queue, request, slices
from explorer.runs.compute_target import THIS_MACHINE
from explorer.runs.folder import RunFolder
from explorer.runs.slices import Slice
from explorer.scoring import http
from explorer.settings import Settings
from explorer.studies import STUDIES, study
from explorer.studies.selection import SELECTION
from explorer.studies.study import Setting, Study
from explorer.ui import (
    corpus_mark,
    links,
    page_list,
    progress,
    resources,
    run_names,
    run_several,
    run_where,
    run_words,
    show,
    starting,
    visitor,
)

DTYPES = ("auto", "float32", "bfloat16", "float16")
AMOUNTS = (1, 2, 4, 10, 20, 50, 100, 200, 500)  # instances of each group, beside all
EVERY = ""  # no slice
OPEN = "run:dialog"  # the page on which the dialog is open


def draw_run_button(title: str) -> None:
    """The button of the bar that opens the dialog on this page."""
    st.button("Run", type="primary", key="run:open", icon=":material/play_arrow:", on_click=_open, args=(title,))


def draw_dialog(title: str, model: str, benchmark: str, preferred: str = "") -> None:
    """The dialog, where it is open on this page; `preferred` is the study of the page."""
    if st.session_state.get(OPEN) == title:
        _dialog(model, benchmark, preferred)


def _open(title: str) -> None:
    links.take_event()
    st.session_state[OPEN] = title
    st.session_state.pop("run:answer", None)


def close() -> None:
    """Closes the dialog from the next run of the page on."""
    st.session_state.pop(OPEN, None)


@st.dialog("Start a run", width="medium", on_dismiss=close)
def _dialog(model: str, benchmark: str, preferred: str) -> None:
    """The study (the preferred one where it takes the benchmark and none was chosen), its settings and the button."""
    try:
        fitting = studies_for(benchmark)
    except ExplorerError as error:  # an import whose files are damaged
        show.problem(error)
        return
    if not fitting:
        show.note("No study takes this kind of benchmark. Choose another one in the bar at the top.")
        return
    about = f"**{show.plain(model_title(model))}** on **{show.plain(run_names.benchmark_title(benchmark))}**"
    st.markdown(f"A full run of {about}, by a process beside the app: you may close this window meanwhile.")
    first = preferred if preferred in fitting else fitting[0]
    if preferred and preferred not in fitting:
        show.note(f"The study of this page, {study(preferred).title}, does not take this kind of benchmark.")
    name = links.pick(
        st.selectbox, "Study", "study", fitting, default=first, format_func=lambda name: study(name).title
    )
    recipe = study(name)
    show.note(recipe.question)
    with show.problems():
        if guess := request.taken_for_english(resources.resources(), name, benchmark):
            show.note(guess)
        groups = _groups(benchmark, _draw_slice(recipe, benchmark))
        _draw_amount(recipe, groups)
        first_asked = run_words.ESSENTIALS.get(name, ())
        for setting in first_asked:
            if setting in recipe.settings:
                _draw_setting(recipe, setting, recipe.settings[setting])
        run_several.draw_several(model)
        advanced = st.expander("Advanced", icon=":material/tune:", key="run:advanced", on_change="rerun")
        if advanced.open:
            with advanced:
                _draw_advanced(recipe, benchmark, list(groups), first_asked)
        chosen = options_asked(recipe, benchmark)
        _draw_start(recipe, model, benchmark, chosen, groups)


def _draw_start(
    recipe: Study, model: str, benchmark: str, chosen: Mapping[str, Any], groups: Mapping[str, int]
) -> None:
    """What will be done and how long it takes, the button, what came of it, and the same as a command."""
    models, seeds = run_several.models_and_seeds(model, chosen["seed"])
    sentence = f"{run_several.sweep_opening(models, seeds)}{in_words(recipe, model, benchmark, chosen, groups)}"
    if remark := request.asked_in_english(resources.resources(), chosen["settings"], benchmark):
        show.note(remark)
    left, right = st.columns([3, 1], vertical_alignment="center")
    with left:
        st.html(f'<p class="lx-estimate">{show.escaped(sentence)}</p>')
    pressed = right.button("Start", type="primary", width="stretch", key="run:start", icon=":material/play_arrow:")
    if pressed and len(models) * len(seeds) > 1:
        _start_sweep(recipe, models, benchmark, seeds, chosen)
    elif pressed:
        _start(recipe, model, benchmark, chosen)
    _draw_outcome(recipe.name, model, benchmark)
    if recipe.plan and http.is_endpoint(model) and not visitor.why_not_admitted(model):
        with show.problems(), st.spinner("Reckoning what is asked"):
            show.note(_cost(recipe.name, model, benchmark, json.dumps(chosen, default=list), resources.settings()))
    show.command_line(run_several.command(command(recipe.name, model, benchmark, chosen), models, seeds), "of a run")


# What is left of a run changes while it goes on.
@st.cache_data(ttl=30, max_entries=32, show_spinner=False)
def _cost(study: str, model: str, benchmark: str, options: str, settings: Settings) -> str:
    """What the run will ask of its endpoint, in one sentence."""
    spec = request.make_spec(
        resources.resources(), study=study, model=model, benchmark=benchmark, **json.loads(options)
    )
    estimate = cost.estimate_run(spec, resources.resources())
    return cost.describe(spec, estimate)


def studies_for(benchmark: str) -> list[str]:
    """The studies that take this kind of benchmark."""
    kind = benchmarks.find(benchmark, resources.settings()).kind
    return [name for name in STUDIES if kind in study(name).kinds]


def options_asked(recipe: Study, benchmark: str) -> dict[str, Any]:
    """What the dialog says, also while it is closed."""
    state = st.session_state
    limit = state.get("run:limit")
    given_settings = {name: state.get(_key(recipe, name)) for name in recipe.settings}
    return {
        "suites": tuple(state.get(f"run:groups:{benchmark}") or ()),
        "limit": int(limit) if limit else None,
        "seed": int(state.get("run:seed") or 0),
        "dtype": state.get("run:dtype") or "auto",
        "settings": {name: value for name, value in given_settings.items() if value is not None},
        "only": list(slice_picked.ids) if (slice_picked := _slice(recipe, benchmark)) else [],
    }


def in_words(recipe: Study, model: str, benchmark: str, options: Mapping[str, Any], groups: Mapping[str, int]) -> str:
    """What the button will start and how long that takes, in one line."""
    amount = instances_asked(recipe, options, groups)
    parts = [display.counted(amount, "instance")]
    if slice_picked := _slice(recipe, benchmark):
        parts.append(f"of the slice “{slice_picked.name}”")
    if options["suites"]:
        parts.append(f"of {display.counted(len(options['suites']), 'group')}")
    if _per_group(recipe, options):
        parts.append(f"drawn with seed {options['seed']}")
    takes = pace.expected_seconds(
        queue.list_runs(resources.settings()), recipe.name, model, benchmark, amount
    ).in_words()
    if http.is_endpoint(model):
        takes = ""  # a server's speed is its own; what it will be asked stands below
    return ", ".join([" ".join(parts), *filter(None, [takes])]) + "."


def instances_asked(recipe: Study, options: Mapping[str, Any], groups: Mapping[str, int]) -> int:
    """How many instances a run with these options looks at."""
    sizes = [size for group, size in groups.items() if not options["suites"] or group in options["suites"]]
    most = _per_group(recipe, options)
    count = sum(min(size, most) if most else size for size in sizes)
    if "instances" in recipe.settings:  # test items, drawn evenly
        count = min(count, int(options["settings"].get("instances", recipe.settings["instances"].default)))
    return min(count, options["limit"]) if options["limit"] else count


def command(name: str, model: str, benchmark: str, options: Mapping[str, Any]) -> str:
    """The same run as a command line."""
    words = ["python", "-m", "explorer", "run", name, "--model", model, "--benchmark", benchmark]
    for suite in options["suites"]:
        words += ["--suite", suite]
    if slice_picked := _slice(study(name), benchmark):
        words += ["--slice", slice_picked.name]
    for flag, usual in (("limit", None), ("seed", 0), ("dtype", "auto")):
        if options[flag] != usual:
            words += [f"--{flag}", str(options[flag])]
    recipe = study(name)
    for setting, value in options["settings"].items():
        default = recipe.settings[setting].default
        text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        if text.replace(" ", "") != recipe.settings[setting].default_text and value != default:
            words += ["--set", f"{setting}={text}"]
    return shlex.join(words)


def _groups(benchmark: str, slice_picked: Slice | None = None) -> dict[str, int]:
    """The groups of the benchmark, or of a slice of it, with their sizes, in the benchmark's order."""
    with st.spinner("Reading the benchmark"):
        instances = resources.instances(benchmark).instances
    ids = None if slice_picked is None else set(slice_picked.ids)
    return dict(Counter(item.group for item in instances if ids is None or item.id in ids))


def _slice(recipe: Study, benchmark: str) -> Slice | None:
    """The slice that the dialog names, or the page where the dialog did not say; none where the study takes none."""
    name = st.session_state.get(f"run:slice:{benchmark}", links.recall("slice"))
    if not name or not set(SELECTION) <= set(recipe.settings):
        return None
    return next(
        (
            known_slice
            for known_slice in slices.of_benchmark(resources.settings(), benchmark)
            if known_slice.name == name
        ),
        None,
    )


def _draw_slice(recipe: Study, benchmark: str) -> Slice | None:
    """Which instances: all, or those of a slice that was kept of this benchmark; no field where there is none."""
    by_name = {known_slice.name: known_slice for known_slice in slices.of_benchmark(resources.settings(), benchmark)}
    if not by_name or not set(SELECTION) <= set(recipe.settings):
        return None
    key = f"run:slice:{benchmark}"
    wish = st.session_state.get(key, links.recall("slice"))
    st.session_state[key] = wish if wish in by_name else EVERY
    name = st.selectbox(
        "Slice",
        [EVERY, *by_name],
        key=key,
        persist_state="session",
        format_func=lambda slice_name: (
            f"{slice_name} ({display.counted(len(by_name[slice_name].ids), 'instance')})"
            if slice_name
            else "All instances"
        ),
        help="Instances that were picked in a figure or table and kept under a name.",
    )
    return by_name.get(name)


def _per_group(recipe: Study, options: Mapping[str, Any]) -> int:
    setting = recipe.settings.get("per_group")
    return int(options["settings"].get("per_group", setting.default)) if setting else 0  # type: ignore[arg-type]


def _draw_amount(recipe: Study, groups: Mapping[str, int]) -> None:
    """How much of the benchmark: all, or that many instances of each group."""
    if "per_group" not in recipe.settings:
        return
    key = _key(recipe, "per_group")
    usual = int(recipe.settings["per_group"].default)  # type: ignore[arg-type]
    chosen = int(st.session_state.get(key) or 0) if key in st.session_state else usual
    largest, total = max(groups.values(), default=0), sum(groups.values())
    amounts = sorted({amount for amount in (*AMOUNTS, usual, chosen) if 0 < amount < largest or amount == chosen} - {0})
    options = [0, *amounts]
    st.session_state[key] = chosen

    def name(amount: int) -> str:
        if not amount:
            return f"All {total:,} instances"
        count = sum(min(size, amount) for size in groups.values())
        shown = display.counted(count, "instance")
        return shown if len(groups) == 1 else f"{amount:,} of each group: {shown}"

    st.selectbox(run_words.label("per_group"), options, format_func=name, key=key, persist_state="session")


def _draw_advanced(recipe: Study, benchmark: str, groups: Sequence[str], settings_asked: Sequence[str]) -> None:
    st.multiselect("Groups", groups, key=f"run:groups:{benchmark}", placeholder="All groups", persist_state="session")
    left, right = st.columns(2)
    left.number_input(
        "Limit", min_value=1, value=None, step=50, key="run:limit", placeholder="all", persist_state="session",
        help="Only the first instances, in benchmark order.",
    )  # fmt: skip
    right.number_input(
        "Seed", min_value=0, value=0, step=1, key="run:seed", persist_state="session",
        help="The start of every generator of random numbers: the same seed draws the same.",
    )  # fmt: skip
    for name, setting in recipe.settings.items():
        if name not in (*settings_asked, "per_group"):
            _draw_setting(recipe, name, setting)
    st.selectbox("Number format", DTYPES, key="run:dtype", persist_state="session", help="auto: float32 on a CPU")
    run_where.draw_run_where()


def _draw_setting(recipe: Study, name: str, setting: Setting) -> None:
    label = run_words.label(name)
    shared: dict[str, Any] = {"key": _key(recipe, name), "help": show.plain(setting.help), "persist_state": "session"}
    named: dict[str, Any] = {"format_func": lambda value: run_words.choice(name, value)}
    default = setting.default
    if isinstance(default, bool):
        st.toggle(label, value=default, **shared)
    elif isinstance(default, tuple) and setting.choices:
        st.multiselect(label, setting.choices, default=list(default), **named, **shared)
    elif isinstance(default, tuple):
        st.text_input(label, value=", ".join(map(str, default)), **shared)
    elif setting.choices:
        st.selectbox(label, setting.choices, index=setting.choices.index(str(default)), **named, **shared)
    elif isinstance(default, int | float):
        st.number_input(label, value=default, **shared)
    elif name == "index":
        names = list(dict.fromkeys([default, *corpus_mark.local_names(resources.settings())]))
        st.selectbox(label, names, format_func=corpus_mark.title, accept_new_options=True, **shared)
    else:
        st.text_input(label, value=default, **shared)


def _start(recipe: Study, model: str, benchmark: str, options: Mapping[str, Any]) -> None:
    settings = resources.settings()
    try:
        where = run_where.place_chosen()
        with st.spinner("Preparing the run"):
            run_id = starting.submit(recipe.name, model, benchmark, where, **options)
    except ExplorerError as error:
        st.session_state["run:answer"] = ("fault", str(error))
        return
    if RunFolder.find(settings.runs, run_id).progress().status == "complete":
        st.session_state["run:answer"] = ("complete", run_id)
        return
    progress.expect(run_id)
    close()
    st.rerun()


def _start_sweep(
    recipe: Study, models: Sequence[str], benchmark: str, seeds: Sequence[int], options: Mapping[str, Any]
) -> None:
    try:
        if run_where.place_chosen() != THIS_MACHINE:
            raise UsageError("A sweep runs on this machine. Leave the Ray cluster empty, or start one run at a time.")
        name = run_several.submit(recipe.name, models, benchmark, seeds, options)
    except ExplorerError as error:
        st.session_state["run:answer"] = ("fault", str(error))
        return
    st.session_state["run:answer"] = ("sweep", name)


def _draw_outcome(name: str, model: str, benchmark: str) -> None:
    kind, text = st.session_state.get("run:answer", ("", ""))
    if kind == "fault":
        st.error(show.plain(text))
    elif kind == "complete":
        st.info("This very run is here already.")
        page_list.link_to_result(name, "See what it found", model, benchmark, text)
    elif kind == "sweep":
        st.success(f"The sweep {text} has begun.")
        page_list.link_to("Runs", "See how far it is", view="Sweeps", sweep=text)
    st.session_state.pop("run:answer", None)


def _key(recipe: Study, name: str) -> str:
    return f"run:{recipe.name}:{name}"
