"""The line of progress on standard error: how much of how much, and only what is known."""

from __future__ import annotations

from explorer.commands.common import ProgressLine


def test_where_the_amount_is_not_known_yet_no_amount_is_told(capsys):
    line = ProgressLine("counting")
    line(847, 0)
    line(900, 1_000)
    assert capsys.readouterr().err.splitlines() == ["counting: 847", "counting: 900 of 1,000"]


def test_a_log_has_a_line_every_tenth(capsys):
    line = ProgressLine("scoring")
    for done in range(0, 101):
        line(done, 100)
    assert len(capsys.readouterr().err.splitlines()) == 11
