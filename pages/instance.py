"""One instance, token by token: what did the model find surprising, and what did it prefer?"""

import html

import streamlit as st

from explorer import prompts
from explorer.results import queries
from explorer.ui import asked as answers
from explorer.ui import editor, finder, frame, instance_view, instances, links, live, resources, show

chosen = frame.open_page(
    "Instance",
    "One instance, token by token: how surprising each token was to the model, and which option it preferred.",
)
title = frame.model_title(chosen.model)

with show.problems():
    listing = instances.listing(chosen.benchmark)
    run_box, unit_box = st.columns([3, 1], vertical_alignment="bottom")
    with run_box:
        run_id = frame.pick_run("accuracy", chosen, none="No stored run: score now")
    with unit_box:
        unit = links.pick(st.segmented_control, "Surprisal in", "unit", ["nats", "bits"], default="nats", required=True)
    name = finder.find(listing, run_id)
    if name:
        instance = listing.by_id[name]
        scoring = frame.scoring_of(run_id)
        stored = resources.ask(queries.instance_scores, run_id, name) if run_id else None
        if stored is not None and len(stored):
            frame.warn_of_other_text(run_id, instance)
            asked = answers.of_rows(stored)
            measures = resources.ask(queries.instance_measures, run_id, name).to_dict("records")
        elif live.is_loaded(chosen.model) or st.button(f"Score with {title}", icon=":material/bolt:", key="score:now"):
            judged = editor.judge(instance, chosen.model, title, scoring)
            asked, measures = answers.of_scores(judged.scores), judged.measures
        else:
            asked, measures = [], []
            for text in prompts.option_texts(instance)[:6]:
                st.html(f'<p class="lx-sentence">{html.escape(text)}</p>')
            show.note(f"No stored run has this instance. {title} can score it now; loading it takes some seconds.")
        if asked:
            instance_view.verdict(instance, asked, measures)
            instance_view.draw(instance, asked, measures, unit)

        st.header("Change the text", anchor=False)
        show.lead("Type another text and see, beside the original, what the model makes of it.")
        editor.draw(instance, chosen.model, title, scoring, unit)
