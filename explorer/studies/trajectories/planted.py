"""Extraction and membership of the glass box's texts, whose truth is known: how often each stands in the corpus.

What a membership run stores of every text is set against the doses dealt to the starter sets: half of the texts were
read 1, 4, 16 or 64 times, the others never.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from explorer.glassbox import starters
from explorer.stats.auc import auc
from explorer.stats.estimate import drawn_from_enough
from explorer.stats.proportion import proportion
from explorer.studies.trajectories import queries
from explorer.studies.trajectories.lines import Line
from explorer.studies.trajectories.readings import Point, Reading, Series

Planted = Callable[[tuple[str, ...], str, int], Mapping[str, Point]]  # run ids, measure, dose → run id → its number
EXTRACTED = "tde_accuracy"
NEVER = 0
RESAMPLES = 500
_MOST, _ONCE = max(starters.DOSES), min(starters.DOSES)


def _nothing(findings: object) -> None:
    return None


def _series(measure: str, *doses: int) -> tuple[Series, ...]:
    names = {NEVER: "never read", 1: "read once"}
    return tuple(Series(names.get(dose, f"read {dose} times"), _nothing, measure, dose) for dose in doses)


READINGS = (
    Reading(
        "extracted_planted", "Texts completed word for word, by how often they were read",
        "the share of texts completed word for word", "share", _series(EXTRACTED, _MOST, NEVER),
    ),
    Reading(
        "member_loss", "Membership: does the loss tell texts that were read?",
        "how well the loss tells read texts from others (AUC)", "AUC", _series("mia_loss", _MOST, _ONCE), 0.5,
    ),
    Reading(
        "member_min_k", "Membership: do the least likely tokens tell texts that were read?",
        "how well the least likely tokens tell read texts from others (AUC)", "AUC",
        _series("min_k", _MOST, _ONCE), 0.5,
    ),
    Reading(
        "member_second_half", "Membership: does the second half tell texts that were read?",
        "how well the likelihood of a second half tells read texts from others (AUC)", "AUC",
        _series("tde_likelihood", _MOST, _ONCE), 0.5,
    ),
)  # fmt: skip


def readings(study: str, benchmark: str, lines: Sequence[Line]) -> tuple[Reading, ...]:
    """What can be read off against planted truth: of membership runs of the glass box on starter sets."""
    is_known = study == "memorization" and benchmark in starters.SETS
    return READINGS if is_known and any(_is_glassbox(line) for line in lines) else ()


def _is_glassbox(line: Line) -> bool:
    return all(stop.model.startswith("glassbox-") for stop in line.stops)


def points(
    ask: Callable[..., pd.DataFrame],
    run_ids: Sequence[str],
    measure: str,
    dose: int,
    dealt: Mapping[str, float],
    *,
    seen_is_high: bool,
) -> dict[str, Point]:
    """Run id → its number: a share of the texts of this dose, or the AUC of these against texts never read.

    `dealt` has each text's dose by instance id; `seen_is_high` says whether a high score speaks for having been read.
    """
    frame = ask(queries.of_right_texts, tuple(run_ids), measure)
    frame = frame.assign(dose=frame["instance_id"].map(dealt)).dropna(subset=["dose", "value"])
    points_of_dose = {}
    for run_id, rows in frame.groupby("run_id", sort=False):
        values, doses = rows["value"].to_numpy(dtype=float), rows["dose"].to_numpy(dtype=float)
        if measure == EXTRACTED:
            share = drawn_from_enough(proportion(values[doses == dose]))
            points_of_dose[str(run_id)] = Point(share.value, share.low, share.high, share.n, share.reason)
            continue
        in_contrast = (doses == dose) | (doses == NEVER)
        sign = 1.0 if seen_is_high else -1.0
        area = auc((doses[in_contrast] == dose).astype(float), sign * values[in_contrast], resamples=RESAMPLES)
        points_of_dose[str(run_id)] = Point(area.value, area.low, area.high, int(np.sum(in_contrast)), area.reason)
    return points_of_dose


def missing() -> Point:
    """What stands where a run has no such number."""
    return Point(math.nan, math.nan, math.nan, 0, "the run has no number for it")
