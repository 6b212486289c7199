"""What a stored run found, in sentences: its model and benchmark under the names that people call them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from explorer import benchmarks
from explorer.records import RunSpec
from explorer.results.packed_run import Run
from explorer.results.precomputed_plan import FORMAL
from explorer.studies import sentences
from explorer.studies.sentences import About


def of_run(run: Run) -> list[str]:
    """What a run on this machine, or one that came along, found; empty where nothing can be said of it."""
    return sentences.sentences(run.spec.study, run.read("findings"), subject_of(run.spec))


def subject_of(spec: RunSpec) -> About:
    """What the findings of a run are of."""
    from explorer.figures.model_names import model_title

    benchmark = benchmarks.BENCHMARKS.get(spec.benchmark)
    chance = 0.5 if benchmark and benchmark.kind == "pair" else math.nan
    return About(
        model_title(spec.model) if spec.model else "The model",
        part_title(spec.benchmark, spec.suites),
        spec.benchmark,
        spec.settings,
        chance,
    )


def part_title(benchmark: str, suites: Sequence[str] = ()) -> str:
    """What people call a benchmark, or the part of it that these suites are."""
    declared = benchmarks.BENCHMARKS.get(benchmark)
    title = declared.title if declared else benchmark
    if not suites:
        return title
    tasks = [task for task, (_, names) in FORMAL.items() if set(names) == set(suites)]
    groups = "1 group" if len(suites) == 1 else f"{len(suites)} groups"
    return f"{title} ({tasks[0] if tasks else groups})"
