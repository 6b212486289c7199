"""The row of small histograms above a long table."""

from __future__ import annotations

import math
import re

import pandas as pd

from explorer.ui import histograms
from explorer.ui.columns import number_column, share_column, text_column

COLUMNS = {"text": text_column("Text"), "margin": number_column("Margin", 1), "right": share_column("Right")}


def table(rows: int) -> pd.DataFrame:
    return pd.DataFrame({"text": ["a"] * rows, "margin": [float(i) for i in range(rows)], "right": [1.0] * rows})


def heights(drawn: str) -> list[int]:
    return [int(height) for height in re.findall(r"height:(\d+)%", drawn)]


def test_a_long_table_has_a_histogram_of_each_column_of_numbers_that_differ():
    drawn = histograms.row(table(32), COLUMNS)
    # 0 to 31 in 16 bins: two rows each, all bars equally high; texts and a column of one value have none
    assert heights(drawn) == [100] * 16
    assert "Margin: 32 values from 0.0 to 31.0" in drawn and "Right" not in drawn


def test_a_short_table_has_none():
    assert histograms.row(table(histograms.LEAST - 1), COLUMNS) == ""


def test_numbers_that_differ_by_rounding_alone_have_none():
    assert histograms.row(table(32).assign(margin=[0.3] * 31 + [0.1 + 0.2]), COLUMNS) == ""


def test_gaps_are_counted_and_a_bar_of_one_row_among_many_is_seen():
    frame = table(1000).assign(margin=[math.nan] * 100 + [0.0] * 899 + [16.0])
    drawn = histograms.row(frame, COLUMNS)
    # 899 values in the first of 16 bins, 1 in the last: 0.1 % of the height would be nothing, so it has 6 %
    assert heights(drawn) == [100, *[0] * 14, 6]
    assert "900 values from 0.0 to 16.0, 100 missing; most, 899, between 0.0 and 1.0" in drawn


def test_a_title_cannot_break_out_of_the_hint():
    drawn = histograms.row(table(32), {"margin": number_column('"><script>', 1)})
    assert "<script>" not in drawn
