"""From one instance to the next and back, however quickly, and by the browser's own way back: what is shown, what the
line above it says and what the address says agree once all rests."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.browser.conftest import MODEL, Browser
from tests.browser.test_cockpit import PAIR, opened, until

pytestmark = pytest.mark.browser

BACK, FORTH = "back", "forth"
GAPS = (0, 110)  # milliseconds between two presses


def said(page: Any) -> dict[str, str]:
    """What the address says beside model and benchmark."""
    choices = dict(parse_qsl(urlsplit(page.url).query))
    return {name: value for name, value in choices.items() if name not in ("model", "benchmark")}


def place(page: Any) -> int:
    return int(page.locator(".lx-where b").first.inner_text().split(" of ")[0].replace(",", ""))


def press(page: Any, *ways: str, gap: int = 0, keys: bool = False) -> None:
    for way in ways:
        if keys:
            page.keyboard.press("ArrowRight" if way == FORTH else "ArrowLeft")
        else:
            page.evaluate("way => document.querySelector(`.st-key-step-${way} button`).click()", way)
        page.wait_for_timeout(gap)


def rest(browser: Browser) -> None:
    """Waits until the last press has come through, too."""
    browser.settle()
    browser.settle()


def agree(page: Any) -> bool:
    shown = page.locator(".lx-where").first.get_attribute("title")
    return bool(said(page).get("instance") == shown)


@pytest.mark.parametrize("keys", [False, True], ids=["mouse", "keyboard"])
def test_every_press_counts_however_quick(browser, keys):
    page = opened(browser)
    page.locator("h1").first.click()  # the keyboard is nowhere in particular
    for gap in GAPS:
        first = place(page)
        press(page, *[FORTH] * 8, gap=gap, keys=keys)
        until(browser, lambda first=first: place(page) == first + 8)
        press(page, *[BACK] * 5, *[FORTH] * 2, gap=gap, keys=keys)
        until(browser, lambda first=first: place(page) == first + 5)
        rest(browser)
        assert place(page) == first + 5 and agree(page)


def test_after_a_quick_step_and_back_the_address_names_what_is_shown(browser):
    page = opened(browser)
    press(page, FORTH)
    rest(browser)
    for ways in ((BACK, FORTH), (FORTH, BACK)):
        for gap in GAPS:
            press(page, *ways, gap=gap)
            rest(browser)
            assert place(page) == 2 and agree(page)


def test_at_the_first_instance_presses_go_no_further_and_the_way_forth_is_not_longer_for_it(browser):
    page = opened(browser)
    press(page, FORTH, FORTH, BACK, BACK, BACK, BACK, keys=True)
    press(page, FORTH, keys=True)
    rest(browser)
    assert place(page) == 2 and agree(page)


def test_a_quick_step_and_then_another_click_keeps_the_step(browser):
    page = opened(browser)
    press(page, FORTH)
    page.locator(".st-key-list-open button").first.click()
    page.locator(".st-key-list-body").wait_for()
    rest(browser)
    assert place(page) == 2 and agree(page)
    page.keyboard.press("Escape")
    press(page, FORTH)
    page.get_by_role("button", name="Keys").first.click()
    page.get_by_role("dialog").wait_for()
    until(browser, lambda: place(page) == 3)  # a press that got lost on the way is sent again
    rest(browser)
    press(page, FORTH, keys=True)  # behind an open dialog nothing moves
    rest(browser)
    assert place(page) == 3 and agree(page)


def test_a_pair_of_ones_own_is_undone_by_the_way_back_and_leaves_the_address_with_it(browser):
    page = opened(browser)
    page.locator(".st-key-finder-own button").first.click()
    page.get_by_text("A pair of my own").click()
    browser.settle()
    page.keyboard.press("Escape")
    typed = {"Acceptable": "The dog barks.", "Unacceptable": "The dog bark."}
    for label, text in typed.items():
        page.get_by_label(label, exact=True).fill(text)
        page.keyboard.press("Enter")
        browser.settle()
    own = {"what": "A pair of my own", "good": typed["Acceptable"]}
    assert said(page) == {**own, "bad": typed["Unacceptable"]}

    def fields() -> list[str]:
        return [page.get_by_label(label, exact=True).input_value() for label in typed]

    page.go_back()
    until(browser, lambda: fields() == [typed["Acceptable"], ""])
    assert said(page) == own
    page.go_back()
    until(browser, lambda: fields() == ["", ""])
    page.go_back()
    until(browser, lambda: page.get_by_label("Acceptable", exact=True).count() == 0)
    rest(browser)
    assert said(page) == {"instance": PAIR} and agree(page)
    for _ in range(3):
        page.go_forward()
        browser.settle()
    until(browser, lambda: fields() == list(typed.values()))
    # Back at an instance by the menu, and the pair is there when it is wanted again.
    page.locator(".st-key-finder-own button").first.click()
    page.get_by_text("An instance", exact=True).click()
    rest(browser)
    assert said(page) == {"instance": PAIR} and agree(page)
    page.get_by_text("A pair of my own").click()
    until(browser, lambda: page.get_by_label("Acceptable", exact=True).count() == 1)
    assert fields() == list(typed.values())


def with_a_swap(browser):
    """The page of the first instance, a word of it swapped."""
    page = opened(browser)
    page.locator("button.lx-swap").first.click()
    page.locator(".lx-panel button.lx-synonym").first.click()
    page.locator("button.lx-swapped").first.wait_for()
    rest(browser)
    return page


def test_one_press_of_the_way_back_brings_a_changed_instance_with_its_change(browser):
    page = with_a_swap(browser)
    changed = said(page)
    press(page, FORTH)
    rest(browser)
    assert set(said(page)) == {"instance"} and agree(page)
    page.go_back()
    page.locator("button.lx-swapped").first.wait_for()
    rest(browser)
    assert said(page) == changed and agree(page)
    page.go_back()  # the swap
    page.locator("button.lx-swapped").first.wait_for(state="detached")
    page.locator(".lx-panel").wait_for()
    page.go_back()  # the word
    page.locator(".lx-panel").wait_for(state="detached")
    rest(browser)
    assert said(page) == {"instance": PAIR} and agree(page)
    assert page.locator("[data-id=undo]").is_disabled()


@pytest.mark.parametrize("path", ["instance", "overview", "no_such_page"])
def test_one_press_of_the_way_back_leaves_a_page_that_was_opened_by_its_name_alone(browser, path):
    page = browser.open(path)  # whose address is completed: the model, the benchmark, the instance
    until(browser, lambda: "benchmark=" in page.url)
    browser.settle()
    # Anywhere later, the script would be there in time on some machines alone.
    sent = page.request.get(f"{browser.address}/{path}").text()
    assert 0 < sent.index("lexiscopeEntries") < sent.index('type="module"')
    page.go_back()
    assert page.url == "about:blank"
    page.go_forward()
    page.locator("h1").first.wait_for()
    browser.settle()
    # What Streamlit says of an address that has no page.
    browser.faults[:] = [fault for fault in browser.faults if "does not seem to exist" not in fault]


def test_a_context_stays_from_pair_to_pair_and_leaves_the_address_with_a_text_of_ones_own(browser):
    page = opened(browser)
    page.get_by_placeholder(re.compile("Put a sentence before")).fill("Nobody sings in winter.")
    page.keyboard.press("Enter")
    until(browser, lambda: "context" in said(page))
    rest(browser)
    page.locator("h1").first.click()
    press(page, FORTH, keys=True)
    until(browser, lambda: place(page) == 2)
    rest(browser)
    before = said(page)
    assert set(before) == {"instance", "context"}
    for own, field in (("A text of my own", "Text"), ("A pair of my own", "Acceptable")):
        page.locator(".st-key-finder-own button").first.click()
        page.get_by_text(own, exact=True).click()
        page.get_by_label(field, exact=True).first.wait_for()
        rest(browser)
        assert said(page) == {"what": own}
        page.get_by_text("An instance", exact=True).click()
        until(browser, lambda: page.locator(".lx-where b").count() == 1)
        rest(browser)
        assert said(page) == {"instance": before["instance"]}
        page.keyboard.press("Escape")
        # The way back leads to the context, too.
        page.go_back()
        page.get_by_label(field, exact=True).first.wait_for()
        browser.settle()
        page.go_back()
        until(browser, lambda: page.locator(".lx-where b").count() == 1)
        rest(browser)
        assert said(page) == before and agree(page)


def test_no_address_on_the_way_has_the_instance_of_another_benchmark_or_the_words_of_another_instance(browser):
    page = with_a_swap(browser)
    assert {"word", "swaps"} <= set(said(page))
    page.evaluate(
        """() => {
            window.passed = [];
            for (const name of ["pushState", "replaceState"]) {
                const own = history[name].bind(history);
                history[name] = (...all) => { passed.push(String(all[2])); own(...all); };
            }
        }"""
    )
    press(page, FORTH)
    rest(browser)
    page.get_by_role("combobox", name="Benchmark").click()
    page.get_by_role("option", name=re.compile("planted pairs")).first.click()
    press(page, FORTH, FORTH)
    until(browser, lambda: said(page).get("instance", "").startswith("glassbox_pairs/"))
    rest(browser)
    passed = [dict(parse_qsl(urlsplit(address).query)) for address in page.evaluate("window.passed")]
    assert len(passed) >= 2 and agree(page)
    assert all(each["instance"].startswith(f"{each['benchmark']}/") for each in passed if "instance" in each)
    assert not any({"word", "at", "swaps"} & set(each) for each in passed)


def test_the_way_back_leads_from_page_to_page_in_one_press(browser):
    page = browser.open(f"overview?model={MODEL}&benchmark=starter_pairs")
    page.locator("[data-testid=stSidebar]").get_by_role("link", name="Instance", exact=True).click()
    page.locator("h1", has_text="Instance").wait_for()
    browser.settle()
    page.go_back()
    page.locator("h1", has_text="Overview").wait_for()
    browser.settle()
    assert urlsplit(page.url).path == "/overview"


def test_the_way_back_leads_through_the_views_of_a_page_and_a_copied_address_opens_one(browser):
    page = browser.open("calibration")
    views = page.locator(".st-key-pick-facet button")

    def shown(place: int) -> bool:
        return bool(views.nth(place).get_attribute("data-selected") == "true")

    for number in (1, 2):
        views.nth(number).click()
        until(browser, lambda number=number: shown(number))
        browser.settle()
    for number in (1, 0):
        page.go_back()
        until(browser, lambda number=number: shown(number))
        browser.settle()
    assert "facet" not in said(page)
    page.go_forward()
    until(browser, lambda: shown(1))
    browser.settle()
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    until(browser, lambda: views.count() > 1 and shown(1))
