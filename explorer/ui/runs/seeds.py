"""Runs that differ in their seed alone, shown as one thing: mean, spread over seeds, and sampling error beside it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from explorer import display
from explorer.results import queries, seeds
from explorer.studies import declared
from explorer.ui import layout, resources, show
from explorer.ui.columns import count_column, text_column, unit_column
from explorer.ui.runs import finding_rows

MEANING = (
    "Spread over seeds and sampling error are two things: sd and range say what another seed would have given on these "
    "items, the interval of one run (mean of its ends) what other items would have given with one seed. Neither is an "
    "interval of the mean."
)


def siblings(run_ids: Sequence[str]) -> list[list[str]]:
    """The sets of runs that differ in their seed alone and hold any of these runs."""
    every = resources.ask_shared(seeds.stored_sets)
    return [group for group in every if set(group) & set(run_ids)]


def draw_over_seeds(study: str, groups: Sequence[Sequence[str]], name: str) -> None:
    """What the finding of this name is over the seeds of each set of runs; nothing where there is none."""
    if not groups:
        return
    findings = resources.ask_store(queries.all_findings, tuple(run_id for group in groups for run_id in group))
    table = seeds.of_runs(findings[findings["finding"] == name], groups)
    table = table[table["seeds"] > 1].reset_index(drop=True)
    if table.empty:
        return
    runs = resources.ask_store(queries.runs).set_index("run_id", drop=False)
    called = {
        group[0]: f"{layout.model_title(str(runs.loc[group[0], 'model']))} on "
        f"{layout.benchmark_title(str(runs.loc[group[0], 'benchmark']))}, {len(group)} seeds"
        for group in groups
    }
    table = table.assign(row=finding_rows.labels(table), of=table["run_id"].map(called))
    finding = declared.find(study, name)
    unit = finding.unit if finding else ""
    show.section("Over seeds")
    show.says(in_words(table.iloc[0], unit))
    columns = {
        "of": text_column("Runs", width="medium"),
        "row": "Of",
        "mean": unit_column(unit, "Mean over seeds"),
        "sd": unit_column(unit, "Sd over seeds"),
        "least": unit_column(unit, "Least"),
        "greatest": unit_column(unit, "Greatest"),
        "low": unit_column(unit, "One run from"),
        "high": unit_column(unit, "One run to"),
        "seeds": count_column("Seeds"),
        "n": count_column("n of a run"),
    }
    shown = {key: column for key, column in columns.items() if key not in ("low", "high") or table[key].notna().any()}
    show.table(table, f"{name} over seeds", columns=shown)
    show.note(MEANING)


def in_words(row: pd.Series, unit: str) -> str:
    """Mean, sd and range of one finding over seeds, and whether the seed matters beside sampling error."""
    as_share = unit in ("share", "points")
    write = display.share if as_share else display.number
    sentence = (
        f"Over {int(row['seeds'])} seeds: mean {write(float(row['mean']))}, sd over seeds "
        f"{write(float(row['sd']))}, range {write(float(row['least']))} to {write(float(row['greatest']))}"
    )
    half = (float(row["high"]) - float(row["low"])) / 2
    if not half > 0:
        return f"{sentence}; a single run has no interval to set beside it."
    more = "less than" if 1.96 * float(row["sd"]) < half else "at least as much as"
    return (
        f"{sentence}. The seed moves it {more} other items would: a single run's 95% interval is "
        f"{write(float(row['low']))} to {write(float(row['high']))} on average."
    )
