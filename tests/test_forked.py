"""The forked processes of tests: they begin with what they are asked to do."""

from __future__ import annotations

import sys
import types

from tests.forked import Forked


def do_nothing() -> int:
    return 7


def test_a_forked_process_does_not_run_the_page_that_a_test_has_left_as_main(tmp_path, monkeypatch):
    page = tmp_path / "page.py"
    page.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    left = types.ModuleType("__main__")
    left.__file__ = str(page)
    monkeypatch.setitem(sys.modules, "__main__", left)
    assert Forked(do_nothing).wait(60) == 7
    assert not (tmp_path / "ran").exists()
