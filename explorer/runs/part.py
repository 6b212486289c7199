"""One part of a run: the same steps in the worker on this machine and on the nodes of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.errors import RunError
from explorer.records import Instance, RunSpec
from explorer.rows.columns import instance_table
from explorer.runs.parts import Tables
from explorer.studies import study as find_study
from explorer.studies.selection import splits_of
from explorer.studies.study import Progress, Study

if TYPE_CHECKING:
    from explorer.resources import Resources

SECONDS_PER_PART = 10.0  # a part grows until it takes about this long, so that little is lost to a kill
MAX_INSTANCES = 4096  # instances
QUICK_PART = 1.0  # seconds below which a part is so small that its successors grow fast


@dataclass(frozen=True, slots=True)
class RunWork:
    """All that the parts of a run are made from."""

    spec: RunSpec
    resources: Resources
    recipe: Study
    instances: Sequence[Instance]


def prepare(spec: RunSpec, resources: Resources) -> RunWork:
    """The run's recipe and instances; RunError where they are no longer what the run was asked of."""
    recipe = find_study(spec.study)
    if recipe.version != spec.version:
        raise RunError(
            f"This run was asked of version {spec.version} of the study {spec.study}, installed is version "
            f"{recipe.version}. Start it again as a new run."
        )
    instances = list(recipe.select(spec, resources))
    splits = splits_of(spec.settings)
    data_hash = resources.instances(spec.benchmark, splits).data_hash
    if spec.data_hash and data_hash != spec.data_hash:
        raise RunError(
            f"The data of {spec.benchmark} have the hash {data_hash} here, the run was asked of {spec.data_hash}. "
            "Start it again as a new run, or bring back the data it was asked of."
        )
    return RunWork(spec, resources, recipe, instances)


def build_tables(work: RunWork, first: int, last: int, progress: Progress) -> Tables:
    """The rows of the instances first..last (both included)."""
    part = work.instances[first : last + 1]
    return add_instance_table(work, first, last, work.recipe.run_part(work.spec, work.resources, part, progress))


def add_instance_table(work: RunWork, first: int, last: int, tables: Tables) -> Tables:
    """A part's tables with that of its instances."""
    return {"instances": instance_table(work.instances[first : last + 1], first), **tables}


def next_size(size: int, done: int, seconds: float) -> int:
    """How many instances the next part has, after `done` of them took so long: twice as many as before at most, or
    eight times where that took no second."""
    growth = 2 if seconds >= QUICK_PART else 8
    return max(1, min(MAX_INSTANCES, growth * size, int(done * SECONDS_PER_PART / max(seconds, 1e-3))))
