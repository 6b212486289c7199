"""Which instances a run looks at."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from explorer.errors import UsageError
from explorer.records import Instance, RunSpec
from explorer.studies.study import Setting

if TYPE_CHECKING:
    from explorer.resources import Resources

# Settings every study takes.
SELECTION = {
    "per_group": Setting(0, "that many instances of each group, drawn with the seed; 0 = all"),
    "split": Setting("", "comma-separated splits of the benchmark; empty = its default splits"),
}


# Where a run is limited to a slice: the ids of its instances, beside the study's own settings. They are part of the
# spec, so that a slice that is kept anew under its name is another run; a run without them has no such key.
ONLY = "only"


def select(spec: RunSpec, resources: Resources) -> list[Instance]:
    """The spec's instances in benchmark order: its suites, its slice, a draw per group, then the first `limit`."""
    chosen = of_suites(resources.instances(spec.benchmark, splits_of(spec.settings)).instances, spec.suites)
    chosen = of_slice(chosen, spec.settings.get(ONLY, ()))
    chosen = sample_per_group(chosen, int(spec.settings.get("per_group", 0)), spec.seed)
    return chosen[: spec.limit] if spec.limit is not None else chosen


def splits_of(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The splits of the benchmark that a run's settings name; none for its default ones."""
    return tuple(part for part in str(settings.get("split", "")).split(",") if part)


def of_suites(instances: Sequence[Instance], suites: Sequence[str]) -> list[Instance]:
    """The instances of the named groups, or all; UsageError for a group that does not occur."""
    if not suites:
        return list(instances)
    groups = {instance.group for instance in instances}
    unknown = [suite for suite in suites if suite not in groups]
    if unknown:
        raise UsageError(
            f"There is no group {', '.join(unknown)} in this benchmark; "
            f"its groups are {', '.join(sorted(groups)[:80])}."
        )
    return [instance for instance in instances if instance.group in set(suites)]


def of_slice(instances: Sequence[Instance], ids: Sequence[str]) -> list[Instance]:
    """The instances of a slice, or all where it names none; UsageError where none of them is here."""
    if not ids:
        return list(instances)
    # A slice may have been kept of all of a benchmark and be asked with some of its groups: what lies outside is left
    # out.
    slice_ids = set(ids)
    in_slice = [instance for instance in instances if instance.id in slice_ids]
    if not in_slice:
        raise UsageError(
            f"None of the {len(slice_ids):,} instances of the slice is in this benchmark. Keep the slice anew."
        )
    return in_slice


def sample_per_group(instances: Sequence[Instance], per_group: int, seed: int) -> list[Instance]:
    """At most `per_group` instances of each group, drawn without replacement, in the order they came."""
    if per_group <= 0:
        return list(instances)
    places: dict[str, list[int]] = defaultdict(list)
    for place, instance in enumerate(instances):
        places[instance.group].append(place)
    sampled: list[int] = []
    for group, members in places.items():
        # A generator for each group, so that a group's draw stays when other groups are added or left out.
        chance = random.Random(f"{seed}/{group}")
        sampled += chance.sample(members, min(per_group, len(members)))
    return [instances[place] for place in sorted(sampled)]
