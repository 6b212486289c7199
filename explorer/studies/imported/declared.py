"""What a run made of another harness's log finds beside accuracy."""

from __future__ import annotations

from explorer.finding import Finding

REPORTED = Finding(
    "reported",
    "As the harness reports",
    "harness's",
    "item",
    "A metric (the group) as the harness gives it for the whole, beside what follows from its samples.",
)
FINDINGS = (REPORTED,)
