"""What the page on perturbation says of a run, and which instances it leads to."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from explorer.ui.perturbation import run, tables
from explorer.ui.perturbation.figure_margins import before_and_after, changes_beside_the_paper


def outcomes(rows) -> pd.DataFrame:
    names = ["instance_id", "accepted", "swaps", "correct_before", "correct_after", "ips_before", "ips_after"]
    return pd.DataFrame(rows, columns=names)


def test_a_tie_is_not_right_and_what_was_not_compared_says_why():
    items = outcomes(
        [
            ("a", True, 1, 1, 1, 5, 4), ("b", True, 1, 1, 0.5, 5, 4), ("c", True, 2, 0, 1, 5, 4),
            ("d", True, 1, 0.5, 0, 5, 4), ("e", False, 1, 1, math.nan, 5, 4), ("f", True, 0, 1, 1, 5, 5),
            ("g", True, 1, 1, math.nan, 5, 4),
        ]
    )  # fmt: skip
    assert run.fates_of(items) == [
        "right both times", "lost", "gained", "wrong both times", "rejected", "nothing to swap", "no verdict",
    ]  # fmt: skip


def test_flips_are_compared_with_what_stayed_right():
    # Both lose 0.2 on average: whoever looked at flips alone would call it an effect.
    rows = [(f"l{i}", True, 1, 1, 0, 5.0, 4.8 + (0.1 if i % 2 else -0.1)) for i in range(40)]
    rows += [(f"s{i}", True, 1, 1, 1, 5.0, 4.8 + (0.1 if i % 2 else -0.1)) for i in range(200)]
    items = outcomes(rows)
    said = run.flips_in_words(items.assign(fate=run.fates_of(items)))
    assert said.startswith("No evidence") and "−0.20 of IPS over 40" in said and "over 200" in said
    few = items.tail(205)
    assert run.flips_in_words(few.assign(fate=run.fates_of(few))) == ""


def test_flips_that_lose_more_are_told():
    rows = [(f"l{i}", True, 1, 1, 0, 5.0, 4.0 + (i % 3) / 10) for i in range(40)]
    rows += [(f"s{i}", True, 1, 1, 1, 5.0, 4.9 + (i % 3) / 10) for i in range(40)]
    items = outcomes(rows)
    assert "lose more popularity" in run.flips_in_words(items.assign(fate=run.fates_of(items)))


def test_it_is_said_why_flips_differ_from_the_sentence_above():
    swapped = [("a", True, 1, 1, 0, 5.0, 4.0), ("b", True, 1, 1, 1, 5.0, 4.9)]
    idle = [("c", True, 0, 1, 1, 5.0, 5.0), ("d", True, 0, 1, 1, 5.0, 5.0), ("e", True, 0, 0, 0, 5.0, 5.0)]
    items = outcomes([*swapped, *idle])
    assert "counts 2 right texts" in run.beside_conclusion(items.assign(fate=run.fates_of(items)))
    all_swapped = outcomes(swapped)
    assert run.beside_conclusion(all_swapped.assign(fate=run.fates_of(all_swapped))) == ""


def test_each_dot_carries_its_instance_and_its_swap():
    items = pd.DataFrame(
        {"instance_id": ["a", "b"], "text": ["She <ran>.", ""], "changed": ["ran → sprinted", ""],
         "fate": ["lost", "gained"], "margin_before": [1.0, -1.0], "margin_after": [-2.0, 0.5]}
    )  # fmt: skip
    figure = before_and_after(items, "Margin", {"lost": 21, "gained": 3})
    assert [trace.name for trace in figure.data[:2]] == ["lost (21)", "gained (3)"]  # of all, drawn or not
    assert [trace.customdata[0][0] for trace in figure.data[:2]] == ["a", "b"]
    hover = figure.data[0].customdata[0][1]
    assert "She &lt;ran&gt;." in hover and "ran → sprinted" in hover and "−2.00" in hover


def test_the_printed_effect_stands_beside_ours():
    ours = pd.DataFrame({"task": ["A", "A"], "model": ["M", "N"], "change": [-1.0, 0.5], "n": [10, 10],
                         "field": ["Formal", "Formal"]})  # fmt: skip
    printed = pd.DataFrame({"task": ["A", "B"], "model": ["P", "P"], "change": [-12.0, -40.0]})
    assert tables.left_of_the_effect(ours, printed) == (
        "Formal tasks change by −1.0% to +0.5% when labels are kept, and by −12.0% to −12.0% as printed."
    )
    assert list(changes_beside_the_paper(ours, printed, printed.iloc[:0]).data[0].x) == [-12.0]


def test_what_is_left_of_a_change_is_told_against_the_same_model_as_published_and_against_the_paper():
    ours = pd.DataFrame(
        [{"task": "A", "model": "M", "model_id": "m", "change": -2.0, "change_low": -3.0, "change_high": -1.0},
         {"task": "B", "model": "M", "model_id": "m", "change": -1.0}]
    )  # fmt: skip
    loose = pd.DataFrame([{"task": "A", "model_id": "m", "change": -9.0, "draws_change": -8.0, "draws_low": -10.0,
                           "draws_high": -6.0}])  # fmt: skip
    printed = pd.DataFrame({"task": ["A", "A", "B"], "model": ["P", "Q", "P"], "change": [-12.0, -28.0, 3.0]})
    first, second = tables.left_rows(ours, loose, printed).to_dict("records")
    # of several draws their mean counts: 2 of 8; of the paper's mean loss of 20 a tenth
    assert (first["left"], first["left_of_printed"]) == (25.0, 10.0)
    assert (first["loose_low"], first["careful_high"]) == (-10.0, -1.0)
    assert second["left"] != second["left"] and second["left_of_printed"] != second["left_of_printed"]


def test_of_a_change_that_may_be_none_nothing_is_left():
    ours = pd.DataFrame([{"task": "A", "model": "M", "model_id": "m", "change": -2.3}])
    loose = pd.DataFrame([{"task": "A", "model_id": "m", "change": -0.2, "draws_change": -0.2, "draws_low": -6.9,
                           "draws_high": 7.1}])  # fmt: skip
    (row,) = tables.left_rows(ours, loose, pd.DataFrame({"task": ["A"], "model": ["P"], "change": [-20.0]})).to_dict(
        "records"
    )
    # 2.3 of 0.2 would be 1,150%, of a change whose interval holds none
    assert row["left"] != row["left"] and row["left_of_printed"] == pytest.approx(11.5)


def test_swaps_as_published_in_several_draws_are_held_against_careful_ones_in_as_many():
    ours = pd.DataFrame({"task": ["A", "B"], "model_id": ["m", "m"], "change": [-2.0, -1.0], "run_id": ["large", "b"]})
    drawn = pd.DataFrame(
        {"task": ["A", "B"], "model_id": ["m", "m"], "change": [-3.0, -9.0], "run_id": ["five", "six"]}
    )
    loose = pd.DataFrame({"task": ["A"], "model_id": ["m"], "draws_change": [-8.0]})
    taken = tables.like_with_like(ours, drawn, loose)
    assert dict(zip(taken["task"], taken["run_id"], strict=True)) == {"A": "five", "B": "b"}
    assert tables.like_with_like(ours, drawn, loose[:0]) is ours
    assert len(tables.like_with_like(ours, drawn, loose.assign(draws_change=float("nan")))) == 2
