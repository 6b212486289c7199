"""Takes a picture of every page in both themes and at two widths, to be looked at or shown.

    python docs/screenshots.py --cache cache --out /tmp/pictures
    python docs/screenshots.py --cache cache --out docs/images --only instance --width 1280 --theme light

Needs Chromium, and playwright from requirements-dev.txt.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTHS = (1280, 1920)
THEMES = ("light", "dark")
PAGES = {
    "overview": "overview",
    "instance": "instance",
    "popularity": "popularity?benchmark=lambada",
    "perturbation": "perturbation",
    "perturbation runs": "perturbation?facet=Full+runs&benchmark=piqa",
    "priming": "priming?priming=Curves&benchmark=blimp",
    "ontology": "ontology?benchmark=go",
    "memorization": "memorization?benchmark=copa",
    "in-context": "in_context?benchmark=rte",
    "findings": "findings",
    "replication": "replication",
    "trajectories": "trajectories?benchmark=glassbox_pairs",
    "calibration": "calibration",
    "corpus": "corpus",
    "runs": "runs",
    "compare": "runs?view=Compare+two",
    "models": "data?shelf=Models",
    "benchmarks": "data?shelf=Benchmarks",
    "import": "data?shelf=Import+a+table",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", default=str(ROOT / "cache"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=list(PAGES), metavar="NAME", help=", ".join(PAGES))
    parser.add_argument("--width", type=int, nargs="*", default=list(WIDTHS))
    parser.add_argument("--theme", nargs="*", default=list(THEMES), choices=THEMES)
    parser.add_argument("--model", default="gemma-3-270m")
    parser.add_argument("--benchmark", default="starter_pairs")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    with server(args.cache) as address:
        for theme in args.theme:
            for width in args.width:
                take(address, args, theme, width)


def take(address: str, args: argparse.Namespace, theme: str, width: int) -> None:
    """A picture of each page asked for, as tall as the page is."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": width, "height": 1000}, color_scheme=theme)
        for name in args.only:
            path = PAGES.get(name, name)
            joint = "&" if "?" in path else "?"
            page.set_viewport_size({"width": width, "height": 1000})
            own = "" if "benchmark=" in path else f"&benchmark={args.benchmark}"
            page.goto(f"{address}/{path}{joint}model={args.model}{own}")
            page.locator("h1").first.wait_for()
            _settle(page)
            tall = page.evaluate("document.querySelector('[data-testid=stMainBlockContainer]').scrollHeight + 40")
            page.set_viewport_size({"width": width, "height": max(900, min(int(tall), 4000))})
            _settle(page)
            file = args.out / f"{re.sub(r'[^a-z0-9]+', '_', name.lower())}_{theme}_{width}.png"
            page.screenshot(path=file)
            print(file)
        browser.close()


def _settle(page) -> None:
    page.wait_for_timeout(1500)
    page.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=120_000)
    page.wait_for_timeout(1000)


@contextmanager
def server(cache: str) -> Iterator[str]:
    """The app on a free port, for as long as the block runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "EXPLORER_CACHE": str(Path(cache).resolve())})
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2).close()
                break
            except OSError:
                time.sleep(0.25)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=20)


if __name__ == "__main__":
    main()
