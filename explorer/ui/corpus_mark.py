"""The mark of counts from an index that is not the model's pre-training data, wherever such counts are shown."""

from __future__ import annotations

import html

import streamlit as st

from explorer.figures.model_names import model_title
from explorer.popularity import indexes
from explorer.popularity import manifest as manifests
from explorer.settings import Settings

MARK = "‡"
MEANING = "‡ counted in an index that is not, or is not known to be, the model's pre-training data"


def mark_of_index(index: str, model: str) -> str:
    """The mark where it is due, else nothing."""
    return "" if indexes.is_pretraining_data(index, model) else MARK


def title(index: str) -> str:
    """What people call an index."""
    corpus = indexes.corpus_of(index)
    if corpus in indexes.FORMER:
        return indexes.FORMER[corpus].title
    if corpus not in indexes.CORPORA:
        return index
    # Of a public corpus there are several indexes, told apart by their names; that of the glass box is the only one.
    return indexes.CORPORA[corpus] if corpus in indexes.SMALL else f"{indexes.CORPORA[corpus]} ({index})"


def local_names(settings: Settings) -> list[str]:
    """The indexes on this machine, that of the glass box first whether it is built or not."""
    built = sorted(path.parent.name for path in settings.indexes.glob(f"*/{manifests.FILE}"))
    return list(dict.fromkeys([indexes.GLASSBOX, *(name for name in built if not indexes.is_former(name))]))


def draw_corpus_mark(index: str, model: str) -> None:
    """One line that says what was counted, with the mark where it is not the model's data."""
    name = model_title(model)
    if not mark_of_index(index, model):
        st.html(
            f'<p class="lx-quiet lx-note">Counted in {html.escape(title(index))}, which {html.escape(name)} saw.</p>'
        )
        return
    known = indexes.is_pretraining_data(index, model) is False
    why = f"not what {name} was trained on" if known else f"not known to be what {name} was trained on"
    label = html.escape(f"{MARK} {title(index)}: {why}")
    st.html(f'<p class="lx-note"><span class="lx-mark-pill">{label}</span></p>')
