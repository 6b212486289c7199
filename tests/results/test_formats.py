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
