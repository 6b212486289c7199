"""Where compared runs were not asked alike, or their margins are in other units: said beside what they found."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from explorer.results import queries
from explorer.scoring.policy import margin_unit
from explorer.ui import resources, run_names, show


def draw_settings_note(runs: pd.DataFrame, names: Mapping[str, str]) -> None:
    """A line that names the settings in which runs of several models differ, since their names say the model alone."""
    if runs["model"].nunique() > 1 and (sentence := settings_in_words(run_names.differing_settings(runs), names)):
        show.note(sentence)


def settings_in_words(differing: Mapping[str, str], names: Mapping[str, str]) -> str:
    """Run id → the settings that are not those of all, as a sentence; "" where there are none."""
    if len(set(differing.values())) < 2:
        return ""
    listed = "; ".join(f"{names[run_id]}: {words or 'the defaults'}" for run_id, words in differing.items())
    return f"These runs were not asked alike ({listed}), so that what they differ in need not come from the models."


def unit_of_run(run: Mapping[Any, Any]) -> str:
    """What the margins of a run (a row with its spec) are in."""
    return margin_unit((json.loads(str(run["spec"])) if run.get("spec") else {}).get("settings") or {})


def units_of(run_ids: Sequence[str]) -> dict[str, str]:
    """Run id → what its margins are in."""
    rows = {run_id: resources.ask_store(queries.run, run_id) for run_id in run_ids}
    return {run_id: unit_of_run(row.iloc[0].to_dict()) if len(row) else "nats" for run_id, row in rows.items()}


def units_in_words(units: Mapping[str, str], names: Mapping[str, str]) -> str:
    """That margins are in several units, as a sentence; "" where they are in one."""
    if len(set(units.values())) < 2:
        return ""
    listed = "; ".join(f"{names[run_id]}: {unit}" for run_id, unit in units.items())
    return f"The margins of these runs are in different units ({listed}), so that no difference of margins is given."
