"""The pages of the app and links to them.

Nothing here depends on what app.py did, since a page opened by its address may come up without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.errors import StreamlitAPIException

from explorer.ui import links, show


@dataclass(frozen=True, slots=True)
class Page:
    """A page as the list of pages shows it; the dialog that starts runs opens with its study."""

    path: str
    title: str
    section: str
    study: str = ""

    @property
    def address(self) -> str:
        """The last part of the page's address."""
        return self.path.removeprefix("pages/").removesuffix(".py")


PAGES = (
    Page("pages/overview.py", "Overview", "Explore"),
    Page("pages/instance.py", "Instance", "Explore"),
    Page("pages/corpus.py", "Corpus", "Explore"),
    Page("pages/popularity.py", "Popularity", "Studies", "popularity"),
    Page("pages/perturbation.py", "Perturbation", "Studies", "perturbation"),
    Page("pages/priming.py", "Priming", "Studies", "priming"),
    Page("pages/ontology.py", "Ontologies", "Studies", "ontology"),
    Page("pages/memorization.py", "Memorization", "Studies", "memorization"),
    Page("pages/in_context.py", "In-context", "Studies", "icl"),
    Page("pages/findings.py", "Findings", "Across studies"),
    Page("pages/replication.py", "Replication", "Across studies"),
    Page("pages/trajectories.py", "Trajectories", "Across studies"),
    Page("pages/calibration.py", "Calibration", "Across studies"),
    Page("pages/runs.py", "Runs", "Workshop"),
    Page("pages/data.py", "Data and models", "Workshop"),
)

# Study → the page that shows what its runs found, and the view of it.
RESULTS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "accuracy": ("Instance", {}),
    "popularity": ("Popularity", {}),
    "perturbation": ("Perturbation", {"facet": "Full runs"}),
    "priming": ("Priming", {"priming": "Curves"}),
    "ontology": ("Ontologies", {}),
    "memorization": ("Memorization", {}),
    "icl": ("In-context", {}),
}


def find(title: str) -> Page:
    """The page with this title."""
    return next(page for page in PAGES if page.title == title)


def link_to(title: str, label: str, **choices: str) -> None:
    """A link to another page that brings these choices along."""
    link(find(title), label, choices, icon=":material/arrow_forward:", icon_position="right")


def address_of(title: str, **choices: str) -> str:
    """The address of a page with these choices, for links inside tables."""
    return f"/{find(title).address}?{urlencode(choices)}"


def link(page: Page, label: str, choices: Mapping[str, str], **looks: Any) -> None:
    """A link to a page."""
    try:
        st.page_link(page.path, label=show.plain(label), query_params=dict(choices), **looks)
    except StreamlitAPIException:
        # A page that is run by itself, without app.py beside it, knows of no other page.
        st.link_button(show.plain(label), address_of(page.title, **choices), type="tertiary", **looks)


def link_to_result(study: str, label: str, model: str, benchmark: str, run_id: str) -> None:
    """A link to what a run found."""
    title, view = RESULTS.get(study, ("Runs", {"shown": run_id}))
    link_to(title, label, **{**view, "model": model, "benchmark": benchmark, "run": run_id})


def list_pages() -> None:
    """All pages, by section; model and benchmark go along."""
    section = ""
    carried = {name: links.recall(name) for name in ("model", "benchmark") if links.recall(name)}
    for page in PAGES:
        if page.section != section:
            section = page.section
            show.section(section)
        link(page, page.title, carried)
