"""The cockpit in a real browser: words swapped by mouse and keyboard, undone, and brought back by the copied link."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import MODEL, PATIENCE, STILL, Browser

pytestmark = pytest.mark.browser

PAIR = "starter_pairs/anaphor_gender/kin-01-1"  # "My grandmother taught herself to knit last winter."
INSTANCE = f"instance?model={MODEL}&benchmark=starter_pairs&instance={PAIR}"


def gauges(page: Any) -> dict[str, str]:
    """Each number above the strip, by its label."""
    metrics = page.locator("[data-testid=stMetric]").all()
    return {
        one.locator("[data-testid=stMetricLabel]").inner_text(): one.locator("[data-testid=stMetricValue]").inner_text()
        for one in metrics
    }


def strip(page: Any) -> list[str]:
    """The rows of the strip as text."""
    return [text.strip() for text in page.locator(".lx-block .lx-columns").all_inner_texts()]


def opened(browser: Browser, address: str = INSTANCE) -> Any:
    page = browser.open(address)
    page.locator("button.lx-token").first.wait_for(timeout=2 * PATIENCE)
    page.locator("[data-testid=stMetricLabel]", has_text="Popularity").wait_for(timeout=2 * PATIENCE)
    browser.settle()
    return page


def until(browser: Browser, holds: Callable[[], bool]) -> None:
    """Waits until something holds; the page may be drawn once more before it does."""
    for _ in range(240):
        if holds():
            return
        browser.page.wait_for_timeout(250)
    raise AssertionError("It did not come to hold")


def test_a_swap_moves_the_numbers_and_is_undone_and_redone(browser):
    page = opened(browser)
    before, text = gauges(page), strip(page)
    page.locator("button.lx-swap").first.click()
    page.locator(".lx-panel button.lx-synonym").first.click()
    page.locator("button.lx-swapped").first.wait_for()
    browser.settle()
    after = gauges(page)
    assert all(after[label] != before[label] for label in before if label.startswith(("Margin", "Popularity")))
    assert strip(page) != text
    page.locator("[data-id=undo]").click()
    until(browser, lambda: gauges(page) == before and strip(page) == text)
    page.locator("[data-id=redo]").click()
    until(browser, lambda: gauges(page) == after)
    page.locator("[data-id=history]").click()
    page.get_by_role("button", name="Original text").click()
    until(browser, lambda: gauges(page) == before)


def test_the_copied_link_opens_the_same_in_another_browser(browser, tab):
    page = opened(browser)
    page.locator("button.lx-swap").first.click()
    page.locator(".lx-panel button.lx-synonym").first.click()
    page.locator("button.lx-swapped").first.wait_for()
    page.get_by_placeholder(re.compile("Put a sentence before")).fill("Nobody sings in winter.")
    page.keyboard.press("Enter")
    page.locator("[data-testid=stPlotlyChart]").first.wait_for()
    page.get_by_role("radio", name="Difference of options").or_(
        page.locator("button", has_text="Difference of options")
    ).first.click()
    page.locator("[data-id=pin]").click()
    page.get_by_role("heading", name="Pinned").wait_for()
    browser.settle()
    # Without the right to use the clipboard the address stands in a field, selected.
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    page.locator("[data-id=link]").click()
    address = page.locator(".lx-link").input_value()
    shown, numbers = strip(page), gauges(page)
    other = tab.context.browser.new_context(viewport={"width": 1280, "height": 800}, **STILL)
    try:
        second = other.new_page()
        second.set_default_timeout(PATIENCE)
        second.goto(address)
        second.locator(".lx-panel").wait_for(timeout=2 * PATIENCE)
        second.get_by_role("heading", name="Pinned").wait_for()
        until(browser, lambda: gauges(second) == numbers and strip(second) == shown)
        figures = page.locator("[data-testid=stPlotlyChart]").count()
        until(browser, lambda: second.locator("[data-testid=stPlotlyChart]").count() == figures)
    finally:
        other.close()


def test_a_link_copied_as_soon_as_a_swap_is_shown_has_the_swap(browser):
    page = opened(browser)
    page.locator("button.lx-swap").first.click()
    page.locator(".lx-panel button.lx-synonym").first.wait_for()
    browser.settle()
    page.evaluate(
        """() => {
            navigator.clipboard.writeText = (text) => { window.copied ??= text; return Promise.resolve(); };
            new MutationObserver(() => {
                const swapped = document.querySelector("button.lx-swapped");
                if (swapped && !window.copied) document.querySelector("[data-id=link]").click();
            }).observe(document.body, { childList: true, subtree: true });
        }"""
    )
    page.locator(".lx-panel button.lx-synonym").first.click()
    page.wait_for_function("() => window.copied")
    browser.settle()
    assert "swaps=" in page.url
    assert page.evaluate("window.copied") == page.url


def test_a_link_to_a_word_opens_it_in_the_sentence_it_was_clicked_in_and_the_address_stays(browser):
    page = opened(browser)
    word = page.locator(".lx-column > .lx-token:nth-child(2)").nth(4)
    name = word.get_attribute("data-id")
    word.click()
    page.locator(".lx-panel").wait_for()
    browser.settle()
    address = page.url
    panel = page.locator(".lx-panel").inner_text()
    assert "option+1" in address or "option%201" in address
    opened(browser, address.partition(f"{browser.address}/")[2])
    page.locator(".lx-panel").wait_for()
    browser.settle()
    assert page.url == address
    assert page.locator(".lx-panel").inner_text() == panel
    assert page.locator(f'[data-id="{name}"]').get_attribute("aria-expanded") == "true"


def test_a_word_is_swapped_by_keyboard_alone(browser):
    page = opened(browser)
    before = gauges(page)
    where = page.locator(".lx-where").first.inner_text()
    page.locator("button.lx-token[tabindex='0']").focus()
    focused = "document.activeElement.classList.contains('lx-swap')"
    for _ in range(30):
        if page.evaluate(focused):
            break
        page.keyboard.press("ArrowRight")
    assert page.evaluate(focused)
    page.keyboard.press("Enter")
    page.locator(".lx-panel").wait_for()
    browser.settle()
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"  # the keyboard stays there
    for _ in range(4):  # down through the rows and into the panel
        if page.evaluate("document.activeElement.closest('.lx-panel') !== null"):
            break
        page.keyboard.press("ArrowDown")
    for _ in range(8):
        if page.evaluate("document.activeElement.classList.contains('lx-synonym')"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("button.lx-swapped").first.wait_for()
    until(browser, lambda: gauges(page) != before)
    page.keyboard.press("Escape")
    page.locator(".lx-panel").wait_for(state="detached")
    page.keyboard.press("Control+z")
    until(browser, lambda: gauges(page) == before)
    assert page.locator(".lx-where").first.inner_text() == where  # an arrow in the strip is no step to the next one


def test_a_text_is_typed_over_and_a_word_is_removed_or_taken_from_what_the_model_expected(browser):
    page = opened(browser)
    page.locator("[data-id='edit:option 0']").click()
    box = page.locator("[data-id=editor]")
    where = page.locator(".lx-where").first.inner_text()
    box.fill(f"{box.input_value()} Again")
    box.press("ArrowLeft")
    box.press("Enter")
    page.locator(".lx-token", has_text="Again").first.wait_for()
    assert page.locator(".lx-where").first.inner_text() == where
    page.locator("button.lx-token", has_text="last").first.click()
    page.locator(".lx-expected li").nth(9).wait_for()
    assert page.locator(".lx-expected li").count() == 10
    page.locator("[data-id=remove]").click()
    page.locator("button.lx-token", has_text="last").first.wait_for(state="detached")
    page.locator("button.lx-token", has_text="knit").first.click()
    page.locator(".lx-panel h3", has_text="knit").wait_for()
    expected = page.locator(".lx-expected button").first
    word = expected.inner_text().strip()
    expected.click()
    page.locator("button.lx-swapped", has_text=word).first.wait_for()


def test_an_n_gram_opens_the_documents_that_hold_it(browser):
    page = opened(browser, f"{INSTANCE}&layer=Popularity")
    assert page.locator(".lx-token.lx-hue-popular").count() > 5
    found = False
    for number in range(page.locator("button.lx-token").count()):
        page.locator("button.lx-token").nth(number).click()
        browser.settle()
        grams = page.locator(".lx-grams li", has_not=page.locator(".lx-number", has_text=re.compile("^0$")))
        if grams.count():
            grams.first.locator("button").click()
            page.locator(".lx-grams .lx-document mark").first.wait_for()
            found = True
            break
    assert found


def test_the_panel_of_a_word_opens_in_view_of_a_low_window(browser):
    page = opened(browser)
    page.set_viewport_size({"width": 1280, "height": 620})
    word = page.locator("button.lx-token").nth(1)
    word.focus()
    page.keyboard.press("Enter")
    page.locator(".lx-panel").wait_for()

    def in_view() -> bool:
        top, bottom = ends(page.locator(".lx-panel"))
        of_word, _ = ends(page.locator("button.lx-token[aria-expanded=true]").first)
        return top >= 0 and bottom <= 621 and of_word >= 0

    until(browser, in_view)


def test_where_there_is_room_undo_and_copy_link_stay_below_the_verdict(browser):
    page = opened(browser)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.mouse.move(640, 500)
    page.mouse.wheel(0, 330)
    word = page.locator("button.lx-token").nth(1)
    word.focus()
    page.keyboard.press("Enter")
    page.locator(".lx-panel").wait_for()

    def in_view() -> bool:
        _, verdict = ends(page.locator(".st-key-cockpit-above"))
        link, _ = ends(page.get_by_role("button", name="Copy link"))
        _, panel = ends(page.locator(".lx-panel"))
        return link >= verdict - 1 and panel <= 840

    until(browser, in_view)


def ends(element) -> tuple[float, float]:
    """Where an element begins and ends from the top of the window, in pixels."""
    top, bottom = element.evaluate("one => { const at = one.getBoundingClientRect(); return [at.top, at.bottom] }")
    return top, bottom


def test_on_a_small_screen_the_verdict_stays_in_sight_and_takes_little_of_it(browser):
    page = opened(browser)
    page.set_viewport_size({"width": 800, "height": 800})
    page.locator(".st-key-gauges [data-testid=stMetric]").first.wait_for()
    page.mouse.move(650, 500)
    page.mouse.wheel(0, 600)
    # What is seen where the verdict's mark stands is that mark, not the bar over it.
    seen = """() => { const mark = document.querySelector(".lx-verdict .lx-word").getBoundingClientRect();
        return document.elementFromPoint(mark.left + 8, mark.top + 4)?.className }"""
    until(browser, lambda: ends(page.locator(".lx-verdict").first)[0] < 150 and page.evaluate(seen) == "lx-word")
    assert ends(page.locator(".st-key-gauges").first)[1] < 170
