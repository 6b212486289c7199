"""Columns of tables: what is shown is a text of ours, what sorts and is downloaded stays the number."""

from __future__ import annotations

import pandas as pd
import pytest

from explorer.ui.columns import (
    MOST_CELLS,
    as_shown,
    count_column,
    group_column,
    link_column,
    mixed_column,
    nats_column,
    number_column,
    p_column,
    points_column,
    share_column,
    size_column,
    text_column,
    unit_column,
)


def texts(values, column):
    """What the cells of a column show, without gaps."""
    shown, config = as_shown(pd.DataFrame({"x": values}), {"x": column})
    assert config["x"]["type_config"].get("format") is None  # Streamlit shows a text only where it has no format
    write = shown._display_funcs
    return [write[row, 0](shown.data["x"][row]) for row in range(len(values)) if shown.data["x"][row] is not None]


@pytest.mark.parametrize(
    ("column", "values", "shown"),
    [
        (share_column("Accuracy"), [0.7, 2 / 3, float("nan")], ["70.0%", "66.7%", "–"]),
        (points_column("Change"), [-0.125, 0.0, 0.05], ["−12.5", "0.0", "+5.0"]),
        (nats_column("Margin"), [-14.58, 2], ["−14.58", "2.00"]),
        (count_column("Instances"), [1234567, None], ["1,234,567", "–"]),
        (size_column("Parameters"), [270e6, 1.4e9], ["270M", "1.4B"]),
        (p_column(), [1e-12, 0.04, 0.5], ["< 0.001", "0.040", "0.500"]),
        (number_column("Score"), [12.345, 1.5], ["12.35", "1.50"]),  # as many decimals as the largest needs
        (number_column("Score", 1, signed=True), [1.25, -0.01], ["+1.2", "0.0"]),
        (mixed_column("Value"), [0.5, 1234.0], ["0.5000", "1,234"]),
    ],
)
def test_numbers_are_written_by_what_they_are(column, values, shown):
    assert texts(values, column) == shown


def test_numbers_stay_numbers_and_rows_may_have_equal_labels():
    frame = pd.DataFrame({"share": [0.7, None], "name": ["a", "b"]}, index=[3, 3], dtype=object)
    shown, config = as_shown(frame, {"share": share_column("Share", "of all"), "name": "Name"})
    assert shown.data["share"].tolist()[0] == 0.7 and shown.data["share"].dtype == float
    assert config["share"]["label"] == "Share" and config["share"]["help"] == "of all" and config["name"] == "Name"
    assert frame["share"].tolist() == [0.7, None]


def test_a_long_table_gets_the_formats_of_streamlit():
    frame = pd.DataFrame({"share": [0.5] * (MOST_CELLS + 1)})
    shown, config = as_shown(frame, {"share": share_column("Share")})
    assert isinstance(shown, pd.DataFrame) and shown["share"][0] == 50
    assert config["share"]["type_config"]["format"] == "%.1f%%"


def test_stored_names_are_shown_as_words():
    shown, _ = as_shown(pd.DataFrame({"grp": ["npi_licensing", None]}), {"grp": group_column("Group")})
    assert shown["grp"][0] == "npi licensing" and shown["grp"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("unit", "shown"), [("share", "25.0%"), ("points", "+25.0"), ("nats", "0.25"), ("AUC", "0.2500"), ("new", "0.2500")]
)
def test_a_finding_is_written_in_its_unit(unit, shown):
    assert texts([0.25], unit_column(unit, "Value")) == [shown]


def test_links_and_texts_have_a_kind():
    _, config = as_shown(
        pd.DataFrame({"look": ["/x"], "value": ["0.5*"]}),
        {"look": link_column("Run"), "value": text_column("Value", right=True)},
    )
    assert config["look"]["type_config"]["display_text"] == "look"
    assert config["value"]["alignment"] == "right"
