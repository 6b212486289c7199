"""The page that holds methods against planted truth."""

from __future__ import annotations


def test_without_a_run_the_page_says_how_to_make_one(open_page, tmp_path):
    app = open_page("calibration", tmp_path / "cache")
    assert not app.exception
    told = " ".join(block.value for block in app.get("html")) if app.get("html") else str(app)
    assert "No run of a glass-box model yet" in told and "--benchmark glassbox_pairs" in told
