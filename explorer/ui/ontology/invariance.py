"""What became of a run's repeated questions: invariance by popularity, and the languages compared."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from explorer.figures.accuracy_by_group import accuracy_by_group
from explorer.figures.heatmap import square_heatmap
from explorer.finding import Finding
from explorer.studies.ontology import declared
from explorer.studies.ontology import queries as ontology_queries
from explorer.studies.ontology.published import invariance
from explorer.ui import resources, show
from explorer.ui.columns import number_column, share_column, text_column
from explorer.ui.ontology.figure_buckets import by_way

LANGUAGES = {"en": "English", "it": "Italian", "fr": "French", "de": "German", "es": "Spanish"}
WAYS = {
    "Way": text_column("Way"),
    "Raw answers": number_column("Raw answers", 3),
    "Parsed IDs": number_column("Parsed IDs", 3),
    "Accuracy": share_column("Accuracy"),
    "Spearman": number_column("Spearman", 3),
    "Published": number_column("Published", 3),
}


def draw_ontology_invariance(run_id: str, findings: pd.DataFrame) -> None:
    """The paper's figure 4 of this run; a line where no question was repeated. `findings` are those over all."""
    rows = resources.ask_store(ontology_queries.invariance, run_id)
    if rows.empty:
        show.note(
            "Prediction invariance (the paper's figure 4) needs a run that repeats the question, which is an option."
        )
        return
    st.header("Prediction invariance", anchor=False)
    show.lead("The same question again: as it is (PI-1), warmer (PI-2), in five languages (PI-3).")
    left, right = st.columns(2, gap="medium")
    with left:
        show.chart(by_way(rows, "invariance", "Average invariance of parsed IDs"), key="ontology invariance",
                   alt="Average prediction invariance in each popularity bucket")  # fmt: skip
    with right:
        show.chart(by_way(rows, "accuracy", "Accuracy over repeats"), key="ontology invariance accuracy",
                   alt="Accuracy of the repeated questions in each popularity bucket")  # fmt: skip
    show.note("The paper's figures 4a and 4b.")
    show.table(_ways(findings), "invariance of each way", columns=WAYS)
    show.note("Published: GPT-3.5 on the Gene Ontology, Spearman of average invariance and accuracy over 50 buckets.")
    _languages(run_id)


def _ways(findings: pd.DataFrame) -> pd.DataFrame:
    """A row per way: mean invariance on raw answers and parsed ids, accuracy, and their correlation over buckets."""

    def value(finding: Finding, way: str, form: str) -> Any:
        rows_of_setting = findings[
            (findings["finding"] == finding.name) & (findings["setting"] == way) & (findings["condition"] == form)
        ]
        return (
            float(rows_of_setting["value"].iloc[0])
            if len(rows_of_setting) and rows_of_setting["value"].notna().all()
            else float("nan")
        )

    printed = invariance()
    ways = sorted(findings.loc[findings["finding"] == declared.INVARIANCE.name, "setting"].unique())
    return pd.DataFrame(
        {
            "Way": ways,
            "Raw answers": [value(declared.INVARIANCE, way, "raw") for way in ways],
            "Parsed IDs": [value(declared.INVARIANCE, way, "parsed") for way in ways],
            "Accuracy": [value(declared.INVARIANCE_ACCURACY, way, "parsed") for way in ways],
            "Spearman": [value(declared.SPEARMAN_INVARIANCE, way, "parsed") for way in ways],
            "Published": [printed.get(way, float("nan")) for way in ways],
        }
    )


def _languages(run_id: str) -> None:
    languages = resources.ask_store(ontology_queries.languages, run_id)
    if languages.empty:
        return
    st.subheader("The question in five languages", anchor=False)
    left, right = st.columns(2, gap="medium")
    with left:
        named = languages.assign(grp=languages["grp"].map(LANGUAGES))
        show.chart(accuracy_by_group(named), key="ontology languages", alt="Accuracy of the question in each language")
    with right:
        cells = resources.ask_store(ontology_queries.agreement, run_id)
        cells = cells.assign(grp=cells["grp"].map(LANGUAGES), other=cells["other"].map(LANGUAGES))
        show.chart(
            square_heatmap(cells, value_name="same answer", tick=".0%", rows="one language", columns="another",
                            diagonal=False),
            key="ontology agreement", alt="How often two languages of the question get the same answer",
        )  # fmt: skip
    show.note("Labels stay English, as in the paper; only the question is translated. Answers are compared parsed.")
