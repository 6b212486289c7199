"""Which items share material: the families of some are those that these would have alone."""

import numpy as np
import pandas as pd
import pytest

from explorer.studies.families import Families, families_of


def frame(groups, kind="pair", benchmark="blimp"):
    return pd.DataFrame({"grp": groups, "kind": kind, "benchmark": benchmark})


@pytest.mark.parametrize(
    ("items", "has_several"),
    [
        (frame(list("bbaacc")), True),
        (frame(list("bbbbbb")), False),
        (frame(["b", "b", None, "a", "c", None]), True),
        (frame(["b", "b", None, "b", "b", None]), False),
        (frame(list("bbaacc"), kind=["pair", "regions"] * 3), True),
        (frame(list("bbaacc"), kind=["pair"] * 5 + ["choice"]), False),
        (frame(list("bbaacc"), benchmark=["blimp"] * 5 + ["crows_pairs"]), False),
        (frame(list("bbaacc")).drop(columns="benchmark"), True),
    ],
)
def test_families_of_a_selection_are_those_of_its_rows_alone(items, has_several):
    families = Families(items)
    assert (families.of_all() is not None) == has_several == (families_of(items) is not None)
    for places in (np.arange(6), np.array([0, 1, 3, 4]), np.array([0, 1]), np.array([2, 3, 5]), np.array([4])):
        chosen, alone = families.of(places), families_of(items.iloc[places])
        assert (chosen is None) == (alone is None)
        if chosen is not None:
            missing = pd.isna(items["grp"].iloc[places]).to_numpy()
            assert (pd.isna(chosen) == missing).all() and (pd.isna(alone) == missing).all()
            ranks = [np.unique(codes[~missing], return_inverse=True)[1] for codes in (chosen, alone)]
            np.testing.assert_array_equal(*ranks)
