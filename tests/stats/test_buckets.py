import os
from pathlib import Path

import numpy as np
import pytest

from explorer.errors import StatisticsError
from explorer.stats.buckets import bucket_by_distinct
from explorer.stats.spearman import spearman


def test_consecutive_distinct_counts_share_a_bucket_and_the_last_takes_the_rest():
    # distinct 0 1 2 5 9 in two buckets of floor(5 / 2) = 2, the last with three
    assert bucket_by_distinct([9, 0, 1, 1, 2, 5, np.nan], 2).tolist() == [2, 1, 1, 1, 2, 2, 0]


def test_the_released_code_loses_the_first_row_of_every_later_bucket():
    # by rising count: 0 1 1 | 2 2 5 9, where the first of the two 2s opens bucket 2 and is lost
    assert bucket_by_distinct([2, 0, 1, 1, 2, 5, 9], 2, as_released=True).tolist() == [0, 1, 1, 1, 2, 2, 2]


def test_too_few_distinct_counts_are_refused():
    with pytest.raises(StatisticsError, match="2 distinct counts"):
        bucket_by_distinct([1, 1, 2], 3)


def test_the_gene_ontology_figures_of_pythia():
    folder = os.environ.get("EXPLORER_DATA")
    path = Path(folder or ".") / "go" / "predictions_pythia12b.csv"
    if not folder or not path.exists():
        pytest.skip("EXPLORER_DATA does not hold go/predictions_pythia12b.csv")
    rows = [line.split(";") for line in path.read_text(encoding="utf-8").splitlines() if line]
    counts = np.array([float(row[3]) for row in rows])
    right = np.array([row[0] == row[4].strip().strip('"') for row in rows], dtype=float)
    released = bucket_by_distinct(counts, as_released=True)
    assert (released == 0).sum() == 49
    shares = [right[released == bucket].mean() for bucket in range(1, 51)]
    assert [round(100 * shares[bucket - 1], 2) for bucket in (1, 10, 25, 50)] == [0.01, 0, 0, 61.8]
    means = [counts[released == bucket].mean() for bucket in range(1, 51)]
    assert spearman(means, shares, permutations=99, resamples=0).rho == pytest.approx(0.8564, abs=5e-5)
    mended = bucket_by_distinct(counts)
    shares = [right[mended == bucket].mean() for bucket in range(1, 51)]
    assert spearman(range(50), shares, permutations=99, resamples=0).rho == pytest.approx(0.8506, abs=5e-5)
    assert spearman(counts, right, permutations=9, resamples=0).rho == pytest.approx(0.137, abs=5e-4)
