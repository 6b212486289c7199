"""The frame of every page: title, list of pages, the pickers of model and benchmark, and the panel that starts a run.

Nothing here depends on what app.py did, since a page opened by its address may come up without it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st
from streamlit.errors import StreamlitAPIException

from explorer import benchmarks
from explorer.figures.models import model_title as model_title  # "layout.model_title" on every page
from explorer.records import Instance
from explorer.results import queries
from explorer.scoring import catalog
from explorer.ui import inventory, links, progress, resources, run_names, run_panel, show, visitor
from explorer.ui.run_names import benchmark_title as benchmark_title
from explorer.ui.run_names import models as models_in  # noqa: F401 - "layout.models_in" on pages

NAME = "Lexiscope"
ICON = Path(__file__).with_name("icon.svg")


@dataclass(frozen=True, slots=True)
class Page:
    """A page as the list of pages shows it; the panel that starts runs opens with its study."""

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
    Page("pages/popularity.py", "Popularity", "Studies", "popularity"),
    Page("pages/perturbation.py", "Perturbation", "Studies", "perturbation"),
    Page("pages/priming.py", "Priming", "Studies", "priming"),
    Page("pages/ontology.py", "Ontologies", "Studies", "ontology"),
    Page("pages/memorization.py", "Memorization", "Studies", "memorization"),
    Page("pages/in_context.py", "In-context", "Studies", "icl"),
    Page("pages/findings.py", "Findings", "Across studies"),
    Page("pages/replication.py", "Replication", "Across studies"),
    Page("pages/calibration.py", "Calibration", "Across studies"),
    Page("pages/runs.py", "Runs", "Workshop"),
    Page("pages/data.py", "Data and models", "Workshop"),
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the sidebar says: a model id and a benchmark's name."""

    model: str
    benchmark: str


def open_page(title: str, question: str) -> Chosen:
    """Draws the frame around a page and gives what was chosen in it."""
    visitor.check()
    st.set_page_config(page_title=f"{title} · {NAME}", page_icon=str(ICON), layout="wide")
    st.html(f"<style>{resources.style()}</style>")
    with st.sidebar:
        st.html(f'<div class="lx-mark"><b>{NAME}</b></div>')
        _list_pages()
        st.html('<hr class="lx-rule">')
        chosen = Chosen(pick_model(), pick_benchmark())
        run_panel.draw_run_panel(chosen.model, chosen.benchmark, _own_study(title))
        progress.draw_progress()
    show.about(title, chosen.model, chosen.benchmark)
    st.title(title, anchor=False)
    show.lead(question)
    visitor.ask_about(chosen.model, "model")
    return chosen


def link_to(title: str, label: str, **choices: str) -> None:
    """A link to another page that brings these choices along."""
    page = next(page for page in PAGES if page.title == title)
    _link(page, label, choices, icon=":material/arrow_forward:", icon_position="right")


def address_of(title: str, **choices: str) -> str:
    """The address of a page with these choices, for links inside tables."""
    page = next(page for page in PAGES if page.title == title)
    return f"/{page.address}?{urlencode(choices)}"


def pick_model() -> str:
    """The id of the model: one of the catalog's, one that has runs, or any other that is typed in."""
    default = catalog.EMBEDDED_MODELS[0].id
    wish = links.recall("model", default) or default
    known = inventory.model_names()
    options = list(dict.fromkeys([*known, *progress.models_of_runs(), wish]))
    return links.pick(
        st.selectbox,
        "Model",
        "model",
        options,
        default=default,
        always=True,
        format_func=inventory.picker_title,
        accept_new_options=True,
        on_pick=visitor.allow,
        help="One of the list, or any Hugging Face id (id@revision) or folder: type it and press Enter.",
    )


def pick_benchmark() -> str:
    """The name of the benchmark."""
    options = benchmarks.names(resources.settings())
    default = next((name for name in options if name.startswith("starter_")), options[0])
    return links.pick(
        st.selectbox, "Benchmark", "benchmark", options, default=default, always=True, format_func=benchmark_title
    )


def pick_run(study: str, chosen: Chosen, *, none: str = "") -> str:
    """The id of one of the study's runs with this model on this benchmark; "" where there is none or none is wanted."""
    runs = resources.ask(queries.runs_of, study, chosen.model, chosen.benchmark)
    names = run_names.names(runs)
    if none or not names:
        names[""] = none or "no run yet"
    first = next(iter(names))
    return links.pick(
        st.selectbox, "Stored run", "run", list(names), default=first, format_func=lambda run_id: names[run_id]
    )


def pick_stored(runs: pd.DataFrame, chosen: Chosen, about: run_names.About | None = None) -> str:
    """The id of one of these runs of the chosen model, of which the page's figures are from here on; "" for none.

    `about` adds what the page has to say of a run to its name.
    """
    names = run_names.names(runs[runs["model"] == chosen.model], about)
    if not names:
        return ""
    run_id = links.pick(st.selectbox, "Stored run", "run", list(names), format_func=names.__getitem__)
    about_run(run_id)
    return run_id


def about_run(run_id: str) -> None:
    """Says that what is shown from here on is about this run."""
    runs = resources.ask(queries.run, run_id)
    if len(runs):
        run = runs.iloc[0]
        show.about(str(run["study"]), str(run["model"]), str(run["benchmark"]), int(run["done"]))


def scoring_of(run_id: str) -> dict[str, Any]:
    """The settings that a live score takes over from a stored run, so that the two agree."""
    if not run_id:
        return {}
    spec = resources.ask(queries.run, run_id)["spec"].iloc[0]
    settings: dict[str, Any] = json.loads(spec)["settings"]
    return {name: settings[name] for name in ("preset", "bos", "normalization") if name in settings}


def warn_of_other_text(run_id: str, instance: Instance) -> None:
    """A warning where the run saw another text under this id."""
    seen = resources.ask(queries.stored_instance, run_id, instance.id)
    if len(seen) and seen["text_hash"].iloc[0] != instance.text_hash:
        st.warning("The text of this instance has changed since the run; the stored scores are of the older text.")


def _own_study(title: str) -> str:
    """The study of a page; a study that was chosen on another page does not follow the reader here."""
    if st.session_state.get("page") != title:
        st.session_state["page"] = title
        links.forget("study")
    return next((page.study for page in PAGES if page.title == title), "")


def _list_pages() -> None:
    section = ""
    carried = {name: links.recall(name) for name in ("model", "benchmark") if links.recall(name)}
    for page in PAGES:
        if page.section != section:
            section = page.section
            show.section(section)
        _link(page, page.title, carried)


def _link(page: Page, label: str, choices: Mapping[str, str], **looks: Any) -> None:
    try:
        st.page_link(page.path, label=show.plain(label), query_params=dict(choices), **looks)
    except StreamlitAPIException:
        # A page that is run by itself, without app.py beside it, knows of no other page.
        st.link_button(show.plain(label), address_of(page.title, **choices), type="tertiary", **looks)
