"""What is known of an instance as it stands and as it was changed: from a stored run, or from the model now."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explorer import prompts
from explorer.records import Instance, Request, RunSpec
from explorer.scoring import alternatives, http
from explorer.scoring.alternatives import Alternative, NextTokenModel
from explorer.scoring.policy import UNITS, Normalization, ScoringPolicy, normalization_of
from explorer.settings import Settings
from explorer.studies import chat
from explorer.studies.accuracy import study as accuracy_study
from explorer.studies.priming import requests as priming_requests
from explorer.ui import layout, live, resources, show
from explorer.ui import scored_options as answers
from explorer.ui.cockpit import words
from explorer.ui.instance import answer
from explorer.ui.instance import view as instance_view
from explorer.ui.instance.answer import Answer
from explorer.ui.priming import live as priming_live
from explorer.ui.priming.live import Point

ASKED = "score:asked"  # the model that the reader said yes to
EXPECTS = "expect:asked"  # the model that is asked what it expects, though it has to be loaded
CONTEXT_PRESET = "natural"
MOST_UNASKED = 60_000  # characters that a page has scored on its own account


@dataclass(frozen=True, slots=True)
class Scores:
    """The instance as it stands, as it is now, and after each sentence of its context; none where it is not known.

    Before a context an instance is scored as behind one, from a blank on; `plain` is its margin as a text by itself.
    `normalization` says what the margins are in.
    """

    before: Answer | None = None
    after: Answer | None = None
    points: tuple[Point, ...] = ()
    plain: float = math.nan
    normalization: Normalization = "sum"

    @property
    def margin_unit(self) -> str:
        return UNITS[self.normalization]


def scores_of(
    item: Instance, changed: Instance, sentences: Sequence[str], model: str, run_id: str, scoring: Mapping[str, Any]
) -> Scores:
    """What can be known without loading a large model or asking a server that nobody said yes to.

    Where that is not all, a button asks for the rest.
    """
    stored = answer.stored(run_id, item) if run_id else None
    by = normalization_of(scoring)
    is_original = words.same_text(changed, item) and not sentences
    if stored and is_original and instance_view.has_tokens(stored):
        return Scores(stored, stored, normalization=by)
    if not _may_score(model, stored, is_original, _volume(changed, sentences)):
        return Scores(stored, stored if is_original else None, normalization=by)
    about = (tuple(sorted(scoring.items())), bool(sentences))
    second_answer = live.attempt("instance", model, about, lambda: _now(item, changed, sentences, model, scoring))
    return second_answer or Scores(stored, stored if is_original else None, normalization=by)


def _now(item: Instance, changed: Instance, sentences: Sequence[str], model: str, scoring: Mapping[str, Any]) -> Scores:
    if not sentences:
        before = answer.now(item, model, scoring)
        after = before if words.same_text(changed, item) else answer.now(changed, model, scoring)
        return Scores(before, after, normalization=normalization_of(scoring))
    with st.spinner(show.plain(live.waiting(model, layout.model_title(model))), show_time=True):
        (alone,) = priming_live.growth(item, (), model, CONTEXT_PRESET, scoring)
        points = priming_live.growth(changed, sentences, model, CONTEXT_PRESET, scoring)
        # An answer in a chat has no other beginning where a context is said before it. Behind a context sums are
        # compared, so that a margin of something else is not set beside them.
        apart = chat.is_chat(scoring) or normalization_of(scoring) != "sum"
        plain = math.nan if apart else live.judge(item, model, scoring).judgment.value("margin")
    return Scores(_answer_of_point(alone), _answer_of_point(points[-1]), points, plain)


def _answer_of_point(point: Point) -> Answer:
    return Answer(answers.of_scores(point.scores), point.judgment)


def is_short(instance: Instance) -> bool:
    """Whether a page may have an instance scored on its own account."""
    return _volume(instance, ()) <= MOST_UNASKED


def _volume(changed: Instance, sentences: Sequence[str]) -> int:
    """About how many characters are scored: every text, again after each sentence of its context."""
    texts = prompts.option_texts(changed)
    before = sum((len(sentences) - place) * len(sentence) for place, sentence in enumerate(sentences))
    return (len(sentences) + 1) * sum(map(len, texts)) + len(texts) * before


def _may_score(model: str, stored: Answer | None, is_original: bool, volume: int) -> bool:
    """Whether the model may be asked: it answers within seconds, or the reader said yes; else a button asks."""
    if why := live.why_unknown(model):
        show.note(why)
        return False
    is_short = volume <= MOST_UNASKED or http.is_endpoint(model)
    if (is_short and live.answers_at_once(model)) or st.session_state.get(ASKED) == model:
        return True
    title = layout.model_title(model)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            f"Score with {show.plain(title)}",
            type="primary",
            icon=":material/bolt:",
            key="score:now",
            on_click=st.session_state.__setitem__,
            args=(ASKED, model),
        )
        missing = "The stored run kept sums, not tokens. " if stored and is_original else ""
        # A link may hold any text, and whoever opens it would hold the one model of all visitors for minutes.
        when = live.beginning(model) if is_short else f"with {volume:,} characters to read that may take minutes"
        show.note(f"{missing}{title} can score every change as you make it; {when}.")
    return False


def second(changed: Instance, model: str, scoring: Mapping[str, Any]) -> Answer:
    """The changed instance by a second model, which is loaded beside the first."""
    with st.spinner(show.plain(f"Asking {layout.model_title(model)} too")):
        judged = live.judge(changed, model, scoring, beside=True)
    return Answer(answers.of_scores(judged.scores), judged.judgment)


def expected_tokens(
    model: str, context: str, continuation: str, place: int, scoring: Mapping[str, Any], *, primed: bool
) -> tuple[Alternative, ...]:
    """The likeliest tokens in the place of a scored token, by the same policy; ExplorerError where that fails."""
    after_context = chat.in_policy(priming_requests.policy_of(CONTEXT_PRESET, "preset"), scoring)
    policy = after_context if primed else _policy(model, scoring)
    with live.turn(model):
        loaded = resources.resources().model(model)
        before, standing = alternatives.tokens_before(loaded, Request("", 0, context, continuation), place, policy)
        # A word that is swapped leaves what the model expects in its place as it is: only what stands before counts.
        ranked = _ranked(model, before, resources.settings(), live.version_of(model), _loaded=loaded)
        return tuple(Alternative(text, logprob, token == standing) for token, text, logprob in ranked)


def can_expect(model: str) -> bool:
    """Whether a model of this machine is asked what it expects: it is loaded, or the reader said so."""
    return live.is_loaded(model) or st.session_state.get(EXPECTS) == model


@st.cache_data(max_entries=512, show_spinner=False)
def _ranked(
    model: str, before: tuple[int, ...], settings: Settings, version: str, *, _loaded: NextTokenModel
) -> list[tuple[int, str, float]]:
    """The likeliest tokens after these: id, text, log-probability in nats."""
    ranked = _loaded.likeliest(before, alternatives.DEFAULT_COUNT)
    return [(token, _loaded.decode((token,))[0], logprob) for token, logprob in ranked]


def _policy(model: str, scoring: Mapping[str, Any]) -> ScoringPolicy:
    settings = accuracy_study.STUDY.resolve(dict(scoring))
    return accuracy_study.policy_of(RunSpec("accuracy", accuracy_study.STUDY.version, model, "", settings=settings))
