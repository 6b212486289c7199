"""The whole app in memory, over a cache with one real finished run of a tiny model, and over an empty one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from explorer import admission
from explorer import settings as settings_module
from explorer.settings import ROOT
from explorer.ui import show, visitor

OpenPage = Callable[..., AppTest]
PER_GROUP = 2


@pytest.fixture(autouse=True)
def fresh_app(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No cache of one test reaches another, and none reaches the network."""
    monkeypatch.setenv("EXPLORER_OFFLINE", "1")
    st.cache_data.clear()
    st.cache_resource.clear()
    yield
    st.cache_data.clear()
    st.cache_resource.clear()


@pytest.fixture(autouse=True)
def unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a reader would have to open is open; tests/ui/test_show.py has it closed, too."""
    monkeypatch.setattr(show, "is_open", lambda fold: True)


@pytest.fixture(scope="session")
def finished(tiny_gpt2: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A cache with a finished accuracy run of the tiny model on the starter pairs, and the run's id."""
    from explorer.resources import Resources
    from explorer.runs import request, worker
    from explorer.runs.folder import RunFolder

    settings = settings_module.read(cache=tmp_path_factory.mktemp("app") / "cache")
    resources = Resources(settings)
    spec = request.make_spec(
        resources,
        study="accuracy",
        model=str(tiny_gpt2),
        benchmark="starter_pairs",
        settings={"per_group": PER_GROUP},
    )
    folder = RunFolder.create(settings.runs, spec)
    assert worker.work(folder, resources, lambda text: None, wait=False) == "complete"
    return settings.cache, folder.run_id


@pytest.fixture
def cache(finished: tuple[Path, str]) -> Path:
    """A cache with one finished run."""
    return finished[0]


@pytest.fixture
def run_id(finished: tuple[Path, str]) -> str:
    """The id of the run in `cache`."""
    return finished[1]


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch) -> OpenPage:
    """Opens a page by its address, as from a link: no other page was open before."""

    def open_it(page: str, cache: Path, **choices: str) -> AppTest:
        monkeypatch.setenv("EXPLORER_CACHE", str(cache))
        app = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=60)
        for name, value in choices.items():
            app.query_params[name] = value
        if admission.is_address(choices.get("model", "")):  # the reader has said yes; tests/ui/test_names.py asks
            server = admission.server_of(choices["model"], settings_module.read())
            app.session_state[visitor.ALLOWED] = {str(server)}
        return app.run()

    return open_it


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache in which every study has a run on the same starter pairs; tests/made_up_runs.py tells what is in it."""
    from tests.made_up_runs import make

    return make(tmp_path_factory.mktemp("everything") / "cache")


def strip_of(app: AppTest) -> dict[str, Any]:
    """What the strip of a page is given to show."""
    (strip,) = (one.proto for one in app.get("bidi_component") if one.proto.component_name.endswith("lexiscope_strip"))
    shown: dict[str, Any] = json.loads(strip.json)
    return shown
