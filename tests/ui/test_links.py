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

        st.text(links.whole_number("seed", 3))

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


def two_choices() -> None:
    import streamlit as st

    from explorer.ui import links

    first = links.pick(st.selectbox, "First", "first", ["a", "b", "c"], always=True)
    second = links.pick(st.selectbox, "Second", "second", ["a", "b", "c"], always=True)
    st.text(f"{first} {second}")


def address(app: AppTest) -> dict[str, str]:
    return {name: value if isinstance(value, str) else value[-1] for name, value in app.query_params.items()}


@pytest.fixture
def chosen_twice() -> AppTest:
    """A page on which the first choice was changed to b and then to c."""
    app = AppTest.from_function(two_choices).run()
    app.selectbox[0].select("b").run()
    app.selectbox[0].select("c").run()
    assert address(app)["first"] == "c" and app.text[0].value == "c a"
    return app


def test_a_click_made_before_the_browser_had_the_last_answer_undoes_nothing(chosen_twice):
    chosen_twice.query_params["first"] = "b"  # as the browser's address still was
    chosen_twice.selectbox[1].select("b").run()
    assert chosen_twice.text[0].value == "c b"
    assert (address(chosen_twice)["first"], address(chosen_twice)["second"]) == ("c", "b")


def test_the_way_back_in_the_browser_brings_the_former_choice(chosen_twice):
    chosen_twice.query_params["first"] = "b"
    chosen_twice.run()
    assert chosen_twice.text[0].value == "b a"
