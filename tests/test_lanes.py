"""How tests are handed out to processes."""

from __future__ import annotations

from explorer.settings import ROOT
from tests.conftest import LANES, lane_of


def test_every_file_of_tests_in_a_browser_has_one_lane():
    files = sorted(path.name for path in (ROOT / "tests" / "browser").glob("test_*.py"))
    assert sorted(name for lane in LANES for name in lane) == files
    assert {lane_of(name, "browser") for name in files} == {1, 2}
    assert lane_of("test_browser.py", "ui") == 0
