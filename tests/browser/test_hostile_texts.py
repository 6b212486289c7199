"""Texts full of markup in a real browser: none of it runs, none of it becomes an element, all of it can be read."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from explorer import settings as settings_module
from explorer.benchmarks.tables import table
from explorer.resources import Resources
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work

pytestmark = pytest.mark.browser

found = importlib.util.spec_from_file_location("hostile", Path(__file__).parents[1] / "hard_use" / "hostile.py")
hostile = importlib.util.module_from_spec(found)
found.loader.exec_module(hostile)
DANGEROUS = ("html", "script", "image", "closing", "attribute", "markdown", "latex", "right to left")
ELEMENTS = (
    "[data-testid=stApp] script, img[src=x], img[src^='http://127.0.0.1:9'], svg[onload], [onmouseover], "
    "a[href^=javascript]"
)


@pytest.fixture(scope="module")
def cache(tiny_gpt2, tmp_path_factory):
    """A cache with a finished run over hostile pairs, in a benchmark whose title is one of them."""
    home = tmp_path_factory.mktemp("hostile")
    settings = settings_module.read(cache=home / "cache")
    path = home / "pairs.jsonl"
    texts = {name: hostile.HOSTILE[name] for name in DANGEROUS}
    rows = [{"good": f"{text} Yes.", "bad": f"{text} No.", "group": text, "id": name} for name, text in texts.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    table.store_import(path, "hostile", settings, table.guess_reading(path), title=texts["image"])
    spec = make_spec(Resources(settings), study="accuracy", model=str(tiny_gpt2), benchmark="imported_hostile")
    folder = RunFolder.create(settings.runs, spec)
    assert work(folder, Resources(settings), lambda text: None, wait=False) == "complete"
    return settings.cache


def test_no_text_of_a_benchmark_runs_or_becomes_an_element(browser, cache, tiny_gpt2):
    dialogs = []

    def dismiss(dialog):
        dialogs.append(dialog.message)
        dialog.dismiss()

    browser.page.on("dialog", dismiss)
    before = len(browser.page.query_selector_all(ELEMENTS))
    link = f"model={tiny_gpt2}&benchmark=imported_hostile"
    page = browser.open(f"instance?{link}")
    for number, name in enumerate(DANGEROUS):
        page.locator(".lx-where", has_text=f"{number + 1} of {len(DANGEROUS)} ·").wait_for()
        browser.settle()
        strip = page.locator(".lx-block").first
        strip.locator("button.lx-token").first.wait_for()
        check(page, dialogs)
        if name in ("html", "script", "image"):
            read = (
                "".join(strip.locator(".lx-column > .lx-token:first-child .lx-text").all_inner_texts())
                .replace("␣", "")
                .replace(" ", "")
            )
            assert hostile.HOSTILE[name].replace(" ", "")[:20] in read
        if number + 1 < len(DANGEROUS):
            page.locator("h1").first.click()
            page.keyboard.press("ArrowRight")
    run_id = next((cache / "runs").iterdir()).name
    for address in ("overview", "runs", "data", "popularity", "priming"):
        check(browser.open(f"{address}?{link}&shown={run_id}&run={run_id}"), dialogs)
    assert before == 0
    browser.page.remove_listener("dialog", dismiss)


OUR_SCRIPTS = tuple(f"<script>\nif (!window.lexiscope{name}) {{" for name in ("Keys", "Figures"))


def check(page, dialogs) -> None:
    assert page.evaluate("window.hacked") is None
    assert not dialogs
    strange = [element.evaluate("node => node.outerHTML")[:200] for element in page.query_selector_all(ELEMENTS)]
    # Scripts of our own, for two keys and what draws figures; no benchmark's text is in them.
    assert not [html for html in strange if not html.startswith(OUR_SCRIPTS)]
