"""What a reader waits for: a page opened, a page changed, the next instance, a swapped word; and the server's share.

    python bench/pages.py --cache cache
    python bench/pages.py --cache cache --rounds 5 --only calibration replication

One Chromium visits one server. Each page is opened by its address and then gone to by its link in the sidebar; on
Instance, instances are stepped through and a word is swapped for another. All is done once to warm up. Medians are
told: seconds as the reader saw them, and the server's processor seconds, which other work on the machine hardly
changes. A page is there when its script has ended and every figure in view is drawn; the next is gone to when the
browser, too, has nothing more to draw. Needs Chromium, and playwright from requirements-dev.txt; a cache with the
embedded model and WordNet.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sessions import server_process
from visitors import BENCHMARK, FLAGS, MODEL, PAGES, borrowed_cache, server

from explorer.ui.page_list import PAGES as LISTED

PAIR = "starter_pairs/anaphor_gender/kin-01-1"  # "My grandmother taught herself to knit last winter."
RESTING = (
    "(() => { const app = document.querySelector('[data-testid=stApp]');"
    " return app?.dataset.testScriptState === 'notRunning' && app.dataset.testConnectionState === 'CONNECTED'"
    " && document.querySelector('h1') !== null })()"
)
FIGURES = (
    "[...document.querySelectorAll('[data-testid=stPlotlyChart]')]"
    ".filter(one => { const at = one.getBoundingClientRect(); return at.top < innerHeight && at.bottom > 0 })"
    ".every(one => one.querySelector('.main-svg'))"
)
IDLE = """() => new Promise(done => {
    const look = left => left.timeRemaining() > 30 ? done() : requestIdleCallback(look);
    requestIdleCallback(look);
})"""
QUIET = 0.4  # seconds without processor time after which nothing is under way
NUMBERS = "[data-testid=stMetricValue]"
STRIP = ".lx-block .lx-columns"
TITLES = {page.address: page.title for page in LISTED}


@dataclass
class Steps:
    """Seconds a reader waited and processor seconds the server took, by step."""

    process: psutil.Process
    page: Any
    waited: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    worked: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def processor(self) -> float:
        """The processor seconds of the server so far."""
        times = self.process.cpu_times()
        return float(times.user + times.system)

    def take(self, step: str, act: Callable[[], None], seen: Callable[[], None]) -> None:
        """One step: `act` begins it, `seen` returns when the reader sees its end."""
        before, began = self.processor(), time.monotonic()
        act()
        seen()
        self.waited[step].append(time.monotonic() - began)
        self.rest()
        self.worked[step].append(self.processor() - before)

    def rest(self) -> None:
        """Waits until neither the server nor the browser does anything any more."""
        last = -1.0
        while (now := self.processor()) - last > 0.02:
            last = now
            time.sleep(QUIET)
        self.page.evaluate(IDLE)

    def rows(self) -> list[dict[str, Any]]:
        """A row per step, medians and the largest."""
        return [
            {
                "step": step,
                "n": len(seconds),
                "waited": round(statistics.median(seconds), 2),
                "processor": round(statistics.median(self.worked[step]), 2),
                "most processor": round(max(self.worked[step]), 2),
            }
            for step, seconds in self.waited.items()
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", default="cache", help="whose models are used; runs go elsewhere")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=list(PAGES), metavar="PAGE", help=", ".join(PAGES))
    parser.add_argument("--model", default=MODEL)
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the server ends with this process
    with tempfile.TemporaryDirectory() as folder, server(borrowed_cache(Path(args.cache), Path(folder))) as address:
        visit(address, server_process(address), args.only, args.rounds, args.model)


def visit(address: str, process: psutil.Process, pages: list[str], rounds: int, model: str) -> None:
    """Every page so many times, and so many swaps and steps on Instance, after one round to warm up; tells the rows."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.set_default_timeout(180_000)
        warm_up, steps = Steps(process, page), Steps(process, page)
        try:
            for number in range(rounds + 1):
                kept = steps if number else warm_up
                open_pages(page, address, kept, pages, model)
                change_pages(page, address, kept, pages, model)
                if "instance" in pages:
                    step_and_swap(page, address, kept, model)
        finally:  # also when it is ended early: what was seen until then
            for row in steps.rows():
                print(json.dumps(row), flush=True)
        browser.close()


def at_rest(page: Any) -> None:
    """Returns when no script runs, none is asked for, and figures in view are drawn."""
    page.wait_for_function(f"{RESTING} && {FIGURES}")


def open_pages(page: Any, address: str, steps: Steps, pages: list[str], model: str) -> None:
    """Each page by its address, as a link from elsewhere opens it."""
    for name in pages:
        link = f"{address}/{name}?model={model}&benchmark={BENCHMARK}"
        steps.take(f"open {name}", lambda link=link: page.goto(link), lambda: at_rest(page))  # type: ignore[misc]


def change_pages(page: Any, address: str, steps: Steps, pages: list[str], model: str) -> None:
    """Each page by its link in the sidebar; seen is its title over a script that has ended."""
    page.goto(f"{address}/data?model={model}&benchmark={BENCHMARK}")
    at_rest(page)
    steps.rest()
    for name in [*(name for name in pages if name != "data"), *(["data"] if "data" in pages else [])]:
        title = TITLES[name]
        link = page.locator("[data-testid=stSidebar] [data-testid=stPageLink-NavLink]").get_by_text(title, exact=True)
        steps.take(f"change to {name}", link.click, lambda title=title: _titled(page, title))  # type: ignore[misc]


def _titled(page: Any, title: str) -> None:
    page.wait_for_function("title => document.querySelector('h1')?.innerText === title", arg=title)
    at_rest(page)


def step_and_swap(page: Any, address: str, steps: Steps, model: str) -> None:
    """Five times to the next instance, and in each a word swapped for its first synonym."""
    page.goto(f"{address}/instance?model={model}&benchmark={BENCHMARK}&instance={PAIR}")
    page.locator("button.lx-token").first.wait_for()
    page.locator("[data-testid=stMetric]").first.wait_for()
    at_rest(page)
    steps.rest()
    for _ in range(5):
        before = page.locator(STRIP).all_inner_texts()
        steps.take("next instance", page.get_by_role("button", name="Next").first.click, _other(page, STRIP, before))
        at_rest(page)
        steps.rest()
        if page.locator("button.lx-swap").count() == 0:
            continue
        page.locator("button.lx-swap").first.click()
        synonym = page.locator(".lx-panel button.lx-synonym").first
        synonym.wait_for()
        at_rest(page)
        steps.rest()
        before = page.locator(NUMBERS).all_inner_texts()
        steps.take("swap shown", synonym.click, _other(page, NUMBERS, before))
        at_rest(page)
        steps.rest()


def _other(page: Any, where: str, before: list[str]) -> Callable[[], None]:
    """Returns when there are other texts than before."""
    script = (
        "([where, before]) => { const now = [...document.querySelectorAll(where)].map(one => one.innerText);"
        " return now.length > 0 && now.join() !== before.join() }"
    )
    return lambda: page.wait_for_function(script, arg=[where, before])


if __name__ == "__main__":
    main()
