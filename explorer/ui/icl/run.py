"""Which in-context run a page shows, and what its settings are called."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from explorer.studies.icl import queries as icl_queries
from explorer.ui import layout, resources
from explorer.ui.layout import Chosen

SETTINGS: Mapping[str, str] = {
    "full": "Full information",
    "pairs_labels": "Pairs and labels",
    "pairs": "Pairs only",
    "general": "General instruction",
}
SOURCES: Mapping[str, str] = {
    "final": "What counts",
    "rule": "The rule",
    "judge": "The judge model",
    "people": "People",
}


def pick(chosen: Chosen) -> str:
    """The id of one of the model's in-context runs on the benchmark; "" where there is none."""
    return layout.pick_stored(resources.ask_store(icl_queries.runs, chosen.benchmark), chosen)


def settings_of(run_id: str, benchmark: str) -> dict[str, Any]:
    """The settings of a run."""
    runs = resources.ask_store(icl_queries.runs, benchmark).set_index("run_id")
    return dict(json.loads(str(runs.loc[run_id, "spec"]))["settings"])
