"""Does the model know a benchmark's texts by heart, and does that say what it gets right?"""

from explorer.ui import layout, nearest_run, show, study_start
from explorer.ui.memorization import run as memorization_run

chosen = layout.open_page(
    "Memorization",
    "How much of a benchmark can be drawn out of the model, and are instances that it has seen answered better?",
)

with show.problems():
    chosen = nearest_run.with_runs("memorization", chosen)
    if not memorization_run.draw_memorization_run(chosen):
        study_start.offer(
            "memorization",
            chosen,
            "No memorization run yet",
            "A run asks for the second half of every text, measures the loss of the whole and of neighbors that "
            "differ in a word, and tests whether these scores tell right from wrong answers.",
            settings={"neighbours": 0},
        )
