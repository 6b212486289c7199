"""The tables of the paper with our numbers: accuracies before and after, and the popularity of flips."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from explorer import display, numbers
from explorer.popularity.tasks import TASKS
from explorer.scoring import suites
from explorer.stats.multiple_tests import correct_p_values as adjust
from explorer.studies import published
from explorer.studies.perturbation import queries as perturbation_queries
from explorer.studies.popularity.groups import kind_of, title_of
from explorer.studies.published_figures import Printed
from explorer.ui import instances_behind, inventory, layout, resources, show, undecided_verdicts
from explorer.ui.columns import count_column, number_column, p_column, saying_something, text_column
from explorer.ui.perturbation.figure_margins import changes_beside_the_paper
from explorer.ui.popularity.figure_dumbbells import CERTAIN, dumbbells

POS = {"NV": "Nouns and verbs", "N": "Nouns", "V": "Verbs"}
ENDS = {"before": "original", "after": "perturbed"}
FIELDS = {"functional": "Functional", "formal": "Formal", "": "Other"}
NOTHING_BESIDE = (
    "There is no figure: the paper prints none of these tasks, and no stored run swaps their words as published "
    "(method=published), so that swaps that keep labels have nothing to be compared with."
)
TABLES = {"NV": ("Tables 1 and 2", "1", "2"), "N": ("Tables C and D", "C", "D"), "V": ("Tables C and D", "C", "D")}


def draw_perturbation_tables(pos: str) -> None:
    """Changes of all models and tasks under one setting, and what the paper prints for the same models."""
    every, fields = (
        resources.ask_store(perturbation_queries.changes),
        {benchmark.name: benchmark.field for benchmark in inventory.benchmarks()},
    )
    is_careful = every["method"] == "careful"
    rows, loose = table_rows(every[is_careful], fields), table_rows(every[~is_careful], fields)
    if rows.empty and loose.empty:
        return
    if rows.empty:
        show.note("Stored runs swap as published alone; a run with method=careful keeps the labels.")
        rows = loose
    st.header("Every benchmark and model", anchor=False)
    show.about("perturbation")
    of_setting = rows[rows["setting"] == pos]
    if of_setting.empty:
        show.note(f"No run swapped {POS[pos].lower()}.")
        return
    of_setting = of_setting.assign(p=of_setting["p_holm"].fillna(of_setting["p"]))
    show.says(sentence(of_setting, pos))
    figure = resources.drawn(dumbbells, of_setting, ENDS, "Accuracy: ○ original, ● perturbed")
    answer = show.chart(
        figure, key=f"changes:{pos}", alt="Accuracy of each task before and after the perturbation", on_select="rerun"
    )
    show.note(
        f"As {TABLES[pos][0]} of the paper. Accuracies are over instances valid in both versions; a thick line: "
        "McNemar's exact p over items, Holm-adjusted over this table"
        + ("" if pos == "NV" else " (nouns and verbs together)")
        + ", is below 0.05. Click a dot to go to its instances."
    )
    _links(of_setting, instances_behind.picked(answer), pos)
    undecided_verdicts.draw_undecided_note(list(of_setting["run_id"]))
    _changes(of_setting, pos)
    random_draws = table_rows(every[is_careful & every["draws_change"].notna()], fields)
    _beside_the_paper(of_setting, random_draws[random_draws["setting"] == pos], loose[loose["setting"] == pos], pos)
    _flips(of_setting)


def sentence(rows: pd.DataFrame, pos: str) -> str:
    """In how many comparisons swaps change the accuracy beyond chance, and in which direction."""
    clear = rows[rows["p"] < CERTAIN]
    down, up = int((clear["change"] < 0).sum()), int((clear["change"] > 0).sum())
    rest = len(rows) - down - up
    return (
        f"With {POS[pos].lower()} swapped and labels kept, accuracy falls in {display.none_or(down)} of {len(rows)} "
        f"comparisons and rises in {display.none_or(up)}; in {rest} there is no evidence of a change."
    )


def _links(rows: pd.DataFrame, picked: Sequence[str], pos: str) -> None:
    for place in numbers.places(picked, len(rows)):
        row = rows.iloc[place]
        layout.link_to(
            "Perturbation", f"{row['task']}, {row['model']}: its instances", facet="Full runs", pos=pos,
            model=str(row["model_id"]), benchmark=str(row["benchmark"]), run=str(row["run_id"]),
        )  # fmt: skip


def _beside_the_paper(rows: pd.DataFrame, random_draws: pd.DataFrame, loose: pd.DataFrame, pos: str) -> None:
    """Our changes with labels kept (`drawn`: those of runs with several draws) beside the paper's, task by task."""
    printed = pd.DataFrame(
        [
            {"task": TASKS[figure.subject].title, "model": figure.model, "change": figure.value}
            for figure in published.figures()
            if figure.metric == "accuracy_change" and figure.condition == pos and figure.number in TABLES[pos][1:]
        ],
        columns=["task", "model", "change"],
    ).dropna(subset=["change"])
    # A task that the paper lacks, a starter set's, still stands beside the same model's swaps as published.
    known = set(printed["task"]) | set(loose["task"])
    ours = rows[rows["task"].isin(known) & rows["change"].notna()]
    st.header("How much of the printed effect is left?", anchor=False)
    if ours.empty:
        show.note(NOTHING_BESIDE)
        return
    show.says(left_of_the_effect(ours, printed))
    show.chart(
        resources.drawn(changes_beside_the_paper, ours, printed, loose[loose["task"].isin(set(ours["task"]))]),
        key=f"beside_the_paper:{pos}",
        alt="Change of accuracy with labels kept, beside the same model's as published and what the paper prints",
    )
    absent = sorted(set(rows["task"]) - set(ours["task"]))
    if absent:
        show.note(f"Not drawn, since the paper has no such task and no run swaps it as published: {', '.join(absent)}.")
    show.note(
        "The lexical-popularity paper has other and larger models, and does not ask that a swap keeps the label; so "
        "the two differ in more than one thing. A run whose swaps are made as published does what its appendix A.2 "
        "says, with the same model: the part of its change that is not there with labels kept is due to swaps that "
        "change label, meaning or grammar."
    )
    left = left_rows(like_with_like(ours, random_draws, loose), loose, printed)
    show.folded_table(
        left,
        f"left of the effect {pos}",
        columns=saying_something(
            left,
            {
                "task": text_column("Phenomenon or task", width=190),
                "model": text_column("Model", width=150),
                "careful": number_column("Labels kept", 1, "change in percent of the original", signed=True),
                "careful_low": number_column("From", 1, "95% interval, over draws too where there are several"),
                "careful_high": number_column("To", 1),
                "loose": number_column("As published", 1, "the same model, method=published", signed=True),
                "loose_low": number_column("From", 1),
                "loose_high": number_column("To", 1),
                "left": number_column("Left (%)", 0, "of the change as published, in the same model"),
                "printed": number_column("Paper", 1, "mean over the paper's models", signed=True),
                "left_of_printed": number_column("Left of it (%)", 0, "labels kept, of the paper's mean change"),
            },
            keep=("careful", "printed", "left_of_printed"),
        ),
    )


def like_with_like(ours: pd.DataFrame, random_draws: pd.DataFrame, loose: pd.DataFrame) -> pd.DataFrame:
    """Our rows, of a task and model that was swapped as published in several draws from the run that drew as often.

    Such runs are of the same items; a larger run of one draw would be of others.
    """
    if random_draws.empty or loose.empty:
        return ours
    key = ["task", "model_id"]
    several = pd.MultiIndex.from_frame(loose.loc[loose["draws_change"].notna(), key])
    matched = random_draws[
        pd.MultiIndex.from_frame(random_draws[key]).isin(several) & random_draws["task"].isin(set(ours["task"]))
    ]
    rest = ours[~pd.MultiIndex.from_frame(ours[key]).isin(pd.MultiIndex.from_frame(matched[key]))]
    return pd.concat([rest, matched], ignore_index=True)


def left_rows(ours: pd.DataFrame, loose: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """A row per task and model: the change with labels kept, as published (`loose`, the same model) and as printed.

    What is left is a share of a loss: nan where nothing was lost to begin with.
    """
    rows = []
    for row in ours.to_dict("records"):
        same = loose[(loose["task"] == row["task"]) & (loose["model_id"] == row["model_id"])] if len(loose) else loose
        columns = {"task": row["task"], "model": row["model"], **_change_columns("careful", row)}
        columns |= _change_columns("loose", same.iloc[0].to_dict() if len(same) else {})
        columns["printed"] = float(printed.loc[printed["task"] == row["task"], "change"].mean())
        # A share of a change that may be none says nothing.
        columns["left"] = math.nan if columns["loose_high"] >= 0 else _left(columns["careful"], columns["loose"])
        columns["left_of_printed"] = _left(columns["careful"], columns["printed"])
        rows.append(columns)
    return pd.DataFrame(rows)


def _change_columns(name: str, row: Mapping[Any, Any]) -> dict[str, float]:
    """The change of a row with its interval: over draws and items where the run drew several times, else over items."""
    several = not math.isnan(_number(row.get("draws_change")))
    ends = ("draws_change", "draws_low", "draws_high") if several else ("change", "change_low", "change_high")
    return {f"{name}{end}": _number(row.get(of)) for end, of in zip(("", "_low", "_high"), ends, strict=True)}


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _left(remaining: float, whole: float) -> float:
    return 100 * remaining / whole if whole < 0 else math.nan


def left_of_the_effect(ours: pd.DataFrame, printed: pd.DataFrame) -> str:
    """The mean change over the tasks that both have, ours and the printed one, formal and functional apart."""
    sentences = []
    for field in dict.fromkeys(ours["field"]):
        tasks = set(ours.loc[ours["field"] == field, "task"])
        mine = ours[ours["task"].isin(tasks)]["change"]
        theirs = printed[printed["task"].isin(tasks)]["change"]
        if len(theirs):
            sentences.append(
                f"{field.lower()} tasks change by {_percents(mine)} when labels are kept, and by {_percents(theirs)} "
                "as printed"
            )
    text = "; ".join(sentences)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _percents(changes: pd.Series) -> str:
    low, high = changes.min(), changes.max()
    return f"{display.number(low, 1, signed=True)}% to {display.number(high, 1, signed=True)}%"


def table_rows(changes: pd.DataFrame, fields: Mapping[str, str]) -> pd.DataFrame:
    """A row per task, model and setting, from the run with the most instances; Holm's p within each table.

    Checkpoints have a page of their own. Tasks are the paper's; a benchmark that has none of them stands for itself.
    """
    papers = {task.benchmark for task in TASKS.values()}
    rows: list[dict[Any, Any]] = []
    for row in changes.to_dict("records"):
        if suites.is_checkpoint(row["model"]):
            continue
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
        "task": text_column("Task", width=170),
        "model": text_column("Model", width=150),
        "n": count_column("n", "instances", width=60),
        "before": number_column("Before", 1, "accuracy of the originals, in percent", width=65),
        "after": number_column("After", 1, "accuracy after the swaps, in percent", width=60),
        "change": number_column("Change", 1, "in percent of the original", signed=True, width=70),
        "p_holm": p_column("p (Holm)", width=75),
        "lost": count_column("Lost", "right, then wrong", width=55),
        "gained": count_column("Gained", "wrong, then right", width=65),
        "paper_before": number_column("Paper: before", 1, width=95),
        "paper_after": number_column("Paper: after", 1, width=90),
        "paper_change": number_column("Paper: change", 1, signed=True, width=100),
        "paper_note": "Remark",
    }
    dropped = [name for name in map(str, shown) if name.endswith("detail") or name.startswith("by_")]
    show.folded_table(
        shown.drop(columns=dropped), f"perturbation {pos}", columns=saying_something(shown, columns),
        remark="The download has more: accuracy of all originals, what was rejected, and how many had nothing to swap.",
    )  # fmt: skip
    if shown["perplexity_before"].notna().any():
        of_words = shown[shown["perplexity_before"].notna()]
        show.folded_table(
            of_words.drop(columns=dropped),
            f"perplexity {pos}",
            title="Perplexity of the last word, before and after",
            columns={
                "task": "Task",
                "model": "Model",
                "perplexity_before": number_column("Before", 2, "exp(-mean log P of the last word), original"),
                "perplexity_after": number_column("After", 2),
                "perplexity_change": number_column("Change (%)", 1, signed=True),
            },
        )
    if shown["paper_change"].isna().all():
        _papers_own(pos)


def _papers_own(pos: str) -> None:
    """What the paper prints, where none of its models was run here."""

    def draw() -> None:
        show.note("None of its models has a run here; these are its figures for OLMo and Pythia, in percent.")
        rows = [
            {
                "task": TASKS[figure.subject].title,
                "model": figure.model,
                "table": figure.number,
                "original": before.value,
                "perturbed": figure.value,
                "change": change.value,
                "note": before.remark or change.remark or figure.remark,
            }
            for figure in published.figures()
            if figure.metric in ("accuracy", "perplexity")
            and figure.condition == pos
            and figure.number in TABLES[pos][1:]
            for before in [_same(figure, "original", figure.metric)]
            for change in [_same(figure, pos, f"{figure.metric}_change")]
        ]
        show.table(
            pd.DataFrame(rows),
            f"published {pos}",
            columns={
                "task": "Task", "model": "Model", "table": "Table", "original": number_column("Original", 2),
                "perturbed": number_column("Perturbed", 2), "change": number_column("Change (%)", 2, signed=True),
                "note": "Remark",
            },
        )  # fmt: skip

    show.folded(f"What the paper prints ({TABLES[pos][0]})", f"printed:{pos}", draw)


def _same(figure: Printed, condition: str, metric: str) -> Printed:
    wanted = (figure.table, figure.model, figure.subject, condition, metric)
    return next(
        row for row in published.figures() if (row.table, row.model, row.subject, row.condition, row.metric) == wanted
    )


def _published(of_setting: pd.DataFrame, pos: str) -> dict[str, list[Any]]:
    """The paper's figures in the order of our rows, gaps where it has none."""
    columns: dict[str, list[Any]] = {"paper_before": [], "paper_after": [], "paper_change": [], "paper_note": []}
    for model, task in zip(of_setting["model_id"], of_setting["grp"], strict=True):
        printed = [
            published.printed_for(model, task, condition, metric)
            for condition, metric in (("original", "accuracy"), (pos, "accuracy"), (pos, "accuracy_change"))
        ]
        for name, figure in zip(("paper_before", "paper_after", "paper_change"), printed, strict=True):
            columns[name].append(figure.value if figure else math.nan)
        columns["paper_note"].append(
            "; ".join(dict.fromkeys(figure.remark for figure in printed if figure and figure.remark))
        )
    return columns


def _flips(of_setting: pd.DataFrame) -> None:
    """Table 3: the popularity of instances that were right and are wrong now."""
    known = of_setting[of_setting["ips_before"].notna()]
    if known.empty:
        return
    pairs = [
        (published.printed_for(model, task, "original", "ips"), published.printed_for(model, task, "NV", "ips"))
        for model, task in zip(known["model_id"], known["grp"], strict=True)
    ]
    shown = known.assign(
        paper_before=[before.value if before else math.nan for before, _ in pairs],
        paper_after=[after.value if after else math.nan for _, after in pairs],
    )
    columns: dict[str, Any] = {
        "task": text_column("Task", width=170),
        "model": text_column("Model", width=150),
        "flips_n": count_column("Flips", width=60),
        "ips_before": number_column("IPS before", 2, "mean over the flips, of the right option's text", width=90),
        "sd_before": number_column("± sd", 2, width=60),
        "ips_after": number_column("IPS after", 2, width=80),
        "sd_after": number_column("± sd ", 2, width=60),
        "flips_holm": p_column("p (Holm)", "Wilcoxon's signed-rank test, zeros by Pratt", width=80),
        "flips_reason": "Remark",
        "paper_before": number_column("Paper: before", 2, width=95),
        "paper_after": number_column("Paper: after", 2, width=90),
    }
    show.folded_table(
        shown[list(columns)],
        "popularity of flips",
        title="Popularity of instances that flip from right to wrong (Table 3)",
        remark="What flips loses popularity where swapped words are rarer; whether it loses more than what stayed "
        "right is said above, for the run in view.",
        columns=saying_something(shown, columns),
    )
