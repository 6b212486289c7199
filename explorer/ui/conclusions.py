"""What stored runs found, as sentences above a figure; the rules are in explorer/studies/sentences.py."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from explorer import display
from explorer.results import conclusions, queries
from explorer.results.store import Store
from explorer.runs import imported
from explorer.runs import spec as specs
from explorer.studies import sentences
from explorer.studies.sentences import About
from explorer.ui import resources, show


def of_run(run_id: str) -> list[str]:
    """What a stored run found; empty where there is no such run, or nothing can be said of it."""
    return list(resources.ask_shared(_sentences_of_run, run_id))


def _sentences_of_run(store: Store, run_id: str) -> tuple[str, ...]:
    runs = queries.run(store, run_id)
    if runs.empty:
        return ()
    run = runs.iloc[0].to_dict()
    return tuple(sentences.sentences(str(run["study"]), queries.findings(store, run_id), about_run(run)))


def of_models(run_ids: Sequence[str]) -> list[str]:
    """What tells the models of these runs apart; they are runs of one study on one benchmark."""
    runs = [frame.iloc[0].to_dict() for run_id in run_ids if len(frame := resources.ask_store(queries.run, run_id))]
    if len(runs) < 2:
        return []
    findings = {about_run(run).model: resources.ask_store(queries.findings, str(run["run_id"])) for run in runs}
    return sentences.compare(str(runs[0]["study"]), findings, about_run(runs[0]))


def draw_sentences(run_id: str, beside: Sequence[str] = ()) -> None:
    """The sentences of a run above its figure, then those that compare it with the runs `beside` it."""
    lines = of_run(run_id)
    if beside:
        lines += of_models([run_id, *beside])
    show.says(*lines)


def about_run(run: Mapping[Any, Any]) -> About:
    """What a run (a row with its model and spec) is of; of an import the model is named with its source."""
    about = conclusions.subject_of(specs.from_json(str(run["spec"])))
    mark = imported.short_label(str(run["spec"]))
    return dataclasses.replace(about, model=display.remarked(about.model, mark))
