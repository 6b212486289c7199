"""What lines and places on an axis are called."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from explorer import display
from explorer.scoring.suites import ENDS_APART, SUITES
from explorer.studies.trajectories.lines import Along, Line, differing
from explorer.ui import layout, resources, run_names

AXES: Mapping[Along, str] = {
    "tokens": "Training tokens", "steps": "Training steps", "parameters": "Parameters", "seed": "Seeds",
}  # fmt: skip


def names_of(lines: Sequence[Line]) -> dict[str, str]:
    """Line's key → its name, with what was asked differently where that tells lines apart."""
    differences = differing(lines)
    seeds = {line.seed for line in lines}
    named = {}
    for line in lines:
        parts = [_settings_in_words(differences[line.key])]
        if len(seeds) > 1 and line.seed >= 0:
            parts.append(f"seed {line.seed}")
        more = ", ".join(filter(None, parts))
        named[line.key] = display.remarked(title_of(line), more)
    return named


def title_of(line: Line) -> str:
    """A family, suite or model as people call it; of sizes with the step at which they were taken."""
    suite = SUITES.get(line.name)
    title = suite.title if suite else layout.model_title(line.name)
    return title if math.isnan(line.step) else f"{title} after {display.count(line.step)} steps"


def ends_apart(lines: Sequence[Line]) -> str:
    """A remark where the last dot of a line is of another training than its others; "" where none is.

    Who trained such a model on this machine has all of it from one training.
    """
    trained = resources.settings().models
    names = [name for name in dict.fromkeys(line.name for line in lines) if name in ENDS_APART]
    titles = [layout.model_title(name) for name in names if not (trained / name).is_dir()]
    if not titles:
        return ""
    return (
        f"The last dot of {' and '.join(titles)} is the released model; the dots before it are of a second "
        "training by the same plan, with other weights."
    )


def asked_in_words(line: Line, lines: Sequence[Line]) -> str:
    """How the runs of a line were asked, as far as it differs from the others."""
    return _settings_in_words(differing(lines)[line.key]) or "as by default"


def _settings_in_words(values: Mapping[str, Any]) -> str:
    fields = {name: value for name, value in values.items() if name in ("version", "suites", "limit", "dtype")}
    others = {name: value for name, value in values.items() if name not in (*fields, "data_hash", "uses")}
    parts = [run_names.settings_in_words(others)] if others else []
    if "suites" in fields:
        suites = fields["suites"]
        parts.append(display.counted(len(suites), "group") if suites else "all groups")
    if "limit" in fields:
        parts.append(f"the first {fields['limit']:,}" if fields["limit"] else "no limit")
    if "dtype" in fields:
        parts.append(f"number format {fields['dtype']}")
    if "version" in fields:
        parts.append(f"version {fields['version']} of the study")
    if "data_hash" in values:
        parts.append(f"data {str(values['data_hash'])[:6]}")
    return ", ".join(filter(None, parts))
