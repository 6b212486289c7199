"""What is read of a stored interval over few units: the value, and why there is no interval."""

import json
import math

import duckdb
import pytest

from explorer.results.few_units import without_few_units
from explorer.results.store import Store
from explorer.settings import PRECOMPUTED


def read(grp="overall", detail=None, low=0.1, reason=""):
    source = "SELECT ? AS grp, 0.2 AS value, CAST(? AS DOUBLE) AS low, 0.3 AS high, 0.01 AS p, ? AS reason, ? AS detail"
    written = json.dumps(detail) if detail else None
    connection = duckdb.connect()
    (row,) = connection.execute(without_few_units(source), [grp, low, reason, written]).df().to_dict("records")
    return row


@pytest.mark.parametrize("name", ["units", "paradigms"])
def test_an_interval_over_four_groups_is_left_out_with_its_p_and_says_why(name):
    row = read(detail={name: 4, "median": 1.5}, reason="ties")
    assert row["value"] == 0.2 and all(math.isnan(row[end]) for end in ("low", "high", "p"))
    assert row["reason"] == "ties; no interval: 4 units, at least 5 are needed"
    assert list(row) == ["grp", "value", "low", "high", "p", "reason", "detail"]


@pytest.mark.parametrize(
    "kept",
    [
        {"detail": {"units": 5}}, {"detail": None}, {"detail": {"units": 3, "range": "3 orders"}},
        {"detail": {"suites": 1}, "grp": "one_suite"}, {"detail": {"units": 2}, "low": math.nan},
        {"detail": {"units": 2}, "low": None},
    ],
    ids=["five", "no detail", "a range", "items of one suite", "no interval", "null"],
)  # fmt: skip
def test_other_findings_are_read_as_they_are_stored(kept):
    row = read(**kept)
    assert row["high"] == 0.3 and row["p"] == 0.01 and row["reason"] == ""


def test_the_mean_over_few_suites_has_none():
    assert math.isnan(read("mean over suites", {"suites": 4})["low"])
    assert read("mean over suites", {"suites": 23})["low"] == 0.1


def test_of_the_runs_that_come_along_none_is_read_with_an_interval_over_few_paradigms():
    store = Store(None, PRECOMPUTED)
    counted = """
        SELECT count(*) FILTER (isfinite(low)) AS drawn, count(*) AS stored
        FROM findings
        WHERE TRY_CAST(detail->>'paradigms' AS INTEGER) < 5
    """
    (row,) = store.rows(counted)
    store.close()
    assert row["stored"] > 40 and row["drawn"] == 0
