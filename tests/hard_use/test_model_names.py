"""A model, a benchmark's title or a file may be called anything: every page shows the name as it is written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from google.protobuf.message import Message
from streamlit.testing.v1 import AppTest

from explorer import settings as settings_module
from explorer.benchmarks.tables import table
from explorer.settings import ROOT
from explorer.ui import show
from tests import made_up_runs

NAME = "[x](http://evil) **b** $x$ :red[y] <b> www.evil.org"
PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))

# Fields that a browser shows without reading Markdown; what stands in those of HTML and of figures is looked into.
TEXT = {
    ("Selectbox", "options"), ("Selectbox", "raw_value"), ("Selectbox", "placeholder"), ("MultiSelect", "options"),
    ("TextInput", "value"), ("TextInput", "default"), ("TextInput", "placeholder"), ("TextArea", "default"),
    ("PlotlyChart", "alt"), ("PlotlyChart", "id"), ("Arrow", "alt"), ("Json", "body"), ("Code", "code_text"),
    ("PageLink", "query_string"),
}  # fmt: skip


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with runs of every study by two models of such a name, and a benchmark of such a title."""
    cache = made_up_runs.make(tmp_path_factory.mktemp("named") / "cache", (NAME, f"{NAME} 2"))
    source = cache.parent / "pairs.csv"
    source.write_text("good,bad\nThe cat sleeps.,The cat sleep.\n")
    settings = settings_module.read(cache=cache)
    table.store_import(source, "named", settings, table.guess_reading(source), title=NAME)
    return cache


def texts(message: Message) -> Iterator[tuple[tuple[str, str], str]]:
    """Each text of an element with the kind of the message and the name of the field that holds it."""
    for field, value in message.ListFields():
        if field.message_type and field.message_type.GetOptions().map_entry:
            continue
        for one in value if field.is_repeated else [value]:
            if isinstance(one, Message):
                yield from texts(one)
            elif isinstance(one, str):
                yield (message.DESCRIPTOR.name, field.name), one


def elements(node: Any) -> Iterator[Message]:
    if (proto := getattr(node, "proto", None)) is not None:
        yield proto
    for child in getattr(node, "children", {}).values():
        yield from elements(child)


def strays(app: AppTest) -> list[tuple[tuple[str, str], str]]:
    """Where the name stands in a place that makes something of it."""
    found = []
    for element in elements(app._tree):
        for place, text in texts(element):
            if place == ("Html", "body") or place == ("PlotlyChart", "spec"):
                if re.search(r":red\[y\] <b>", json.loads(text) if text.startswith('"') else text):
                    found.append((place, text[:200]))
            elif "[x](" in text and place not in TEXT:
                found.append((place, text[:200]))
    return found


@pytest.mark.parametrize("benchmark", ["starter_pairs", "imported_named"])
@pytest.mark.parametrize("page", PAGES)
def test_no_page_makes_anything_of_a_name(cache, page, benchmark, monkeypatch):
    monkeypatch.setenv("EXPLORER_CACHE", str(cache))
    monkeypatch.setenv("EXPLORER_OFFLINE", "1")
    monkeypatch.setenv("EXPLORER_PRECOMPUTED", "none")
    st.cache_data.clear()
    st.cache_resource.clear()
    app = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=120)
    app.query_params["model"], app.query_params["benchmark"] = NAME, benchmark
    app.run()
    assert not app.exception
    assert strays(app) == []
    for button in [one for one in app.button if re.match(r"Ask|Judge|Score|Run it", one.label)][:2]:
        if not button.disabled:
            button.click().run()
            assert strays(app) == []


@pytest.mark.parametrize(
    "text",
    ["a -> b", "x >= y <-> z -- q", "1. one\n2. two\n- three", "title\n===", "    code", "&lt;", "me@evil.org", NAME,
     ":material/home: a :material_home: b :streamlit:"],
)  # fmt: skip
def test_every_sign_of_markdown_is_taken_out(text):
    marked = show.plain(text)
    bare = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", marked)
    assert bare.replace("\N{WORD JOINER}", "").replace("\N{NO-BREAK SPACE}", " ") == text
    for sign in ("->", "--", ">=", "<-"):
        assert not re.search(rf"(?<!\S){re.escape(sign)}(?!\S)", bare)
    # The browser takes escapes away before it looks for its own icons.
    assert not re.search(r":(material[/_]\w+|streamlit):", bare)
    assert not re.search(r"(?<!\\)[\[\]<>*_`$:&@#|~]|(?m:^\s*\d*[-+.)=])|www\.", marked)
