"""Which instances of a benchmark share material, so that an interval is over what they share and not over them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from explorer import benchmarks as registry
from explorer.errors import BenchmarkError
from explorer.stats.bootstrap import bootstrap_mean
from explorer.stats.estimate import Estimate, drawn_from_enough
from explorer.stats.gaps import ties_wrong
from explorer.studies.families import families_of
from explorer.ui import resources


def find(place: pd.DataFrame, benchmark: str) -> np.ndarray | None:
    """The paradigm or suite of each instance (`place` has the column grp); None where items share none."""
    try:
        kind = registry.find(benchmark, resources.settings()).kind
    except BenchmarkError:
        return None
    return families_of(place.assign(kind=kind, benchmark=benchmark))


def difference(first: pd.Series, second: pd.Series, families: np.ndarray) -> Estimate:
    """The second run's share of right instances less the first's (ties wrong), its interval over families."""
    gained = (ties_wrong(second) - ties_wrong(first)).astype(float)
    return drawn_from_enough(bootstrap_mean(gained, families))
