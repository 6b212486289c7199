"""Into which groups the studies of lexical popularity sort instances: tasks of the paper, phenomena, fields, all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from explorer.popularity.tasks import S_SELECTION, TASKS, Task

# What splits low from high: the relative difference where there is a wrong option, the text's own IPS elsewhere.
SCORE_OF_KIND = {"pair": "relative_difference", "choice": "relative_difference", "cloze": "ips"}

# BLiMP's nine paradigms that turn on a verb's arguments, by a wider reading than its seven of that name.
WIDER = "argument_structure_and_s_selection"
GROUPS = {**TASKS, WIDER: Task("Argument structure and s-selection", "formal", "blimp", S_SELECTION)}


def groups_of(frame: pd.DataFrame) -> Iterator[tuple[str, np.ndarray]]:
    """(name, which rows) of each task of the paper, each phenomenon, each field and all, where there are rows."""
    phenomena = [name for name in dict.fromkeys(frame["phenomenon"]) if name]
    named = {
        **{name: _of_task(frame, task) for name, task in GROUPS.items()},
        **{f"phenomenon: {name}": frame["phenomenon"] == name for name in phenomena},
        **{f"field: {name}": frame["field"] == name for name in ("formal", "functional")},
        "overall": frame["instance_id"].notna(),
    }
    seen: set[bytes] = set()
    for name, rows in named.items():
        members = np.asarray(rows, dtype=bool)
        key = members.tobytes()
        # A phenomenon that is a task already, or a field that is everything, says nothing new.
        if members.any() and (key not in seen or name == "overall"):
            seen.add(key)
            yield name, members


def members_of(frame: pd.DataFrame, group: str) -> np.ndarray:
    """Which rows belong to the group that `groups_of` calls so."""
    if group in GROUPS:
        return np.asarray(_of_task(frame, GROUPS[group]), dtype=bool)
    column, sign, name = group.partition(": ")
    return np.asarray(frame[column] == name if sign else frame["instance_id"].notna(), dtype=bool)


def _of_task(frame: pd.DataFrame, task: Task) -> pd.Series:
    benchmark = frame["benchmark"]
    inside = (benchmark == task.benchmark) | benchmark.str.startswith(f"{task.benchmark}_")
    return inside & frame["phenomenon"].isin(task.phenomena) if task.phenomena else inside


def kind_of(group: str) -> str:
    """Which kind of group a name means: task, phenomenon, field or overall; of a part of a group, that group."""
    if group in GROUPS:
        return "task"
    kind, sign, _ = group.partition(": ")
    return kind if sign else "overall"


def title_of(group: str) -> str:
    """What people call a group."""
    whole, _, name = group.partition(": ")
    if whole in GROUPS:
        return f"{GROUPS[whole].title}, {name}" if name else GROUPS[whole].title
    return (name or whole).replace("_", " ").capitalize()
