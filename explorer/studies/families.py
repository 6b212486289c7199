"""Which items share material, so that the group and not the item is what was drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd

KINDS = ("pair", "regions")  # of templates: BLiMP's paradigms, SyntaxGym's suites, the starter pairs
# Pairs that people wrote one by one: their groups are topics (bias types), not templates.
WRITTEN_SINGLY = ("crows_pairs",)


def families_of(frame: pd.DataFrame) -> np.ndarray | None:
    """The paradigm or suite of each instance (columns grp, kind, benchmark) where all are of several; else none."""
    if not frame["kind"].isin(KINDS).all() or frame["grp"].nunique() < 2:
        return None
    if "benchmark" in frame and frame["benchmark"].isin(WRITTEN_SINGLY).any():
        return None
    return frame["grp"].to_numpy()
