"""Methods held against planted truth: what popularity, verdicts and attacks see of a corpus that is known whole."""

import streamlit as st

from explorer.ui import layout, links, show
from explorer.ui.calibration import (
    concepts,
    contexts,
    demonstrations,
    own_planted,
    popularity,
    schedule,
    texts,
    verdicts,
)

OWN = "Plant your own"
VIEWS = {
    "Verdicts": (verdicts.draw_pairs, popularity.draw_popularity, verdicts.draw_synonyms),
    "Memorized texts": (texts.draw_extraction, texts.draw_membership),
    "IDs and prompts": (concepts.draw_concepts, demonstrations.draw_demonstrations, contexts.draw_contexts),
    OWN: (own_planted.draw_own, schedule.draw_schedule),
}

chosen = layout.open_page(
    "Calibration",
    "How far can each method be trusted? Small models, trained by us on a corpus with known doses planted in it, "
    "read by the methods of every study. What holds for such small models need not hold for large ones.",
)
with show.problems():
    model = own_planted.pick_model(chosen.model)
    view = links.pick(
        st.segmented_control, "View", "facet", list(VIEWS), default=OWN if own_planted.is_own(model) else "Verdicts",
        required=True, label_visibility="collapsed",
    )  # fmt: skip
    for draw in VIEWS[view]:
        draw(model)
