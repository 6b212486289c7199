"""Runs that may stand on one line: of the same study and benchmark, asked alike, apart on one axis alone.

    along        a line is                                          its points are
    tokens       a family (what stands before "@") and its seed     checkpoints
    steps        the same                                           checkpoints
    parameters   a suite after so many steps and its seed           sizes
    seed         a model                                            seeds

Whatever else was asked differently (settings, groups, limit, number format, version of the study or of the data) makes
another line: two numbers of which one is over other items are no trajectory.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import pandas as pd

from explorer.errors import ExplorerError
from explorer.runs import spec as specs
from explorer.studies.trajectories.place import Place

Along = Literal["tokens", "steps", "parameters", "seed"]
AXES: tuple[Along, ...] = get_args(Along)
COMPLETE = "complete"
# What a run's spec says that does not tell lines apart: where it stands is on an axis, or is the line itself.
_PLACED = ("model", "revision", "weights", "seed")
# Settings that say how much of a run is kept: its numbers are the same.
_KEPT = ("tokens", "rows")
# Settings that belong to the model: along seeds, where that is one, they tell lines apart all the same.
_OF_MODEL = ("template",)
# Why a run is on no line.
NOT_COMPLETE = "not complete"
UNREADABLE = "whose request cannot be read"
NEWER = "older than another of the same model"
ALONE = "without a second one, asked alike, to draw a line to"
NO_PLACE: Mapping[Along, str] = {
    "tokens": "of models whose training tokens are not known",
    "steps": "of models whose training steps are not known",
    "parameters": "of models whose parameters are not known",
    "seed": "",
}


@dataclass(frozen=True, slots=True)
class Stop:
    """A run on a line: `x` is its place on the axis, in tokens, steps or parameters, or the seed."""

    x: float
    run_id: str
    model: str
    place: Place
    seed: int


@dataclass(frozen=True, slots=True)
class Line:
    """Runs that differ on one axis alone, in its order.

    name    the family, the suite or the model
    step    of sizes: after how many steps each was taken; nan elsewhere
    seed    what all were drawn with; -1 along seeds
    asked   what all were asked with, beside model and seed
    """

    name: str
    step: float
    seed: int
    asked: Mapping[str, Any]
    stops: tuple[Stop, ...]

    @property
    def key(self) -> str:
        """What tells it from other lines of the same runs, as text."""
        return json.dumps([self.name, None if math.isnan(self.step) else self.step, self.seed, self.asked_key])

    @property
    def asked_key(self) -> str:
        """What tells how it was asked, as text."""
        return json.dumps(self.asked, sort_keys=True)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A run that is on no line, and why."""

    run_id: str
    model: str
    reason: str


def lines_of(runs: pd.DataFrame, places: Mapping[str, Place], along: Along) -> tuple[list[Line], list[LeftOut]]:
    """The lines with two stops or more, the longest first, and the runs that are on none with the reason.

    `runs` are of one study and benchmark, with the columns run_id, model, status, created, spec (as `queries.runs` has
    them); `places` has each run's.
    """
    out: list[LeftOut] = []
    groups: dict[str, list[tuple[Line, Stop, float]]] = defaultdict(list)
    for row in runs.to_dict("records"):
        name, model = str(row["run_id"]), str(row["model"])
        placed = _placed(row, places.get(name), along)
        if isinstance(placed, str):
            out.append(LeftOut(name, model, placed))
        else:
            groups[placed[0].key].append((*placed, pd.Timestamp(row["created"]).timestamp()))
    lines = []
    for members in groups.values():
        newest: dict[float, tuple[Stop, float]] = {}
        for _, stop, created in sorted(members, key=lambda member: member[2]):
            if stop.x in newest:
                out.append(LeftOut(newest[stop.x][0].run_id, stop.model, NEWER))
            newest[stop.x] = (stop, created)
        stops = [newest[x][0] for x in sorted(newest)]
        if len(stops) < 2:
            out += [LeftOut(stop.run_id, stop.model, ALONE) for stop in stops]
            continue
        lines.append(dataclasses.replace(members[0][0], stops=tuple(stops)))
    return sorted(lines, key=lambda line: (-len(line.stops), line.name, line.key)), out


def _placed(row: Mapping[Any, Any], place: Place | None, along: Along) -> tuple[Line, Stop] | str:
    """The line that a run is on, as yet without stops, and the run as its stop; or why it is on none."""
    if row["status"] != COMPLETE:
        return NOT_COMPLETE
    try:
        spec = specs.from_json(str(row["spec"]))
    except ExplorerError:
        return UNREADABLE
    if place is None:
        return NO_PLACE["tokens"]
    x = {"tokens": place.tokens, "steps": place.step, "parameters": place.parameters, "seed": float(spec.seed)}[along]
    if math.isnan(x):
        return (place.untold if along in ("tokens", "steps") else "") or NO_PLACE[along]
    fields = json.loads(specs.to_json(spec))
    other_fields = {name: value for name, value in fields.items() if name not in _PLACED}
    untold = (*_KEPT, *(() if along == "seed" else _OF_MODEL))
    other_fields["settings"] = {name: value for name, value in fields["settings"].items() if name not in untold}
    seed = -1 if along == "seed" else spec.seed
    name, step = place.family, math.nan
    if along == "parameters":
        name, step = place.suite, place.step
    elif along == "seed":
        name = spec.model
    return Line(name, step, seed, other_fields, ()), Stop(x, str(row["run_id"]), spec.model, place, spec.seed)


def differing(lines: Sequence[Line]) -> dict[str, dict[str, Any]]:
    """Line's key → what was asked of it that was not asked of all: name (of a setting, or of a field) → value."""
    flat = {line.key: {**{name: value for name, value in line.asked.items() if name != "settings"},
                       **dict(line.asked.get("settings") or {})} for line in lines}  # fmt: skip
    absent = object()
    names = dict.fromkeys(name for fields in flat.values() for name in fields)
    differing_names = [
        name for name in names if len({json.dumps(fields.get(name, str(absent))) for fields in flat.values()}) > 1
    ]
    return {key: {name: fields[name] for name in differing_names if name in fields} for key, fields in flat.items()}
