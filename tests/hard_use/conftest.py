"""Hard use: a finished run that each test may damage, a benchmark of hostile texts, and ways to spoil a file."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer import settings as settings_module
from explorer.resources import Resources
from explorer.runs.folder import RunFolder
from explorer.settings import Settings

# What may be left of a file after a crash of the machine, a full disk or a bad cable.
SPOILED: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "garbage": lambda data: b"\xde\xad\xbe\xef" * 512,
    "zeros": lambda data: bytes(len(data)),
}
LIMIT = 56


@pytest.fixture(scope="session")
def spoil() -> Callable[[Path, str], None]:
    """Leaves of a file what SPOILED says."""

    def leave(path: Path, how: str) -> None:
        path.write_bytes(SPOILED[how](path.read_bytes()))

    return leave


@pytest.fixture(scope="session")
def finished(tiny_gpt2: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A cache with a finished run of several parts, and the run's id."""
    from explorer.runs import request, worker

    settings = settings_module.read(cache=tmp_path_factory.mktemp("hard") / "cache")
    resources = Resources(settings)
    spec = request.make_spec(resources, study="accuracy", model=str(tiny_gpt2), benchmark="starter_pairs", limit=LIMIT)
    folder = RunFolder.create(settings.runs, spec)
    assert worker.work(folder, resources, lambda text: None, wait=False) == "complete"
    return settings.cache, folder.run_id


@pytest.fixture
def run(finished: tuple[Path, str], settings: Settings) -> tuple[Settings, RunFolder]:
    """The test's own copy of the finished run, with the settings that find it."""
    cache, run_id = finished
    shutil.copytree(cache, settings.cache)
    return settings, RunFolder(settings.runs / run_id)


@pytest.fixture
def elsewhere(settings: Settings, tmp_path: Path) -> Settings:
    """Settings with an empty cache."""
    return dataclasses.replace(settings, cache=tmp_path / "elsewhere")
