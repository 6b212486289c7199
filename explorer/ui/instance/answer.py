"""What is known of an instance: from a stored run, or from the model now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explorer.records import Instance
from explorer.results import queries
from explorer.studies.judged import Judgment
from explorer.ui import layout, live, resources, show
from explorer.ui import scored_options as answers
from explorer.ui.scored_options import ScoredOption


@dataclass(frozen=True, slots=True)
class Answer:
    """All that was asked about an instance, and what follows from it."""

    asked: Sequence[ScoredOption]
    judgment: Judgment


def stored(run_id: str, instance: Instance) -> Answer | None:
    """The run's answer, or none where the run did not look at the instance."""
    scores = resources.ask_store(queries.instance_scores, run_id, instance.id) if run_id else None
    if scores is None or scores.empty:
        return None
    layout.warn_of_other_text(run_id, instance)
    measures = resources.ask_store(queries.instance_measures, run_id, instance.id)
    return Answer(answers.of_rows(scores), Judgment.of_rows(dict(row) for _, row in measures.iterrows()))


def now(instance: Instance, model: str, scoring: Mapping[str, Any]) -> Answer:
    """The model's answer, with a word on what takes long the first time."""
    if live.is_loaded(model):
        judged = live.judge(instance, model, scoring)
    else:
        with st.spinner(show.plain(live.waiting(model, layout.model_title(model))), show_time=True):
            judged = live.judge(instance, model, scoring)
    return Answer(answers.of_scores(judged.scores), judged.judgment)
