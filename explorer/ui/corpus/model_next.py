"""What a model expects after a text: asked unasked only where it answers within seconds."""

from __future__ import annotations

import math

import streamlit as st

from explorer.errors import ScoringError
from explorer.scoring import http
from explorer.scoring.policy import PRESETS
from explorer.settings import Settings
from explorer.ui import layout, live, resources, show
from explorer.ui.corpus.figure_next import MOST, Guess

ASKED = "corpus:model"  # in the session: the model that the reader said yes to


def expected_tokens(model: str, text: str) -> Guess:
    """The model's likeliest next tokens; without tokens and with the reason where it is not asked."""
    title = layout.model_title(model)
    if http.is_endpoint(model):
        return Guess(title, (), "the server behind this model does not say what it expects")
    if why := live.why_unknown(model):
        return Guess(title, (), why)
    if not live.answers_at_once(model) and st.session_state.get(ASKED) != model:
        return Guess(title, (), "it is not loaded; the button below asks it")
    following = live.attempt("corpus", model, text, lambda: _likeliest_tokens(model, text, resources.settings()))
    return Guess(title, following or (), "" if following else "it did not answer")


def offer(model: str) -> None:
    """A button that asks a model which a page does not ask by itself."""
    if http.is_endpoint(model) or live.why_unknown(model) or live.answers_at_once(model):
        return
    if st.session_state.get(ASKED) != model:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                f"Ask {show.plain(layout.model_title(model))} too", key="corpus:model:now", icon=":material/bolt:",
                on_click=st.session_state.__setitem__, args=(ASKED, model),
            )  # fmt: skip
            show.note(f"{live.beginning(model).capitalize()}.")


@st.cache_data(max_entries=128, show_spinner="Asking the model what comes next")
def _likeliest_tokens(model: str, text: str, settings: Settings) -> tuple[tuple[str, float], ...]:
    policy = PRESETS["natural"]
    with live.turn(model):
        loaded = resources.resources().model(model)
        ids = loaded.encode("", text, policy.bos, policy.split).ids
        if len(ids) > loaded.window:
            raise ScoringError(
                f"The text has {len(ids):,} tokens for this model, expected at most {loaded.window:,}. Shorten it."
            )
        ranked = loaded.likeliest(ids, MOST)
        return tuple((loaded.decode((token,))[0], math.exp(logprob)) for token, logprob in ranked)
