"""One instance, token by token: what did the model find surprising, what does it prefer, and what changes its mind?"""

import streamlit as st

from explorer import benchmarks
from explorer.ui import instance_list, layout, links, resources, show, texts
from explorer.ui.cockpit import cockpit, reading_ahead
from explorer.ui.dossier import dossier
from explorer.ui.instance import finder

chosen = layout.open_page(
    "Instance", "Click a word and swap it: the model's preference and the text's popularity move as you do."
)


@st.fragment
def whole() -> None:
    """The instance with its text; from one to the next the frame around the page is not drawn anew."""
    show.about("Instance", chosen.model, chosen.benchmark)
    with show.problems():
        found = finder.find(chosen, instance_list.listing(chosen.benchmark))
        if found.instance is None:
            return
        cockpit.draw_cockpit(found.instance, chosen, run_id=found.run_id, unit=found.unit, shape=found.shape)
        if found.instance.benchmark and "typed-" not in found.instance.id:
            dossier.draw_dossier(found.instance.id, found.instance.kind, chosen, found.instance)
        if found.following:
            reading_ahead.begin_reading(found.following, chosen, found.run_id)


def numbers_alone() -> None:
    """What stored runs say about the instance, where its text is not on this machine."""
    texts.offer(chosen.benchmark)
    asked_for = links.recall("instance")
    search_box, list_box = st.columns([1, 2], vertical_alignment="bottom")
    with search_box:
        part = links.type_in("Search", "words", placeholder="part of an id", icon=":material/search:")
    # A link may ask for an instance that a list of some thousands does not reach.
    known = {**(dossier.stored_ids(chosen.benchmark, asked_for) if asked_for and not part else {}),
             **dossier.stored_ids(chosen.benchmark, part)}  # fmt: skip
    if not known:
        show.nothing_yet("No instance matches", "Nothing is stored about an instance whose id holds this text.")
        return
    with list_box:
        name = links.pick(st.selectbox, "Instance", "instance", list(known), always=True, format_func=known.__getitem__)
    kind = benchmarks.find(chosen.benchmark, resources.settings()).kind
    dossier.draw_dossier(name, kind, chosen)


with show.problems():
    if not texts.are_here(chosen.benchmark) and dossier.stored_ids(chosen.benchmark):
        numbers_alone()
    else:
        whole()
