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
    return Families(frame).of_all()


class Families:
    """`families_of` instances, and of any selection of them, without comparing their texts again."""

    def __init__(self, frame: pd.DataFrame) -> None:
        """`frame` has the columns grp, kind and, where it is known, benchmark."""
        self._codes = group_codes(frame["grp"])
        self._may_have = frame["kind"].isin(KINDS).to_numpy(dtype=bool)
        if "benchmark" in frame:
            self._may_have = self._may_have & ~frame["benchmark"].isin(WRITTEN_SINGLY).to_numpy(dtype=bool)

    def of_all(self) -> np.ndarray | None:
        """The families of all instances."""
        return self.of(slice(None))

    def of(self, chosen: np.ndarray | slice) -> np.ndarray | None:
        """The families of the instances at these places."""
        codes = self._codes[chosen]
        has_several = self._may_have[chosen].all() and pd.Series(codes).nunique() >= 2
        return codes if has_several else None


def group_codes(groups: pd.Series) -> np.ndarray:
    """A number for each group, in the order of their names: many texts take ten times as long to compare."""
    return groups.to_numpy() if groups.isna().any() else pd.factorize(groups, sort=True)[0]
