"""One run: how far it is, what can be done with it, what it found, its log and its conditions."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pandas as pd
import streamlit as st

from explorer import display
from explorer.errors import ExplorerError
from explorer.figures.accuracy_by_group import accuracy_by_group
from explorer.figures.margins import margin_histogram
from explorer.figures.model_names import model_title
from explorer.figures.models import model_color
from explorer.figures.runs import dots_of_runs
from explorer.finding import Finding
from explorer.results import archive, broken_off, queries
from explorer.results import store as stores
from explorer.results.packed_run import PackedRun, Run
from explorer.runs import compute_target as places
from explorer.runs import imported, queue
from explorer.runs.folder import RunFolder
from explorer.runs.queue import RunInfo
from explorer.studies import declared, many_tests
from explorer.studies.accuracy import declared as accuracy
from explorer.ui import (
    conclusions,
    layout,
    links,
    method_note,
    progress,
    resources,
    show,
    starting,
    undecided_verdicts,
)
from explorer.ui.columns import (
    count_column,
    group_column,
    id_column,
    link_column,
    mixed_column,
    nats_column,
    p_column,
    unit_column,
)
from explorer.ui.runs import finding_rows, seeds

# What is shown of a run's findings; a column without a value in any row is left out. Stored names, details and meanings
# stand in the file.
FINDINGS: Mapping[str, Any] = {
    "title": "What",
    "grp": group_column("Group"),
    "condition": group_column("Condition"),
    "setting": group_column("Setting"),
    "length": count_column("Tokens of context"),
    "k": "k",
    "part": "Part",
    "language": "Language",
    "temperature": "Temperature",
    "value": mixed_column("Value"),
    "low": mixed_column("From", "the 95% interval"),
    "high": mixed_column("To"),
    "p": p_column(),
    "p_adjusted": p_column("p (BH)", "adjusted by Benjamini and Hochberg within the family of tests"),
    "n": count_column("n"),
    "left_out": count_column("Left out"),
    "reason": "Remark",
}
RESUMABLE = ("interrupted", "cancelled", "failed")


def draw_run_details(run: RunInfo) -> None:
    """Everything about one run."""
    show.about(run.study, run.model, run.benchmark, run.done)
    if not (resources.settings().runs / run.run_id).exists():
        _came_along(run)
        return
    folder = RunFolder.find(resources.settings().runs, run.run_id)
    if run.status == queue.DAMAGED:
        show.note(run.message)
        _actions(run, folder)
        return
    if run.status in progress.LIVE:
        _live(run.run_id)
    else:
        show.note(_standing(run))
        if where := imported.source(folder):
            show.note(f"Imported, not done here: {where}.")
            for remark in imported.remarks(folder):
                show.note(remark)
        _actions(run, folder)
        _findings(run)
    _log(folder)
    _conditions(folder)


def _came_along(run: RunInfo) -> None:
    """A run that came with the explorer: it has no folder, so it cannot be resumed or deleted."""
    show.note(f"{_standing(run)} It came with Lexiscope.")
    if run.study == "accuracy":
        layout.link_to("Instance", "Look at its instances", model=run.model, benchmark=run.benchmark, run=run.run_id)
    packed = resources.run(run.run_id)
    with st.container(horizontal=True, vertical_alignment="center"):
        _download(packed)
        if isinstance(packed, PackedRun):
            show.note(packed.left_out)
    _findings(run)
    stored = resources.ask_store(queries.run, run.run_id)

    def draw() -> None:
        for name in ("spec", "environment") if len(stored) else ():
            st.json(str(stored[name].iloc[0]), expanded=1)

    show.folded("Request and environment", "run:request", draw)


@st.fragment(run_every=progress.EVERY)
def _live(run_id: str) -> None:
    with show.problems():  # another visitor may have deleted the run between two looks
        folder = RunFolder.find(resources.settings().runs, run_id)
        run = queue.info(folder)
        progress.bar(run)
        _actions(run, folder)
        if run.study == "accuracy" and run.done:
            so_far = stores.open_parts(folder)
            _items(queries.items(so_far, run_id), "So far")
            so_far.close()


def _actions(run: RunInfo, folder: RunFolder) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if run.study == "accuracy" and run.done and run.status not in progress.LIVE:
            layout.link_to(
                "Instance", "Look at its instances", model=run.model, benchmark=run.benchmark, run=run.run_id
            )
        if run.status in progress.LIVE:
            st.button("Cancel", icon=":material/stop_circle:", key="run:cancel", on_click=_cancel, args=(run.run_id,))
        if run.status in RESUMABLE:
            st.button("Resume", icon=":material/resume:", key="run:resume", on_click=_resume, args=(run.run_id,))
        if run.status not in (*progress.LIVE, queue.DAMAGED):
            _download(folder)
        if run.status not in progress.LIVE:
            with st.popover("Delete", icon=":material/delete:", key="run:delete"):
                st.write("This removes the run's folder and its rows in the database. It cannot be undone.")
                st.button("Delete this run", type="primary", key="run:really", on_click=_delete, args=(run.run_id,))
    if len(folder.environments()) > 1:
        show.note(f"The parts of this run were made under different environments. {'; '.join(folder.differences())}")
    if fault := st.session_state.pop("run:fault", ""):
        st.error(show.plain(fault))


def _download(run: Run) -> None:
    st.download_button(
        "Download all",
        lambda: archive.as_bytes(run, resources.settings()),
        file_name=f"{run.run_id}.zip",
        mime="application/zip",
        key="run:zip",
        on_click="ignore",
        icon=":material/folder_zip:",
        help="The whole run as one zip: spec, environment, rows, findings, reviews and citation.",
    )


def _findings(run: RunInfo) -> None:
    with show.problems():
        overall = resources.ask_store(queries.overall, run.run_id)
        if run.study == "accuracy" and overall.empty:
            _items(resources.ask_store(queries.items, run.run_id), "So far")
            return
        show.says(*conclusions.of_run(run.run_id))
        if run.study != "accuracy":
            findings = _explained(resources.ask_store(queries.findings, run.run_id), run.study)
            if len(findings):
                show.section("Findings")
                _one_finding(run, findings)
            return
        _headline(overall)
        if overall["finding"].isin(list(CORRELATIONS)).any():
            _ratings(run)
            return
        undecided_verdicts.draw_undecided_note([run.run_id])
        seeds.draw_over_seeds(run.study, seeds.siblings([run.run_id]), accuracy.ACCURACY.name)
        groups = resources.ask_store(queries.accuracy_by_group, run.run_id)
        items = resources.ask_store(queries.items, run.run_id)
        _items(items, "Margins")
        if len(groups) > 1:
            st.subheader("Accuracy by group", anchor=False)
            share = overall.loc[(overall["finding"] == accuracy.ACCURACY.name) & overall["setting"].isna(), "value"]
            show.chart(
                resources.drawn(accuracy_by_group, groups, overall=float(share.iloc[0]), color=model_color(run.model)),
                key="by_group",
                alt="Accuracy of each group with its 95% interval, the best at the top",
            )
        drawer = st.expander("Every instance", key=f"every:{run.run_id}", on_change="rerun")
        if drawer.open:
            with drawer:
                _every_instance(run, items)


def _explained(findings: pd.DataFrame, study: str) -> pd.DataFrame:
    """The findings with what each is called, its unit, what its n counts and what it means, as the study declares."""
    known = {name: declared.find(study, name) for name in findings["finding"].unique()}
    declared_findings = {
        name: declared_finding for name, declared_finding in known.items() if declared_finding is not None
    }
    columns = {
        column: findings["finding"].map(
            {name: getattr(declared_finding, column) for name, declared_finding in declared_findings.items()}
        )
        for column in ("title", "unit", "of", "meaning")
    }
    return many_tests.with_families(findings.assign(**columns), study)


def _one_finding(run: RunInfo, findings: pd.DataFrame) -> None:
    """What the run found under one name, in words and in its unit; the file has all names, with their details."""
    names = list(dict.fromkeys(findings["finding"]))
    known = {name: declared.find(run.study, name) for name in names}
    name = links.pick(
        st.selectbox,
        "Finding",
        "concluded",
        names,
        default=finding_rows.first_of(run.study, names),
        format_func=lambda row_number: one_title(known[row_number], row_number),
    )
    rows = findings[findings["finding"] == name]
    finding = known[name]
    family = many_tests.in_words(run.study, name, int(rows["tests"].max())) if rows["p"].notna().any() else ""
    columns = {
        column: shown for column, shown in FINDINGS.items() if column != "title" and _says_something(rows[column])
    }
    if finding:
        show.lead(show.meaning(finding.meaning))
        show.note(f"Unit: {finding.unit}; n counts: {finding.of}. {family}".strip())
        titles = {"value": "Value", "low": "From", "high": "To"}
        columns |= {column: unit_column(finding.unit, titles[column]) for column in titles if column in columns}
    known_rows = rows[rows["value"].notna()].reset_index(drop=True)
    labeled = known_rows.assign(run=model_title(run.model), row=finding_rows.labels(known_rows))
    if labeled["row"].nunique() > 1:
        show.chart(
            resources.drawn(dots_of_runs, labeled, finding.unit if finding else "", one_title(finding, name)),
            key="one_finding",
            alt=f"{one_title(finding, name)}, row by row, with its 95% interval where there is one",
        )

        def draw() -> None:
            show.table(rows, f"findings {run.run_id}", columns=columns, whole=findings)

        show.folded("As a table", f"findings:{name}", draw)
    else:
        show.table(rows, f"findings {run.run_id}", columns=columns, whole=findings)
    seeds.draw_over_seeds(run.study, seeds.siblings([run.run_id]), name)


def _says_something(column: pd.Series) -> bool:
    return bool((column.notna() & (column != "")).any())


def one_title(finding: Finding | None, name: str) -> str:
    """What people call a finding; of a later version its stored name as words."""
    return finding.title if finding else display.words(name).capitalize()


def _ratings(run: RunInfo) -> None:
    """The correlations of a run over rated sentences, which has no right and wrong to draw."""
    findings = _explained(resources.ask_store(queries.findings, run.run_id), run.study)
    columns = {name: label for name, label in FINDINGS.items() if findings[name].notna().any()}
    show.section("Scores and ratings")
    show.table(findings, f"findings {run.run_id}", columns=columns)
    _every_instance(run, resources.ask_store(queries.items, run.run_id))


def _every_instance(run: RunInfo, items: pd.DataFrame) -> None:
    about = {"model": run.model, "benchmark": run.benchmark, "run": run.run_id}
    look = [layout.address_of("Instance", **about, instance=name) for name in items["instance_id"]]
    unit = method_note.units_of([run.run_id])[run.run_id]
    show.table(
        items.drop(columns=["text_hash"]).assign(look=look),
        f"instances {run.run_id}",
        columns={
            "verdict": "Verdict",
            "margin": nats_column(f"Margin ({unit})", unit),
            "grp": group_column("Group"),
            "reason": "Remark",
            "look": link_column("Tokens"),
            "instance_id": id_column("Instance", width="medium"),
        },
    )


def _standing(run: RunInfo) -> str:
    when = f"{datetime.fromtimestamp(run.created):%d %B %Y, %H:%M}"
    amount = (
        display.counted(run.done, "instance") if run.done == run.total else f"{run.done:,} of {run.total:,} instances"
    )
    how_asked = f" {sentence}" if (sentence := layout.asked_in_words(run.run_id)) else ""
    remark = f" {run.message}" if run.message and run.status != "complete" else ""
    return f"{run.status.capitalize()}: {amount}, started {when}.{how_asked}{remark}"


FEWEST_MARGINS = 4  # of which a middle half can be told
CORRELATIONS = {finding.name: finding.title for finding in (accuracy.RATING_PEARSON, accuracy.RATING_SPEARMAN)}


def _headline(overall: pd.DataFrame) -> None:
    cells = []
    for row in overall.to_dict("records"):
        setting = row["setting"] if isinstance(row["setting"], str) else ""
        if row["finding"] == accuracy.ACCURACY.name and not setting:
            label = "Accuracy" if row["grp"] == "overall" else "Mean over groups"
            cells.append((label, display.share(row["value"]), _explain(row)))
        elif row["finding"] in CORRELATIONS:
            if setting == "mean_token":
                ends = f"{display.number(row['low'])} to {display.number(row['high'])}"
                about = f"{ends}, of ratings with nats a token. {_explain(row)}"
                cells.append((CORRELATIONS[row["finding"]], display.number(row["value"]), about))
        elif row["finding"] == accuracy.PERPLEXITY.name:
            cells.append(("Perplexity of the last word", display.number(row["value"]), _explain(row)))
        elif setting in ("mean_token", "per_char"):
            label = {"mean_token": "By mean per token", "per_char": "By mean per character"}[setting]
            cells.append(
                (label, display.share(row["value"]), "Options compared by another reduction of the same scores.")
            )
    show.numbers(cells)


def _explain(row: dict) -> str:
    left_out = f", {row['left_out']} left out" if row["left_out"] else ""
    interval = display.share(row["value"], row["low"], row["high"]) if row["finding"] == accuracy.ACCURACY.name else ""
    details = json.loads(row["detail"]) if isinstance(row.get("detail"), str) else {}
    passes = f", each answered {details['passes']} times ({details['reducer']})" if details.get("passes") else ""
    return f"{interval}{' of' if interval else ''} {display.counted(row['n'], 'instance')}{passes}{left_out}".strip()


def margins_in_words(margins: pd.Series) -> str:
    """Between which margins (nats) the middle half of the instances lies; nothing of few."""
    if len(margins) < FEWEST_MARGINS:
        return ""
    low, high = (display.number(float(margins.quantile(share)), signed=True) for share in (0.25, 0.75))
    return f"Half of the margins lie between {low} and {high} nats."


def _items(items: pd.DataFrame, title: str) -> None:
    known = items[items["margin"].notna()]
    if known.empty:
        return
    st.subheader(title, anchor=False)
    show.says(margins_in_words(known["margin"].astype(float)))
    show.chart(
        resources.drawn(margin_histogram, items), key=f"margins:{title}", alt="How many instances have which margin"
    )
    unknown = int((items["verdict"] == "no verdict").sum())
    if unknown:
        show.note(f"Left out, for want of a verdict: {display.counted(unknown, 'instance')}.")


def _log(folder: RunFolder) -> None:
    def draw() -> None:
        st.code(folder.log_tail(200) or "The log is empty.", language=None, height=320, wrap_lines=True)

    show.folded("Log", "run:log", draw)


def _conditions(folder: RunFolder) -> None:
    def draw() -> None:
        if (where := places.read_target(folder)).cluster:
            st.write(show.plain(f"Done on {where.in_words}."))
        try:
            st.json(dataclasses.asdict(folder.spec), expanded=1)
        except ExplorerError as error:
            show.problem(error)
        st.json(folder.environment, expanded=1)

    show.folded("Request and environment", "run:request", draw)


def _cancel(run_id: str) -> None:
    _run_step(lambda: queue.cancel(resources.settings(), run_id))


def _resume(run_id: str) -> None:
    _run_step(lambda: starting.resume(run_id))


def _delete(run_id: str) -> None:
    def delete() -> None:
        settings = resources.settings()
        broken_off.delete_run(settings, RunFolder.find(settings.runs, run_id))

    _run_step(delete)


def _run_step(step) -> None:
    try:
        step()
    except ExplorerError as error:
        st.session_state["run:fault"] = str(error)
