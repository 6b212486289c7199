"""The app's one set of resources, cached: models and stores as resources, tables as data with a bound."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from explorer import settings as settings_module
from explorer import stopping
from explorer.errors import ExplorerError, UsageError
from explorer.fetch import Patience
from explorer.resources import Resources
from explorer.results import broken_off
from explorer.scoring.http_calls import Limits
from explorer.settings import Settings
from explorer.ui import visitor

if TYPE_CHECKING:
    from explorer.benchmarks.core.benchmark import Loaded
    from explorer.results.packed_run import Run
    from explorer.results.store import Store

Answer = TypeVar("Answer")

# A run has the night, a visitor has not.
LIVE = Limits(concurrency=4, timeout=60, tries=2, longest_wait=5)
LIVE_COUNTS = Patience(read=15, tries=2, delay=0.5, longest_delay=1)
NAMED = ("EXPLORER_", "OPENAI_", "HOME", "USERPROFILE")  # how the variables begin that settings are read from
# Streamlit goes through the fields of an argument one by one, a millisecond for the settings, 20 times a page.
BY_VALUE: dict[str | type[Any], Callable[[Any], Any]] = {Settings: hash}


def settings() -> Settings:
    """Where things are kept, from the environment; the page ends with a sentence where that cannot be read."""
    try:
        return _settings(tuple(item for item in os.environ.items() if item[0].startswith(NAMED)))
    except UsageError as error:
        from explorer.ui import show

        st.error(show.plain(str(error)))
        st.stop()


@functools.lru_cache(maxsize=1)
def _settings(environment: tuple[tuple[str, str], ...]) -> Settings:
    """The settings of this environment, which a page asks for twenty times and which change with it alone."""
    return settings_module.read()


def resources() -> Resources:
    """The builder of models, counters and encoders that all pages share; it keeps one language model at a time."""
    return _resources(settings())


def forget() -> None:
    """Lets go of the loaded model and of all that was read; what is asked next is read anew."""
    _resources.clear()
    loaded_model().clear()


@st.cache_resource(show_spinner=False)
def loaded_model() -> dict[str, str]:
    """Under "name", the model that has answered last; empty while none is loaded."""
    return {}


@st.cache_resource(max_entries=1, show_spinner=False, hash_funcs=BY_VALUE)
def _resources(chosen: Settings) -> Resources:
    with contextlib.suppress(ExplorerError, OSError):
        broken_off.finish_deletions(chosen)
    return Resources(chosen, limits=LIVE, patience=LIVE_COUNTS, admit=visitor.admit)


@st.cache_resource(show_spinner=False)
def model_lock() -> stopping.InOrder:
    """Held while the language model is loaded or asked: one visitor at a time."""
    return stopping.InOrder()


def _stop_if_gone() -> None:
    """Ends the script, by Streamlit's own exception, whose window was closed or was clicked in meanwhile."""
    if get_script_run_ctx(suppress_warning=True) is not None:
        # Every look at the state of a session is a place where Streamlit stops a script.
        _ = "any" in st.session_state


stopping.everywhere(_stop_if_gone)


def instances(benchmark: str) -> Loaded:
    """A benchmark's instances; the first call reads its files."""
    return resources().instances(benchmark)


def store() -> Store:
    """The newest database generation, open for reading."""
    from explorer.results.store import current_generation

    return _store(settings(), str(current_generation(settings())))


def run(run_id: str) -> Run:
    """A stored run: its folder on this machine, or else what came with the explorer."""
    from explorer.results import queries
    from explorer.results.packed_run import packed_run
    from explorer.runs.folder import RunFolder

    if os.path.exists(settings().runs / run_id / "spec.json"):  # also in a folder that nobody else may enter
        return RunFolder.find(settings().runs, run_id)
    return packed_run(store(), run_id, settings(), ask_store(queries.run, run_id))


# A few generations stay open, since another visitor may be in the middle of a question to an older one.
@st.cache_resource(
    max_entries=4, show_spinner=False, on_release=lambda shared_store: shared_store.close(), hash_funcs=BY_VALUE
)
def _store(chosen: Settings, generation: str) -> Store:
    from explorer.results.store import open_store

    return open_store(chosen)


def ask_store(question: Callable[..., Answer], *arguments: Any, **named: Any) -> Answer:
    """The answer to a question to the store, remembered for as long as the database stays the same."""
    from explorer.results.store import current_generation

    generation = str(current_generation(settings()))
    where = (question.__module__, question.__name__)
    answer: Answer = _answer(where, arguments, tuple(sorted(named.items())), settings(), generation)
    return answer


@st.cache_data(max_entries=128, show_spinner=False, hash_funcs=BY_VALUE)
def _answer(
    question: tuple[str, str],
    arguments: tuple[Any, ...],
    named: tuple[tuple[str, Any], ...],
    chosen: Settings,
    generation: str,
) -> Any:
    module, name = question
    ask: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return ask(_store(chosen, generation), *arguments, **dict(named))


def ask_shared(question: Callable[..., Answer], *arguments: Any) -> Answer:
    """As `ask`, of records that nobody changes: visitors share them, since copies of many take longer than a page."""
    from explorer.results.store import current_generation

    generation = str(current_generation(settings()))
    answer: Answer = _shared((question.__module__, question.__name__), arguments, settings(), generation)
    return answer


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=BY_VALUE)
def _shared(question: tuple[str, str], arguments: tuple[Any, ...], chosen: Settings, generation: str) -> Any:
    module, name = question
    ask: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return ask(_store(chosen, generation), *arguments)


def every_row(table: pd.DataFrame) -> bytes:
    """What tells a table from any other, for what is remembered by tables (`hash_funcs={pd.DataFrame: every_row}`).

    Of 50,000 rows and more Streamlit looks at a sample alone, and takes two tables that differ in few rows for one.
    """
    try:
        rows = pd.util.hash_pandas_object(table).to_numpy().tobytes()
    except TypeError:  # cells that are lists
        rows = pickle.dumps(table)
    return hashlib.sha256(repr(list(table.columns)).encode() + rows).digest()


def drawn(draw: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """The figure that `draw` makes of stored numbers, remembered: to build it takes longer than all else on a page.

    Visitors share it, so nobody changes it.
    """
    return _drawn((draw.__module__, draw.__name__), arguments, tuple(sorted(named.items())))


def _name_of(function: FunctionType) -> tuple[str, str]:
    if "<" in function.__qualname__:  # two of a function's own functions have one name, and may do different things
        raise TypeError(f"{function.__qualname__} stands inside a function. Give one that its name tells.")
    return function.__module__, function.__qualname__


@st.cache_resource(max_entries=128, show_spinner=False, hash_funcs={FunctionType: _name_of, pd.DataFrame: every_row})
def _drawn(draw: tuple[str, str], arguments: tuple[Any, ...], named: tuple[tuple[str, Any], ...]) -> Any:
    module, name = draw
    return getattr(importlib.import_module(module), name)(*arguments, **dict(named))


def style() -> str:
    """The app's style sheet."""
    return _style(Path(__file__).with_name("style.css"))


@st.cache_data(max_entries=1, show_spinner=False)
def _style(path: Path) -> str:
    return path.read_text(encoding="utf-8")
