"""What two readers found in 200 swapped instances of published benchmarks, without knowing the code or each other.

data/blind_reading.jsonl was read before its findings were mended; data/shipped_reading.jsonl is drawn from the runs
that come with the explorer. A row is an instance with all its swaps: its id, how many words were swapped, and for each
reader whether both texts are grammatical alike (0 or 1), whether the meaning is kept (2), nearly kept (1) or badly
changed (0), and whether the label is kept (0 or 1).
"""

import json
from pathlib import Path

import pytest

DATA = Path(__file__).with_name("data")
READINGS = {
    name: [json.loads(line) for line in (DATA / f"{name}_reading.jsonl").open()] for name in ("blind", "shipped")
}


def shares(rows, question):
    """Of the instances, how many the first, the second and both readers found bad."""
    first, second = ([row[who][question] == 0 for row in rows] for who in ("first", "second"))
    return sum(first), sum(second), sum(a and b for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize(("name", "benchmarks", "swaps"), [("blind", 6, 640), ("shipped", 5, 524)])
def test_both_readers_read_200_instances(name, benchmarks, swaps):
    rows = READINGS[name]
    assert len(rows) == len({row["id"] for row in rows}) == 200
    assert len({row["id"].split("/")[0] for row in rows}) == benchmarks
    assert sum(row["swaps"] for row in rows) == swaps


@pytest.mark.parametrize(
    ("name", "question", "found"),
    [
        ("blind", "grammatical", (10, 8, 8)),
        ("blind", "meaning", (25, 21, 20)),
        ("blind", "label", (2, 2, 2)),
        ("shipped", "grammatical", (11, 12, 10)),
        ("shipped", "meaning", (26, 25, 24)),
        ("shipped", "label", (1, 2, 1)),
    ],
)
def test_the_shares_that_the_documentation_tells(name, question, found):
    assert shares(READINGS[name], question) == found


def test_of_what_ships_every_bad_sentence_of_blimp_but_one_stayed_bad():
    changed = {
        row["id"]
        for row in READINGS["shipped"]
        if row["id"].startswith("blimp") and not (row["first"]["label"] and row["second"]["label"])
    }
    assert len(changed) == 1
