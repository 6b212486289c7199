"""An endpoint typed into its form, tested, added, and asked in the live views, in Chromium with a real local server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import PATIENCE, Browser
from tests.endpoint_servers import Server, scoring

pytestmark = pytest.mark.browser


@pytest.fixture
def scored(tiny_gpt2: Path) -> Iterator[Server]:
    server = Server(scoring(tiny_gpt2), {"data": [{"id": "m", "max_model_len": 2048}]})
    yield server
    server.close()


@pytest.mark.usefixtures("undone")
def test_an_endpoint_is_tested_added_and_asked_in_the_live_views(browser: Browser, scored: Server):
    page = browser.open("data?bring=An%20endpoint&benchmark=starter_entailment")
    # By the form's own fields: while it is drawn, the bar's "Model" is the only one of that name, and its open list
    # would hide the form.
    page.locator(".st-key-bring-address input").fill(scored.url)
    page.locator(".st-key-bring-model_name input").fill("m")
    page.locator(".st-key-bring-test_endpoint button").click()
    page.get_by_text("yes, by echo").wait_for()
    assert "2,048 tokens" in page.inner_text("[data-testid=stMain]")
    page.get_by_role("button", name="Add to the models").click()
    page.get_by_text("is on the list of models").wait_for()
    browser.settle()

    # In the same session nobody is asked again whether the server may be.
    page.get_by_role("link", name="Score an instance with it").click()
    page.locator("h1", has_text="Instance").wait_for()
    browser.settle()
    assert "Nothing was sent there yet" not in page.inner_text("[data-testid=stMain]")
    page.get_by_role("link", name="In-context").first.click()
    page.locator("h1", has_text="In-context").wait_for()
    browser.settle()
    page.get_by_text("Live lab").first.click()
    browser.settle()
    before = len(scored.calls)
    page.locator(".st-key-icl\\:ask button, [class*=st-key-icl-ask] button").first.click()
    for _ in range(PATIENCE // 200):  # the answer comes word by word, beside the page
        if len(scored.calls) > before:
            break
        page.wait_for_timeout(200)
    assert len(scored.calls) > before
    browser.settle()
    assert browser.tracebacks() == []
