"""A real server and a real Chromium; whatever the console or the network complains about fails the test."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from explorer import settings as settings_module
from explorer.settings import ROOT

MODEL = "gemma-3-270m"
WINDOW = {"width": 1280, "height": 1600}
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


@pytest.fixture(scope="module")
def cache(embedded_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of the tests' own that borrows the converted models."""
    from explorer.scoring import embedded

    shared = settings_module.read(cache=embedded_cache)
    embedded.ensure(MODEL, shared)
    own = tmp_path_factory.mktemp("browser") / "cache"
    own.mkdir()
    (own / "models").symlink_to(shared.models)
    return own


@pytest.fixture(scope="module")
def server(cache: Path) -> Iterator[str]:
    """The app's address; a fresh server, so that the first page opened is opened by its address alone."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "EXPLORER_CACHE": str(cache), "EXPLORER_OFFLINE": "1"}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"]
    process = subprocess.Popen([*command, "--server.address=127.0.0.1"], cwd=ROOT, env=environment)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/_stcore/health")
        yield address
    finally:
        process.terminate()
        process.wait(timeout=60)


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def tab() -> Iterator[Any]:
    """A tab of Chromium for all tests of a file: each address opened in it is a new session of the app.

    A tab of its own for each test would parse Streamlit's scripts each time, which takes longer than the test.
    """
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("Chromium is not installed; on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = chromium.new_page(viewport=WINDOW)
        page.set_default_timeout(PATIENCE)
        yield page
        chromium.close()


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
