"""A figure as a file: SVG, PDF and PNG drawn by a Chromium on this machine, HTML and JSON without one."""

from __future__ import annotations

import asyncio
import functools
import os
import shutil
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from explorer.errors import UsageError
from explorer.figures.on_paper import on_paper

MIME: Mapping[str, str] = {
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "png": "image/png",
    "html": "text/html",
    "json": "application/json",
}
DRAWN: Mapping[str, str] = {"svg": "SVG", "pdf": "PDF", "png": "PNG"}
WRITTEN: Mapping[str, str] = {"html": "HTML", "json": "JSON"}
SCALE = 3  # dots a pixel of a PNG: 300 dots an inch at a column's width
SECONDS = 60.0
LACKING = (
    "No Chromium or Chrome was found on this machine, so figures come as HTML and JSON alone. Install one (on Debian: "
    "apt-get install chromium; anywhere: kaleido_get_chrome) or name one in BROWSER_PATH, then open the page again."
)
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
)
# What playwright installs, newest last.
PLAYWRIGHT = ("chromium-*/chrome-linux*/chrome", "chromium-*/chrome-mac*/Chromium.app/Contents/MacOS/Chromium")

_ONE_AT_A_TIME = threading.Lock()
_failure: dict[str, str] = {}  # what the last drawing died of, since a download cannot say it itself


def available() -> dict[str, str]:
    """Format → what people call it, of those that can be had on this machine."""
    return {**(DRAWN if browser() else {}), **WRITTEN}


def lacking() -> str:
    """Why a format is lacking, or could not be drawn the last time, in one sentence; "" where all is well."""
    return _failure.get("sentence", "") if browser() else LACKING


def render(figure: go.Figure, format: str, caption: str = "") -> bytes:
    """The figure in its print theme, with its caption under it, as the bytes of a file."""
    on_page = on_paper(figure, caption)
    if format in DRAWN:
        return _render(on_page, format)
    if format == "html":
        return str(on_page.to_html(include_plotlyjs=True, full_html=True)).encode("utf-8", "replace")
    if format == "json":
        return str(on_page.to_json()).encode("utf-8", "replace")
    raise UsageError(f"There is no format {format!r} of figures; there are {', '.join(MIME)}.")


@functools.lru_cache(maxsize=1)
def browser() -> Path | None:
    """The program that draws: the one named in BROWSER_PATH, one of the system, or playwright's."""
    named = os.environ.get("BROWSER_PATH")
    programs = [named] if named else [shutil.which(name) for name in PROGRAMS]
    paths = [Path(path) for path in (*filter(None, programs), *(() if named else PLACES))]
    folder = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    if not named and folder.is_dir():
        paths += [path for pattern in PLAYWRIGHT for path in sorted(folder.glob(pattern), reverse=True)]
    return next((path for path in paths if path.is_file()), None)


def _render(figure: go.Figure, format: str) -> bytes:
    program = browser()
    if program is None:
        raise UsageError(LACKING)
    options = {"format": format, "width": figure.layout.width, "height": figure.layout.height}
    options["scale"] = SCALE if format == "png" else 1
    with _ONE_AT_A_TIME:
        _failure.clear()
        try:
            return _in_a_thread(lambda: asyncio.run(_render_page(figure, options, program)))
        except Exception as error:  # what can go wrong in a browser has no common class
            fault = " ".join(str(error).split())[:160] or type(error).__name__
            _failure["sentence"] = (
                f"{program} could not draw the figure ({fault}). Take HTML, or name another browser in BROWSER_PATH."
            )
            raise UsageError(_failure["sentence"]) from error


async def _render_page(figure: go.Figure, options: dict[str, Any], program: Path) -> bytes:
    import kaleido

    # Without MathJax, which would be fetched from the web.
    page = kaleido.PageGenerator(mathjax=False)
    async with kaleido.Kaleido(page_generator=page, path=str(program), n=1, timeout=SECONDS) as artist:
        return bytes(await artist.calc_fig(figure, opts=options))


def _in_a_thread(work: Callable[[], bytes]) -> bytes:
    """What `work` gives, done in a thread of its own, since the caller's may have a loop running."""
    results: list[Any] = []

    def run_work() -> None:
        try:
            results.append(work())
        except BaseException as error:
            results.append(error)

    thread = threading.Thread(target=run_work, name="figure")
    thread.start()
    thread.join()
    if isinstance(results[0], BaseException):
        raise results[0]
    return bytes(results[0])
