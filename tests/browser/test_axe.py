"""Contrast, names and roles as axe-core checks them: nothing serious or critical of ours on any page, in both themes.

axe-core (Mozilla Public License 2.0) comes inside the package axe-playwright-python; its script is read as a file.
"""

from __future__ import annotations

import contextlib
import importlib.util
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import TimeoutError

from explorer.ui.layout import PAGES
from tests.browser.conftest import Browser

pytestmark = pytest.mark.browser

HERE = "model=gemma-3-270m&benchmark=starter_pairs"
# Views that have other widgets or figures than the one a page opens on.
VIEWS = {
    "perturbation": ("facet=Full+runs",),
    "priming": ("priming=Curves", "priming=Regression", "priming=Suites"),
    "memorization": ("facet=Classifiers", "facet=Low+and+high"),
    "findings": ("finding=Two+measures", "finding=Groups"),
}
# What Streamlit draws and we cannot change: the rule, a part of what it is about, and why it is let pass.
STREAMLITS_OWN = (
    ("aria-required-children", "stDataFrame", "the grid of a table is a canvas with hidden rows of its own"),
    ("scrollable-region-focusable", "stDataFrame", "the grid of a table takes its keys on its canvas"),
    ("nested-interactive", "stExpander", "Streamlit's summary of an expander holds an icon of its own"),
)
SCRIPT = """async () => {
  const found = await axe.run(document, { resultTypes: ["violations"] });
  const bad = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
  return bad.flatMap((one) => one.nodes.map((node) => {
    const element = document.querySelector(node.target[0]);
    const within = [];
    for (let at = element; at; at = at.parentElement) {
      if (at.dataset && at.dataset.testid) within.push(at.dataset.testid);
    }
    const why = [...node.any, ...node.all, ...node.none].map((check) => check.message).join("; ");
    return { rule: one.id, html: node.html.slice(0, 200), within: within.join(" "), why: why.slice(0, 300) };
  }));
}"""


# axe-core looks at no text inside a figure: axes and remarks are held to the same 4.5 here.
FIGURES = """() => {
  const parts = (color) => color.match(/[0-9.]+/g).slice(0, 3).map((one) => {
    const part = Number(one) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const light = (color) => { const [r, g, b] = parts(color); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = light(getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor);
  const kinds = ".js-plotly-plot :is(.xtick text, .ytick text, .xtitle, .ytitle, .annotation text)";
  const texts = document.querySelectorAll(kinds);
  return [...texts].filter((one) => one.textContent).map((one) => {
    const ink = light(getComputedStyle(one).fill);
    return { text: one.textContent, ratio: (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05) };
  }).filter((one) => one.ratio < 4.5);
}"""


# Whether the app stands on the ground of a theme.
GROUND_IS = """(scheme) => {
  const ground = getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor;
  const sum = ground.match(/[0-9.]+/g).slice(0, 3).reduce((total, one) => total + Number(one), 0);
  return scheme === "dark" ? sum < 200 : sum > 500;
}"""
FIGURES_FOLLOW = 5_000  # ms in which a figure takes on the colors of the other theme


@pytest.fixture(scope="module")
def cache(cache_of_runs: Path) -> Path:
    return cache_of_runs


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core."""
    found = importlib.util.find_spec("axe_playwright_python")
    if found is None or not found.submodule_search_locations:
        pytest.skip("axe-playwright-python is not installed: pip install -r requirements-dev.txt")
    return (Path(next(iter(found.submodule_search_locations))) / "axe.min.js").read_text(encoding="utf-8")


def faults(page: Any) -> list[str]:
    """What is seriously wrong on the page now, in words, without what is Streamlit's own."""
    return [
        f"{one['rule']}: {one['html']} ({one['why']}), in {one['within']}"
        for one in page.evaluate(SCRIPT)
        if not any(one["rule"] == rule and part in one["within"] for rule, part, _ in STREAMLITS_OWN)
    ]


def show_in(browser: Browser, scheme: str) -> None:
    """Switches an open page to another theme, as the reader's system does, until the app and its figures follow."""
    page = browser.page
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function(GROUND_IS, arg=scheme)
    browser.settle()
    with contextlib.suppress(TimeoutError):  # what stays faint is told by the test
        page.wait_for_function(f"() => ({FIGURES})().length === 0", timeout=FIGURES_FOLLOW)


# Every page in both themes: every other one is opened in the dark one and switched to the light one.
@pytest.mark.parametrize(
    ("address", "schemes"),
    [(page.address, ("light", "dark")[:: 1 if number % 2 else -1]) for number, page in enumerate(PAGES)],
    ids=[page.address for page in PAGES],
)
def test_a_page_has_no_serious_fault_in_either_theme(browser, axe, address, schemes):
    told = []
    for view in ("", *VIEWS.get(address, ())):
        browser.page.emulate_media(color_scheme=schemes[0])
        page = browser.open(f"{address}?{'&'.join(filter(None, (HERE, view)))}")
        page.evaluate(axe)
        for scheme in schemes:
            show_in(browser, scheme)
            where = f"{view or 'first view'}, {scheme}"
            told += [f"{where}: {fault}" for fault in faults(page)]
            faint = page.evaluate(FIGURES)
            told += [f"{where}: {one['text']} has a contrast of {one['ratio']:.1f}" for one in faint]
    assert not told, "\n".join(told)
