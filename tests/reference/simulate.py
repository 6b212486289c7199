"""The tables on which the mixed logistic regression is checked against lme4's glmer: three simulated, one real.

`python tests/reference/simulate.py FOLDER` writes each as FOLDER/<name>.csv for `glmer.R`; the tests make the same
tables in memory and compare the SHA-256 of their CSV text with the one stored beside R's numbers.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

Table = Mapping[str, np.ndarray]


def priming() -> Table:
    """30 suites x 8 items x 2 x 2 conditions x 10 lengths: the priming study's regression in small."""
    rng = np.random.default_rng(11)
    suite, item, match, acceptable, step = (
        axis.ravel() for axis in np.meshgrid(range(30), range(8), (1, -1), (1, -1), range(1, 11), indexing="ij")
    )
    length = 100 * step - rng.integers(0, 25, step.size)
    log_length = np.log(length)
    eta = (
        1.1
        + 0.9 * rng.standard_normal(30)[suite]
        + 0.5 * rng.standard_normal(240)[8 * suite + item]
        - 0.10 * log_length
        + (0.05 + 0.02 * log_length) * match
        + (0.20 + 0.06 * log_length) * acceptable
        + (0.10 + 0.09 * log_length) * match * acceptable
    )
    return {
        "correct": draw(rng, eta),
        "log_length": log_length.round(6),
        "match": match,
        "acceptable": acceptable,
        "suite": names("suite", suite),
        "item": names("item", 8 * suite + item),
    }


def near_zero() -> Table:
    """40 suites of 60 rows that hardly differ, with slopes close to zero: the variance sits at or near its boundary."""
    rng = np.random.default_rng(23)
    suite = np.repeat(np.arange(40), 60)
    x, z = rng.standard_normal((2, suite.size)).round(6)
    eta = 0.4 + 0.02 * rng.standard_normal(40)[suite] + 0.005 * x - 0.004 * z
    return {"correct": draw(rng, eta), "x": x, "z": z, "suite": names("suite", suite)}


def ceiling() -> Table:
    """25 suites of 120 rows, some all right, and one condition with hardly an error: close to separation."""
    rng = np.random.default_rng(37)
    suite = np.repeat(np.arange(25), 120)
    log_length = np.log(rng.integers(20, 1000, suite.size)).round(6)
    acceptable = rng.choice((-1, 1), suite.size)
    eta = 4.2 + 1.4 * rng.standard_normal(25)[suite] + 0.15 * log_length + (0.8 + 0.25 * log_length) * acceptable
    return {
        "correct": draw(rng, eta),
        "log_length": log_length,
        "acceptable": acceptable,
        "suite": names("suite", suite),
    }


def blimp_priming() -> Table:
    """What a priming run stored: 72 BLiMP pairs of 12 paradigms (numbers only) before matched and mismatched contexts
    of 100 to 400 tokens, judged by a GPT-2 of two layers with random weights; from `blimp_priming.csv`."""
    header, *lines = Path(__file__).with_name("blimp_priming.csv").read_text(encoding="utf-8").splitlines()
    columns = dict(zip(header.split(","), zip(*(line.split(",") for line in lines), strict=True), strict=True))
    return {
        "correct": np.array(columns["correct"], dtype=int),
        "log_length": np.array(columns["log_length"], dtype=float),
        "match": np.array(columns["match"], dtype=int),
        "acceptable": np.array(columns["acceptable"], dtype=int),
        "suite": names("suite", np.array(columns["suite"], dtype=int)),
        "item": names("item", np.array(columns["item"], dtype=int)),
    }


def draw(rng: np.random.Generator, eta: np.ndarray) -> np.ndarray:
    """Zeros and ones with the given log odds."""
    return (rng.random(eta.size) < 1 / (1 + np.exp(-eta))).astype(int)


def names(prefix: str, numbers: np.ndarray) -> np.ndarray:
    """Level names that sort as their numbers do."""
    return np.array([f"{prefix}_{number:03d}" for number in numbers])


TABLES = {"priming": priming, "near_zero": near_zero, "ceiling": ceiling, "blimp_priming": blimp_priming}


def csv_text(table: Table) -> str:
    """The table as CSV with a header line."""
    rows = zip(*(column.tolist() for column in table.values()), strict=True)
    return "\n".join([",".join(table), *(",".join(map(str, row)) for row in rows)]) + "\n"


def fingerprint(table: Table) -> str:
    """SHA-256 of the CSV text."""
    return hashlib.sha256(csv_text(table).encode()).hexdigest()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in TABLES.items():
        (folder / f"{name}.csv").write_bytes(csv_text(make()).encode())
