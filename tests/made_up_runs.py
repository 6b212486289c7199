"""A cache in which every study has a run on the same starter pairs, with numbers made up so that some go together."""

from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path

from explorer import settings as settings_module
from explorer.popularity.ips import DecileEdges
from explorer.records import RunSpec
from explorer.resources import Resources
from explorer.results import store
from explorer.rows.builders import finding_row, instance_row, measure_row, payload
from explorer.runs.folder import RunFolder
from explorer.stats.estimate import Estimate
from explorer.studies.accuracy.declared import ACCURACY
from explorer.variants.swap_edits import Swap

MODELS = ("gemma-3-270m", "smollm2-135m-instruct")


def make(cache: Path, models: tuple[str, str] = MODELS) -> Path:
    """The cache, with six pairs of each of four groups; both embedded models have an accuracy run, the others one."""
    settings = settings_module.read(cache=cache)
    known = Resources(settings).instances("starter_pairs").instances
    groups = list(dict.fromkeys(one.group for one in known))[:4]
    chosen = [one for group in groups for one in [item for item in known if item.group == group][:6]]
    chance = random.Random(5)
    margins = {one.id: chance.gauss(1, 2) for one in chosen}

    def keep(study: str, measures, findings=(), model: str = models[0], **more) -> None:
        spec = RunSpec(study, 1, model, "starter_pairs", settings={"preset": "natural", **more.pop("settings", {})})
        folder = RunFolder.create(settings.runs, spec)
        rows = {"instances": [instance_row(one, place) for place, one in enumerate(chosen)], "measures": measures}
        folder.write_part(0, len(chosen) - 1, {**rows, **more})
        folder.write_findings(list(findings))
        folder.write_progress(status="complete", total=len(chosen))
        folders.append(folder)

    def judged(one, margin: float, reason: str = "", **factors) -> list:
        row = {"reason": reason, "factors": factors or None}
        return [
            measure_row(one.id, "correct", float(margin > 0), **row),
            measure_row(one.id, "margin", margin, **row),
        ]

    def accuracy(shift: float, reason: str = "") -> list:
        return [
            row
            for place, one in enumerate(chosen)
            for row in judged(one, margins[one.id] + shift * chance.random(), reason if place == 0 else "")
        ]

    folders: list[RunFolder] = []
    share = finding_row(ACCURACY, "overall", Estimate(0.7, 0.5, 0.85, n=len(chosen)))
    keep("accuracy", accuracy(0.0, "undecided at this precision"), [share])
    keep("accuracy", accuracy(1.0), [share], model=models[1])
    edges = DecileEdges(tuple(map(float, range(1, 10))), "all options of 24 pairs", "demo", 3, "running", 40, 0)
    popular = [
        row
        for one in chosen
        for row in (
            *(measure_row(one.id, "ips", 5 + margins[one.id] / 3 - 0.2 * option, option=option) for option in (0, 1)),
            measure_row(one.id, "relative_difference", margins[one.id] / 10),
        )
    ]
    keep("popularity", [*popular, *accuracy(0.0)], edges.to_rows())
    original, swapped = {"condition": "original"}, {"condition": "perturbed", "setting": "NV"}
    swap = dataclasses.asdict(Swap(4, 7, "cat", "cat", "N", "cat.n.01", "an animal", "feline", "options.0"))
    keep(
        "perturbation",
        [
            row
            for one in chosen
            for row in (
                *judged(one, margins[one.id], **original),
                *judged(one, margins[one.id] - 1, **swapped),
                measure_row(one.id, "swaps", 1.0, factors=swapped),
                measure_row(one.id, "bertscore", chance.random(), option=0, factors=swapped),
            )
        ],
        variants=[
            {
                "instance_id": one.id, "variant_id": f"{one.id}#NV", **swapped, "edit": json.dumps({"swaps": [swap]}),
                "accepted": True, "reason": "", "payload": payload(one),
            }
            for one in chosen
        ],
    )  # fmt: skip
    keep(
        "priming",
        [
            row
            for one in chosen
            for row in (
                *judged(one, margins[one.id], condition="baseline", length=0),
                *(
                    line
                    for condition, sign in (("matched_acceptable", 1), ("matched_unacceptable", -1))
                    for length in (100, 200)
                    for line in judged(one, margins[one.id] + sign * length / 50, condition=condition, length=length)
                ),
            )
        ],
    )
    keep(
        "memorization",
        [
            measure_row(one.id, name, chance.gauss(-3, 1), option=option)
            for one in chosen
            for option in (0, 1)
            for name in ("tde_likelihood", "mia_loss", "min_k")
        ],
    )
    store.ingest_runs(settings, folders)
    return settings.cache
