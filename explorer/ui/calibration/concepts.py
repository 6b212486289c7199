"""IDs of made-up concepts by how often they stand beside their label."""

from __future__ import annotations

import streamlit as st

from explorer.figures.models import model_color
from explorer.glassbox import ontology
from explorer.results.store import Store
from explorer.studies.calibration import doses, words
from explorer.studies.calibration import queries as calibration_queries
from explorer.studies.calibration.doses import Response
from explorer.ui import resources, show
from explorer.ui.calibration import common
from explorer.ui.calibration.common import CONCEPTS, title_of


def by_dose(store: Store, model: str) -> tuple[list[Response], list[Response]] | None:
    """The share of right IDs and the log-probability of the right ID by dose; none where no run measured them."""
    measured = calibration_queries.concepts(store)
    measured = measured[measured["model"] == model]
    if measured.empty:
        return None
    dealt = {concept.id: concept.dose for concept in ontology.concepts()}
    measured = measured.assign(dose=measured["instance_id"].str.rsplit("/", n=1).str[-1].map(dealt))
    measured = measured.dropna(subset=["dose", "value"]).astype({"dose": int})
    return (
        doses.shares(measured[measured["measure"] == "correct"], "model", "value"),
        doses.means(measured[measured["measure"] == "gold_logprob"], "model", "value"),
    )


def draw_concepts(model: str) -> None:
    """Right answers and the log-probability of the right ID, by dose."""
    st.header("Does the model know an ID?", anchor=False)
    answers = resources.ask_store(by_dose, model)
    if answers is None:
        common.nothing("ontology", CONCEPTS, model)
        return
    right, likely = answers
    sentence = words.concepts_in_words(title_of(model), right) if right else ""
    show.says(sentence, words.likelihood_in_words(likely) if likely else "")
    if right:
        common.draw_curves(
            "planted concepts",
            [(title_of(model), right)],
            colors=[model_color(title_of(model))],
            alt="Share of concepts whose ID the model gives, by how often it occurs beside the label",
            response="Right IDs",
        )
    if likely:
        common.draw_curves(
            "planted likelihood",
            [(title_of(model), likely)],
            colors=[model_color(title_of(model))],
            alt="Log-probability of the right ID by how often it occurs beside the label",
            response="log P of the right ID (nats)",
            is_share=False,
        )
