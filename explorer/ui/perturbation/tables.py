"""The tables of the paper with our numbers: accuracies before and after, and the popularity of flips."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from explorer.popularity.tasks import TASKS
from explorer.stats.multiple import correct as adjust
from explorer.studies import published
from explorer.studies.perturbation import queries as perturbation_queries
from explorer.studies.popularity.groups import kind_of, title_of
from explorer.studies.published_figures import Printed
from explorer.ui import inventory, layout, resources, show, undecided
from explorer.ui.columns import count_column, number_column, p_column
from explorer.ui.popularity.figure_dumbbells import dumbbells

POS = {"NV": "Nouns and verbs", "N": "Nouns", "V": "Verbs"}
ENDS = {"before": "original", "after": "perturbed"}
FIELDS = {"functional": "Functional", "formal": "Formal", "": "Other"}
TABLES = {"NV": ("Tables 1 and 2", "1", "2"), "N": ("Tables C and D", "C", "D"), "V": ("Tables C and D", "C", "D")}


def draw_perturbation_tables(pos: str) -> None:
    """Changes of all models and tasks under one setting, and what the paper prints for the same models."""
    rows = table_rows(
        resources.ask(perturbation_queries.changes), {one.name: one.field for one in inventory.benchmarks()}
    )
    if rows.empty:
        return
    show.about("perturbation")
    of_setting = rows[rows["setting"] == pos]
    if of_setting.empty:
        show.note(f"No run swapped {POS[pos].lower()}.")
        return
    figure = dumbbells(of_setting, ENDS, "Accuracy: open circle original, filled circle perturbed")
    show.chart(figure, key=f"changes:{pos}", alt="Accuracy of each task before and after the perturbation")
    show.note(
        f"As {TABLES[pos][0]} of the paper. Accuracies are over instances valid in both versions, the change is in "
        "percent of the original; p is McNemar's exact test, Holm-adjusted over this table"
        + ("" if pos == "NV" else " (nouns and verbs together)")
        + "."
    )
    undecided.tell(list(of_setting["run_id"]))
    _changes(of_setting, pos)
    _flips(of_setting)


def table_rows(changes: pd.DataFrame, fields: Mapping[str, str]) -> pd.DataFrame:
    """A row a task, model and setting, from the run with the most instances; Holm's p within each table.

    Tasks are the paper's; a benchmark that has none of them stands for itself.
    """
    papers = {task.benchmark for task in TASKS.values()}
    rows: list[dict[Any, Any]] = []
    for row in changes.to_dict("records"):
        kind = kind_of(row["grp"])
        if kind == "task" and row["grp"] in TASKS:
            field, title = TASKS[row["grp"]].field, TASKS[row["grp"]].title
        elif kind == "argument_structure":
            field, title = "formal", title_of(row["grp"])
        elif kind == "overall" and row["benchmark"].split("_")[0] not in papers:
            field, title = fields.get(row["benchmark"], ""), layout.benchmark_title(row["benchmark"])
        else:
            continue
        named = {
            "task": title,
            "field": FIELDS[field],
            "model": layout.model_title(row["model"]),
            "model_id": row["model"],
        }
        rows.append({**row, **named, **_flat(row)})
    if not rows:
        return pd.DataFrame(columns=["setting", "task"])
    newest = pd.DataFrame(rows).drop_duplicates(["task", "model_id", "setting"])
    for table in (["NV"], ["N", "V"]):
        # A part of a task is no test of its own.
        tested = newest["setting"].isin(table) & ~newest["grp"].str.startswith("argument_structure: ")
        newest.loc[tested, "p_holm"] = list(adjust(newest.loc[tested, "p"], "holm").p)
        newest.loc[tested, "flips_holm"] = list(adjust(newest.loc[tested, "flips_p"], "holm").p)
    order = [*(task.title for task in TASKS.values()), *newest["task"]]
    return newest.assign(
        by_field=newest["field"].map({name: place for place, name in enumerate(FIELDS.values())}),
        by_task=newest["task"].map({name: place for place, name in reversed(list(enumerate(order)))}),
    ).sort_values(["by_field", "by_task", "model"], kind="stable")


def _flat(row: Mapping[Any, Any]) -> dict[str, Any]:
    """The details of a row as columns, and what the figure reads."""
    change, flips, accepted = (detail(row[name]) for name in ("change_detail", "flips_detail", "accepted_detail"))
    return {
        "before_value": row["before"], "after_value": row["after"], "before_n": row["n"], "after_n": row["n"],
        "lost": change.get("lost"), "gained": change.get("gained"), "unchanged": change.get("unchanged"),
        "rejected": sum(accepted.get("rejected", {}).values()),
        "ips_before": flips.get("before"), "ips_after": flips.get("after"),
        "sd_before": flips.get("sd_before"), "sd_after": flips.get("sd_after"),
        "p_holm": math.nan, "flips_holm": math.nan,
    }  # fmt: skip


def detail(text: Any) -> dict[str, Any]:
    """A finding's detail as a dictionary, empty where there is none."""
    return json.loads(text) if isinstance(text, str) else {}


def _changes(of_setting: pd.DataFrame, pos: str) -> None:
    shown = of_setting.assign(
        before=100 * of_setting["before"], after=100 * of_setting["after"], all_value=100 * of_setting["all_value"],
        **_published(of_setting, pos),
    )  # fmt: skip
    columns: dict[str, Any] = {
        "task": "Task",
        "model": "Model",
        "n": count_column("Instances"),
        "all_value": number_column("All originals (%)", 2, "Accuracy of the originals, the rejected ones included"),
        "before": number_column("Original (%)", 2),
        "after": number_column("Perturbed (%)", 2),
        "change": number_column("Change (%)", 2, "in percent of the original", signed=True),
        "p_holm": p_column("p (Holm)"),
        "lost": count_column("Lost", "right, then wrong"),
        "gained": count_column("Gained", "wrong, then right"),
        "unchanged": count_column("Nothing to swap"),
        "rejected": count_column("Rejected", "no swap preserved the label"),
    }
    if of_setting["perplexity_before"].notna().any():
        columns |= {
            "perplexity_before": number_column("Perplexity", 2, "exp(-mean log P of the last word), original"),
            "perplexity_after": number_column("Perturbed perplexity", 2),
            "perplexity_change": number_column("Change (%) of perplexity", 1, signed=True),
        }
    if shown["paper_change"].notna().any():
        columns |= {
            "paper_before": number_column("Paper: original", 2),
            "paper_after": number_column("Paper: perturbed", 2),
            "paper_change": number_column("Paper: change (%)", 2, signed=True),
            "paper_note": "Remark",
        }
    dropped = [name for name in map(str, shown) if name.endswith("detail") or name.startswith("by_")]
    show.table(shown.drop(columns=dropped), f"perturbation {pos}", columns=columns)
    if shown["paper_change"].isna().all():
        _papers_own(pos)


def _papers_own(pos: str) -> None:
    """What the paper prints, where none of its models was run here."""
    with st.expander(f"What the paper prints ({TABLES[pos][0]})"):
        show.note("None of its models has a run here; these are its figures for OLMo and Pythia, in percent.")
        rows = [
            {"task": TASKS[one.subject].title, "model": one.model, "table": one.number, "original": before.value,
             "perturbed": one.value, "change": change.value, "note": before.remark or change.remark or one.remark}
            for one in published.figures()
            if one.metric in ("accuracy", "perplexity") and one.condition == pos and one.number in TABLES[pos][1:]
            for before in [_same(one, "original", one.metric)]
            for change in [_same(one, pos, f"{one.metric}_change")]
        ]  # fmt: skip
        show.table(
            pd.DataFrame(rows),
            f"published {pos}",
            columns={
                "task": "Task", "model": "Model", "table": "Table", "original": number_column("Original", 2),
                "perturbed": number_column("Perturbed", 2), "change": number_column("Change (%)", 2, signed=True),
                "note": "Remark",
            },
        )  # fmt: skip


def _same(one: Printed, condition: str, metric: str) -> Printed:
    wanted = (one.table, one.model, one.subject, condition, metric)
    return next(
        row for row in published.figures() if (row.table, row.model, row.subject, row.condition, row.metric) == wanted
    )


def _published(of_setting: pd.DataFrame, pos: str) -> dict[str, list[Any]]:
    """The paper's figures in the order of our rows, gaps where it has none."""
    columns: dict[str, list[Any]] = {"paper_before": [], "paper_after": [], "paper_change": [], "paper_note": []}
    for model, task in zip(of_setting["model_id"], of_setting["grp"], strict=True):
        printed = [
            published.beside(model, task, condition, metric)
            for condition, metric in (("original", "accuracy"), (pos, "accuracy"), (pos, "accuracy_change"))
        ]
        for name, one in zip(("paper_before", "paper_after", "paper_change"), printed, strict=True):
            columns[name].append(one.value if one else math.nan)
        columns["paper_note"].append("; ".join(dict.fromkeys(one.remark for one in printed if one and one.remark)))
    return columns


def _flips(of_setting: pd.DataFrame) -> None:
    """Table 3: the popularity of instances that were right and are wrong now."""
    known = of_setting[of_setting["ips_before"].notna()]
    if known.empty:
        return
    show.section("Popularity of instances that flip from right to wrong (Table 3)")
    pairs = [
        (published.beside(model, task, "original", "ips"), published.beside(model, task, "NV", "ips"))
        for model, task in zip(known["model_id"], known["grp"], strict=True)
    ]
    shown = known.assign(
        paper_before=[before.value if before else math.nan for before, _ in pairs],
        paper_after=[after.value if after else math.nan for _, after in pairs],
    )
    columns: dict[str, Any] = {
        "task": "Task",
        "model": "Model",
        "flips_n": count_column("Flips"),
        "ips_before": number_column("IPS, original", 2, "mean over the flips, of the right option's text"),
        "sd_before": number_column("± sd", 2),
        "ips_after": number_column("IPS, perturbed", 2),
        "sd_after": number_column("± sd ", 2),
        "flips_holm": p_column("p (Holm)", "Wilcoxon's signed-rank test, zeros by Pratt"),
        "flips_reason": "Remark",
    }
    if shown["paper_before"].notna().any():
        columns |= {
            "paper_before": number_column("Paper: original", 2),
            "paper_after": number_column("Paper: perturbed", 2),
        }
    show.table(shown[list(columns)], "popularity of flips", columns=columns)
