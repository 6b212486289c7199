"""The app in a real browser: every page by its link, and tokens with their details.

By its address each page is opened in test_first_visit.py, and in both themes in test_axe.py; a run is started from the
bar, and its instances are stepped through, in test_first_visit.py.
"""

from __future__ import annotations

import pytest

from explorer.ui.layout import PAGES

pytestmark = pytest.mark.browser

MODEL = "gemma-3-270m"


def test_the_root_is_the_overview_and_its_links_lead_on(browser):
    opened = browser.open("")
    assert opened.locator("h1").first.inner_text() == "Overview"
    for page in PAGES[1:]:
        opened.locator("[data-testid=stSidebar]").get_by_role("link", name=page.title, exact=True).click()
        opened.locator("h1", has_text=page.title).wait_for()
        browser.settle()
        assert f"/{page.address}" in opened.url
        assert "benchmark=starter_pairs" in opened.url


def test_a_token_shows_its_details_to_the_mouse_and_to_the_keyboard(browser):
    page = browser.open(f"instance?model={MODEL}&benchmark=starter_pairs")
    token = page.locator("button.lx-token").first
    token.wait_for(timeout=240_000)
    browser.settle()
    token.focus()
    assert token.locator(".lx-tip").is_visible()
    token.blur()
    assert not token.locator(".lx-tip").is_visible()
    token.hover()
    assert "probability" in token.locator(".lx-tip").inner_text()


def test_tokens_can_be_read_in_both_themes(browser, theme):
    page = browser.open(f"instance?model={MODEL}&benchmark=starter_pairs")
    page.locator("button.lx-token .lx-number").first.wait_for(timeout=240_000)
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 10
    assert min(contrasts) >= 4.5


# The contrast (WCAG 2.1) of every token's text with its own ground, computed by the browser.
CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const luminance = color => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(part => part / 255);
    const [r, g, b] = parts.map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return [...document.querySelectorAll(".lx-token:not(.lx-gap)")].map(token => {
    const style = getComputedStyle(token);
    const [light, dark] = [luminance(style.color), luminance(style.backgroundColor)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  });
}"""
