"""When an instance was learned, and whether popular ones are learned earlier.

An instance is learned at the first step from which on it stays right to the end of what is stored: with r for right
and w for wrong or a tie,

    steps        0   1   2   4   8
    w w r r r            2            learned after 2 steps
    r w r w r                    8    learned after 8: what was right before was lost again
    r r r r r    0                    right from the first on
    r r r r w    -                    not learned

By chance alone half of all pairs are right in the last checkpoint, so that "learned after 8" says less than "after 2".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from explorer.stats.estimate import drawn_from_enough
from explorer.stats.spearman import RankCorrelation, spearman
from explorer.studies.families import families_of

# Why an instance has no step.
NOT_IN_ALL = "not in every run"
NO_VERDICT = "without a verdict in some run"
OTHER_TEXT = "with another text in some run"
NO_POPULARITY = "without a popularity"
RESAMPLES = 1_000


def learned_at(outcomes: Sequence[float]) -> int | None:
    """The place from which on every outcome is right (1); none where the last is not, or one is missing."""
    if any(math.isnan(outcome) for outcome in outcomes):
        return None
    # Read from the end: only the last wrong outcome matters, whatever was right before it was lost again.
    last_wrong = max((place for place, outcome in enumerate(outcomes) if outcome < 1), default=-1)
    return last_wrong + 1 if last_wrong + 1 < len(outcomes) else None


@dataclass(frozen=True, slots=True)
class Learned:
    """When the instances of a line were learned.

    items     a row per instance: instance_id, grp, phenomenon, kind, benchmark, text_hash, and place: of the run at
              which it was learned, nan where it was not learned
    left_out  reason → how many instances have no place
    """

    items: pd.DataFrame
    left_out: Mapping[str, int]


def learned(rows: pd.DataFrame, runs: int) -> Learned:
    """When each instance was learned over so many runs; `rows` are as `queries.learned` gives them."""
    # An instance counts only if all runs judged the very same text. One that lacks a verdict somewhere might have been
    # learned just there, and a place would be a guess. Of several reasons the first is given.
    reason = np.select(
        [rows["runs"] < runs, rows["texts"] > 1, rows["gaps"] > 0], [NOT_IN_ALL, OTHER_TEXT, NO_VERDICT], ""
    )
    judged_rows = rows[reason == ""]
    place = judged_rows["last_wrong"].astype(float) + 1
    items = judged_rows.assign(place=place.where(place < runs))
    counts = pd.Series(reason[reason != ""], dtype=object).value_counts()
    return Learned(
        items.drop(columns=["runs", "texts", "gaps", "last_wrong"]).reset_index(drop=True),
        {str(why): int(many) for why, many in counts.items()},
    )


@dataclass(frozen=True, slots=True)
class Earlier:
    """Whether popular instances are learned earlier.

    rho       Spearman's, of popularity and the place at which an instance was learned, those never learned tied last
    over      what was drawn anew for its interval: "paradigms" or "instances"
    left_out  reason → how many instances have no part in it
    """

    rho: RankCorrelation
    over: str
    never: int
    left_out: Mapping[str, int]


def earlier(learned_instances: Learned, popularity: Mapping[str, float], *, seed: int = 0) -> Earlier:
    """The rank correlation of popularity (by instance id) with the step at which instances were learned."""
    items = learned_instances.items
    known = items["instance_id"].map(popularity).astype(float)
    has = np.isfinite(known.to_numpy())
    items, known = items[has], known[has]
    left_out = dict(learned_instances.left_out)
    if not has.all():
        left_out[NO_POPULARITY] = int((~has).sum())
    never = items["place"].isna()
    # Whatever was not learned comes after all that was, and none of it before another.
    last = float(items["place"].max()) + 1 if (~never).any() else 0.0
    place = items["place"].fillna(last).to_numpy(dtype=float)
    groups = families_of(items) if len(items) else None
    rho = spearman(known.to_numpy(), place, groups=groups, resamples=RESAMPLES, permutations=0, seed=seed)
    return Earlier(drawn_from_enough(rho), "instances" if groups is None else "paradigms", int(never.sum()), left_out)


def shares_learned(items: pd.DataFrame, groups: pd.Series, order: Sequence[str], runs: int) -> pd.DataFrame:
    """A row per group of instances and run: the share learned by then, how many, and how many at that very run.

    `groups` gives each row of `items` its group, `order` the groups.
    """
    rows = []
    for group in order:
        place = items["place"][groups == group]
        for at in range(runs):
            rows.append(
                {
                    "group": group, "place": at, "share": float((place <= at).mean()), "n": len(place),
                    "here": int((place == at).sum()),
                }
            )  # fmt: skip
    return pd.DataFrame(rows, columns=["group", "place", "share", "n", "here"])
