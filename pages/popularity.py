"""Which n-grams of an instance does the corpus hold, and are popular instances answered better?"""

from explorer.ui import frame, nearest, popularity_models, popularity_run, show, study_start

chosen = frame.open_page(
    "Popularity",
    "How often do the n-grams of an instance occur in a corpus, and are popular instances answered better?",
)

with show.problems():
    chosen = nearest.with_runs("popularity", chosen)
    run_id = popularity_run.pick(chosen)
    if run_id:
        popularity_run.draw(run_id, chosen)
    else:
        study_start.offer(
            "popularity",
            chosen,
            "No popularity run yet",
            "A run counts the n-grams of every option in a corpus, rates each instance from 1 to 10, scores it, and "
            "compares popular with unpopular instances.",
        )
    popularity_models.draw()
