"""A cache with runs of five made-up checkpoints of a glass-box model, of which it is known when each pair is right."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from explorer import settings as settings_module
from explorer.records import Instance, RunSpec
from explorer.resources import Resources
from explorer.results import store
from explorer.rows.builders import finding_row, instance_row, measure_row
from explorer.runs.folder import RunFolder
from explorer.stats.proportion import proportion
from explorer.studies.accuracy.declared import ACCURACY
from explorer.studies.popularity.declared import SPLIT

BENCHMARK = "glassbox_pairs"
STEPS = (0, 1, 2, 4, 1_399)
EACH = 6  # pairs of a paradigm
SHIFT = 2  # places by which popular pairs are learned earlier


def models(family: str = "glassbox-m") -> list[str]:
    """The checkpoints, the last without a revision."""
    return [f"{family}@step{step}" for step in STEPS[:-1]] + [family]


def instances(cache: Path) -> list[Instance]:
    """Six pairs of each paradigm, of doses from 0 to 1,024."""
    known = Resources(settings_module.read(cache=cache)).instances(BENCHMARK).instances
    groups = dict.fromkeys(one.group for one in known)
    return [one for group in groups for one in [item for item in known if item.group == group][:: 1 + 192 // EACH]]


def dose_of(one: Instance) -> int:
    """How often the corpus holds what decides."""
    return int(one.phenomenon.removeprefix("dose "))


def right_from(one: Instance) -> int:
    """The place of the run from which on the pair is right; as many as there are runs where it never is."""
    return max(0, len(STEPS) - min(len(STEPS), dose_of(one).bit_length() // SHIFT))


def make(cache: Path, family: str = "glassbox-m") -> Path:
    """Accuracy and popularity runs of each checkpoint; the margin is 2 nats where it is right, else -1."""
    settings = settings_module.read(cache=cache)
    chosen = instances(cache)
    folders = []
    for place, model in enumerate(models(family)):
        outcomes = {one.id: float(place >= right_from(one)) for one in chosen}
        judged = [
            row
            for one in chosen
            for row in (
                measure_row(one.id, "correct", outcomes[one.id]),
                measure_row(one.id, "margin", 3 * outcomes[one.id] - 1),
            )
        ]
        popular = [
            row
            for one in chosen
            for row in (
                measure_row(one.id, "relative_difference", dose_of(one) / 1_024),
                *(measure_row(one.id, "ips", 1 + dose_of(one).bit_length() / 2, option=option) for option in (0, 1)),
            )
        ]
        shares = np.array(list(outcomes.values()))
        overall = finding_row(ACCURACY, "overall", proportion(shares))
        high = np.array([dose_of(one) >= 16 for one in chosen])
        halves = [
            finding_row(SPLIT.half, "overall", proportion(shares[high == side]), factors={"setting": name})
            for name, side in (("low", False), ("high", True))
        ]
        for study, measures, findings in (
            ("accuracy", judged, [overall]),
            ("popularity", [*judged, *popular], [overall, *halves]),
        ):
            spec = RunSpec(study, 1, model, BENCHMARK, settings={"preset": "natural"})
            folder = RunFolder.create(settings.runs, spec)
            rows = {"instances": [instance_row(one, at) for at, one in enumerate(chosen)], "measures": measures}
            folder.write_part(0, len(chosen) - 1, rows)
            folder.write_findings(findings)
            folder.write_progress(status="complete", total=len(chosen))
            folders.append(folder)
    store.ingest_runs(settings, folders)
    return settings.cache


@contextmanager
def killed_at_the_second_run() -> Iterator[None]:
    """As if Ctrl+C were pressed when a sweep begins its second run."""
    create, calls = RunFolder.create, []

    def dying(*words, **named):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return create(*words, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunFolder, "create", staticmethod(dying))
        yield
