"""The first visit: a clean clone with a fresh cache and no network, in Chromium, on packages that have moved on.

What `app` prepares on a first start it prepares from a package that lies there already; whatever leaves this machine
fails the test. One more clone, on the packages as installed, is never prepared at all: it has no such package.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from explorer.settings import ROOT
from explorer.ui.layout import PAGES
from tests.browser.conftest import MODEL, PATIENCE, Browser, serving, visiting

pytestmark = pytest.mark.browser

# Packages that no number depends on, each in another version than is installed.
MOVED = {"idna": ("3.10", "3.7"), "click": ("8.3.1", "8.1.8")}
LIMIT = 6  # instances of the run that is started
TEXT = "The old doctor bought a small house near the harbor."

# Refuses whatever is not this machine, and writes down who was asked for.
WALL = """
import os, socket

def _here(address):
    host = address[0] if isinstance(address, tuple) else ""
    return host in ("", "localhost", "::1", "0.0.0.0", "::") or str(host).startswith("127.")

def _refuse(address):
    with open(os.environ["WALL_LOG"], "a") as log:
        log.write(f"{address}\\n")
    raise OSError(101, "Network is unreachable")

_connect, _connect_ex, _look_up = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

def connect(self, address):
    return _connect(self, address) if _here(address) else _refuse(address)

def connect_ex(self, address):
    return _connect_ex(self, address) if _here(address) else _refuse(address)

def getaddrinfo(host, *rest, **named):
    return _look_up(host, *rest, **named) if host is None or _here((host,)) else _refuse((host,))

socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo = connect, connect_ex, getaddrinfo
"""


@dataclass(frozen=True)
class Visit:
    """A clone on its way to be visited: where it is, its cache, and the environment of all that is started in it."""

    clone: Path
    cache: Path
    environment: dict[str, str]
    log: Path  # who was asked for beyond this machine

    def explorer(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "explorer", *arguments]
        return subprocess.run(command, cwd=self.clone, env=self.environment, capture_output=True, text=True)

    def asked_for(self) -> str:
        return self.log.read_text() if self.log.exists() else ""


def begin(folder: Path, models: Path, *, overlay: Path | None = None) -> Visit:
    """A clean clone with a fresh cache, but for converted models, which take minutes and are tested elsewhere."""
    clone, cache, wall = folder / "clone", folder / "cache", folder / "wall"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    for made in (cache, wall, folder / "home"):
        made.mkdir()
    (cache / "models").symlink_to(models)
    (wall / "sitecustomize.py").write_text(WALL)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("EXPLORER_", "STREAMLIT_"))}
    paths = [str(path) for path in (wall, overlay) if path]
    return Visit(
        clone,
        cache,
        {
            **kept,
            "EXPLORER_CACHE": str(cache),
            "HOME": str(folder / "home"),
            "PYTHONPATH": os.pathsep.join(paths),
            "WALL_LOG": str(folder / "asked.txt"),
        },
        folder / "asked.txt",
    )


@pytest.fixture(scope="module")
def models(embedded_cache: Path) -> Path:
    from explorer import settings as settings_module
    from explorer.scoring import embedded

    shared = settings_module.read(cache=embedded_cache)
    embedded.ensure(MODEL, shared)
    return shared.models


@pytest.fixture(scope="module")
def prepared(
    models: Path,
    shared_settings: Any,
    glassbox_index: Callable[[Path], contextlib.AbstractContextManager[None]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Visit:
    """A clone whose first start, offline on packages that have moved on, has prepared all that it needs.

    The package with WordNet in it was downloaded for all tests; the index is built here, and then theirs, too.
    """
    overlay = tmp_path_factory.mktemp("overlay")
    others = [
        f"{name}=={next(one for one in versions if one != importlib.metadata.version(name))}"
        for name, versions in MOVED.items()
    ]
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(overlay), *others]
    subprocess.run(pip, check=True)
    visit = begin(tmp_path_factory.mktemp("prepared"), models, overlay=overlay)
    if not any(shared_settings.downloads.glob("*")):
        pytest.skip(
            f"{shared_settings.downloads} holds nothing, though WordNet is in the cache named by EXPLORER_CACHE"
        )
    (visit.cache / "downloads").symlink_to(shared_settings.downloads)
    visit.environment["EXPLORER_OFFLINE"] = "1"
    with glassbox_index(visit.cache / "indexes" / "glassbox"):
        done = visit.explorer("app", "--prepare-only")
        assert done.returncode == 0, done.stderr
    return visit


@pytest.fixture(scope="module")
def unprepared(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Visit:
    """A clone that has had no network from the start: no WordNet, no index."""
    visit = begin(tmp_path_factory.mktemp("unprepared"), models)
    visit.environment["PIP_RETRIES"] = "0"  # each would meet the same wall
    done = visit.explorer("app", "--prepare-only")
    assert done.returncode == 1
    assert "not ready: WordNet" in done.stderr + done.stdout
    return visit


@pytest.fixture(scope="module")
def prepared_server(prepared: Visit) -> Iterator[str]:
    with serving(prepared.cache, prepared.clone, prepared.environment) as address:
        yield address


@pytest.fixture(scope="module")
def unprepared_server(unprepared: Visit) -> Iterator[str]:
    with serving(unprepared.cache, unprepared.clone, unprepared.environment) as address:
        yield address


@contextlib.contextmanager
def guarded(tab: Any, address: str) -> Iterator[Browser]:
    """A window on the app in which a request to anybody else is a fault, as is an error when the test is over."""
    with visiting(tab, address) as window:

        def guard(asked: Any) -> None:
            # To look on is enough; to stand in between would switch Chromium's cache off.
            to = urlsplit(asked.url)
            if to.scheme in ("http", "https", "ws", "wss") and to.hostname != "127.0.0.1":
                window.faults.append(f"asked for {asked.url}")

        tab.on("request", guard)
        try:
            yield window
            sound(window)
        finally:
            tab.remove_listener("request", guard)


def sound(window: Browser) -> None:
    """No traceback, no red box, no error in the console."""
    window.settle()
    assert window.tracebacks() == []
    assert window.page.locator("[data-testid=stAlertContentError]").all_inner_texts() == []
    assert window.faults == []


def await_it(window: Browser, *wanted: Any, patience: float = 2 * PATIENCE) -> Any:
    """The first of these to come up; a red box that comes up instead fails at once."""
    first, *others = wanted
    for other in others:
        first = first.or_(other)
    red = window.page.locator("[data-testid=stAlertContentError], [data-testid=stException]")
    first.or_(red).first.wait_for(timeout=patience)
    assert red.all_inner_texts() == []
    return first.first


@pytest.fixture
def window(tab: Any, prepared_server: str) -> Iterator[Browser]:
    with guarded(tab, prepared_server) as found:
        yield found


@pytest.fixture
def unprepared_window(tab: Any, unprepared_server: str) -> Iterator[Browser]:
    with guarded(tab, unprepared_server) as found:
        yield found


def number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def moved(window: Browser) -> dict[str, float]:
    """Each shown number that a swap has changed, by its label."""
    changes = {}
    for metric in window.page.locator("[data-testid=stMetric]").all():
        delta = metric.locator("[data-testid=stMetricDelta]")
        if delta.count():
            label = metric.locator("[data-testid=stMetricLabel]").inner_text()
            changes[label] = number(delta.inner_text())
    return changes


def swap_a_word(window: Browser) -> dict[str, float]:
    """Clicks the first word that offers a synonym and takes the first synonym: two clicks."""
    page = window.page
    await_it(window, page.locator("button.lx-swap")).click()
    await_it(window, page.locator("button.lx-synonym")).click()
    await_it(window, page.locator("button.lx-swapped"))
    changed = page.locator("[data-testid=stMetric]").filter(has=page.locator("[data-testid=stMetricDelta]"))
    await_it(window, changed)
    window.settle()
    return moved(window)


def rated_or_told(window: Browser) -> bool:
    """Whether popularity is shown, or a quiet line in its place says why not."""
    shown = window.page.locator("[data-testid=stMetricLabel]", has_text="IPS").count() > 0
    return shown or window.page.locator(".lx-note", has_text=re.compile("popularity", re.I)).count() > 0


@pytest.mark.parametrize("page", PAGES, ids=[page.address for page in PAGES])
def test_a_page_opens_by_its_address_on_a_first_visit(window, page):
    opened = window.open(page.address)
    assert opened.locator("h1").first.inner_text() == page.title
    opened.locator("[data-testid=stSidebar]").get_by_text("Lexiscope").wait_for()
    assert "does not seem to exist" not in opened.inner_text("body")


def test_from_the_front_page_a_word_is_swapped_in_three_clicks_and_margin_and_popularity_move(window):
    page = window.open("")
    page.get_by_role("link", name="Instance", exact=True).first.click()
    changes = swap_a_word(window)
    assert any(change for label, change in changes.items() if label.startswith("Margin"))
    assert any(change for label, change in changes.items() if label.startswith("Popularity"))


def test_a_newcomer_makes_a_wrong_instance_right_by_one_word_and_has_the_link(window):
    page = window.open(f"overview?model={MODEL}&benchmark=starter_pairs")
    await_it(window, page.get_by_role("link", name=re.compile("gets wrong by a little"))).click()
    verdict = page.locator(".lx-verdict")
    await_it(window, verdict.filter(has_text="Wrong"))
    await_it(window, page.locator("button.lx-swap")).click()
    synonyms = page.locator(".lx-panel button.lx-synonym")
    await_it(window, synonyms)
    for number_of_synonym in range(synonyms.count()):
        synonyms.nth(number_of_synonym).click()
        await_it(window, page.locator("button.lx-swapped"))
        window.settle()
        if verdict.first.inner_text().startswith("Right"):
            break
    assert verdict.first.inner_text().startswith("Right")
    # Without the right to use the clipboard the address stands in a field, selected.
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    page.locator("[data-id=link]").click()
    assert "swaps=" in page.locator(".lx-link").input_value()


def test_a_word_of_a_text_of_ones_own_is_swapped_and_its_numbers_move(window):
    page = window.open(f"perturbation?model={MODEL}&benchmark=starter_pairs&facet=Live+lab")
    await_it(window, page.get_by_role("button", name="Own text")).click()
    page.get_by_text("A text of my own").click()
    box = page.get_by_label("Text", exact=True)
    box.wait_for()
    page.keyboard.press("Escape")
    window.settle()  # the page that is still being drawn would put its own text into the box
    box.fill(TEXT)
    box.press("Control+Enter")
    await_it(window, page.locator("button.lx-swap", has_text="doctor"))
    window.settle()
    changes = swap_a_word(window)
    assert changes["log P, text"] != 0
    assert rated_or_told(window)


def test_a_context_moves_the_margin_of_a_pair(window):
    page = window.open(f"priming?model={MODEL}&benchmark=starter_pairs&priming=Live+lab")
    margin = page.locator("[data-testid=stMetric]", has_text="Margin")
    await_it(window, margin)
    window.settle()
    page.get_by_role("button", name="Draw sentences").click()
    page.get_by_role("button", name=re.compile("matched, acceptable", re.I)).first.click()
    await_it(window, margin.locator("[data-testid=stMetricDelta]"))
    window.settle()
    assert number(margin.locator("[data-testid=stMetricDelta]").inner_text()) != 0


def test_a_run_from_the_bar_finishes_and_its_instances_are_stepped_through(window, prepared):
    page = window.open(f"overview?model={MODEL}&benchmark=starter_pairs")
    before = set((prepared.cache / "runs").glob("*"))
    page.get_by_role("button", name="Run", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Advanced").click()
    dialog.get_by_role("spinbutton", name="Limit").fill(str(LIMIT))
    page.keyboard.press("Tab")
    dialog.get_by_text(f"{LIMIT} instances").wait_for()
    dialog.get_by_role("button", name="Start", exact=True).click()
    dialog.wait_for(state="detached", timeout=2 * PATIENCE)
    (run_id,) = (path.name for path in set((prepared.cache / "runs").glob("*")) - before)
    ended = page.locator("[class*=st-key-lx-ended]", has_text=f"is done: {LIMIT} instances")
    await_it(window, ended, patience=4 * PATIENCE)
    assert json.loads((prepared.cache / "runs" / run_id / "progress.json").read_text())["status"] == "complete"
    window.settle()
    ended.get_by_role("link", name="See what it found").click()
    await_it(window, page.locator(".lx-where", has_text=f"1 of {LIMIT} ·"))
    window.settle()
    await_it(window, page.locator("button.lx-token"))
    assert page.locator(".lx-verdict").count() == 1

    page.mouse.click(1000, 40)
    page.keyboard.press("ArrowRight")
    await_it(window, page.locator(".lx-where", has_text=f"2 of {LIMIT} ·"))

    # The address alone brings the same instance back, in another window.
    address = page.url
    shown = page.locator(".lx-where").first.inner_text()
    page.goto("about:blank")
    page.goto(address)
    await_it(window, page.locator(".lx-where", has_text=f"2 of {LIMIT} ·"))
    assert page.locator(".lx-where").first.inner_text() == shown
    page = window.open(f"instance?model={MODEL}&benchmark=starter_pairs&run={run_id}")
    await_it(window, page.locator(".lx-where", has_text=f"1 of {LIMIT} ·"))
    assert page.locator(".lx-verdict").count() == 1


def test_nobody_outside_was_asked(prepared):
    assert prepared.asked_for() == ""


@pytest.mark.parametrize("page", PAGES, ids=[page.address for page in PAGES])
def test_without_anything_prepared_a_page_still_opens(unprepared_window, page):
    opened = unprepared_window.open(f"{page.address}?model={MODEL}&benchmark=starter_pairs")
    assert opened.locator("h1").first.inner_text() == page.title


def test_without_anything_prepared_the_lab_says_what_is_missing_and_instances_are_scored(unprepared_window):
    window = unprepared_window
    page = window.open(f"perturbation?model={MODEL}&benchmark=starter_pairs")
    page.get_by_text("is not on this machine yet").first.wait_for(timeout=2 * PATIENCE)
    page = window.open(f"instance?model={MODEL}&benchmark=starter_pairs")
    await_it(window, page.locator("button.lx-token .lx-number"))
    assert page.locator(".lx-verdict").count() == 1
    assert rated_or_told(window)
