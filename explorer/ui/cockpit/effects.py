"""What each synonym on offer would do to the verdict, asked of the model when the reader wants to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explorer.errors import ExplorerError
from explorer.records import Instance
from explorer.ui import live
from explorer.ui import scored_options as answers
from explorer.ui.cockpit import state
from explorer.ui.cockpit.words import Words
from explorer.ui.instance import answer
from explorer.variants import by_hand

MOST = 24  # synonyms that are scored at once, those of the likeliest sense first
WANTED = "cockpit:effects"  # in the session: the instance and the word of it whose synonyms are to be scored


@dataclass(frozen=True, slots=True)
class Effect:
    """The margin (nats) and the verdict with a synonym in the word's place."""

    margin: float
    verdict: answers.Verdict


def want(item: Instance, key: str) -> None:
    """Has the synonyms of this word scored while it is open, until that is asked of another one."""
    st.session_state[WANTED] = (item.id, key)


def is_wanted(item: Instance, key: str) -> bool:
    """Whether the reader asked what the synonyms of this word do."""
    return bool(st.session_state.get(WANTED) == (item.id, key))


def can_be_told(item: Instance, model: str) -> bool:
    """Whether a model here can say it within seconds, of an instance that has a verdict."""
    return item.kind != "text" and not live.why_unknown(model) and live.answers_at_once(model)


def of_synonyms(base: Instance, read: Words, key: str, model: str, scoring: Mapping[str, Any]) -> dict[str, Effect]:
    """Synonym → what it does in the place of the word `key`, all other swaps as they are; without those not scored."""
    view = read.offered.get(key)
    if view is None:
        return {}
    in_order = sorted(view.senses, key=lambda sense: not sense.chosen)
    lemmas = list(dict.fromkeys(candidate.lemma for sense in in_order for candidate in sense.offered))[:MOST]
    effects: dict[str, Effect] = {}
    with st.spinner(f"Scoring {len(lemmas)} words in its place", show_time=True):
        for lemma in lemmas:
            changed = by_hand.edited_instance(base, read.swapped({**state.edits().chosen, key: lemma}))
            try:
                judgment = answer.now(changed, model, scoring).judgment
            except ExplorerError:
                continue
            correct = judgment.get("correct")
            effects[lemma] = Effect(judgment.value("margin"), answers.verdict_of(correct.value))
    return effects
