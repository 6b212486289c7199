"""Which items share material, so that the group and not the item is what was drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd

KINDS = ("pair", "regions")  # of templates: BLiMP's paradigms, SyntaxGym's suites, the starter pairs
# Pairs that people wrote one by one: their groups are topics (bias types), not templates.
WRITTEN_SINGLY = ("crows_pairs",)


def families_of(frame: pd.DataFrame) -> np.ndarray | None:
    """A number for the paradigm or suite of each instance (columns grp, kind, benchmark); none unless all have one of
    several."""
    if not frame["kind"].isin(KINDS).all() or frame["grp"].nunique() < 2:
        return None
    if "benchmark" in frame and frame["benchmark"].isin(WRITTEN_SINGLY).any():
        return None
    return group_codes(frame["grp"])


def group_codes(groups: pd.Series) -> np.ndarray:
    """A number for each group, in the order of their names: many texts take ten times as long to compare."""
    return groups.to_numpy() if groups.isna().any() else pd.factorize(groups, sort=True)[0]
