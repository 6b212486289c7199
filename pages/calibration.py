"""Methods held against planted truth: what popularity, verdicts and attacks see of a corpus that is known whole."""

from explorer.ui import layout, show
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

chosen = layout.open_page(
    "Calibration",
    "How far can each method be trusted? Small models, trained by us on a corpus with known doses planted in it, "
    "read by the methods of every study. What holds for such small models need not hold for large ones.",
)
with show.problems():
    model = own_planted.pick_model(chosen.model)
    verdicts.draw_pairs(model)
    popularity.draw_popularity(model)
    verdicts.draw_synonyms(model)
    texts.draw_extraction(model)
    texts.draw_membership(model)
    concepts.draw_concepts(model)
    demonstrations.draw_demonstrations(model)
    contexts.draw_contexts(model)
    own_planted.draw_own(model)
    schedule.draw_schedule()
