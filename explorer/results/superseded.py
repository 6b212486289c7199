"""Which packed runs give way when the same is asked anew: in a built index, with more, of new weights."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from explorer.popularity import indexes

SAME = ("study", "model", "benchmark", "suites", "limit", "seed", "dtype")
# Optional settings that only add to what a run finds, and change nothing of the rest.
ADDING = ("more",)


def giving_way(stored_specs: Mapping[str, str], fresh: Iterable[str]) -> set[str]:
    """Ids of the held runs (id → spec as JSON) of which a fresh one (its spec) asks the same, and what is new of it.

    The fresh run differs in nothing but the index, where the held one's is no longer built, further attacks, that it
    keeps its tokens, and the weights of a model that was trained anew under its name.
    """
    fresh_specs = [json.loads(spec) for spec in fresh]
    return {
        run_id
        for run_id, spec in stored_specs.items()
        if any(_takes_the_place(fresh_spec, json.loads(spec)) for fresh_spec in fresh_specs)
    }


def _takes_the_place(fresh: Mapping[str, Any], stored: Mapping[str, Any]) -> bool:
    if any(fresh.get(name) != stored.get(name) for name in SAME):
        return False
    fresh_settings, stored_settings = dict(fresh["settings"]), dict(stored["settings"])
    is_new = bool(fresh.get("weights")) and fresh["weights"] != stored.get("weights")
    if indexes.is_former(str(stored_settings.get("index", ""))):
        is_new |= fresh_settings.pop("index", "") != stored_settings.pop("index")
    if stored_settings.get("tokens") is False and fresh_settings.get("tokens") is True:
        is_new = True
        stored_settings["tokens"] = True
    for name in ADDING:
        if name not in stored_settings and fresh_settings.pop(name, None):
            is_new = True
    return is_new and fresh_settings == stored_settings
