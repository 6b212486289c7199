"""A visitor whose endpoint drips holds up nobody, and closing the window ends what he waits for."""

from __future__ import annotations

import time
from urllib.parse import quote

import pytest

from tests import slow_servers
from tests.browser.conftest import MODEL, PATIENCE

pytestmark = pytest.mark.browser


def score(page, address: str, model: str, sentence: str) -> None:
    page.goto(f"{address}/instance?model={quote(model)}&benchmark=starter_pairs")
    if model.startswith("http"):
        page.get_by_role("button", name="Ask http").first.click()  # a server that a link names is asked about first
        page.get_by_role("button", name="Score with").first.click()
        return
    page.locator("[data-id='edit:option 0']").click()
    field = page.locator("[data-id=editor]")
    field.fill(sentence)
    field.press("Enter")


def until(true, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.parametrize("way", [slow_servers.drips, slow_servers.is_silent], ids=["drips", "is silent"])
def test_a_slow_endpoint_keeps_no_other_visitor_and_is_left_with_the_window(server, browser, people, way):
    with slow_servers.serving(way) as endpoint:
        first, second = people(), browser.page
        score(first, server, f"{endpoint.url}#m", "A visitor who waits.")
        until(lambda: endpoint.asked, PATIENCE / 1000)
        score(second, server, MODEL, f"A visitor beside one whose endpoint {way.__name__}.")
        second.locator(".lx-token", has_text="visitor").first.wait_for()
        assert not endpoint.hung_up
        asked = endpoint.asked
        first.context.close()
        until(lambda: endpoint.hung_up >= asked, 10)
