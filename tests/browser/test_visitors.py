"""Two visitors at once in real browser sessions, a full run going: no fault, and each gets its live scores."""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.browser


def bench():
    found = importlib.util.spec_from_file_location("visitors", ROOT / "bench" / "visitors.py")
    made = importlib.util.module_from_spec(found)
    sys.modules["visitors"] = made  # where its dataclasses look for themselves
    found.loader.exec_module(made)
    return made


@pytest.mark.usefixtures("undone")
def test_two_visitors_and_a_full_run_at_once_meet_no_fault(server, cache):
    if not (shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")):
        pytest.skip("Chromium is not installed; on Debian: apt-get install chromium")
    visitors = bench()
    visit = visitors.visit(server, visitors=2, seconds=0, pages=("instance", "overview", "runs"))
    # In a thread of its own: Playwright's event loop may be at work in this one.
    with visitors.full_run(cache), ThreadPoolExecutor(1) as thread:
        found = thread.submit(asyncio.run, visit).result()
    assert found.faults == []
    seen = {row["step"]: row["n"] for row in found.rows()}
    assert seen == {"open instance": 2, "open overview": 2, "open runs": 2, "score live": 2}
    assert visitors.run_progress(cache)
