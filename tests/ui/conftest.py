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
from explorer.popularity import index
from explorer.popularity.documents import SourceDocument
from explorer.settings import ROOT
from explorer.ui import show, visitor

OpenPage = Callable[..., AppTest]
PER_GROUP = 2


# What the app remembers, and whose it is: the file and the group of the tests that share it.
_REMEMBERED = pytest.StashKey[tuple[Path, str]]()


@pytest.fixture(autouse=True)
def fresh_app(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No cache of one test reaches another, and none reaches the network.

    Tests of a file that are marked `shares_answers("WHOSE")` only read one folder, and nothing is put in another's
    place for them. They stand one after the other, like visitors of one server: what it was asked once, it remembers.
    """
    monkeypatch.setenv("EXPLORER_OFFLINE", "1")
    mark = request.node.get_closest_marker("shares_answers")
    group = (request.path, str(mark.args[0])) if mark else None
    if group is None or request.config.stash.get(_REMEMBERED, None) != group:
        _forget(request.config)
    yield
    if group is None:
        _forget(request.config)
    else:
        request.config.stash[_REMEMBERED] = group


def _forget(config: pytest.Config) -> None:
    st.cache_data.clear()
    st.cache_resource.clear()
    if _REMEMBERED in config.stash:
        del config.stash[_REMEMBERED]


@pytest.fixture(scope="session", autouse=True)
def encoders_read_once() -> Iterator[None]:
    """The sentence encoder and BERTScore of the installed files: half a hundred tests would read them anew."""
    from explorer.scoring import encoder
    from explorer.similarity import bertscore

    class Once:
        def __init__(self, make: Callable[..., Any]) -> None:
            self.make = make
            self.made: dict[Any, Any] = {}

        def __call__(self, name: str, path: Path, *rest: Any) -> Any:
            if "dist-packages" not in path.parts and "site-packages" not in path.parts:
                return self.make(name, path, *rest)  # a test's own files, which it may damage
            key = (name, path, repr(rest))
            if key not in self.made:
                self.made[key] = self.make(name, path, *rest)
            return self.made[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoder, "SentenceEncoder", Once(encoder.SentenceEncoder))
        patch.setattr(bertscore, "BertScore", Once(bertscore.BertScore))
        yield


@pytest.fixture(scope="module")
def bare_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty cache that tests of a file only look at."""
    return tmp_path_factory.mktemp("bare") / "cache"


@pytest.fixture
def clean_clone(bare_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache beside the runs that came along, which tests of a file only look at."""
    monkeypatch.delenv("EXPLORER_PRECOMPUTED", raising=False)
    return bare_cache


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


@pytest.fixture(scope="session")
def small_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A local index of two sentences."""
    texts = [SourceDocument(" My grandmother walked home before winter. The old teacher taught herself.", "a", 0)]
    folder = tmp_path_factory.mktemp("index") / "small"
    index.build(lambda: texts, folder, vocabulary=300)
    return folder
