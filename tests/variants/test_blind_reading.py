"""What two readers found in 200 swapped instances of published benchmarks, without knowing the code or each other.

A row of data/blind_reading.jsonl is an instance with all its swaps: its id, how many words were swapped, and for each
reader whether both texts are grammatical alike (0 or 1), whether the meaning is kept (2), nearly kept (1) or badly
changed (0), and whether the label is kept (0 or 1).
"""

import json
from pathlib import Path

import pytest

ROWS = [json.loads(line) for line in Path(__file__).with_name("data").joinpath("blind_reading.jsonl").open()]


def shares(question, bad=0):
    """Of the instances, how many the first, the second and both readers found bad."""
    first, second = ([row[who][question] == bad for row in ROWS] for who in ("first", "second"))
    return sum(first), sum(second), sum(a and b for a, b in zip(first, second))


def test_both_readers_read_200_instances_of_six_benchmarks():
    names = {row["id"].split("/")[0] for row in ROWS}
    assert len(ROWS) == len({row["id"] for row in ROWS}) == 200
    assert names == {"blimp", "lambada", "piqa", "copa", "winogrande", "syntaxgym"}
    assert sum(row["swaps"] for row in ROWS) == 640


@pytest.mark.parametrize(
    ("question", "found"), [("grammatical", (10, 8, 8)), ("meaning", (25, 21, 20)), ("label", (2, 2, 2))]
)
def test_the_shares_that_the_documentation_tells(question, found):
    assert shares(question) == found


def test_no_label_of_blimp_was_changed():
    assert all(row[who]["label"] for row in ROWS if row["id"].startswith("blimp") for who in ("first", "second"))
