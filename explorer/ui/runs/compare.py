"""Two or more runs of a study side by side: what each found, and item by item whether a change is more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from explorer import benchmarks as registry
from explorer import display
from explorer.figures.comparison import MOST_DOTS, margins_of_two_runs
from explorer.figures.runs import MOST_ROWS, dots_of_runs
from explorer.results import queries
from explorer.scoring.reduce import word_of
from explorer.stats.estimate import Estimate, drawn_from_enough
from explorer.stats.mcnemar import mcnemar
from explorer.stats.multiple_tests import correct_p_values
from explorer.stats.paired_shares import paired_shares
from explorer.stats.proportion import proportion
from explorer.studies import STUDIES, declared
from explorer.ui import (
    bos_note,
    instance_list,
    item_families,
    layout,
    links,
    method_note,
    resources,
    run_names,
    show,
    undecided_verdicts,
    wrong_address,
)
from explorer.ui.columns import (
    count_column,
    group_column,
    link_column,
    nats_column,
    p_column,
    points_column,
    text_column,
    unit_column,
)
from explorer.ui.runs import finding_rows, seeds

MOST = 6  # runs: as many as there are colors
ALL = "all shared instances"
RUNS = "runs"  # the name of the choice: the ids of the compared runs, parted by commas
SHOWN = 200  # instances whose text is looked up


def draw_compare() -> None:
    """The picker of the runs, and what comes of comparing them."""
    runs = resources.ask_store(queries.runs)
    runs = runs[(runs["done"] > 0) & runs["study"].isin(list(STUDIES))]
    if runs["study"].value_counts().max() < 2 or runs.empty:
        show.nothing_yet(
            "Two runs are needed",
            "Run a study twice, with two models or two settings; then compare them here.",
        )
        return
    chosen = _pick(runs)
    if len(chosen) < 2:
        show.note("Choose a second run.")
        return
    compared = runs.set_index("run_id", drop=False).loc[chosen]
    names = run_names.short_names(compared)
    study, benchmarks = str(compared["study"].iloc[0]), list(dict.fromkeys(compared["benchmark"]))
    show.about(study, " and ".join(names.values()), benchmarks[0] if len(benchmarks) == 1 else "")
    if study == "accuracy" and len(benchmarks) == 1:
        _draw_judged(compared, names)
    else:
        method_note.draw_settings_note(compared, names)
    show.section("What each run found")
    _findings(study, names)


def offer(run_ids: Sequence[str]) -> None:
    """The button that compares the runs ticked in the list."""
    few = run_ids[:MOST]
    label = f"Compare these {len(few)} runs" if len(run_ids) <= MOST else f"Compare the first {MOST} of them"
    st.button(label, key="runs:compare", type="primary", icon=":material/compare_arrows:", on_click=_open, args=(few,))


def _open(run_ids: Sequence[str]) -> None:
    links.choose(RUNS, ",".join(run_ids))
    links.choose("view", "Compare")


def _pick(runs: pd.DataFrame) -> list[str]:
    """The ids of the runs that are compared: those chosen in the list or by a link, and what is added here."""
    known = list(runs["run_id"])
    wish = links.recall_several(RUNS, known, instead="a choice of two that go together")
    if not wish:  # an address of an earlier version
        wish = [name for name in (links.recall("first"), links.recall("second")) if name in known]
    wish = wish or _likely(runs)
    study = str(runs.loc[runs["run_id"] == wish[0], "study"].iloc[0])
    of_study = runs[runs["study"] == study]
    of_other = [name for name in wish if name not in set(of_study["run_id"])]
    if of_other:
        wrong_address.tell_left_out(RUNS, of_other, "only runs of one study are compared")
        wish = [name for name in wish if name not in of_other]
    studies = [name for name in STUDIES if (runs["study"] == name).sum() > 1]
    st.session_state["compare:study"] = study
    st.selectbox(
        "Study", studies if study in studies else [study, *studies], key="compare:study",
        format_func=run_names.study_title, on_change=_take_study, args=(runs,),
        width=280,
    )  # fmt: skip
    titles = _titles(of_study)
    if len(wish) > MOST and links.is_news(RUNS):
        wrong_address.tell_left_out(RUNS, wish[MOST:], f"no more than {MOST} runs are compared at once")
    wish = wish[:MOST]
    st.session_state["compare:runs"] = wish
    st.multiselect(
        "Runs", list(titles), key="compare:runs", format_func=titles.__getitem__, max_selections=MOST,
        on_change=_take_runs, placeholder="Choose two or more",
    )  # fmt: skip
    links.remember(RUNS, ",".join(wish))
    return wish


def _titles(runs: pd.DataFrame) -> dict[str, str]:
    """Run id → its name, the runs of one benchmark beside each other."""
    titles = run_names.names(runs)
    place = {name: run_names.benchmark_title(benchmark) for name, benchmark in zip(runs["run_id"], runs["benchmark"],
                                                                                  strict=True)}  # fmt: skip
    return {name: titles[name] for name in sorted(titles, key=lambda name: place[name].casefold())}


def _likely(runs: pd.DataFrame) -> list[str]:
    """Two runs that a reader may want to see side by side: the largest of two models on one benchmark."""
    pool = runs.sort_values("done", ascending=False, kind="stable")
    for study in ("accuracy", *STUDIES):
        for _, group in pool[pool["study"] == study].groupby("benchmark", sort=False):
            several = group.drop_duplicates("model")
            if len(several) > 1:
                return [str(name) for name in several["run_id"][:2]]
    largest = runs[runs["study"] == runs["study"].value_counts().index[0]]
    return [str(name) for name in largest["run_id"][:2]]


def _take_study(runs: pd.DataFrame) -> None:
    of_study = runs[runs["study"] == st.session_state["compare:study"]]
    links.choose(RUNS, ",".join(_likely(of_study)))


def _take_runs() -> None:
    if chosen := st.session_state["compare:runs"]:
        links.choose(RUNS, ",".join(chosen))


# Accuracy: the same instances, judged by each run


def _draw_judged(compared: pd.DataFrame, names: dict[str, str]) -> None:
    ids = list(names)
    judged = resources.ask_store(queries.judged_instances, tuple(ids))
    of_all = judged.groupby(["instance_id", "text_hash"])["run_id"].transform("nunique") == len(ids)
    shared = judged[of_all]
    if shared.empty:
        show.nothing_yet("Nothing in common", "These runs looked at different instances. Choose others.")
        return
    outcomes = shared.pivot(index="instance_id", columns="run_id", values="correct")[ids]
    known = outcomes.dropna()
    place = shared.drop_duplicates("instance_id").set_index("instance_id")
    families = item_families.find(place.reindex(known.index), str(compared["benchmark"].iloc[0]))
    pairs = _pairs(known, names, families)
    show.says(_sentence(known, pairs, names, families))
    rows = [_row(names[run_id], ALL, known[run_id], families) for run_id in ids]
    groups = known.groupby(place["grp"].reindex(known.index), sort=False)
    if groups.ngroups > 1:
        rows += [
            _row(names[run_id], display.words(str(name)), of_group[run_id])
            for name, of_group in groups
            for run_id in ids
        ]
    figure = pd.DataFrame(rows)
    several = figure["row"].nunique()
    show.chart(
        resources.drawn(dots_of_runs, figure, "share", "Right, of what all of them judged", first=ALL),
        key="runs_accuracy",
        alt="Accuracy of each run, over all shared instances and group by group, with its 95% interval",
        n=len(known),
    )
    remarks = [f"{len(known):,} shared instances"]
    if unjudged := len(outcomes) - len(known):
        remarks.append(f"{unjudged:,} left out, without a verdict in some run")
    if differing := int((judged.groupby("instance_id")["text_hash"].nunique() > 1).sum()):
        remarks.append(f"{differing:,} left out because their text differs between the runs")
    if several > MOST_ROWS:
        remarks.append(f"shown are the {MOST_ROWS} of {several} rows in which the runs lie widest apart")
    show.note("; ".join(remarks) + ".")
    method_note.draw_settings_note(compared, names)
    undecided_verdicts.draw_undecided_note(ids)
    st.subheader("Pair by pair", anchor=False)
    show.table(
        pairs,
        "pairs of runs",
        columns={
            "first": "First", "second": "Second",
            "difference": points_column("Points", "second less first"),
            "low": points_column("From", "95% interval, over paradigms or suites where items share them"),
            "high": points_column("To"),
            "lost": count_column("Lost", "right in the first only"),
            "gained": count_column("Gained", "right in the second only"),
            "p": p_column("p, items", "McNemar's exact two-sided test, on these items that changed sides"),
            "adjusted": p_column("Holm", "the same, adjusted over the pairs of this table"),
        },
        n=len(known),
    )  # fmt: skip
    _margins(shared, ids, names)
    _changed(shared, known, compared, names)


def _row(run: str, label: str, outcomes: pd.Series, families: np.ndarray | None = None) -> dict[str, object]:
    share = drawn_from_enough(proportion(outcomes, families))
    return {"run": run, "row": label, "value": share.value, "low": share.low, "high": share.high, "n": share.n}


def _pairs(known: pd.DataFrame, names: dict[str, str], families: np.ndarray | None) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for first, other in combinations(names, 2):
        change = mcnemar(known[first], known[other])
        over: Estimate = paired_shares(change.lost, change.gained, change.n)
        if families is not None:
            over = item_families.difference(known[first], known[other], families)
        rows.append(
            {
                "first": names[first], "second": names[other], "difference": change.value,
                "low": over.low, "high": over.high, "lost": change.lost,
                "gained": change.gained, "p": change.p,
            }
        )  # fmt: skip
    adjusted = correct_p_values([row["p"] for row in rows], "holm").p
    frame = pd.DataFrame(rows).assign(adjusted=adjusted)
    return frame.assign(p=frame["p"].map(display.above_zero), adjusted=frame["adjusted"].map(display.above_zero))


def _sentence(known: pd.DataFrame, pairs: pd.DataFrame, names: dict[str, str], families: np.ndarray | None) -> str:
    shares = {names[run_id]: float(known[run_id].mean()) for run_id in names}
    best, worst = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
    if best == worst or shares[best] == shares[worst]:
        return f"All are right equally often: {display.share(shares[best])} of {len(known):,} instances."
    pair = pairs[pairs["first"].isin([best, worst]) & pairs["second"].isin([best, worst])].iloc[0]
    sides = (
        f"{best} is right on {display.share(shares[best])} of {len(known):,} shared instances, {worst} on "
        f"{display.share(shares[worst])}"
    )
    if np.isnan(pair["low"]):
        return f"{sides}; too few paradigms for an interval of the difference."
    ends = sorted((abs(pair["low"]), abs(pair["high"])))
    over = "these items" if families is None else f"{len(set(families))} groups whose items share material"
    if pair["low"] <= 0 <= pair["high"]:
        return f"{sides}: no evidence of a difference, since the interval over {over} holds zero."
    between = f"{display.number(100 * ends[0], 1)} to {display.number(100 * ends[1], 1)}"
    return f"{sides}: {display.number(100 * abs(pair['difference']), 1)} points more ({between} over {over})."


def sides_in_words(first: pd.Series, second: pd.Series, one: str, other: str) -> str:
    """On how many instances both prefer the right option, neither does, and each alone (whose name follows)."""
    both, neither = int((first & second).sum()), int((~first & ~second).sum())
    return (
        f"Both prefer the right option in {display.none_or(both)} of {display.counted(len(first), 'instance')}, "
        f"neither in {display.none_or(neither)}; {one} alone in {display.none_or(int((first & ~second).sum()))}, "
        f"{other} alone in {display.none_or(int((~first & second).sum()))}."
    )


def _margins(shared: pd.DataFrame, ids: Sequence[str], names: dict[str, str]) -> None:
    """The margins of two of the runs, a dot per instance."""
    st.subheader("Item by item", anchor=False)
    bos_note.draw_policy_note(ids, names)
    first, second = ids[0], ids[1]
    if len(ids) > 2:
        left, right = st.columns(2)
        with left:
            first = links.pick(st.selectbox, "Across", "across", ids, format_func=names.__getitem__)
        with right:
            others = [run_id for run_id in ids if run_id != first]
            second = links.pick(st.selectbox, "Up", "up", others, format_func=names.__getitem__)
    items = resources.ask_store(queries.two_runs, first, second)
    items = items[items["instance_id"].isin(set(shared["instance_id"]))]
    known = items[items["margin_a"].notna() & items["margin_b"].notna() & (items["outcome"] != "no verdict")]
    if known.empty:
        show.note("These two runs stored no margins.")
        return
    show.says(sides_in_words(known["margin_a"] > 0, known["margin_b"] > 0, names[first], names[second]))
    units = method_note.units_of([first, second])
    if sentence := method_note.units_in_words(units, names):
        show.note(sentence)
    show.chart(
        resources.drawn(margins_of_two_runs, known, names[first], names[second], tuple(units.values())),
        key="two_margins", alt="Margins of both runs",
        n=len(known),
        remark="The stronger a cell, the more instances have these two margins." if len(known) > MOST_DOTS else "",
    )  # fmt: skip


def _changed(shared: pd.DataFrame, known: pd.DataFrame, compared: pd.DataFrame, names: dict[str, str]) -> None:
    """The instances on which the runs disagree, each with its text."""
    st.subheader("Instances on which they disagree", anchor=False)
    apart = known[known.nunique(axis=1) > 1]
    if apart.empty:
        show.note("There is none.")
        return
    first = compared.iloc[0]
    benchmark = str(first["benchmark"])
    about = {"model": str(first["model"]), "benchmark": benchmark, "run": str(first["run_id"])}
    place = shared.drop_duplicates("instance_id").set_index("instance_id")
    margins = shared.pivot(index="instance_id", columns="run_id", values="margin")
    frame = pd.DataFrame({"instance_id": apart.index, "grp": place["grp"].reindex(apart.index).to_numpy()})
    frame.insert(0, "sentence", _sentences(benchmark, list(apart.index)))
    columns: dict[str, object] = {"sentence": text_column("Text", width=250)} if any(frame["sentence"]) else {}
    columns["grp"] = group_column("Group", width=125)
    units = method_note.units_of(list(names))
    for number, model_name in enumerate(names, 1):
        frame[f"verdict_{number}"] = [word_of(value) for value in apart[model_name]]
        columns[f"verdict_{number}"] = text_column(names[model_name], width=150)
        frame[f"margin_{number}"] = margins[model_name].reindex(apart.index).to_numpy()
        if len(names) == 2:
            columns[f"margin_{number}"] = nats_column(f"Margin of {names[model_name]}", units[model_name], width=130)
    frame["look"] = [layout.address_of("Instance", **about, instance=name) for name in apart.index]
    columns["look"] = link_column("Tokens", width=62)
    if "sentence" not in columns:
        columns["instance_id"] = "Instance"
    show.table(frame, "instances apart", columns=columns, height=360, n=len(frame),
               caption="Instances that some of the runs judge right and others wrong")  # fmt: skip


def _sentences(benchmark: str, ids: Sequence[str]) -> list[str]:
    """The text of each instance where the benchmark's files are here, "" where they are not."""
    settings = resources.settings()
    if benchmark not in registry.names(settings) or registry.missing_files(
        registry.find(benchmark, settings), settings
    ):
        return [""] * len(ids)
    by_id = instance_list.listing(benchmark).by_id
    return [instance_list.summary(by_id[name]) if name in by_id else "" for name in ids]


# Any study: what each run found under one name


def _findings(study: str, names: dict[str, str]) -> None:
    findings = resources.ask_store(queries.all_findings, tuple(names))
    findings = findings[findings["value"].notna()]
    shared = findings.groupby("finding", sort=False)["run_id"].nunique()
    offered = [name for name in shared[shared > 1].index]
    if not offered:
        show.note("These runs found nothing under the same name; what each found is on its own page.")
        return
    known = {name: declared.find(study, name) for name in offered}

    def title(name: str) -> str:
        finding = known[name]
        return finding.title if finding else display.words(name).capitalize()

    name = links.pick(
        st.selectbox, "Finding", "concluded", offered, default=finding_rows.first_of(study, offered), format_func=title
    )
    finding = known[name]
    rows = findings[findings["finding"] == name].reset_index(drop=True)
    rows = rows.assign(run=rows["run_id"].map(names), row=finding_rows.labels(rows))
    order = {run: place for place, run in enumerate(names.values())}
    rows = rows.sort_values("run", key=lambda runs: runs.map(order), kind="stable")
    if finding:
        show.note(f"{show.meaning(finding.meaning)} n counts: {finding.of}.")
    unit = finding.unit if finding else ""
    show.chart(
        resources.drawn(dots_of_runs, rows, unit, title(name)),
        key="runs_findings",
        alt=f"{title(name)} of each run, with its 95% interval where there is one",
    )
    if rows["row"].nunique() > MOST_ROWS:
        show.note(f"Shown are the {MOST_ROWS} of {rows['row'].nunique()} rows in which the runs lie widest apart.")

    def draw() -> None:
        wide = rows.pivot_table(index="row", columns="run", values="value", sort=False, aggfunc="first").reset_index()
        wide.columns = ["row", *(f"value_{number}" for number in range(1, wide.shape[1]))]
        runs = [run for run in dict.fromkeys(rows["run"])]
        columns = {"row": "Of"} | {f"value_{n}": unit_column(unit, run) for n, run in enumerate(runs, 1)}
        show.table(wide, f"{name} of the runs", columns=columns)

    show.folded("As a table", f"compared:{name}", draw)
    seeds.draw_over_seeds(study, seeds.siblings(list(names)), name)
