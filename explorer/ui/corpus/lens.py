"""The fold "In the corpus": which parts of each text of an instance stand in a corpus word for word."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from explorer import prompts
from explorer.popularity import indexes, verbatim
from explorer.popularity.verbatim import Verbatim
from explorer.records import Instance
from explorer.ui import corpus_mark, layout, show
from explorer.ui import scored_options as answers
from explorer.ui.corpus import asking
from explorer.ui.corpus.marked import draw_documents, draw_marked, draw_style
from explorer.ui.corpus.search import in_words

FIRST = 4  # texts that are shown; an item with more has its others on the page Corpus
PILLS = {verbatim.WHOLE: "right", verbatim.PART: "tie", verbatim.ABSENT: "none", verbatim.UNKNOWN: "none"}


def draw_corpus_lens(instance: Instance, model: str, index: str) -> None:
    """The fold; nothing is looked up before it is opened."""
    fold = st.expander("In the corpus, word for word", key="corpus:lens", on_change="rerun")
    if not fold.open:
        return
    with fold, show.lens("Verbatim spans"):
        draw_style()
        corpus_mark.draw(index, model)
        if not asking.may_ask(index):
            return
        texts = prompts.option_texts(instance)
        found = [asking.traced(text, index) for text in texts[:FIRST]]
        show.says(compared(found, instance.gold))
        for number, one in enumerate(found):
            _draw(instance, number, one, index, model)
        show.note(verbatim.RULE)


def compared(found: Sequence[Verbatim], gold: int | None) -> str:
    """Of two texts, which of them the corpus holds more of."""
    if len(found) != 2 or gold not in (0, 1) or any(one.label == verbatim.UNKNOWN for one in found):
        return ""
    right, other = found[gold], found[1 - gold]
    if right.label == other.label == verbatim.WHOLE:
        return "The corpus holds both texts."
    if verbatim.WHOLE in (right.label, other.label):
        which = "right" if right.label == verbatim.WHOLE else "wrong"
        return f"The corpus holds the {which} text as a whole, and not the other."
    shares = f"{right.longest:.0%} of the right text and {other.longest:.0%} of the wrong one"
    return f"The longest span that the corpus holds is {shares}."


def _draw(instance: Instance, number: int, found: Verbatim, index: str, model: str) -> None:
    name = answers.option_name(instance, number)
    st.html(
        f'<p class="lx-verdict lx-{PILLS[found.label]}"><span class="lx-word">{show.escaped(found.label)}</span> '
        f"<span>{show.escaped(name)}</span></p>"
    )
    draw_marked(found)
    show.note(" ".join(in_words(found, indexes.title_of(index))))
    if found.spans:
        longest = max(found.spans, key=lambda span: span.last - span.first)
        draw_documents(asking.documents(longest.ids, index, 1), longest.count)
    layout.link_to("Corpus", "Its n-grams, documents and what comes next", text=found.text, index=index, model=model)
