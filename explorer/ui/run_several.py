"""The run dialog's choice of several models, checkpoints or seeds, which make a sweep."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from explorer.errors import UsageError
from explorer.runs import name_lists
from explorer.runs import sweep as sweep_file
from explorer.scoring import suites
from explorer.ui import resources, starting, visitor

MODELS, SEEDS = "run:models", "run:seeds"
MOST_SHOWN = 4  # checkpoints that an example names


def draw_several(model: str) -> None:
    """The list of models and the number of seeds; for the owner of the app alone."""
    if not visitor.is_trusted():
        return
    with st.expander("Several models or seeds", icon=":material/stacks:", key="run:several"):
        st.text_area(
            "Models, a line each", key=MODELS, persist_state="session", height=80,
            placeholder=f"none beside the one above; for example\n{example(model)}",
            help="Checkpoints can be written short: step{0,1,2,4,...,512} are all of them from 0 to 512. The model "
            "chosen in the bar runs along.",
        )  # fmt: skip
        st.number_input(
            "Seeds", min_value=1, value=1, step=1, key=SEEDS, persist_state="session",
            help="A run for each of so many seeds, from the seed under Advanced on.",
        )  # fmt: skip


def example(model: str) -> str:
    """A list of checkpoints as it may be written, of this model where its checkpoints are known."""
    family = model.partition("@")[0]
    steps = suites.steps_of(model)
    if len(steps) <= MOST_SHOWN + 1:
        family, steps = "EleutherAI/pythia-70m", suites.steps_of("EleutherAI/pythia-70m")
    last = max(step for step in steps if step != steps[-1])
    return f"{family}@step{{{','.join(map(str, steps[:MOST_SHOWN]))},...,{last}}}"


def models_and_seeds(model: str, seed: int) -> tuple[list[str], list[int]]:
    """The models and the seeds of the runs to come; the one model and seed where nothing more was asked for."""
    state = st.session_state
    written = str(state.get(MODELS) or "") if visitor.is_trusted() else ""
    several = name_lists.expand([line.strip() for line in written.splitlines() if line.strip()])
    many = int(state.get(SEEDS) or 1) if visitor.is_trusted() else 1
    return list(dict.fromkeys([*several, model])), list(range(seed, seed + many))


def submit(study: str, models: Sequence[str], benchmark: str, seeds: Sequence[int], options: Mapping[str, Any]) -> str:
    """The name of the sweep, begun in a process of its own; UsageError where it cannot be."""
    if not visitor.is_trusted():
        raise UsageError("Only the owner of the app may start a sweep. Start one run at a time.")
    for model in models:
        starting.check(model, options.get("settings") or {})
    request = {
        "suites": list(options["suites"]), "limit": options["limit"], "dtype": options["dtype"],
        "settings": {name: list(value) if isinstance(value, tuple) else value
                     for name, value in options["settings"].items()},
        "only": list(options["only"]),
    }  # fmt: skip
    settings = resources.settings()
    planned = sweep_file.store_sweep(settings, sweep_file.plan(study, models, [benchmark], seeds, request=request))
    sweep_file.start(settings, planned)
    return planned.name


def sweep_opening(models: Sequence[str], seeds: Sequence[int]) -> str:
    """The beginning of a sentence about a sweep, with the number of its runs; "" for a single run."""
    runs = len(models) * len(seeds)
    if runs < 2:
        return ""
    parts = [f"{len(models):,} models"] if len(models) > 1 else []
    parts += [f"{len(seeds):,} seeds"] if len(seeds) > 1 else []
    return f"A sweep of {runs:,} runs ({', '.join(parts)}), one after another; each: "


def command(words: str, models: Sequence[str], seeds: Sequence[int]) -> str:
    """The command line of one run as that of the sweep."""
    if len(models) * len(seeds) < 2:
        return words
    first, _, rest = words.partition(" --model ")
    _, _, after = rest.partition(" --benchmark ")
    more = f" --seeds {len(seeds)}" if len(seeds) > 1 else ""
    return f"{first} --model {shlex.join(models)} --benchmark {after}{more}"
