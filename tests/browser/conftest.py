"""A real server and a real Chromium; whatever the console or the network complains about fails the test."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from explorer import settings as settings_module
from explorer.settings import ROOT
from tests.forked import Forked
from tests.made_up_runs import make

MODEL = "gemma-3-270m"
WINDOW = {"width": 1280, "height": 1600}
STILL: Any = {
    "reduced_motion": "reduce"
}  # what turns and fades is drawn sixty times a second: a fifth of Chromium's time
PATIENCE = 120_000  # ms that a test waits for what it wants to see, on a slow machine beside other work
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--no-first-run",
]


@dataclass
class Browser:
    """A page of Chromium on the app, and what went wrong in it."""

    page: Any
    address: str
    faults: list[str] = field(default_factory=list)

    def open(self, path: str) -> Any:
        self.page.goto(f"{self.address}/{path}")
        self.page.locator("h1").first.wait_for()
        self.settle()
        return self.page

    def settle(self) -> None:
        """Waits until no script runs any more and none is asked for."""
        self.page.wait_for_timeout(300)  # what was typed or chosen last is on its way
        idle = "[data-test-script-state=notRunning][data-test-connection-state=CONNECTED]"
        self.page.locator(f"[data-testid=stApp]{idle}").wait_for()
        self.page.locator("[data-testid=stStatusWidget]").wait_for(state="detached")

    def tracebacks(self) -> list[str]:
        return [element.inner_text() for element in self.page.query_selector_all("[data-testid=stException]")]


class Kept:
    """What the files of this folder share: one Chromium, and the app over one cache that all of them only read.

    It is started when the first test asks for it and ended when a test of another folder comes next: nothing else may
    run beside Playwright's event loop.
    """

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._chromium: Any = None
        self._tab: Any = None
        self._servers: dict[Path, str] = {}

    def chromium(self) -> Any:
        """The browser; another one where it has died."""
        from playwright.sync_api import sync_playwright

        if self._chromium is None or not self._chromium.is_connected():
            program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
            if program is None:
                pytest.skip("Chromium is not installed; on Debian: apt-get install chromium")
            if self._chromium is None:
                self._playwright = self._stack.enter_context(sync_playwright())
            self._chromium = self._playwright.chromium.launch(executable_path=program, args=FLAGS)
            self._stack.callback(self._chromium.close)
        return self._chromium

    def tab(self) -> Any:
        """A tab of the browser, in which each address that is opened is a new session of the app.

        A tab of its own for each test or file would parse Streamlit's scripts each time, four seconds of a processor.
        """
        chromium = self.chromium()
        if self._tab is None or self._tab.is_closed() or self._tab.context.browser is not chromium:
            self._tab = chromium.new_page(viewport=WINDOW, **STILL)
            self._tab.set_default_timeout(PATIENCE)
        return self._tab

    def server(self, cache: Path) -> str:
        """The address of the app over the cache."""
        if cache not in self._servers:
            self._servers[cache] = self._stack.enter_context(serving(cache))
        return self._servers[cache]

    def end(self) -> None:
        self._stack.close()
        self.__init__()  # type: ignore[misc]


KEPT = Kept()
SHARED = pytest.StashKey[set[Path]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    try:
        return (yield)
    finally:
        if nextitem is None or nextitem.path.parent != Path(__file__).parent:
            KEPT.end()


@pytest.fixture(scope="session")
def shared_cache(shared_settings: Any, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """A cache in which all is prepared, and nothing was run: models, WordNet, the index of the glass box."""
    from explorer.glassbox import index
    from explorer.scoring import embedded
    from explorer.variants.wordnet import find_wordnet

    embedded.ensure(MODEL, shared_settings)
    own = settings_module.read(cache=tmp_path_factory.mktemp("browser") / "cache")
    (own.nltk_data / "corpora").mkdir(parents=True)
    own.models.symlink_to(shared_settings.models)
    (own.nltk_data / "corpora" / "wordnet").symlink_to(find_wordnet(shared_settings))
    index.ensure_own(own)
    pytestconfig.stash.setdefault(SHARED, set()).add(own.cache)
    return own.cache


@pytest.fixture(scope="session")
def cache_of_runs(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """A cache with a made-up run of every study, which the tests only read; nothing is scored live here."""
    made = make(tmp_path_factory.mktemp("runs") / "cache")
    pytestconfig.stash.setdefault(SHARED, set()).add(made)
    return made


@pytest.fixture
def undone(cache: Path) -> Iterator[None]:
    """For tests that write into the shared cache: runs and models that were added are taken out again."""
    from explorer.__main__ import main
    from explorer.runs import queue
    from explorer.scoring import owner_models

    yield
    for info in queue.list_runs(settings_module.read(cache=cache)):
        assert main(["delete", info.run_id, "--cache", str(cache)]) == 0
    (cache / owner_models.FILE).unlink(missing_ok=True)


@pytest.fixture(scope="module")
def cache(shared_cache: Path) -> Path:
    """The cache behind the app: the shared one, where a file has none of its own."""
    return shared_cache


@pytest.fixture(scope="module")
def server(cache: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """The app's address."""
    if cache in request.config.stash.get(SHARED, ()):
        yield KEPT.server(cache)
    else:
        with serving(cache) as address:
            yield address


@contextlib.contextmanager
def serving(cache: Path, folder: Path = ROOT, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """The address of an app over a cache, started by Streamlit's own command.

    Where it is not about another folder or environment, it begins where imports are done.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = ["streamlit", "run", "app.py", f"--server.port={port}", "--server.address=127.0.0.1"]
    process: Any
    if folder == ROOT and environment is None:
        process = Forked(_run_app, arguments, env={**os.environ, "EXPLORER_CACHE": str(cache), "EXPLORER_OFFLINE": "1"})
    else:
        process = subprocess.Popen([sys.executable, "-m", *arguments], cwd=folder, env=environment)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/_stcore/health")
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def _run_app(arguments: list[str]) -> None:
    """What `python -m` does with these arguments in the project's folder."""
    from streamlit.web.cli import main

    os.chdir(ROOT)
    sys.argv = arguments
    main()


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def tab() -> Any:
    """The tab of Chromium that all tests of this folder share; whoever visits an app in it leaves it empty."""
    return KEPT.tab()


@pytest.fixture
def people() -> Iterator[Callable[[], Any]]:
    """A browser in which every new page is another person."""
    with contextlib.ExitStack() as stack:

        def person() -> Any:
            context = KEPT.chromium().new_context(**STILL)
            context.set_default_timeout(PATIENCE)
            stack.callback(context.close)
            return context.new_page()

        yield person


@contextlib.contextmanager
def visiting(tab: Any, address: str, scheme: str = "light") -> Iterator[Browser]:
    """The tab on an app, as a visitor has it who was never there; it is left empty."""
    window = Browser(tab, address)
    listeners = {
        "console": lambda message: _note(window, message),
        "pageerror": lambda error: window.faults.append(str(error)),
    }
    tab.set_viewport_size(WINDOW)
    tab.emulate_media(color_scheme=scheme)
    for event, listener in listeners.items():
        tab.on(event, listener)
    try:
        yield window
    finally:
        for event, listener in listeners.items():
            tab.remove_listener(event, listener)
        tab.evaluate("() => { localStorage.clear(); sessionStorage.clear() }")
        tab.goto("about:blank")
        tab.context.clear_cookies()


@pytest.fixture
def browser(tab: Any, server: str, request: pytest.FixtureRequest) -> Iterator[Browser]:
    """Chromium on the app; the test fails for an error in the console or a traceback in the page."""
    scheme = request.getfixturevalue("theme") if "theme" in request.fixturenames else "light"
    with visiting(tab, server, scheme) as window:
        yield window
        tracebacks = window.tracebacks()
    assert not tracebacks
    assert not window.faults


def _note(window: Browser, message: Any) -> None:
    # Opened below the root, Streamlit's client first looks for its server beside the page: two answers of 404.
    probing = "/_stcore/" in str(message.location.get("url", ""))
    if message.type == "error" and not probing:
        window.faults.append(f"{message.text} {message.location.get('url', '')}")


def _wait_for(url: str) -> None:
    end = time.monotonic() + 3 * 60
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(url, timeout=10).close()
            return
        except OSError:
            time.sleep(0.25)
    pytest.fail(f"The app did not answer at {url} within three minutes")
