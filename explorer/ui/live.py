"""One instance scored now, by the code of full runs, through the one model that all visitors share."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explorer.experiments import accuracy, verdicts
from explorer.records import Instance, RunSpec, Score
from explorer.results.rows import instance_of, payload
from explorer.settings import Settings
from explorer.ui import resources


@dataclass(frozen=True, slots=True)
class Judged:
    """An instance's scores in the order asked, and what they say: rows of `measures`."""

    scores: tuple[Score, ...]
    measures: tuple[Mapping[str, Any], ...]


def judge(instance: Instance, model: str, scoring: Mapping[str, Any]) -> Judged:
    """The instance asked, scored and judged under an accuracy run's settings; ExplorerError where that fails."""
    return _judge(payload(instance), model, tuple(sorted(scoring.items())), resources.settings())


def why_unknown(model: str) -> str:
    """Why nothing can be asked of a model of this name, found out without the network; "" where it may answer."""
    from explorer.scoring import catalog, hf_source, http, identity

    name, _, _ = model.partition("@")
    if catalog.find(model) or hf_source.is_folder(model) or http.is_endpoint(model):
        return ""
    is_hub_id = "/" in name and identity.HUB_ID.fullmatch(model) is not None
    if is_hub_id and not resources.settings().offline:
        return ""
    if hf_source.is_cached(name):
        return ""
    hint = "it is not on this machine, and the network is off" if is_hub_id else "nothing is known by this name"
    return (
        f"The model {model} cannot be asked: {hint}. Choose one in the sidebar, or type a Hugging Face id such as "
        "EleutherAI/pythia-160m, a folder, or an endpoint."
    )


def is_loaded(model: str) -> bool:
    """Whether the model has answered before in this app, and no other was loaded since."""
    return resources.loaded_model().get("name") == model


@st.cache_data(max_entries=512, show_spinner=False)
def _judge(text: str, model: str, scoring: tuple[tuple[str, Any], ...], settings: Settings) -> Judged:
    instance = instance_of(text)
    spec = RunSpec(
        "accuracy", accuracy.STUDY.version, model, instance.benchmark, settings=accuracy.STUDY.resolve(dict(scoring))
    )
    policy = accuracy.policy_of(spec)
    shared = resources.resources()
    with resources.model_lock():
        dtype = str(shared.model(model).record()["dtype"])
        scores = shared.scorer(model).score(accuracy.ask(instance, policy), policy)
        resources.loaded_model()["name"] = model
    return Judged(tuple(scores), tuple(verdicts.judge(instance, scores, policy, dtype)))


def edited(instance: Instance, **changes: Any) -> Instance:
    """The instance with another text, as a variant of the one it came from."""
    return dataclasses.replace(instance, **changes, parent=instance.parent or instance.id, edit="typed by a reader")
