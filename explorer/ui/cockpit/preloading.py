"""What the first swap of a word needs, loaded while the server starts, so that it is shown at once.

Nothing is fetched, built or converted here: what is not on this machine yet is left to the reader who asks for it.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

from explorer.errors import ExplorerError

Lifespan = Callable[[Any], contextlib.AbstractAsyncContextManager[None]]
FIRST = "starter_pairs"  # whose first instance is read and scored, and whose n-grams are looked up

_log = logging.getLogger(__name__)


def lifespan_beside(lifespan: Lifespan) -> Lifespan:
    """The server's lifespan with a thread beside it that loads what the first swap needs."""

    @contextlib.asynccontextmanager
    async def loading(app: Any) -> AsyncIterator[None]:
        threading.Thread(target=load, name="loading for the first swap", daemon=True).start()
        async with lifespan(app):
            yield

    return loading


def load() -> list[str]:
    """Loads each part that is here; those that could not be had, with the reason."""
    # No visitor is behind this thread, so Streamlit warns at each of its functions that there is no page.
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").setLevel(logging.ERROR)
    faults = []
    for part in (_model, _words, _index):
        try:
            part()
        except (ExplorerError, OSError, ImportError) as error:
            faults.append(f"{part.__name__.lstrip('_')}: {error}")
            _log.info("not loaded at the start: %s", faults[-1])
    # A million objects that stay for good (the libraries' own, most of them): set aside, so that no later collection
    # looks at them, which takes half a second and holds up whatever page is drawn. What is let go of is still freed.
    gc.collect()
    gc.freeze()
    return faults


def _model() -> None:
    """The model of the first visit, where its files are here and no other one is loaded."""
    from explorer.ui import layout, live, resources

    name = layout.first_model()
    if not resources.loaded_model() and live.answers_at_once(name):
        live.judge(resources.instances(FIRST).instances[0], name, {})


def _words() -> None:
    """WordNet, the tagger and the sentence encoder, where WordNet is here."""
    from explorer.ui import resources
    from explorer.ui.cockpit import words

    if words.has_wordnet():
        words.read_words(resources.instances(FIRST).instances[0], ())
        words.bertscore_of("a text", "another text")


def _index() -> None:
    """The reader of the glass box's index, where it is built."""
    from explorer.popularity.indexes import GLASSBOX
    from explorer.ui import resources
    from explorer.ui.instance import ngram_rating

    if ngram_rating.is_built(GLASSBOX):
        counter = ngram_rating.patiently(GLASSBOX, lambda: resources.resources().counter(GLASSBOX))
        counter.count(counter.encode(["the first"]))
