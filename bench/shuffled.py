"""How often the joint model of `explorer/studies/explain` finds something where there is nothing.

    python bench/shuffled.py --shuffles 500
    python bench/shuffled.py --shuffles 2000 --made-up

The verdicts of stored runs are shuffled within groups (paradigms, suites), so that no measure can go with them; the
measures stay as they are, with all that they have in common. At 5 % an interval may leave out zero once in twenty.
Shuffling within groups makes rows independent given their group: effects that differ from group to group are not tried.
`--made-up` does the same for tables of 8, 12, 20 and 67 groups of like and unlike sizes, with a measure whose spread
differs by group, one that goes with it, one with a long tail and one that varies in every second group alone.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from explorer import settings
from explorer.results.store import open_store
from explorer.stats.joint_model import joint_model
from explorer.studies.explain.answer import share_material, survives, usual
from explorer.studies.explain.gather import gather

CASES = (
    ("gemma-3-270m", "copa"), ("gemma-3-270m", "winogrande"), ("gemma-3-270m", "blimp"),
    ("glassbox-m", "glassbox_pairs"),
)  # fmt: skip
GROUPS = (8, 12, 20, 67)
ITEMS = 1_200  # of a made-up table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shuffles", type=int, default=500)
    parser.add_argument("--case", action="append", help="MODEL:BENCHMARK, instead of the usual ones")
    parser.add_argument("--made-up", action="store_true", help="tables of few groups in place of stored runs")
    parser.add_argument("--groups", type=int, action="append", help="of made-up tables, instead of the usual numbers")
    args = parser.parse_args()
    print("| verdicts | items | groups | measures | false findings | of any in a model | seconds |")
    print("| --- | --: | --: | --: | --: | --: | --: |")
    if args.made_up:
        for many in args.groups or GROUPS:
            for unlike in (False, True):
                table = made_up(many, unlike)
                shuffle(f"made up, {'unlike' if unlike else 'like'} sizes", *table, args.shuffles)
        return
    store = open_store(settings.read())
    for model, benchmark in [tuple(case.split(":")) for case in args.case or ()] or CASES:
        gathered = gather(store, model, benchmark)
        names = usual(gathered)
        table = gathered.table.dropna(subset=["correct", *names])
        groups = np.unique(table["grp"], return_inverse=True)[1]
        measures = {name: table[name].to_numpy(dtype=float) for name in names}
        right, shared = table["correct"].to_numpy(dtype=float), share_material(gathered)
        shuffle(f"{model}, {benchmark}", right, measures, groups, args.shuffles, share_material=shared)


def made_up(groups: int, unlike: bool) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """Verdicts that follow from their group alone, four measures, and the groups."""
    chance = np.random.default_rng(groups)
    share = chance.dirichlet(np.ones(groups)) if unlike else np.full(groups, 1 / groups)
    codes = np.repeat(np.arange(groups), np.maximum(12, (share * ITEMS).astype(int)))
    uneven = chance.normal(size=codes.size) * chance.uniform(0.2, 2, groups)[codes]
    measures = {
        "uneven": uneven,
        "shadow": 0.6 * uneven + chance.normal(size=codes.size),
        "tail": chance.lognormal(0, 1, codes.size),
        "half": chance.integers(0, 3, codes.size) * (codes % 2 == 0).astype(float),
    }
    right = chance.random(codes.size) < 1 / (1 + np.exp(-chance.normal(size=groups)[codes]))
    return right.astype(float), measures, codes


def shuffle(
    title: str,
    right: np.ndarray,
    measures: dict[str, np.ndarray],
    groups: np.ndarray,
    shuffles: int,
    *,
    share_material: bool = True,
) -> None:
    """Prints a row: of how many measures with an interval it leaves out zero, and in how many models any does."""
    started = time.perf_counter()
    chance = np.random.default_rng(0)
    found, any_of = [], []
    for _ in range(shuffles):
        shuffled = right.copy()
        for group in range(groups.max() + 1):
            members = np.flatnonzero(groups == group)
            shuffled[members] = right[chance.permutation(members)]
        fitted = joint_model(
            shuffled, measures, groups, share_material=share_material, cross_validate=False, resamples=0
        )
        told = [survives(effect) for effect in fitted.effects if not np.isnan(effect.low)]
        found += told
        any_of.append(any(told))
    if not found:  # paradigms that are too few for intervals
        print(f"| {title} | {right.size:,} | {groups.max() + 1} | 0 | no interval | | |", flush=True)
        return
    print(
        f"| {title} | {right.size:,} | {groups.max() + 1} | {len(found) / shuffles:g} | {100 * np.mean(found):.1f} % | "
        f"{100 * np.mean(any_of):.1f} % | {time.perf_counter() - started:.0f} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
