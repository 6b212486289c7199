"""Verdicts by dose: of sizes or checkpoints on planted pairs, of a popular and a rare synonym in the same slot."""

from __future__ import annotations

import streamlit as st

from explorer.figures.models import model_color, model_colors
from explorer.results.store import Store
from explorer.stats.mcnemar import PairedChange, mcnemar
from explorer.studies.calibration import doses, words
from explorer.studies.calibration import queries as calibration_queries
from explorer.studies.calibration.doses import Response
from explorer.ui import links, resources, show
from explorer.ui.calibration import common
from explorer.ui.calibration.common import PAIRS, SYNONYMS, title_of


def draw_pairs(model: str) -> None:
    """Accuracy on planted pairs by the dose of what decides, a line per model or a line per checkpoint."""
    st.header("Does the verdict follow the data?", anchor=False)
    responses = resources.ask_store(by_dose, PAIRS)
    if not responses:
        common.nothing("accuracy", PAIRS)
        return
    models = list(dict.fromkeys(response.name for response in responses))
    final = [name for name in models if "@" not in name] or models
    main = model if model in final else final[0]
    steps = [name for name in models if name.partition("@")[0] == main and "@" in name]
    show.says(words.accuracy_in_words(title_of(main), [response for response in responses if response.name == main]))
    view = "Sizes"
    if steps:
        view = links.pick(
            st.segmented_control, "Compare", "compare", ["Sizes", "Checkpoints"], default="Sizes", required=True
        )
    shown = sorted(final, key=common.by_size) if view == "Sizes" else [*sorted(steps, key=common.steps_of), main]
    lines = [(title_of(name), [response for response in responses if response.name == name]) for name in shown]
    common.draw_curves(
        f"planted pairs {view}",
        lines,
        alt="Accuracy on planted pairs by how often the deciding n-gram occurs in the corpus",
        response="Accuracy",
        chance=0.5,
        colors=model_colors([name for name, _ in lines]),
    )
    show.note("A made-up word of dose 0 occurs in the corpus, too, but not with what decides.")


def draw_synonyms(model: str) -> None:
    """Agreement with a popular subject, and with its rare synonym in the same sentence."""
    st.header("Does a swap to a rare synonym show?", anchor=False)
    change = resources.ask_store(of_synonyms, model)
    if change is None:
        common.nothing("accuracy", SYNONYMS, model)
        return
    responses = [response for response in resources.ask_store(by_dose, SYNONYMS) if response.name == model]
    show.says(words.swap_in_words(title_of(model), change))
    common.draw_curves(
        "planted synonyms",
        [(title_of(model), responses)],
        colors=[model_color(title_of(model))],
        alt="Accuracy with a synonym as the subject by how often it occurs in that slot in the corpus",
        response="Accuracy",
        chance=0.5,
    )


def by_dose(store: Store, benchmark: str) -> list[Response]:
    """Of each model and dose the share of right verdicts; none where no run judged."""
    verdicts = calibration_queries.verdicts(store, benchmark)
    return doses.accuracy(common.with_doses(verdicts)) if len(verdicts) else []


def of_synonyms(store: Store, model: str) -> PairedChange | None:
    """What the rare synonym changes in a model's verdicts; none where no run judged."""
    verdicts = calibration_queries.verdicts(store, SYNONYMS)
    verdicts = verdicts[verdicts["model"] == model] if len(verdicts) else verdicts
    if verdicts.empty:
        return None
    keyed = verdicts.assign(
        pair=verdicts["instance_id"].str.replace(r"^.*/(.*)-(popular|unpopular)$", r"\1", regex=True)
    )
    sides = keyed.pivot_table(index="pair", columns="grp", values="correct", aggfunc="first")
    return mcnemar(sides["popular"].to_numpy(), sides["unpopular"].to_numpy())
