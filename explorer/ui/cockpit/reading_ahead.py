"""What the next instance will need, made while the reader looks at this one, so that a step is shown at once.

Only what is at hand is asked: the model that is loaded, WordNet and an index of this machine. All of it is remembered
for all visitors by who makes it (words.py, live.py, ngram_rating.py); here it is only made earlier.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from explorer.errors import ExplorerError
from explorer.popularity import indexes
from explorer.records import Instance
from explorer.results import queries
from explorer.scoring import http
from explorer.ui import layout, live, resources, scored_options
from explorer.ui.cockpit import gauges, scores, sources, state, words
from explorer.ui.layout import Chosen

PAUSE = 0.3  # seconds in which the browser draws this instance, and a quick reader may have gone on
_turn = threading.Lock()  # one instance at a time, whoever is to see it: a server that is busy reads none ahead


def begin_reading(item: Instance, chosen: Chosen, run_id: str) -> None:
    """Has the words, scores and counts of an instance made that is likely to be looked at next."""
    steps = _steps(item, chosen.model, run_id, layout.scoring_of(run_id), tuple(state.vetoes()))
    if _turn.acquire(blocking=False):
        threading.Thread(target=_read, args=(steps,), name="reading ahead", daemon=True).start()


def _steps(
    item: Instance, model: str, run_id: str, scoring: Mapping[str, Any], veto: tuple[str, ...]
) -> list[Callable[[], object]]:
    """What is to be made, bound to what this visitor has chosen: a thread does not know whose it is."""
    steps: list[Callable[[], object]] = []
    if run_id:
        steps.append(lambda: resources.ask_store(queries.instance_scores, run_id, item.id))
        steps.append(lambda: resources.ask_store(queries.instance_measures, run_id, item.id))
    if not http.is_endpoint(model) and scores.is_short(item):
        # Asked when its turn comes: somebody else may have another model loaded by then.
        steps.append(lambda: _score(item, model, run_id, scoring))
    if words.has_wordnet():
        steps.append(lambda: None if words.why_unread(item) else words.read_words(item, veto))
    with contextlib.suppress(ExplorerError, OSError):
        source = sources.pick_source(item, model)
        if source and not indexes.is_remote(source.index):
            steps.append(lambda: gauges.rate(item, item, source))
    return steps


def _score(item: Instance, model: str, run_id: str, scoring: Mapping[str, Any]) -> None:
    if live.is_loaded(model) and not _has_tokens(item, run_id):
        live.judge(item, model, scoring)


def _has_tokens(item: Instance, run_id: str) -> bool:
    """Whether the stored run kept the instance's tokens, so that nothing has to be scored again.

    The scores say so and not the run's settings: a packed run may have left its tokens out.
    """
    if not run_id:
        return False
    stored = scored_options.of_rows(resources.ask_store(queries.instance_scores, run_id, item.id))
    return any(option.tokens for option in scored_options.options_of(stored))


def _read(steps: list[Callable[[], object]]) -> None:
    try:
        time.sleep(PAUSE)
        for step in steps:
            # What cannot be had is said where it is asked for.
            with contextlib.suppress(ExplorerError, OSError, ImportError):
                step()
    finally:
        _turn.release()
