"""How a run's items were drawn: all of the benchmark, so many of each group or bucket, or only the first ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["whole", "simple sample", "per group", "per bucket", "first"]


@dataclass(frozen=True, slots=True)
class Design:
    """How the items were drawn, and in words what a figure is then about; "" where it is about the whole."""

    kind: Kind
    words: str


WHOLE = Design("whole", "")


def design_of(settings: Mapping[str, Any], limit: int | None, suites: Sequence[str] = ()) -> Design:
    """The design of a run with these settings.

    The first so many items are named as such: in benchmark order they are no sample of anything.
    """
    some = f" of {', '.join(sorted(suites))}" if 0 < len(suites) <= 3 else f" of {len(suites)} groups" if suites else ""
    if limit is not None:
        return Design("first", f"of the first {limit:,} items{some}, which were not drawn")
    if per_bucket := int(settings.get("per_bucket") or 0):
        return Design("per bucket", f"at most {per_bucket:,} concepts of each popularity bucket, reweighted to all")
    if per_bucket := int(settings.get("per_group") or 0):
        return Design("per group", f"of this sample: at most {per_bucket:,} items of each group{some}")
    if size := int(settings.get("instances") or 0):
        return Design("simple sample", f"of this sample of at most {size:,} items")
    return Design("whole", f"all items{some}") if suites else WHOLE
