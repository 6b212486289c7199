"""The doctor looks at everything, tells faults from remarks, and never falls ill himself."""

from __future__ import annotations

from explorer import doctor
from explorer.__main__ import main
from explorer.results import store


def by_name(settings) -> dict:
    return {finding.what: finding for finding in doctor.examine(settings)}


def test_a_fresh_cache_is_no_fault_and_says_what_comes_later(settings):
    found = by_name(settings)
    assert set(found) == set(doctor.CHECKS)
    assert found["Python"].status == found["packages"].status == found["device"].status == "ok"
    assert found["embedded models"].status == "note" and "first command" in found["embedded models"].message
    assert found["database"].message == "0 runs"


def test_a_damaged_database_is_a_fault_with_its_remedy(settings):
    settings.store.mkdir(parents=True)
    (settings.store / "explorer-1.duckdb").write_bytes(b"nothing" * 999)
    (settings.store / "current.json").write_text('{"file": "explorer-1.duckdb"}')
    found = by_name(settings)["database"]
    assert found.status == "fault" and "rebuild" in found.message
    assert store.rebuild_database(settings) == (0, [])
    assert by_name(settings)["database"].status == "ok"


def test_without_a_browser_figures_are_a_remark_that_says_what_to_install(settings, monkeypatch, tmp_path):
    from explorer.figures import images

    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "none"))
    images.browser.cache_clear()
    try:
        found = by_name(settings)["figures as files"]
    finally:
        images.browser.cache_clear()
    assert found.status == "note" and "apt-get install chromium" in found.message


def test_a_check_that_fails_is_a_finding_of_its_own(settings, monkeypatch):
    def broken(settings):
        raise ValueError("no such thing")

    monkeypatch.setitem(doctor.CHECKS, "device", broken)
    assert by_name(settings)["device"] == doctor.Finding("device", "fault", "ValueError: no such thing")


def test_a_long_message_is_printed_whole_in_a_terminal_too(settings, monkeypatch, capsys):
    message = f"not on this machine: {', '.join(f'benchmark_{n}' for n in range(40))} (downloaded when asked for)."
    monkeypatch.setitem(doctor.CHECKS, "benchmarks", lambda settings: ("note", message))
    assert main(["doctor", "--cache", str(settings.cache)]) == 0
    assert message in capsys.readouterr().out
