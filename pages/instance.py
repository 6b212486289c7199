"""One instance, token by token: what did the model find surprising, what did it prefer, and what do all runs know?"""

import streamlit as st

from explorer import benchmarks
from explorer.ui import instance_list, layout, links, live, resources, show, texts
from explorer.ui.dossier import dossier
from explorer.ui.instance import answer, editor, finder, ngram_strip
from explorer.ui.instance import view as instance_view

chosen = layout.open_page(
    "Instance",
    "One instance: how surprising each token was to the model, which option it preferred, and what runs know of it.",
)


def whole() -> None:
    """The instance with its text."""
    listing = instance_list.listing(chosen.benchmark)
    run_box, unit_box, shape_box = st.columns([4, 1, 1.2], vertical_alignment="bottom")
    with run_box:
        run_id = layout.pick_run("accuracy", chosen, none="No stored run: score now")
    with unit_box:
        unit = links.pick(st.segmented_control, "Surprisal in", "unit", ["nats", "bits"], required=True)
    with shape_box:
        shape = links.pick(st.segmented_control, "Shown as", "shape", instance_view.SHAPES, required=True)

    instance = finder.find(listing, run_id)
    if instance:
        scoring = layout.scoring_of(run_id)
        stored = answer.stored(run_id, instance)
        if stored is None:
            stored = answer.offered(instance, chosen.model, scoring, "No stored run has this instance.")
        elif not instance_view.has_tokens(stored):
            missing = "The stored run kept sums, not tokens."
            stored = answer.offered(instance, chosen.model, scoring, missing) or stored
        if stored:
            instance_view.draw_instance(instance, stored, unit, shape)
        else:
            instance_view.text(instance)

        drawer = st.expander("Popularity in a corpus, token by token", key="ngram:open", on_change="rerun")
        if drawer.open:
            with drawer:
                ngram_strip.draw_ngram_strip(instance, chosen.model)

        dossier.draw_dossier(instance.id, instance.kind, chosen, instance)

        if not live.why_unknown(chosen.model):
            st.header("Change the text", anchor=False)
            show.lead("Type another text and see, beside the original, what the model makes of it.")
            editor.draw_editor(instance, chosen.model, scoring, unit)


def numbers_alone() -> None:
    """What runs know of the instance, where its text is not on this machine."""
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
