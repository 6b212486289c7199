"""Settings come from the environment, once, and a wrong one is one sentence."""

from __future__ import annotations

import pytest

from explorer import settings
from explorer.errors import UsageError


def test_what_the_caller_gives_wins_over_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "named"))
    assert settings.read().cache == tmp_path / "named"
    assert settings.read(cache=tmp_path / "given").cache == tmp_path / "given"


@pytest.mark.parametrize("name", ["EXPLORER_THREADS", "EXPLORER_PARALLEL_RUNS", "EXPLORER_REQUESTS_PER_SECOND"])
@pytest.mark.parametrize("text", ["many", "nan", "inf", "1e999", " "])
def test_a_number_that_is_none_is_refused(monkeypatch, name, text):
    monkeypatch.setenv(name, text)
    with pytest.raises(UsageError, match=f"{name} is '{text}', expected a number"):
        settings.read()


def test_keys_are_not_shown(monkeypatch):
    monkeypatch.setenv("EXPLORER_API_KEY", "planted-secret")
    monkeypatch.setenv("OPENAI_API_KEY", "planted-secret")
    assert settings.read().api_key == "planted-secret"
    assert "planted" not in repr(settings.read())
