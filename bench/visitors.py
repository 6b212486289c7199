"""Many visitors at once, each in a browser session of its own, while a full run is going.

    python bench/visitors.py --cache cache --visitors 10 --seconds 180
    python bench/visitors.py --cache cache --visitors 10 --seconds 180 --alone      # without a run beside it

Each visitor goes from page to page by their addresses and, on the page Instance, changes a sentence and scores it live.
Told are medians and 95th percentiles in seconds, and everything that went wrong: tracebacks, errors of the console,
answers of 400 and above, a page that did not come to rest in time. Needs Chromium, and playwright from
requirements-dev.txt; a cache with the embedded model.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MODEL = "gemma-3-270m"
BENCHMARK = "starter_pairs"
PAGES = tuple(sorted(path.stem for path in (ROOT / "pages").glob("*.py")))
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--no-first-run"]
PATIENCE = 180_000  # milliseconds until a page that does not come to rest is a fault
RESTING = (
    "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"
    " && document.querySelector('h1')"
)


@dataclass
class Visits:
    """What the visitors saw: seconds by kind of step, and what went wrong."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    faults: list[str] = field(default_factory=list)

    def rows(self) -> list[dict[str, Any]]:
        """A row per kind of step: how often, median, 95th percentile, longest."""
        return [
            {
                "step": step,
                "n": len(found),
                "median": round(statistics.median(found), 2),
                "p95": round(sorted(found)[int(0.95 * (len(found) - 1))], 2),
                "longest": round(max(found), 2),
            }
            for step, found in sorted(self.seconds.items())
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", default=str(ROOT / "cache"), help="whose models are used; runs go elsewhere")
    parser.add_argument("--visitors", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument("--alone", action="store_true", help="no full run beside the visitors")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the server and the run end with this process
    with tempfile.TemporaryDirectory() as folder:
        cache = borrowed_cache(Path(args.cache), Path(folder))
        with server(cache) as address, contextlib.ExitStack() as stack:
            if not args.alone:
                stack.enter_context(full_run(cache))
            found = Visits()
            try:
                asyncio.run(visit(address, args.visitors, args.seconds, found=found))
            finally:  # also when it is ended early: what was seen until then
                told = {"visitors": args.visitors, "run": run_progress(cache), "faults": found.faults}
                print(json.dumps({**told, "steps": found.rows()}, indent=1), flush=True)
    sys.exit(1 if found.faults else 0)


async def visit(
    address: str, visitors: int, seconds: float, pages: tuple[str, ...] = PAGES, found: Visits | None = None
) -> Visits:
    """What so many visitors see who come and go for so long, each at least once through all pages."""
    from playwright.async_api import async_playwright

    found = Visits() if found is None else found
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=FLAGS)
        until = time.monotonic() + seconds
        await asyncio.gather(*(_visitor(browser, address, number, until, pages, found) for number in range(visitors)))
        await browser.close()
    return found


async def _visitor(
    browser: Any, address: str, number: int, until: float, pages: tuple[str, ...], found: Visits
) -> None:
    context = await browser.new_context(viewport={"width": 1280, "height": 1000})
    page = await context.new_page()
    page.set_default_timeout(PATIENCE)
    page.on("console", lambda message: _note(found, number, message))
    page.on("pageerror", lambda error: found.faults.append(f"visitor {number}: {error}"))
    page.on("response", lambda answer: _look(found, number, answer))
    rounds = 0
    # Each starts at another page, so that not all ask for the same one.
    order = [*pages[number % len(pages) :], *pages[: number % len(pages)]]
    while rounds == 0 or time.monotonic() < until:
        for name in order:
            try:
                await _step(page, address, name, f"{number}-{rounds}", found)
            except Exception as error:
                found.faults.append(f"visitor {number} at {name}: {type(error).__name__}: {str(error).splitlines()[0]}")
            if rounds and time.monotonic() > until:
                break
        rounds += 1
    await context.close()


async def _step(page: Any, address: str, name: str, mark: str, found: Visits) -> None:
    began = time.monotonic()
    await page.goto(f"{address}/{name}?model={MODEL}&benchmark={BENCHMARK}")
    await page.wait_for_function(RESTING)
    found.seconds[f"open {name}"].append(time.monotonic() - began)
    if name == "instance":
        await _score(page, mark, found)
    for fault in await page.query_selector_all("[data-testid=stException]"):
        found.faults.append(f"traceback at {name}: {(await fault.inner_text())[:300]}")


async def _score(page: Any, mark: str, found: Visits) -> None:
    """A sentence that nobody scored before, so that the model is really asked."""
    await page.locator("[data-id='edit:option 0']").click()
    sentence = page.locator("[data-id=editor]")
    await sentence.fill(f"Visitor {mark} says so.")
    began = time.monotonic()
    await sentence.press("Enter")
    await page.locator(".lx-token", has_text=mark.split("-")[0]).first.wait_for()
    found.seconds["score live"].append(time.monotonic() - began)
    await page.wait_for_function(RESTING)


def _note(found: Visits, number: int, message: Any) -> None:
    # Opened below the root, Streamlit's client first looks for its server beside the page: two answers of 404.
    if message.type == "error" and "/_stcore/" not in str(message.location.get("url", "")):
        found.faults.append(f"visitor {number}: {message.text} {message.location.get('url', '')}")


def _look(found: Visits, number: int, answer: Any) -> None:
    if answer.status >= 400 and "/_stcore/" not in answer.url:
        found.faults.append(f"visitor {number}: {answer.url} answered with {answer.status}")


def borrowed_cache(shared: Path, folder: Path) -> Path:
    """A cache of one's own with the models, WordNet and indexes of another."""
    own = folder / "cache"
    own.mkdir()
    for name in ("models", "nltk_data", "indexes"):
        if (shared / name).is_dir():
            (own / name).symlink_to((shared / name).resolve())
    return own


@contextlib.contextmanager
def server(cache: Path) -> Iterator[str]:
    """The app's address on this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "EXPLORER_CACHE": str(cache), "EXPLORER_OFFLINE": "1"}
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        "app.py",
        f"--server.port={port}",
        "--server.address=127.0.0.1",
    ]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=2).close()
                break
            time.sleep(0.25)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)


@contextlib.contextmanager
def full_run(cache: Path) -> Iterator[None]:
    """A full accuracy run of the embedded model, in a worker of its own, for as long as the block takes."""
    command = [sys.executable, "-m", "explorer", "run", "accuracy", "--model", MODEL, "--benchmark", BENCHMARK]
    environment = {**os.environ, "EXPLORER_OFFLINE": "1", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [*command, "--cache", str(cache)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=60)


def run_progress(cache: Path) -> dict[str, Any]:
    """How far the run came, {} where there is none."""
    for path in cache.glob("runs/*/progress.json"):
        told = json.loads(path.read_text("utf-8"))
        return {name: told.get(name) for name in ("status", "done", "total", "message")}
    return {}


if __name__ == "__main__":
    main()
