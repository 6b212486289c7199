"""The frame in a real browser: search by keys, the list of keys, the tour, and the bar at every width."""

from __future__ import annotations

import pytest

from explorer.figures.theme import THEMES, contrast
from tests.browser.conftest import MODEL

pytestmark = pytest.mark.browser
HERE = f"model={MODEL}&benchmark=starter_pairs"


def test_the_search_opens_by_a_key_and_leads_to_a_page_and_to_an_instance(browser):
    page = browser.open(f"overview?{HERE}")
    page.locator(".st-key-lx-search button").wait_for()  # the client brings buttons a moment after the title
    page.keyboard.press("Control+k")
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Pages, instances and runs").wait_for()
    page.wait_for_function("() => document.activeElement.tagName === 'INPUT'")  # who opened it can type at once
    page.keyboard.type("runs")
    page.keyboard.press("Enter")
    dialog.get_by_role("link", name="Perturbation").wait_for(state="detached")
    dialog.get_by_role("link", name="Runs", exact=True).click()
    page.locator("h1", has_text="Runs").wait_for()
    browser.settle()

    page.mouse.click(700, 700)
    page.keyboard.press("/")
    dialog.get_by_text("Pages, instances and runs").wait_for()
    page.wait_for_function("() => document.activeElement.tagName === 'INPUT'")
    page.keyboard.press("Control+a")
    page.keyboard.type("kin-01-1")
    page.keyboard.press("Enter")
    dialog.get_by_text("1 instance of Starter pairs").wait_for()
    dialog.get_by_role("link").last.click()
    page.locator("h1", has_text="Instance").wait_for()
    assert "kin-01-1" in page.url


def test_a_question_mark_lists_the_keys_but_not_while_typing(browser):
    page = browser.open(f"data?{HERE}")
    page.locator(".st-key-lx-help button").wait_for()
    page.keyboard.press("?")
    page.get_by_role("dialog").get_by_text("search pages, instances and runs").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    page.get_by_role("combobox").first.click()
    page.keyboard.type("?")
    page.wait_for_timeout(500)
    assert page.get_by_role("dialog").count() == 0


def test_the_tour_is_walked_left_and_not_shown_again(browser):
    page = browser.open("")
    page.get_by_role("button", name="On to Instance").click()
    page.locator("h1", has_text="Instance").wait_for()
    page.get_by_text("2 of 5").wait_for()
    page.get_by_role("button", name="Leave the tour").click()
    page.get_by_text("2 of 5").wait_for(state="detached")
    browser.open(f"overview?{HERE}")
    assert page.get_by_role("button", name="Leave the tour").count() == 0


def test_a_quiet_button_that_is_open_can_be_read_in_both_themes(browser, theme):
    page = browser.open(f"calibration?{HERE}")
    button = page.locator("button[kind=tertiary]", has_text="Words used here")
    button.click()
    page.locator("[data-testid=stPopoverBody]").wait_for()
    page.wait_for_timeout(400)  # its color changes step by step
    ink = button.evaluate("one => getComputedStyle(one).color.match(/[0-9]+/g).slice(0, 3).map(Number)")
    shown = "#" + "".join(f"{part:02x}" for part in ink)
    assert contrast(shown, THEMES[theme].paper) >= 4.5


@pytest.mark.parametrize("width", [800, 1280, 1920])
def test_the_bar_and_all_pages_are_seen_at_once(browser, width):
    browser.page.set_viewport_size({"width": width, "height": 800})
    page = browser.open(f"popularity?{HERE}")
    names = ("Run",)
    shown = [page.get_by_role("button", name=name, exact=True) for name in names]
    shown += [page.locator(".st-key-lx-search button"), page.locator(".st-key-lx-help button")]
    shown += [page.locator("[data-testid=stSidebar]").get_by_role("link").last]
    for element in shown:
        box = element.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
        assert box["y"] >= 0 and box["y"] + box["height"] <= 800
    # Nothing of the frame makes the page wider than the window.
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")


def test_the_library_of_figures_is_read_before_a_page_with_figures_is_asked_for(browser):
    page = browser.open(f"data?{HERE}")
    read = "performance.getEntriesByType('resource').some(one => one.name.includes('PlotlyChart'))"
    page.wait_for_function(f"() => {read}")
    assert page.locator("[data-testid=stPlotlyChart]").count() == 0
