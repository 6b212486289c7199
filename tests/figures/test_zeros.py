"""Zero has no sign, on axes and in what a dot says when it is pointed at."""

import re
from pathlib import Path

import pytest

from explorer.figures import theme
from explorer.settings import ROOT

SOURCES = sorted(Path(ROOT / "explorer").rglob("*.py"))


def test_every_signed_format_of_an_axis_has_its_zero_replaced():
    formats = {found for path in SOURCES for found in re.findall(r'"(\+\.\d[%f])"', path.read_text(encoding="utf-8"))}
    assert {"+.0%", "+.1f"} <= formats
    for number in formats:
        shown = format(0.0, number)
        assert theme.ZEROS[shown] == shown.removeprefix("+")
        assert theme.ZEROS[shown.replace("+", "\u2212")] == shown.removeprefix("+")
    layout = theme.template("dark").layout
    assert layout.xaxis.labelalias == layout.yaxis.labelalias == theme.ZEROS


def test_no_hover_text_leaves_a_signed_number_to_the_browser():
    # the browser's "+.1%" writes +0.0% and, of a number just below zero, a minus before it
    for path in SOURCES:
        assert not re.search(r"%\{+[\w\[\]]+:\+", path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize(
    ("value", "number", "text"),
    [
        (0.0, "+.1%", "0.0%"),
        (-1e-9, "+.1%", "0.0%"),
        (-0.0, ".2f", "0.00"),
        (-0.25, "+.0%", "\u221225%"),
        (3, ".3~g", "3"),
    ],
)
def test_a_number_is_written_without_the_sign_of_nothing(value, number, text):
    assert theme.written(value, number) == text
