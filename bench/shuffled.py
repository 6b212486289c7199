"""How often the joint model of `explorer/studies/explain` finds something where there is nothing.

    python bench/shuffled.py --shuffles 500

The verdicts of stored runs are shuffled within groups (paradigms, suites), so that no measure can go with them; the
measures stay as they are, with all that they have in common. At 5 % an interval may leave out zero once in twenty.
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
from explorer.studies.explain.answer import survives, usual
from explorer.studies.explain.gather import gather

CASES = (("gemma-3-270m", "copa"), ("gemma-3-270m", "winogrande"), ("gemma-3-270m", "blimp"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shuffles", type=int, default=500)
    parser.add_argument("--case", action="append", help="MODEL:BENCHMARK, instead of the usual ones")
    args = parser.parse_args()
    store = open_store(settings.read())
    print("| model, benchmark | items | groups | measures | false findings | of any in a model | seconds |")
    print("| --- | --: | --: | --: | --: | --: | --: |")
    for model, benchmark in [tuple(case.split(":")) for case in args.case or ()] or CASES:
        started = time.perf_counter()
        gathered = gather(store, model, benchmark)
        names = usual(gathered)
        table = gathered.table.dropna(subset=["correct", *names])
        groups = np.unique(table["grp"], return_inverse=True)[1]
        measures = {name: table[name].to_numpy(dtype=float) for name in names}
        right = table["correct"].to_numpy(dtype=float)
        chance = np.random.default_rng(0)
        found = []
        for _ in range(args.shuffles):
            shuffled = right.copy()
            for group in range(groups.max() + 1):
                members = np.flatnonzero(groups == group)
                shuffled[members] = right[chance.permutation(members)]
            model_of = joint_model(shuffled, measures, groups, cross_validate=False, resamples=0)
            found.append([survives(effect) for effect in model_of.effects])
        rate, any_of = np.mean(found), np.mean(np.any(found, axis=1))
        print(
            f"| {model}, {benchmark} | {len(table):,} | {groups.max() + 1} | {len(names)} | {100 * rate:.1f} % | "
            f"{100 * any_of:.1f} % | {time.perf_counter() - started:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
