"""Where a study has no run yet: what it would show, and a button that starts it."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from explorer import benchmarks
from explorer.studies import study as find_study
from explorer.ui import layout, resources, show, starting, texts
from explorer.ui.layout import Chosen

FEW = 200  # instances of a first run, where the benchmark has more
FEWEST = 4  # of a group


def offer(study: str, chosen: Chosen, title: str, advice: str, settings: Mapping[str, str | int] | None = None) -> None:
    """An empty state with the command of a first run, and the button that does the same.

    `settings` are those of a first run that differ from the study's own, beside the size of the sample.
    """
    recipe = find_study(study)
    benchmark = benchmarks.find(chosen.benchmark, resources.settings())
    if benchmark.kind not in recipe.kinds:
        show.nothing_yet(
            title,
            f"{benchmark.title} is of a kind that this study does not take. Choose another one in the bar at the top.",
        )
        return
    command = f"python -m explorer run {study} --model {chosen.model} --benchmark {chosen.benchmark}"
    show.nothing_yet(title, advice)
    if not texts.are_here(chosen.benchmark):
        texts.offer(chosen.benchmark)
        show.command_line(command + "".join(f" --set {name}={value}" for name, value in (settings or {}).items()))
        return
    sample = _sample(chosen.benchmark) if "per_group" in recipe.settings else 0
    first = {**({"per_group": sample} if sample else {}), **(settings or {})}
    amount = f"{sample} instances of each group" if sample else _describe(settings) or "the whole benchmark"
    if st.button(f"Run it on {amount}", type="primary", icon=":material/play_arrow:", key=f"start:{study}"):
        with st.spinner("Preparing the run"):
            starting.submit(study, chosen.model, chosen.benchmark, settings=first)
        st.rerun()
    show.note(
        f"It is done by a worker beside the app, with {show.plain(layout.model_title(chosen.model))}; its progress "
        "is shown in the bar at the top."
    )
    show.command_line(command + "".join(f" --set {name}={value}" for name, value in first.items()))


def _describe(settings: Mapping[str, str | int] | None) -> str:
    return f"{settings['instances']} instances" if settings and "instances" in settings else ""


def _sample(benchmark: str) -> int:
    """Instances of each group in a first run, 0 for all: minutes on two cores, not hours."""
    instances = resources.instances(benchmark).instances
    groups = len({instance.group for instance in instances})
    return 0 if len(instances) <= FEW else max(FEWEST, FEW // groups)
