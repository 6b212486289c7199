"""One instance, token by token: what did the model find surprising, and what did it prefer?"""

import streamlit as st

from explorer.ui import answer, editor, finder, frame, instance_view, instances, links, ngram_strip, show

chosen = frame.open_page(
    "Instance",
    "One instance, token by token: how surprising each token was to the model, and which option it preferred.",
)

with show.problems():
    listing = instances.listing(chosen.benchmark)
    run_box, unit_box, shape_box = st.columns([4, 1, 1.2], vertical_alignment="bottom")
    with run_box:
        run_id = frame.pick_run("accuracy", chosen, none="No stored run: score now")
    with unit_box:
        unit = links.pick(st.segmented_control, "Surprisal in", "unit", ["nats", "bits"], required=True)
    with shape_box:
        shape = links.pick(st.segmented_control, "Shown as", "shape", instance_view.SHAPES, required=True)

    instance = finder.find(listing, run_id)
    if instance:
        scoring = frame.scoring_of(run_id)
        found = answer.stored(run_id, instance) or answer.offered(instance, chosen.model, scoring)
        if found:
            instance_view.draw(instance, found, unit, shape)
        else:
            instance_view.text(instance)

        drawer = st.expander("Popularity in a corpus, token by token", key="ngram:open", on_change="rerun")
        if drawer.open:
            with drawer:
                ngram_strip.draw(instance, chosen.model)

        st.header("Change the text", anchor=False)
        show.lead("Type another text and see, beside the original, what the model makes of it.")
        editor.draw(instance, chosen.model, scoring, unit)
