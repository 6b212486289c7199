"""Slices: named lists of a benchmark's instances that somebody picked, one JSON file each in the cache folder.

    cache/slices/lost-by-gemma.json   {"format": 1, "name": ..., "benchmark": ..., "ids": [...], "made": seconds, check}

A slice is what a reader keeps of a box around dots, a cell or a filter; other pages take it as a filter, and a run can
be limited to it. A file that is not as it was written counts as none.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.errors import UsageError
from explorer.runs import files, validation
from explorer.settings import Settings

FORMAT = 1
MOST_IDS = 5_000  # as many as the spec of a run can well hold
MOST_SLICES = 200
LONGEST_NAME = 60
_NAME = re.compile(rf"[a-z0-9][a-z0-9-]{{0,{LONGEST_NAME - 1}}}")


@dataclass(frozen=True, slots=True)
class Slice:
    """Instances of one benchmark under a name; `made` is when, in seconds since 1970."""

    name: str
    benchmark: str
    ids: tuple[str, ...]
    made: float = 0.0


def name_of(text: str) -> str:
    """What a slice is called of whom somebody typed this: small letters, digits and hyphens; "" where none is left."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:LONGEST_NAME].rstrip("-")


def store_slice(
    settings: Settings, name: str, benchmark: str, ids: Sequence[str], known: Mapping[str, float] | None = None
) -> Slice:
    """Writes the slice and gives it; one of the same name and benchmark is written anew. UsageError where it cannot.

    known  the slices that somebody who keeps this one was shown, with when they were made: no other is written anew
    """
    file_name = name_of(name)
    unique_ids = tuple(dict.fromkeys(ids))
    if not file_name:
        raise UsageError(f"The name {name!r} holds no letter or digit, expected a few words like lost by swaps.")
    if not unique_ids or len(unique_ids) > MOST_IDS:
        raise UsageError(f"A slice holds 1 to {MOST_IDS:,} instances, and these are {len(unique_ids):,}. Pick others.")
    path = settings.slices / f"{file_name}.json"
    before = find(settings, file_name)
    if path.exists() and (before is None or before.benchmark != benchmark):
        raise UsageError(f"There is a slice {file_name} of another benchmark already. Choose another name.")
    if before is not None and known is not None and before.ids != unique_ids and known.get(file_name) != before.made:
        raise UsageError(
            f"Somebody has kept {len(before.ids):,} other instances as {file_name}. Choose another name, or keep yours "
            "again to replace them."
        )
    if not path.exists() and len(_paths(settings)) >= MOST_SLICES:
        raise UsageError(f"There are {MOST_SLICES} slices already. Delete some in {settings.slices}.")
    new_slice = Slice(file_name, benchmark, unique_ids, time.time())
    files.make_folder(settings.slices)
    files.write_json(
        path,
        {"format": FORMAT, "name": file_name, "benchmark": benchmark, "ids": list(unique_ids), "made": new_slice.made},
    )
    return new_slice


def find(settings: Settings, name: str) -> Slice | None:
    """The slice of this name; none where there is none or its file is damaged."""
    if not _NAME.fullmatch(name):
        return None
    return _slice_of_file(name, files.read_json(settings.slices / f"{name}.json"))


def of_benchmark(settings: Settings, benchmark: str) -> list[Slice]:
    """The slices of a benchmark, the newest first."""
    every = (find(settings, name) for name in _paths(settings))
    of_this = [slice for slice in every if slice is not None and slice.benchmark == benchmark]
    return sorted(of_this, key=lambda slice: (-slice.made, slice.name))


def needed(settings: Settings, name: str, benchmark: str) -> Slice:
    """The slice of this name; UsageError where there is none of this benchmark."""
    known = find(settings, name)
    if known is None or known.benchmark != benchmark:
        names = ", ".join(slice.name for slice in of_benchmark(settings, benchmark)[:20]) or "none"
        raise UsageError(f"There is no slice {name!r} of {benchmark}; those kept are: {names}.")
    return known


def _paths(settings: Settings) -> list[str]:
    if not settings.slices.is_dir():
        return []
    names = sorted(path.stem for path in settings.slices.glob("*.json"))
    return names[: 2 * MOST_SLICES]


def _slice_of_file(name: str, value: dict[str, Any]) -> Slice | None:
    """The slice that a file holds; none unless every field is as `keep` writes it."""
    if not validation.is_slice(value) or value["name"] != name:
        return None
    return Slice(name, str(value["benchmark"]), tuple(value["ids"]), float(value["made"]))
