"""How popular an instance's texts are, by one reference set of n-grams at a time."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from explorer import display
from explorer.popularity import indexes
from explorer.popularity.ips import DecileEdges
from explorer.studies.popularity import queries as popularity_queries
from explorer.ui import layout, links, resources, run_names, show
from explorer.ui.columns import link_column, number_column
from explorer.ui.dossier.dossier_rows import DossierRows, DossierRun, run_columns
from explorer.ui.layout import Chosen


def draw_dossier_popularity(dossier: DossierRows, chosen: Chosen) -> None:
    """The picker of the reference set, and a row per option with its IPS under it."""
    sets = reference_sets(dossier)
    if not sets:
        show.note("These runs stored no deciles, so their popularity scores have no reference set.")
        return
    names = {key: key for key in sets}
    key = links.pick(st.selectbox, "Reference set of the deciles", "reference", list(names), default=next(iter(names)))
    rows = [row for run in sets[key] for row in _rows(dossier, run)]
    # The scores are of texts: runs that share a reference set and differ in the model agree.
    table = pd.DataFrame(rows).drop_duplicates(["option", "ips"])
    columns = {
        "option": "Text",
        "ips": number_column("IPS", 2, "1 (rarest tenth) to 10, mean over n-grams"),
        "reason": "Remark",
        "run": link_column("Run"),
    }
    if (table["reason"] == "").all():
        columns.pop("reason")
    show.table(table, "popularity scores", columns=columns)
    popularity_runs = [run for run in sets[key] if run.study == "popularity"]
    if popularity_runs:
        about_run = {
            "model": popularity_runs[0].model,
            "benchmark": chosen.benchmark,
            "run": popularity_runs[0].run_id,
        }
        layout.link_to("Popularity", "Popular and unpopular instances of the run", **about_run)
    gap = next((value for run in sets[key] if (value := _gap(dossier, run)) == value), None)
    if gap is not None:
        show.note(f"{popularity_in_words(gap, len(table) - 1)}.")


def popularity_in_words(gap: float, others: int) -> str:
    """How far the other options' score lies from the right option's, by which the difference is divided."""
    if not gap:
        return f"The right option is as popular as the other{'s' if others > 1 else ''}"
    way = "below" if gap > 0 else "above"
    named = "The other option's" if others == 1 else "The other options' mean"
    return f"{named} popularity score lies {display.share(abs(gap))} {way} the right option's"


def reference_sets(dossier: DossierRows) -> dict[str, list[DossierRun]]:
    """What each reference set is called → the runs that used it and rated the instance."""
    edges = resources.ask_store(popularity_queries.runs).drop_duplicates("run_id").set_index("run_id")["edges"]
    sets: dict[str, list[DossierRun]] = {}
    for run in dossier.run_list():
        known = DecileEdges.of_run(edges[run.run_id]) if run.run_id in edges.index else None
        if known and len(_ips(dossier, run)):
            counted_in = indexes.title_of(indexes.short_name(known.index))
            name = f"{known.n}-grams of {run_names.reference_title(known.reference)}, counted in {counted_in}"
            sets.setdefault(name, []).append(run)
    return sets


def _ips(dossier: DossierRows, run: DossierRun) -> pd.DataFrame:
    return dossier.rows(run.run_id, "ips", setting=None)


def _rows(dossier: DossierRows, run: DossierRun) -> list[dict[str, Any]]:
    return [
        {
            "option": dossier.option_name(int(row["option"])),
            "ips": float(row["value"]),
            "reason": str(row["reason"] or ""),
            **run_columns(run),
        }
        for row in _ips(dossier, run).to_dict("records")
    ]


def _gap(dossier: DossierRows, run: DossierRun) -> float:
    return dossier.value(run.run_id, "relative_difference", setting=None)
