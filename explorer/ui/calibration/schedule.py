"""Everything that is planted, as a table that can be searched: what, how often, where it is asked."""

from __future__ import annotations

import csv

import pandas as pd
import streamlit as st

from explorer.glassbox import schedule
from explorer.glassbox.planting import KINDS
from explorer.settings import Settings
from explorer.ui import resources, show
from explorer.ui.calibration.common import CONCEPTS, PAIRS, SYNONYMS
from explorer.ui.columns import count_column, text_column

ASKED_IN = {"pair": PAIRS, "synonym": SYNONYMS, "concept": CONCEPTS, "neutral": "nowhere", "own": "below"}
COLUMNS = {"what": "What", "text": "Text", "dose": "Times in the corpus", "where": "Asked in", "group": "Group"}


def draw_schedule(model: str) -> None:
    """The table, folded; it is made when it is opened."""
    drawer = st.expander("What is planted, how often, and where it is asked", key="schedule", on_change="rerun")
    if not drawer.open:
        return
    with drawer:
        table = planted(resources.settings())
        word = st.text_input("Search", key="schedule:word", placeholder="A word, an ID, a benchmark").strip().lower()
        if word:
            hit = table["text"].str.lower().str.contains(word, regex=False) | table["where"].str.contains(
                word, regex=False
            )
            table = table[hit]
        show.note(f"{len(table):,} planted texts. A text occurs in the corpus exactly that often.")
        show.table(
            table,
            "schedule",
            columns={
                "what": text_column("What"), "text": text_column("Text"), "dose": count_column("Times in the corpus"),
                "where": text_column("Asked in"), "group": text_column("Group"),
            },
            height=380,
        )  # fmt: skip


@st.cache_data(max_entries=2, show_spinner="Reading the schedule")
def planted(settings: Settings) -> pd.DataFrame:
    """A row per planted text: what it is, the text, its dose, and the benchmark that asks for it."""
    rows = [
        {
            "what": KINDS[planting.kind],
            "text": planting.ngram,
            "dose": planting.dose,
            "where": ASKED_IN.get(planting.kind, planting.group),
            "group": planting.group,
        }
        for planting in schedule.plantings(settings)
    ]
    return pd.DataFrame(rows)


def own_texts(settings: Settings, corpus: str) -> pd.DataFrame:
    """The texts that somebody planted in a corpus of their own, with their doses; empty where there are none."""
    path = settings.indexes / f"{corpus}.schedule.csv"
    if not path.is_file():
        return pd.DataFrame({"text": [], "dose": []})
    with path.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["kind"] == "own"]
    return pd.DataFrame({"text": [row["ngram"] for row in rows], "dose": [int(row["dose"]) for row in rows]})
