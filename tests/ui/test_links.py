"""Choices that an address brings."""

from __future__ import annotations

import pytest
from streamlit.runtime.state.query_params import QueryParams
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
@pytest.mark.shares_answers("everything")
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


def one_of_two() -> None:
    import streamlit as st

    from explorer.ui import links

    links.take_address()
    what = links.pick(st.selectbox, "What", "what", ["a", "b"])
    if what == "a":
        links.put_away("word")
        st.text(what)
    else:
        st.text(f"{what} {links.type_in('Word', 'word')}")


@pytest.fixture
def history(monkeypatch) -> list[bool]:
    """Whether the page is run by the Back button: its only item."""
    flag = [False]
    monkeypatch.setattr("explorer.ui.links.went_back", lambda: flag[0])
    return flag


def test_the_way_back_to_an_address_without_a_choice_brings_the_default(history):
    app = AppTest.from_function(one_of_two).run()
    app.selectbox[0].select("b").run()
    app.text_input[0].input("owl").run()
    assert address(app) == {"what": "b", "word": "owl"} and app.text[0].value == "b owl"
    history[0] = True
    del app.query_params["word"]
    app.run()
    assert app.text[0].value == "b"
    del app.query_params["what"]
    app.run()
    assert app.text[0].value == "a" and not address(app)


def test_a_link_to_the_page_that_is_open_keeps_what_it_does_not_name(history):
    app = AppTest.from_function(one_of_two).run()
    app.selectbox[0].select("b").run()
    del app.query_params["what"]
    app.query_params["word"] = "owl"
    app.run()
    assert app.text[0].value == "b owl"


def test_what_is_put_away_is_kept_and_not_in_the_address(history):
    app = AppTest.from_function(one_of_two).run()
    app.selectbox[0].select("b").run()
    app.text_input[0].input("owl").run()
    app.selectbox[0].select("a").run()
    assert not address(app)
    app.selectbox[0].select("b").run()
    assert app.text[0].value == "b owl"


def test_the_address_of_an_older_click_is_sent_anew_even_where_it_says_what_is_chosen(chosen_twice, monkeypatch):
    sent = []
    send = QueryParams._send_query_param_msg
    monkeypatch.setattr(QueryParams, "_send_query_param_msg", lambda self: (sent.append(self["first"]), send(self)))
    chosen_twice.query_params["first"] = "b"  # as the browser's address still was, on its way to c
    chosen_twice.selectbox[0].select("b").run()
    assert chosen_twice.text[0].value == "b a"
    assert sent[-1:] == ["b"]  # otherwise c would stay, which is still on its way


def a_choice_and_what_depends_on_it() -> None:
    import streamlit as st

    from explorer.ui import links

    animal = links.pick(st.selectbox, "Animal", "animal", ["owl", "cat"], always=True, leaving=("name",))
    names = {"owl": ["Archimedes"], "cat": ["Tom", "Felix"]}[animal]
    st.text(links.pick(st.selectbox, "Name", "name", names, always=True))


def test_what_depends_on_a_choice_leaves_the_address_with_it(monkeypatch):
    sent = []
    send = QueryParams._send_query_param_msg
    monkeypatch.setattr(QueryParams, "_send_query_param_msg", lambda self: (sent.append(self.to_dict()), send(self)))
    app = AppTest.from_function(a_choice_and_what_depends_on_it).run()
    app.selectbox[0].select("cat").run()
    app.selectbox[1].select("Felix").run()
    app.selectbox[0].select("owl").run()
    assert app.text[0].value == "Archimedes"
    assert {"animal": "cat", "name": "Felix"} in sent
    kinds = {"owl": {"Archimedes", None}, "cat": {"Tom", "Felix", None}}
    assert all(each.get("name") in kinds[each["animal"]] for each in sent)


def test_a_link_that_names_what_depends_on_a_choice_keeps_it():
    app = AppTest.from_function(a_choice_and_what_depends_on_it)
    app.query_params["animal"], app.query_params["name"] = "cat", "Felix"
    app.run()
    assert app.text[0].value == "Felix"
    assert address(app) == {"animal": "cat", "name": "Felix"}


def test_choices_that_belong_together_are_sent_as_one_address(monkeypatch):
    def page() -> None:
        import streamlit as st

        from explorer.ui import links

        st.button("Go", on_click=lambda: [links.choose(name, "b") for name in ("first", "second")])
        chosen = {name: links.recall(name, "a") for name in ("first", "second", "third")}
        links.remember_together(chosen, {"third": "a"})

    sent = []
    send = QueryParams._send_query_param_msg
    monkeypatch.setattr(QueryParams, "_send_query_param_msg", lambda self: (sent.append(self.to_dict()), send(self)))
    app = AppTest.from_function(page).run()
    app.button[0].click().run()
    assert not app.exception
    assert sent == [{"first": "a", "second": "a"}, {"first": "b", "second": "b"}]
