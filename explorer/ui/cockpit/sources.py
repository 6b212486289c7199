"""By which deciles the cockpit rates: a stored run's that fit the index that is here, else those counted now."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from explorer.errors import CountError
from explorer.popularity import indexes
from explorer.popularity.indexes import GLASSBOX
from explorer.records import Instance
from explorer.ui import links, show
from explorer.ui.cockpit import gauges, words
from explorer.ui.instance import ngram_rating
from explorer.ui.instance.ngram_rating import Rated, Source

ASKED = "cockpit:indexes"  # the services that the reader said yes to


def pick_source(instance: Instance, model: str) -> Source | None:
    """The deciles, of this benchmark's runs, for a text of one's own of any run; none where nothing can be had.

    Where those of several runs fit, the address says which.
    """
    stored = ngram_rating.stored(instance.benchmark, model)
    # What is on this machine first: a service takes seconds and is asked only when somebody says so.
    names = sorted(stored.sources, key=lambda run_id: indexes.is_remote(stored.sources[run_id].index))
    first = links.recall("deciles", names[0], names) if names else ""
    index = stored.sources[first].index if first else GLASSBOX
    if index == GLASSBOX and not (words.has_wordnet() or ngram_rating.is_built(index)):
        # Not fetched unasked, where a button offers it.
        raise CountError("its index is made of WordNet, which is not on this machine yet.")
    if not first:
        if not ngram_rating.can_count(instance.benchmark or ngram_rating.OWN_TEXTS):
            if stored.unfit:
                raise CountError(stored.unfit)
            return None
        return ngram_rating.own_source(instance.benchmark)
    return stored.sources[first]


def pick_deciles(instance: Instance, model: str) -> None:
    """A picker of the run whose deciles rate, where several fit."""
    sources = ngram_rating.stored(instance.benchmark, model).sources
    if len(sources) < 2:
        return
    names = sorted(sources, key=lambda run_id: indexes.is_remote(sources[run_id].index))
    links.pick(
        st.selectbox, "Popularity rated by", "deciles", names,
        format_func=lambda run_id: sources[run_id].title,
    )  # fmt: skip


def rated(item: Instance, changed: Instance, source: Source) -> Sequence[Rated]:
    """Both versions rated, or nothing and a button where a service would have to be asked first."""
    said_yes = st.session_state.get(ASKED, ())
    if indexes.is_remote(source.index) and source.index not in said_yes:
        with st.container(horizontal=True, vertical_alignment="center"):
            show.note(f"How common its n-grams are is known to the service behind {source.index}.")
            st.button(
                "Ask it",
                key="cockpit:ask_index",
                type="tertiary",
                on_click=st.session_state.__setitem__,
                args=(ASKED, (*said_yes, source.index)),
            )
        return ()
    return gauges.rate(item, changed, source)
