"""What a popularity run concludes: decile edges, accuracy of the low and high half, curves, slope and AUC."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from explorer.errors import RunError
from explorer.popularity import indexes
from explorer.records import RunSpec
from explorer.rows.builders import Row, finding_row
from explorer.stats.estimate import Estimate
from explorer.stats.logistic import LogisticCurve, LogisticFit, Slope, logistic_curve
from explorer.studies import median_split
from explorer.studies.accuracy import findings as accuracy_findings
from explorer.studies.popularity import declared
from explorer.studies.popularity.deciles import edges_of
from explorer.studies.popularity.groups import SCORE_OF_KIND, groups_of

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.folder import RunFolder


UNKNOWN_DATA = "it is not known what the index holds or what the model was trained on"


def summarize(spec: RunSpec, resources: Resources, folder: RunFolder) -> list[Row]:
    """Rows of `findings`: everything accuracy concludes, the edges, and each group's low/high halves and curves."""
    rows = accuracy_findings.summarize(spec, resources, folder)
    edges = edges_of(spec, resources)
    require_one_index(folder, edges.index)
    rows += edges.to_rows()
    frame = scored_instances(folder)
    for group, members in groups_of(frame):
        rows += compare(group, frame[members])
    known = indexes.is_pretraining_data(str(spec.settings["index"]), spec.model)
    told = Estimate.point(float(known)) if known is not None else Estimate.point(math.nan, reason=UNKNOWN_DATA)
    rows.append(finding_row(declared.INDEX_IS_PRETRAINING_DATA, "overall", told))
    return rows


def scored_instances(folder: RunFolder) -> pd.DataFrame:
    """A row per instance: group, phenomenon, field, correct, and the popularity score that splits low from high."""
    frame = folder.read("instances", ["instance_id", "benchmark", "grp", "phenomenon", "field", "kind"])
    measures = folder.read("measures", ["instance_id", "option", "measure", "value", "reason"])
    frame["correct"] = _column(frame, measures, "correct")
    whole = _column(frame, measures, "relative_difference")
    single = _column(frame, measures[measures["option"] == 0], "ips")
    frame["score"] = np.where(frame["kind"].map(SCORE_OF_KIND) == "ips", single, whole)
    return frame


def require_one_index(folder: RunFolder, index: str) -> None:
    """Raises where parts of a run were counted in another edition of its index, whose deciles do not fit them."""
    strange = set(folder.read("counts", ["index_name"])["index_name"].unique()) - {index}
    if strange:
        raise RunError(
            f"Parts of this run were counted in {', '.join(sorted(strange))}, the index is now {index}. "
            "Delete the run and start it again."
        )


def compare(group: str, frame: pd.DataFrame) -> list[Row]:
    """Findings about one group of instances; those without a score are left out and counted."""
    return median_split.compare(declared.SPLIT, group, frame, half="setting")


def chance_curve(slope: Mapping[Any, Any], scores: ArrayLike) -> LogisticCurve | None:
    """The fitted chance of being right at each score, from a stored row `popularity_slope`; none without a fit."""
    if not isinstance(slope["detail"], str) or math.isnan(slope["value"]):
        return None
    detail = json.loads(slope["detail"])
    gap = math.nan
    score_slope = Slope(
        *(slope[name] for name in ("value", "low", "high", "n", "p")),
        name=declared.SPLIT.name,
        se=gap,
        z=gap,
        per_sd=detail["per_sd"],
    )
    covariance = tuple(map(tuple, detail["covariance"] or ((gap, gap), (gap, gap))))
    return logistic_curve(LogisticFit(detail["intercept"], (score_slope,), covariance, gap, slope["n"], 0), scores)


def _column(frame: pd.DataFrame, measures: pd.DataFrame, name: str) -> np.ndarray:
    values = measures[measures["measure"] == name].drop_duplicates("instance_id").set_index("instance_id")["value"]
    return values.reindex(frame["instance_id"]).to_numpy(dtype=float)
