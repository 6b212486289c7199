"""Benchmarks as tests see them: real ones loaded once, and folders with files written by the test."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from explorer import benchmarks, settings
from explorer.benchmarks import Loaded
from explorer.settings import Settings


@pytest.fixture(scope="session")
def real(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Loaded]:
    """Loads a benchmark from the real files, each once in a test session."""
    seen: dict[str, Loaded] = {}
    found = settings.read(cache=tmp_path_factory.mktemp("cache"), data=data_folder)

    def load(name: str) -> Loaded:
        if name not in seen:
            seen[name] = benchmarks.load(name, found)
        return seen[name]

    return load


@pytest.fixture
def bare(settings: Settings) -> Settings:
    """Settings without network and without any benchmark file."""
    return dataclasses.replace(settings, data=None)


@pytest.fixture
def written(settings: Settings, tmp_path: Path) -> Callable[[Mapping[str, str | bytes]], Settings]:
    """Settings whose data folder holds these files."""

    def write(files: Mapping[str, str | bytes]) -> Settings:
        folder = tmp_path / "data"
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return dataclasses.replace(settings, data=folder)

    return write
