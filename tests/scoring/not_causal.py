"""What tests of masked and encoder-decoder models ask alike: a run under a preset, and whether one is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from explorer.records import RunSpec
from explorer.resources import Resources
from explorer.runs import request, worker
from explorer.runs.folder import RunFolder

# Small runs of the two studies that read most from a score.
STUDIES = [("accuracy", {"per_group": 1}), ("priming", {"per_group": 1, "lengths": (0, 20), "unrelated": "starter"})]


def spec_of(
    resources: Resources, study: str, model: Path | str, preset: str, settings: Mapping[str, Any] | None = None
) -> RunSpec:
    """The spec of a run over two groups of the starter pairs."""
    return request.make_spec(
        resources, study=study, model=str(model), benchmark="starter_pairs",
        settings={"preset": preset, **(settings or {})},
        suites=tuple(sorted({one.group for one in resources.instances("starter_pairs").instances})[:2]),
    )  # fmt: skip


def ends_and_names_the_convention(resources: Resources, spec: RunSpec, preset: str, convention: str) -> None:
    """Asserts that the run ends with a verdict on some instance and that its record says how texts were scored."""
    folder = RunFolder.create(resources.settings.runs, spec)
    assert worker.work(folder, resources, lambda text: None, wait=False) == "complete"
    assert spec.settings["preset"] == preset
    assert convention in str(folder.environment)
    measures = folder.read("measures")
    assert len(measures[measures["measure"] == "correct"].dropna(subset=["value"]))
