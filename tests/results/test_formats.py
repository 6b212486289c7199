"""A frame written and read back, whatever stands in it."""

import io
import json

import pandas as pd
import pytest

from explorer.results import formats

FRAME = pd.DataFrame(
    {
        "text": ["plain", 'a,"b"\nc', "<script>alert(1)</script>", "😀 עברית", "x" * 1_000_000],
        "value": [0.5, None, -1.0, 2.0, 3.0],
        "mixed": [1, "two", None, 4.5, [5]],
    }
)


def test_csv_keeps_every_character():
    back = pd.read_csv(io.BytesIO(formats.as_bytes(FRAME, "csv")), keep_default_na=False)
    assert list(back["text"]) == list(FRAME["text"])


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", '  =HYPERLINK("http://x")', "\uff1d1"]
HARMLESS = ["plain", "a=b", "-1.5", "+3e-4", "", "1+1", "<b>"]


def test_a_spreadsheet_takes_no_cell_and_no_heading_for_a_formula():
    frame = pd.DataFrame({"text": FORMULAS + HARMLESS, "=head": [-1.5] * (len(FORMULAS) + len(HARMLESS))})
    safe = formats.as_bytes(frame, "csv", spreadsheet_safe=True)
    back = pd.read_csv(io.BytesIO(safe), keep_default_na=False, dtype={"text": str}, lineterminator="\n")
    assert list(back.columns) == ["text", "'=head"]
    assert list(back["text"]) == [f"'{text}" for text in FORMULAS] + HARMLESS
    assert (back["'=head"] == -1.5).all()


def test_without_the_flag_a_csv_file_gives_every_formula_back():
    frame = pd.DataFrame({"text": FORMULAS})
    back = pd.read_csv(io.BytesIO(formats.as_bytes(frame, "csv")), lineterminator="\n")
    assert list(back["text"]) == FORMULAS


def test_lists_and_categories_that_begin_like_formulas_are_quoted_too():
    frame = pd.DataFrame(
        {"kind": pd.Series(["=a", "b"], dtype="category"), "string": pd.Series(["@a", None], dtype="string")}
    )
    back = pd.read_csv(io.BytesIO(formats.as_bytes(frame, "csv", spreadsheet_safe=True)))
    assert list(back["kind"]) == ["'=a", "b"] and back["string"][0] == "'@a"


def test_parquet_takes_a_column_of_mixed_kinds():
    back = pd.read_parquet(io.BytesIO(formats.as_bytes(FRAME, "parquet")))
    assert list(back["text"]) == list(FRAME["text"])
    assert back["value"].isna().sum() == 1
    assert list(back["mixed"])[:2] == ["1", "two"]


def test_json_lines_have_null_for_a_gap():
    rows = [json.loads(line) for line in formats.as_bytes(FRAME, "jsonl").splitlines()]
    assert [row["value"] for row in rows] == [0.5, None, -1.0, 2.0, 3.0]
    assert [row["text"] for row in rows] == list(FRAME["text"])


@pytest.mark.parametrize("format", formats.FORMATS)
def test_an_empty_frame_and_half_a_surrogate_are_written(format):
    assert formats.as_bytes(FRAME.head(0), format) is not None
    assert formats.as_bytes(pd.DataFrame({"text": pd.Series(["a\ud800b"], dtype=object)}), format)
