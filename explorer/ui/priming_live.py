"""A pair before a context, scored now after every sentence of it: one call to the scorer, as in a full run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explorer.experiments import priming_ground, priming_requests
from explorer.records import Instance, Score
from explorer.results.rows import instance_of, payload
from explorer.settings import Settings
from explorer.ui import resources
from explorer.variants import running_text

CONDITION = "typed"  # the lab's contexts are of no condition of a run


@dataclass(frozen=True, slots=True)
class Point:
    """The pair after the first sentences of the context: its scores, rows of `measures`, and the context's tokens."""

    scores: tuple[Score, ...]
    measures: tuple[Mapping[str, Any], ...]
    tokens: int

    def measure(self, name: str) -> float:
        """The value of a measure of the whole pair, nan where there is none."""
        return next((float(row["value"]) for row in self.measures if row["measure"] == name), float("nan"))

    def reason(self, name: str) -> str:
        """Why the measure is what it is."""
        return next((str(row["reason"]) for row in self.measures if row["measure"] == name), "")


def growth(item: Instance, sentences: Sequence[str], model: str, preset: str) -> tuple[Point, ...]:
    """The pair without a context and after each sentence; ExplorerError where the model cannot be had."""
    return _growth(payload(item), tuple(sentences), model, preset, resources.settings())


@st.cache_data(max_entries=256, show_spinner=False)
def _growth(text: str, sentences: tuple[str, ...], model: str, preset: str, settings: Settings) -> tuple[Point, ...]:
    item = instance_of(text)
    policy = priming_requests.policy_of(preset, "preset")
    shared = resources.resources()
    with resources.model_lock():
        loaded = shared.model(model)

        def encode(text: str) -> tuple[int, ...]:
            return loaded.encode("", text, "never", "offsets").ids

        opening = "" if preset == "minicons" else priming_ground.opening_of(encode)
        steps = []
        for number in range(len(sentences) + 1):
            before = running_text.join(sentences[:number])
            tokens = len(encode(before)) if before else 0
            steps.append(
                priming_requests.step(
                    item, before, opening, condition=CONDITION, length=None, sentences=number, tokens=tokens
                )
            )
        flat = [request for step in steps for request in step.requests]
        scores = iter(shared.scorer(model).score(flat, policy))
        dtype = str(loaded.record()["dtype"])
        resources.loaded_model()["name"] = model
    points = []
    for step in steps:
        own = tuple(next(scores) for _ in step.requests)
        points.append(Point(own, tuple(priming_requests.judge(step, own, policy, dtype)), step.tokens))
    return tuple(points)
