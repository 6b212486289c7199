"""Texts that the corpus holds so and so often: which of them extraction finishes, and which the attacks tell."""

from __future__ import annotations

import streamlit as st

from explorer.figures.models import model_color
from explorer.results.store import Store
from explorer.settings import Settings
from explorer.studies.calibration import doses, words
from explorer.studies.calibration.doses import Response
from explorer.ui import glossary, links, resources, show
from explorer.ui.calibration import attacks, common
from explorer.ui.calibration.attacks import ATTACKS
from explorer.ui.calibration.common import title_of
from explorer.ui.calibration.figure_roc import roc_by_dose

EXTRACTION = "tde_accuracy"
SOME = "starter_causes"


def draw_extraction(model: str) -> None:
    """The share of texts whose second half the model writes by itself, by repetitions."""
    st.header("Which texts can be drawn out?", anchor=False)
    responses = resources.ask_store(extraction, model, resources.settings())
    if not responses:
        common.nothing("memorization", SOME, model)
        return
    show.says(words.extraction_in_words(title_of(model), responses))
    common.draw_curves(
        "planted extraction",
        [(title_of(model), responses)],
        colors=[model_color(title_of(model))],
        alt="Share of texts whose second half the model finishes exactly, by how often they occur in the corpus",
        response="Finished exactly",
    )


def draw_membership(model: str) -> None:
    """How well each attack tells texts that the corpus has from texts it lacks, by repetitions."""
    st.header("Can texts of the corpus be told from others?", anchor=False)
    responses = resources.ask_store(attacks.detection, model, resources.settings())
    if responses is None:
        common.nothing("memorization", SOME, model, "by dose")
        return
    lines = [
        (attack.title, [response for response in responses if response.name == name])
        for name, attack in ATTACKS.items()
    ]
    lines = [(title, of_attack) for title, of_attack in lines if of_attack]
    if not lines:
        show.note("None of the texts of these runs occurs in the corpus, so there is nothing to find.")
        return
    show.says(words.attacks_in_words(lines))
    show.note(glossary.spelled("TDE", "MIA", "Min-k %"))
    common.draw_curves(
        "planted membership",
        lines,
        alt="Area under the ROC curve of each attack by how often a text occurs in the corpus",
        response="Area under the ROC curve (AUC)",
        chance=0.5,
        first="Attack",
        is_share=False,
        of_models=False,
    )
    show.note("Against all texts of the same sets that the corpus lacks.")
    names = [name for name, attack in ATTACKS.items() if attack.title in dict(lines)]
    attack = links.pick(
        st.segmented_control, "ROC curves of", "attack", names, default="min_k" if "min_k" in names else names[0],
        required=True, format_func=lambda name: ATTACKS[name].title,
    )  # fmt: skip
    curves = resources.ask_store(attacks.roc, model, attack, resources.settings())
    show.chart(
        roc_by_dose(curves), key=f"planted roc {attack}", alt=f"ROC curves of {ATTACKS[attack].title} by repetitions"
    )


def extraction(store: Store, model: str, settings: Settings) -> list[Response]:
    """The share of texts that are finished exactly, by dose; none where no run asked."""
    scores = attacks.scores(store, model, settings)
    scores = scores[scores["attack"] == EXTRACTION].dropna(subset=["value"]) if len(scores) else scores
    return doses.shares(scores, "model", "value") if len(scores) else []
