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
        corpus_mark.draw_corpus_mark(index, model)
        if not asking.may_ask(index):
            return
        texts = prompts.option_texts(instance)
        traces = [asking.traced(text, index) for text in texts[:FIRST]]
        show.says(compared(traces, instance.gold))
        for number, traced in enumerate(traces):
            _draw_traced_text(instance, number, traced, index, model)
        show.note(verbatim.RULE)


def compared(traces: Sequence[Verbatim], gold: int | None) -> str:
    """Of two texts, which of them the corpus holds more of."""
    if len(traces) != 2 or gold not in (0, 1) or any(traced.label == verbatim.UNKNOWN for traced in traces):
        return ""
    right, other = traces[gold], traces[1 - gold]
    if right.label == other.label == verbatim.WHOLE:
        return "The corpus holds both texts."
    if verbatim.WHOLE in (right.label, other.label):
        which = "right" if right.label == verbatim.WHOLE else "wrong"
        return f"The corpus holds the {which} text as a whole, and not the other."
    shares = f"{right.longest:.0%} of the right text and {other.longest:.0%} of the wrong one"
    return f"The longest span that the corpus holds is {shares}."


def _draw_traced_text(instance: Instance, number: int, traced: Verbatim, index: str, model: str) -> None:
    name = answers.option_name(instance, number)
    st.html(
        f'<p class="lx-verdict lx-{PILLS[traced.label]}"><span class="lx-word">{show.escaped(traced.label)}</span> '
        f"<span>{show.escaped(name)}</span></p>"
    )
    draw_marked(traced)
    show.note(" ".join(in_words(traced, indexes.title_of(index))))
    if traced.spans:
        longest = max(traced.spans, key=lambda span: span.last - span.first)
        draw_documents(asking.documents(longest.ids, index, 1), longest.count)
    layout.link_to("Corpus", "Its n-grams, documents and what comes next", text=traced.text, index=index, model=model)
