"""Local folders of models that a run's settings name beside its own model: what stands for their files.

A run with `judge=./my-judge` is another run once the judge was trained anew or its chat template was edited, though the
path is the same. Names of the catalog, hub ids and servers are left as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.errors import RunError
from explorer.records import RunSpec
from explorer.settings import Settings

NAMING = ("judge", "senses_model", "neighbours_by", "encoder")  # settings of studies that name a model
INFILL = "infill:"  # before the name of a causal model that fills gaps (explorer/scoring/hf_infill.py)
FOLDERS = "folders"  # the setting that holds, by these names, what stands for each folder; nobody sets it


def versions(resolved: Mapping[str, Any], settings: Settings) -> dict[str, str]:
    """Setting → the version of the folder that it names, for those that name one; ModelError where it is none."""
    from explorer.scoring import chat_files

    named = {name: str(resolved.get(name) or "").removeprefix(INFILL) for name in NAMING}
    versions_found = {name: chat_files.version_of(text, settings) for name, text in named.items() if text}
    return {name: version for name, version in versions_found.items() if version}


def require_same(spec: RunSpec, settings: Settings) -> None:
    """RunError where a folder that the run's settings name holds another model than when the run was asked for."""
    versions_recorded = spec.settings.get(FOLDERS)
    if not isinstance(versions_recorded, Mapping):
        return
    now = versions(spec.settings, settings)
    for name, version in versions_recorded.items():
        if now.get(name) != version:
            raise RunError(
                f"The files in {spec.settings.get(name)} (the setting {name}) are not those that the run was asked "
                "of. Start it again as a new run, or bring them back."
            )
