"""The frame of every page: the list of pages, the bar with model, benchmark, runs and the button Run, and the title."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from explorer import benchmarks
from explorer.errors import StoreError
from explorer.figures.model_names import model_title as model_title  # "layout.model_title" on every page
from explorer.records import Instance
from explorer.results import queries
from explorer.scoring import catalog
from explorer.studies import chat
from explorer.ui import (
    dependent_choices,
    figures_ahead,
    glossary,
    inventory,
    links,
    live,
    page_list,
    palette,
    progress,
    resources,
    run_names,
    run_panel,
    shortcuts,
    show,
    tour,
    visitor,
    wrong_address,
)
from explorer.ui.page_list import PAGES as PAGES
from explorer.ui.page_list import address_of as address_of
from explorer.ui.page_list import link_to as link_to
from explorer.ui.run_names import benchmark_title as benchmark_title
from explorer.ui.run_names import models as models_in  # noqa: F401 - "layout.models_in" on pages

NAME = "Lexiscope"
ICON = Path(__file__).with_name("icon.svg")
SIDEBAR = 232  # pixels


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the bar at the top says: a model id and a benchmark's name."""

    model: str
    benchmark: str


def open_page(title: str, question: str) -> Chosen:
    """Draws the frame around a page and gives what was chosen in it."""
    visitor.check()
    st.set_page_config(
        page_title=f"{title} · {NAME}", page_icon=str(ICON), layout="wide", initial_sidebar_state=SIDEBAR
    )
    links.take_address()
    st.html(f"<style>{resources.style()}</style>")
    own_study = _own_study(title)
    progress.read_runs()
    with st.sidebar:
        st.html(f'<div class="lx-mark"><b>{NAME}</b></div>')
        page_list.list_pages()
    shortcuts.draw_keys()
    figures_ahead.draw_figures_ahead()
    bar, place = st.container(key="lx-bar"), st.container()
    with place:
        wrong_address.open_place(links.choose)
    with bar:
        chosen = _draw_bar(title)
        progress.draw_progress()
    with place:
        tour.draw_tour(title, chosen.model, chosen.benchmark)
    run_panel.draw_dialog(title, chosen.model, chosen.benchmark, own_study)
    show.about(title, chosen.model, chosen.benchmark)
    st.title(title, anchor=False)
    show.lead(question)
    glossary.draw_terms(title)
    visitor.ask_about(chosen.model, "model")
    return chosen


def _draw_bar(title: str) -> Chosen:
    """Model, benchmark, the state of runs and the button that starts one, in one row."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="lx-bar-row"):
        model = pick_model()
        chosen = Chosen(model, pick_benchmark(benchmarks.default_for(model)))
        progress.draw_state()
        search = st.button(
            "Search", key=shortcuts.SEARCH, icon=":material/search:", type="tertiary", shortcut="Ctrl+K",
            on_click=links.take_event,
        )  # fmt: skip
        keys = st.button(
            "Keys", key=shortcuts.HELP, icon=":material/keyboard:", type="tertiary", on_click=links.take_event
        )
        run_panel.draw_run_button(title)
    if search or keys:
        run_panel.close()  # one dialog at a time
    if search:
        palette.draw_palette(chosen.model, chosen.benchmark)
    elif keys:
        shortcuts.draw_shortcuts()
    return chosen


def pick_model() -> str:
    """The id of the model: one of the catalog's, one that has runs, or any other that is typed in."""
    default = first_model()
    wish = links.recall("model", default) or default
    known = inventory.model_names()
    ready = list(dict.fromkeys([*known, *progress.models_of_runs()]))
    options = list(dict.fromkeys([*ready, wish]))
    titles = inventory.picker_titles(options)  # once, since Streamlit asks for each option's several times
    if links.is_news("model") and wish not in ready and live.why_unknown(wish):
        near = wrong_address.nearest(wish, ready, model_title)
        if near or "/" not in wish:
            wrong_address.tell_wrong_choice("model", wish, "", ready, model_title)
    return links.pick(
        st.selectbox,
        "Model",
        "model",
        options,
        default=default,
        always=True,
        # One that was typed is not among them, and stays as typed: the browser sends back what it shows.
        format_func=lambda name: titles.get(name, name),
        accept_new_options=True,
        on_pick=visitor.allow,
        leaving=("run",),
        help="One of the list, or any Hugging Face id (id@revision) or folder: type it and press Enter.",
    )


def first_model() -> str:
    """The id of the model that a first visit looks at."""
    return catalog.default_model(_stored_models())


def _stored_models() -> set[str]:
    """The models that have stored runs; none where the database cannot be read, which the page itself tells."""
    try:
        return set(resources.ask_store(queries.runs)["model"])
    except StoreError:
        return set()


def pick_benchmark(default: str) -> str:
    """The name of the benchmark."""
    options = benchmarks.names(resources.settings())
    return links.pick(
        st.selectbox, "Benchmark", "benchmark", options, default=default, always=True, format_func=benchmark_title,
        leaving=dependent_choices.OF_BENCHMARK,
    )  # fmt: skip


def pick_run(study: str, chosen: Chosen, *, none: str = "") -> str:
    """The id of one of the study's runs with this model on this benchmark; "" where there is none or none is wanted."""
    runs = resources.ask_store(queries.runs_of, study, chosen.model, chosen.benchmark)
    names = run_names.names(runs)
    if not names:
        links.recall("run", "", ())  # where an address asks for one, the page says that it is not there
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
        links.recall("run", "", ())
        return ""
    run_id = links.pick(st.selectbox, "Stored run", "run", list(names), format_func=names.__getitem__)
    about_run(run_id)
    return run_id


def _other_run(run_id: str) -> wrong_address.Wrong | None:
    """Where a run that an address asks for is: with another model, on another benchmark, or of no use here."""
    runs = resources.ask_store(queries.run, run_id)
    if runs.empty:
        return None
    run = runs.iloc[0]
    if (links.recall("model"), links.recall("benchmark")) == (str(run["model"]), str(run["benchmark"])):
        return wrong_address.Wrong("The run that the address asks for has nothing that this page shows.")
    name = f"{model_title(str(run['model']))} on {benchmark_title(str(run['benchmark']))}"
    choices = {"model": str(run["model"]), "benchmark": str(run["benchmark"]), "run": run_id}
    return wrong_address.Wrong(
        f"The run that the address asks for is of {name}, which is not what is chosen here.", name, choices
    )


wrong_address.LOOKUPS["run"] = _other_run


def about_run(run_id: str) -> None:
    """Says that what is shown from here on is about this run."""
    runs = resources.ask_store(queries.run, run_id)
    if len(runs):
        run = runs.iloc[0]
        show.about(str(run["study"]), str(run["model"]), str(run["benchmark"]), int(run["done"]))


def scoring_of(run_id: str) -> dict[str, Any]:
    """The settings that a live score takes over from a stored run, so that the two agree."""
    settings = settings_of(run_id)
    if "preset" in settings:
        settings.setdefault("normalization", "sum")  # priming and imported runs compare sums, whatever the preset
    # Sentences that a run put up for judgment are shown scored: a yes has no words to look at.
    return {name: settings[name] for name in ("preset", "bos", "normalization", "chat", "system") if name in settings}


def settings_of(run_id: str) -> dict[str, Any]:
    """The settings of a stored run; none of one that is not known."""
    if not run_id:
        return {}
    stored = resources.ask_store(queries.run, run_id)
    return dict(json.loads(stored["spec"].iloc[0])["settings"]) if len(stored) else {}


def asked_in_words(run_id: str) -> str:
    """How a stored run asked, where that was not the plain way, as a sentence; "" where it was."""
    sentence = chat.in_words(settings_of(run_id))
    return f"This run asked {sentence}." if sentence else ""


def warn_of_other_text(run_id: str, instance: Instance) -> None:
    """A warning where the run saw another text under this id."""
    seen = resources.ask_store(queries.stored_instance, run_id, instance.id)
    if len(seen) and seen["text_hash"].iloc[0] != instance.text_hash:
        st.warning("The text of this instance has changed since the run; the stored scores are of the older text.")


def _own_study(title: str) -> str:
    """The study of a page; what was chosen or open on another page does not follow the reader here."""
    if st.session_state.get("page") != title:
        st.session_state["page"] = title
        links.forget("study")
        run_panel.close()
        wrong_address.forget()
    return page_list.find(title).study if title in {page.title for page in PAGES} else ""
