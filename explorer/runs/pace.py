"""How long a run will take, told before it starts: as fast as an earlier run here, else by a rule of thumb."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from explorer.runs.queue import RunInfo
from explorer.scoring import catalog

START = 10.0  # seconds a worker takes before its first instance
# Instances a second of a model of a hundred million parameters on two processor cores, which no run here has measured.
RULE = {
    "accuracy": 60.0,
    "popularity": 40.0,
    "perturbation": 8.0,
    "memorization": 6.0,
    "priming": 0.4,
    "ontology": 6.0,
    "icl": 0.2,
}
OF_THE_RULE = 1e8  # parameters


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a run will take, in seconds (nan where unknown), and where that is known from."""

    seconds: float
    known_from: str = ""

    def in_words(self) -> str:
        """The time as one says it, with where it is known from; "" where it is not known."""
        return f"{time_in_words(self.seconds)}, {self.known_from}" if self.seconds == self.seconds else ""


def expected_seconds(runs: Sequence[RunInfo], study: str, model: str, benchmark: str, instances: int) -> Pace:
    """The time of a run over so many instances, from the newest runs of the study on this machine."""
    timed = [run for run in runs if run.study == study and run.source == "here" and run.done and run.rate > 0]
    same_model = [run for run in timed if run.model == model]
    # The same texts first; within them the newest.
    same_model.sort(key=lambda run: (run.benchmark == benchmark, run.created), reverse=True)
    if same_model:
        return Pace(START + instances / same_model[0].rate, "as fast as this model's last run of this study here")
    size = _size(model)
    others = sorted((run for run in timed if _size(run.model) > 0), key=lambda run: run.created, reverse=True)
    if size > 0 and others:
        rate = others[0].rate * _size(others[0].model) / size
        return Pace(START + instances / rate, "estimated from another model's run here by the sizes of the two")
    if size > 0 and study in RULE:
        rate = RULE[study] * OF_THE_RULE / size
        return Pace(
            START + instances / rate, "a rough guess for two processor cores; the first run here gives a better one"
        )
    return Pace(math.nan)


def time_in_words(seconds: float) -> str:
    """Seconds as one says them: "about 2 minutes"."""
    if seconds < 20:
        return "a few seconds"
    if seconds < 45:
        return "about half a minute"
    if seconds < 90:
        return "about a minute"
    if seconds < 90 * 60:
        return f"about {seconds / 60:.0f} minutes"
    hours = seconds / 3600
    return f"about {hours:.0f} hours" if hours < 48 else f"about {hours / 24:.0f} days"


def _size(model: str) -> int:
    """The model's parameters; 0 where they are not known."""
    known = catalog.find(model)
    return known.parameters if known else 0
