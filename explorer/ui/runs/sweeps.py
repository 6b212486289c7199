"""Sweeps: runs that were asked for together, how far each is, and what can be done with all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from explorer.figures.model_names import model_title
from explorer.results import sweeps as ended
from explorer.runs import sweep as sweep_file
from explorer.runs.sweep import NOT_STARTED, Sweep
from explorer.settings import Settings
from explorer.ui import layout, links, progress, resources, run_names, show, visitor
from explorer.ui.columns import count_column, id_column, link_column, name_column

ROW, MOST_ROWS = 35, 14
EXPORTED = ("findings", "a row per instance")


def draw_sweeps() -> None:
    """The picker of a sweep, how far it is, and what can be done with it."""
    settings = resources.settings()
    known = {sweep.name: sweep for sweep in sweep_file.list_all(settings)}
    if not known:
        show.nothing_yet(
            "No sweep yet",
            "A sweep is one study over several models, checkpoints or seeds. Press Run, choose a study, and open "
            "Several models or seeds.",
            'python -m explorer run accuracy --model "glassbox-s@step{0,1,2,4,...,1024}" glassbox-s '
            "--benchmark glassbox_pairs",
        )
        return
    titles = {name: title_of(sweep) for name, sweep in known.items()}
    name = links.pick(
        st.selectbox, "Sweep", "sweep", list(known), default=next(iter(known)),
        format_func=lambda name: titles.get(name, name),
    )  # fmt: skip
    statuses = statuses_of(settings, known[name])
    if is_live(statuses):
        _watch(name)
    else:
        _draw_sweep(settings, known[name], statuses)


def title_of(sweep: Sweep) -> str:
    """A sweep in words: its study, how many runs of which models on what, and when it was asked for."""
    models = list(dict.fromkeys(member.model for member in sweep.members))
    families = list(dict.fromkeys(model.partition("@")[0] for model in models))
    of = model_title(families[0]) if len(families) == 1 else f"{len(families):,} models"
    names = list(dict.fromkeys(member.benchmark for member in sweep.members))
    on = run_names.benchmark_title(names[0]) if len(names) == 1 else f"{len(names):,} benchmarks"
    when = datetime.fromtimestamp(sweep.made).strftime(run_names.TIME)
    return f"{run_names.study_title(sweep.study)}: {_count(len(sweep.members))} of {of} on {on} · {when} · {sweep.name}"


def statuses_of(settings: Settings, sweep: Sweep) -> list[str]:
    """How far each run of a sweep is."""
    return [sweep_file.status_of(settings, member) for member in sweep.members]


def is_live(statuses: Sequence[str]) -> bool:
    """Whether a run of it is going on or waits."""
    return any(status in progress.LIVE for status in statuses)


@st.fragment(run_every=progress.EVERY)
def _watch(name: str) -> None:
    settings = resources.settings()
    sweep = sweep_file.find(settings, name)
    if sweep is None:  # another window has deleted it
        links.run_page()
    statuses = statuses_of(settings, sweep)
    _draw_sweep(settings, sweep, statuses)
    if not is_live(statuses):
        links.run_page()


def _draw_sweep(settings: Settings, sweep: Sweep, statuses: Sequence[str]) -> None:
    done = sum(status == "complete" for status in statuses)
    show.says(_standing(statuses, done))
    st.progress(done / len(statuses))
    with show.problems():
        _actions(settings, sweep, statuses, done)
    _members(sweep, statuses)


def _standing(statuses: Sequence[str], done: int) -> str:
    parts = [f"{done:,} of {_count(len(statuses))} {'is' if done == 1 else 'are'} complete"]
    for status in dict.fromkeys(statuses):
        if status != "complete":
            parts.append(f"{sum(part_status == status for part_status in statuses):,} {status}")
    return f"{', '.join(parts)}."


def _actions(settings: Settings, sweep: Sweep, statuses: Sequence[str], done: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if is_live(statuses):
            st.button("Cancel", key="sweep:cancel", icon=":material/close:", on_click=_cancel, args=(sweep.name,))
        elif done < len(statuses):
            # A run of a sweep may be of any folder or server: only the owner's word begins one.
            st.button(
                "Go on", key="sweep:resume", icon=":material/play_arrow:", on_click=_resume, args=(sweep.name,),
                disabled=not visitor.is_trusted(),
            )  # fmt: skip
        if done:
            with st.popover("Download", icon=":material/download:", type="tertiary", key="sweep:export"):
                for title in EXPORTED:
                    st.download_button(
                        f"{title.capitalize()}, CSV", partial(_as_csv, sweep.name, title),
                        file_name=f"{sweep.name}_{title.replace(' ', '-')}.csv", mime="text/csv",
                        key=f"sweep:export:{title}", on_click="ignore", type="tertiary",
                    )  # fmt: skip
        if done > 1:
            benchmark = sweep.members[0].benchmark
            layout.link_to("Trajectories", "Along training, size or seed", of_study=sweep.study, on=benchmark,
                           benchmark=benchmark, along=_along(sweep))  # fmt: skip
        with st.popover("Delete", icon=":material/delete:", type="tertiary", key="sweep:delete"):
            show.note(
                f"The sweep and its {_count(len(statuses))} go, but for runs that were there before it or are in "
                "another sweep."
            )
            st.button("Delete all of it", key="sweep:delete:all", type="primary", on_click=_delete, args=(sweep.name,))


def _along(sweep: Sweep) -> str:
    """The axis that a sweep's runs differ on."""
    models = {member.model for member in sweep.members}
    if len(models) == 1:
        return "seed"
    return "tokens" if len({model.partition("@")[0] for model in models}) < len(models) else "parameters"


def _members(sweep: Sweep, statuses: Sequence[str]) -> None:
    rows = pd.DataFrame(
        [
            {
                "model": _title_of_model(member.model), "benchmark": run_names.benchmark_title(member.benchmark),
                "seed": member.seed, "status": status, "run_id": member.run_id,
                "look": layout.address_of("Runs", shown=member.run_id) if status != NOT_STARTED else None,
            }
            for member, status in zip(sweep.members, statuses, strict=True)
        ]
    )  # fmt: skip
    columns: dict[str, Any] = {
        "model": name_column("Model"), "benchmark": name_column("Benchmark"), "seed": count_column("Seed"),
        "status": "State", "look": link_column("Run", "open"), "run_id": id_column("ID"),
    }  # fmt: skip
    if rows["benchmark"].nunique() == 1:
        columns.pop("benchmark")
    if rows["seed"].nunique() == 1:
        columns.pop("seed")
    show.table(
        rows, f"runs of {sweep.name}", columns=columns, height=ROW * min(len(rows) + 1, MOST_ROWS) + 3,
        about=show.About(),
    )  # fmt: skip


def _title_of_model(model: str) -> str:
    name, at, revision = model.partition("@")
    return f"{model_title(name)}{at}{revision}"


def _as_csv(name: str, title: str) -> bytes:
    """The rows of all complete runs of the sweep."""
    from explorer.results import formats

    settings = resources.settings()
    sweep = sweep_file.find(settings, name)
    if sweep is None:
        return b""
    rows = ended.sweep_rows(ended.complete_runs(settings, sweep), "findings" if title == EXPORTED[0] else None)
    return formats.as_bytes(rows, "csv", caption=name, label=name, spreadsheet_safe=True)


def _cancel(name: str) -> None:
    with show.problems():
        if sweep := sweep_file.find(resources.settings(), name):
            sweep_file.cancel(resources.settings(), sweep)


def _resume(name: str) -> None:
    with show.problems():
        if (sweep := sweep_file.find(resources.settings(), name)) and visitor.is_trusted():
            sweep_file.start(resources.settings(), sweep)


def _delete(name: str) -> None:
    with show.problems():
        if sweep := sweep_file.find(resources.settings(), name):
            ended.delete_sweep(resources.settings(), sweep)


def _count(runs: int) -> str:
    return f"{runs:,} run{'' if runs == 1 else 's'}"
