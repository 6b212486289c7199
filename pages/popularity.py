"""Which n-grams of an instance does the corpus hold, and are popular instances answered better?"""

from explorer.ui import layout, nearest_run, show, study_start
from explorer.ui.popularity import models as popularity_models
from explorer.ui.popularity import run as popularity_run

chosen = layout.open_page(
    "Popularity",
    "How often do the n-grams of an instance occur in a corpus, and are popular instances answered better?",
)

with show.problems():
    chosen = nearest_run.with_runs("popularity", chosen)
    if not popularity_run.draw_popularity_run(chosen):
        study_start.offer(
            "popularity",
            chosen,
            "No popularity run yet",
            "A run counts the n-grams of every option in a corpus, rates each instance from 1 to 10, scores it, and "
            "compares popular with unpopular instances.",
        )
    popularity_models.draw_popularity_models()
    layout.link_to(
        "Instance", "One instance: the popularity of each token, down to the documents",
        model=chosen.model, benchmark=chosen.benchmark, layer="Popularity",
    )  # fmt: skip
