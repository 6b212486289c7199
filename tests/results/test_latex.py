"""Tables on paper: what LaTeX reads as a sign is escaped, and numbers have the digits that matter."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer import display
from explorer.results import latex


def test_a_short_table_is_set_with_booktabs_rules_and_its_caption():
    frame = pd.DataFrame({"grp": ["a_b", "50 %"], "value": [0.5, 0.1234], "n": [12, 3456], "look": ["x", "y"]})
    text = latex.latex_table(
        frame, caption="Accuracy & margin.", label="by group", titles={"grp": "Group", "value": "Share", "n": "N"}
    )
    assert r"\begin{tabular}{lrr}" in text
    assert text.index(r"\toprule") < text.index("Group & Share & N") < text.index(r"\midrule") < text.index("a\\_b")
    assert r"a\_b & 0.5000 & 12 \\" in text and r"50 \% & 0.1234 & 3,456 \\" in text
    assert r"\caption{Accuracy \& margin.}\label{tab:by-group}" in text
    assert "look" not in text


def test_a_column_may_be_written_as_on_the_screen():
    frame = pd.DataFrame({"share": [-0.5, None], "p": [1e-9, 0.25]}, dtype=object)
    text = latex.latex_table(frame, cells={"share": display.share, "p": display.p_value})
    assert r"\begin{tabular}{rr}" in text
    assert r"$-$50.0\% & \textless{} 0.001 \\" in text and r"-- & 0.250 \\" in text


def test_a_long_table_runs_over_pages():
    text = latex.latex_table(pd.DataFrame({"n": range(latex.LONG + 1)}), caption="Many.")
    assert r"\begin{longtable}{r}" in text and text.count(r"\endhead") == 1 and "tabular" not in text


@pytest.mark.parametrize(
    ("values", "places"),
    [([1, 2, 30], 0), ([0.5, 0.25], 4), ([0.00123, 0.5], 4), ([12.5, 3.25], 2), ([12345.678], 0), ([math.nan], 0)],
)
def test_a_column_has_four_digits_for_its_largest_number(values, places):
    assert display.decimals(values) == places


@pytest.mark.parametrize(
    ("value", "places", "shown"),
    [
        (0.5, 3, "0.500"),
        (-0.5, 3, "$-$0.500"),
        (1234.5, 1, "1,234.5"),
        (0.0, 2, "0.00"),
        (1.5e-7, 4, r"$1.5 \times 10^{-7}$"),
        (math.nan, 2, "--"),
        (math.inf, 2, "$\\infty$"),
    ],
)
def test_a_number_is_shown_with_so_many_decimals(value, places, shown):
    assert latex.format_number(value, places) == shown


def test_gaps_lists_truth_values_and_texts_of_a_megabyte_have_their_place():
    frame = pd.DataFrame(
        {"text": ["x" * 1_000_000, None], "list": [[1, 2], []], "yes": [True, False], "gap": [np.nan, 1.0]}
    )
    text = latex.latex_table(frame)
    assert len(text) < 2_000 and r"\ldots{}" in text and "1, 2" in text and "yes" in text and "--" in text


@given(st.text())
def test_no_text_can_leave_its_cell(text):
    escaped = latex.escape_text(text)
    bare = escaped
    for sign in (*latex._SIGNS.values(), r"\textbackslash{}"):
        bare = bare.replace(sign, "")
    assert not set(bare) & set("\\{}$&#_%~^\n\r\0")
