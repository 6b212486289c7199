"""Why a run found nothing, where its model gave no number for any text: said in the findings, too."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from explorer.rows.builders import Row
    from explorer.runs.folder import RunFolder

UNSCORED = "unscored"  # in a finding's detail: how many instances the run has, none of which has a score


def with_reason(rows: Sequence[Row], folder: RunFolder) -> list[Row]:
    """The findings; where no text of the run has a score, those without a number say why in the words of the scores."""
    copied_rows = [dict(row) for row in rows]
    nothing = [row for row in copied_rows if math.isnan(float(row.get("value", math.nan)))]
    if not nothing:
        return copied_rows
    scores = folder.read("scores", ["instance_id", "logprob", "reason"])
    reasons = scores["reason"][scores["reason"].fillna("") != ""] if len(scores) else scores["reason"]
    if scores["logprob"].notna().any() or reasons.empty:
        return copied_rows
    why, instances = str(reasons.mode().iloc[0]), int(scores["instance_id"].nunique())
    for row in nothing:
        detail = json.loads(row["detail"]) if row.get("detail") else {}
        row |= {"reason": why, "detail": json.dumps({**detail, UNSCORED: instances}, ensure_ascii=False)}
    return copied_rows
