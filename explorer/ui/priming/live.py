"""A pair before a context, scored now after every sentence of it: one call to the scorer, as in a full run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explorer.records import Instance, Score
from explorer.rows.builders import instance_of, payload
from explorer.scoring import http
from explorer.scoring.model import LanguageModel
from explorer.settings import Settings
from explorer.studies import chat
from explorer.studies.judged import Judgment
from explorer.studies.priming import context as priming_context
from explorer.studies.priming import requests as priming_requests
from explorer.ui import live, resources
from explorer.variants import running_text
from explorer.variants.running_text import Encode

NOT_ASKED: Mapping[str, Any] = {}
CONDITION = "typed"  # the lab's contexts are of no condition of a run


@dataclass(frozen=True, slots=True)
class Point:
    """The pair after the first sentences of the context: its scores, what they say, and the context's tokens."""

    scores: tuple[Score, ...]
    judgment: Judgment
    tokens: float  # nan where a server does not tell


def growth(
    item: Instance, sentences: Sequence[str], model: str, preset: str, question_form: Mapping[str, Any] = NOT_ASKED
) -> tuple[Point, ...]:
    """The pair without a context and after each sentence; ExplorerError where the model cannot be had.

    `asked` has the settings of chats of a run: in a chat the user says the sentences.
    """
    form = tuple(sorted((name, value) for name, value in question_form.items() if name in chat.CHAT))
    question = (payload(item), tuple(sentences), model, preset, form, resources.settings(), live.version_of(model))
    points = _growth(*question)
    if http.is_endpoint(model) and any(score.reason for point in points for score in point.scores):
        _growth.clear(*question)  # a server may think better of what it refused
    return points


@st.cache_data(max_entries=256, show_spinner=False)
def _growth(
    text: str, sentences: tuple[str, ...], model: str, preset: str, form: tuple[tuple[str, Any], ...],
    settings: Settings, version: str,
) -> tuple[Point, ...]:  # fmt: skip
    item = instance_of(text)
    # A server decides about a BOS for itself.
    plain = priming_requests.policy_of(preset, "auto" if http.is_endpoint(model) else "preset")
    policy = chat.in_policy(plain, dict(form))
    shared = resources.resources()
    with live.turn(model):
        encode = None if http.is_endpoint(model) else _encoder(shared.model(model))
        # Of a server's tokenizer nothing is known: most want a blank, so that a target's tokens are those after a text.
        blank = " " if encode is None else priming_context.opening_of(encode)
        opening = "" if preset == "minicons" else blank
        steps = []
        for number in range(len(sentences) + 1):
            before = running_text.join_sentences(sentences[:number])
            tokens = 0 if not before else math.nan if encode is None else len(encode(before))
            steps.append(
                priming_requests.step(
                    item,
                    before,
                    opening,
                    condition=CONDITION,
                    length=None,
                    sentences=number,
                    tokens=tokens,
                    policy=policy,
                )
            )
        flat = [request for step in steps for request in step.requests]
        scores = shared.scorer(model).score(flat, policy)
        dtype = str(shared.model_record(model).get("dtype", ""))
    # A server's tokens cannot be looked at beforehand, so that it is told (`remarks`) where they change, not refused.
    same_tokens = preset == "natural" and not http.is_endpoint(model)
    judged = priming_requests.with_baselines(steps, scores, same_tokens=same_tokens)
    return tuple(
        Point(
            tuple(judged_margin),
            Judgment.of_rows(priming_requests.judge(step, judged_margin, policy, dtype, baseline)),
            step.tokens,
        )
        for step, judged_margin, baseline in judged
    )


def _encoder(loaded: LanguageModel) -> Encode:
    return lambda text: loaded.encode("", text, "never", "offsets").ids


def remarks(points: Sequence[Point]) -> list[str]:
    """What makes the step from no context to the first sentence another than those after it."""
    first, last = points[0], points[-1]
    sentences = []
    if any(score.scored and math.isnan(score.logprobs[0]) for score in first.scores):
        sentences.append("Without a context the first token of a text has no probability: nothing comes before it.")
    if priming_requests.token_ids(first.scores) != priming_requests.token_ids(last.scores):
        sentences.append("The text is cut into other tokens after a context than without one.")
    return sentences if len(points) > 1 and not any(score.reason for score in (*first.scores, *last.scores)) else []
