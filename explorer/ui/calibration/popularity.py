"""What the popularity score sees of a planted dose, by the length of its n-grams."""

from __future__ import annotations

import streamlit as st

from explorer.figures import theme
from explorer.results.store import Store
from explorer.studies.calibration import doses, words
from explorer.studies.calibration import queries as calibration_queries
from explorer.studies.calibration.doses import Response
from explorer.ui import resources, show
from explorer.ui.calibration import common


def draw_popularity(model: str) -> None:
    """In how many pairs the option whose n-gram was planted has the higher IPS, a line per length of n-grams."""
    st.header("What does the popularity score see?", anchor=False)
    by_length = resources.ask_store(preferences, model)
    if not by_length:
        common.nothing("popularity", common.PAIRS, model)
        return
    show.says(words.popularity_in_words(by_length))
    common.draw_curves(
        "planted popularity",
        [(f"n = {n}", lines) for n, lines in by_length.items()],
        alt="Share of pairs whose planted option has the higher popularity score, by n and by dose",
        response="Planted option has the higher score",
        chance=0.5,
        first="Length",
        colors=theme.in_order(len(by_length)),
        of_models=False,
    )
    show.note("n is in tokens of the index, of which a made-up word has three to four. Equal scores count half.")


def preferences(store: Store, model: str) -> dict[int, list[Response]]:
    """Length of n-grams → the share of pairs whose planted option has the higher IPS, by dose; empty without a run."""
    rated = calibration_queries.popularity(store, common.PAIRS)
    rated = rated[rated["model"] == model].dropna(subset=["value"]) if len(rated) else rated
    if rated.empty:
        return {}
    preferred = (rated["value"] > 0).astype(float) + 0.5 * (rated["value"] == 0)
    responses = doses.shares(common.with_doses(rated.assign(preferred=preferred)), "n", "preferred")
    return {
        int(n): [response for response in responses if response.name == str(n)] for n in sorted(rated["n"].unique())
    }
