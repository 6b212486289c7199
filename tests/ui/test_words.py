"""What stands on the pages is sentences of a person: no raw names, hashes, ids of runs or command lines."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from explorer.ui import glossary
from explorer.ui.layout import PAGES

# Page → the choices that open each of its views.
VIEWS = {
    "in_context": [{"facet": "Over k"}, {"facet": "Live lab"}],
    "priming": [{"priming": name} for name in ("Live lab", "Curves", "Suites", "Regression", "Heat maps")],
    "perturbation": [{"facet": name} for name in ("Live lab",)],
    "ontology": [{"view": name} for name in ("Results", "Concept inspector")],
    "findings": [{"finding": name} for name in ("Correlations", "Two measures", "Groups", "Two models")],
    "runs": [{"view": name} for name in ("One run", "Compare two", "From elsewhere")],
    "data": [{"shelf": name} for name in ("Models", "Benchmarks", "Import a table")],
}
BENCHMARKS = {"in_context": "starter_entailment"}
CASES = [(page.address, view) for page in PAGES for view in VIEWS.get(page.address, [{}])]

STRAY = {
    "a name with an underscore": re.compile(
        r"(?<![\w/.#:-])[A-Za-z][A-Za-z0-9]*_[A-Za-z0-9_]+(?![\w/])"
    ),  # but for ids, which are paths
    "a hash": re.compile(r"sha256:|\b[0-9a-f]{32,}\b"),
    "a run's id": re.compile(r"\b(accuracy|popularity|perturbation|memorization|priming|ontology|icl)-[0-9a-f]{12}\b"),
    "a command line": re.compile(r"python -m|--set\b|--benchmark\b"),
    "JSON": re.compile(r'\{"|"\}|\[\['),
    "a phrase that nobody says": re.compile(r"runs know", re.IGNORECASE),
}
NAMES = {"Q4_1", "Q4_K_M"}  # of file formats, which are called so
TEXTS = (
    "title", "header", "subheader", "markdown", "caption", "info", "warning", "error", "success", "text",
)  # fmt: skip
LABELED = ("button", "selectbox", "multiselect", "text_input", "number_input", "toggle", "radio", "slider", "metric")


def plain(text: str) -> str:
    """A text without tags and without the backslashes that keep Markdown from being read."""
    text = re.sub(r"<(style|script|svg|pre)\b.*?</\1>", " ", text, flags=re.DOTALL)
    text = re.sub(r"<code\b.*?</code>", " ", text, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", " ", text)).replace("\\", "")


def shown(app: AppTest) -> Iterator[str]:
    """All that a reader sees but tables and code."""
    for kind in TEXTS:
        for element in app.get(kind):
            yield plain(str(element.value))
    for element in app.get("html"):
        if "lx-terms" not in element.proto.body:
            yield plain(element.proto.body)
    for kind in LABELED:
        for element in app.get(kind):
            yield str(element.label)
    for kind in ("selectbox", "multiselect", "button_group"):
        for element in app.get(kind):
            yield from map(str, element.options)
    for kind in ("page_link", "link_button", "expander"):
        for element in app.get(kind):
            yield element.proto.label if hasattr(element.proto, "label") else str(element.label)


def strays(texts: Iterator[str]) -> list[str]:
    return sorted(
        {f"{what}: {found.group(0)!r} in {text[:90]!r}" for text in texts for what, pattern in STRAY.items()
         if (found := pattern.search(text)) and found.group(0) not in NAMES}
    )  # fmt: skip


@pytest.mark.parametrize(("page", "view"), CASES, ids=[f"{page}-{'-'.join(view.values())}" for page, view in CASES])
@pytest.mark.shares_answers("everything")
def test_a_page_with_runs_speaks_plainly(open_page, everything, page, view):
    app = open_page(page, everything, benchmark=BENCHMARKS.get(page, "starter_pairs"), model="gemma-3-270m", **view)
    assert not app.exception
    found = strays(shown(app))
    assert not found, "\n".join(found)
    untold = glossary.used(" \n ".join(shown(app))) - set(glossary.ON_PAGES.get(app.title[0].value, ()))
    assert not untold  # every short name is told at the head of the page


@pytest.mark.parametrize("page", [page.address for page in PAGES])
def test_a_page_without_runs_speaks_plainly(open_page, tmp_path, page):
    app = open_page(page, tmp_path / "cache", benchmark=BENCHMARKS.get(page, "starter_pairs"), model="gemma-3-270m")
    assert not app.exception
    found = strays(shown(app))
    assert not found, "\n".join(found)
    assert not [code for code in app.code if "python -m" in code.value and not _is_folded(app, code.value)]


def _is_folded(app: AppTest, command: str) -> bool:
    return any(
        command == code.value
        for part in app.expander
        if "command line" in part.label.lower()
        for code in part.get("code")
    )
