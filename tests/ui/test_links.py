"""Choices that an address brings."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

NO_NUMBERS = ["²", "٣", "abc", "", "-5", "1e3", "9" * 20, "9" * 5000, "NaN"]


@pytest.mark.parametrize(
    ("written", "number"), [*((text, 3) for text in NO_NUMBERS), ("7", 7), ("3000000000", 2**31 - 1)]
)
def test_a_number_in_an_address_is_one_or_the_default(written, number):
    def page() -> None:
        import streamlit as st

        from explorer.ui import links

        st.text(links.whole("seed", 3))

    app = AppTest.from_function(page)
    app.query_params["seed"] = written
    app.run()
    assert not app.exception
    assert app.text[0].value == str(number)


@pytest.mark.parametrize("written", ["²", "abc", "9" * 5000])
@pytest.mark.parametrize(("page", "name"), [("priming", "seed"), ("in_context", "shots"), ("in_context", "order")])
def test_a_page_comes_up_whatever_number_its_address_has(open_page, everything, page, name, written):
    app = open_page(page, everything, benchmark="starter_pairs", **{name: written})
    assert not app.exception
