"""What a run will ask of a paid endpoint, told before it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.records import RunSpec
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder
from explorer.scoring import http
from explorer.scoring.http_cost import Estimate, Prices, estimate
from explorer.studies import study as find_study

if TYPE_CHECKING:
    from explorer.resources import Resources


def estimate_run(spec: RunSpec, resources: Resources) -> Estimate | None:
    """The most that is still to be asked; None for a model of this machine, or a study that cannot tell."""
    settings = resources.settings
    recipe = find_study(spec.study)
    if recipe.plan is None or not http.is_endpoint(spec.model):
        return None
    instances = recipe.select(spec, resources)
    folder = RunFolder(settings.runs / specs.run_id(spec))
    unfinished = [
        instance for first, last in folder.unfinished(len(instances)) for instance in instances[first : last + 1]
    ]
    return estimate(recipe.plan(spec, resources, unfinished), Prices(settings.price_in, settings.price_out))


def describe(spec: RunSpec, estimate: Estimate | None) -> str:
    """What the run will ask of a server, in one sentence; "" for a model of this machine."""
    if not http.is_endpoint(spec.model):
        return ""
    server = http.host_of(spec.model)
    if estimate is None:
        return (
            f"How much the study {spec.study} asks of {server} depends on what it finds and is known only afterwards. "
            "Try a few instances first."
        )
    return estimate.in_words(server)
