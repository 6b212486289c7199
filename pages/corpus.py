"""Is it in the corpus? Any text, how often its n-grams occur, where they occur, and what comes next there."""

from explorer.ui import layout, show
from explorer.ui.corpus import search

chosen = layout.open_page(
    "Corpus", "Which parts of a text occur in a corpus word for word, how often, in which documents, and what follows?"
)

with show.problems():
    search.draw_search(chosen)
