"""What a reader of the cockpit has changed and opened: in the address, so that a link brings it back; and the way back.

edit      texts typed over, as JSON: {"option 0": "..."}
swaps     words swapped wherever they stand: arrest.v:collar;actor.n:player
context   the sentences before a pair, as JSON (explorer/ui/priming/context.py)
word      the open word: its key ("actor.n"), or where it stands ("option 0@12"); `at`, in which row
layer     what the strip shows; `other`, the second model of two
pins      what is kept to be compared, as JSON
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from explorer import plain_json
from explorer.records import Instance
from explorer.ui import links
from explorer.ui.dependent_choices import CONTEXT, OF_INSTANCE
from explorer.ui.instance import own_texts

EDIT, SWAPS, WORD, TOKEN = OF_INSTANCE  # an address's "token" is the gate's, which takes it out
PINS = "pins"
MOST_PINS = 4
EMPTY_CONTEXT = "[]"
HISTORY = "cockpit:history"
SHOWN = "cockpit:instance"
GRAM = "cockpit:gram"  # the n-gram whose documents are read
VETO = "run:perturbation:veto"  # the key under which the dialog Run keeps the study's setting
ORIGINAL = "Original text"


@dataclass(frozen=True, slots=True)
class Edits:
    """All that was changed, as the address holds it."""

    edit: str = ""
    swaps: str = ""
    context: str = EMPTY_CONTEXT

    @property
    def texts(self) -> dict[str, str]:
        """The texts typed over, by the field they stand in."""
        return parse_texts(self.edit)

    @property
    def chosen(self) -> dict[str, str]:
        """The substitute of each swapped word."""
        return parse(self.swaps)


@dataclass(slots=True)
class History:
    """The steps since the instance was opened, each with what it did, and which of them is shown."""

    steps: list[tuple[str, Edits]]
    at: int = 0


def forget_other_instance(instance_id: str, *, takes_context: bool = True) -> None:
    """Forgets the edits of another instance, but for its context where both are of one collection; a history begins.

    What a link or the way back says together with the instance is of this one, and stays; a context only where
    sentences can be put before it.
    """
    before = st.session_state.get(SHOWN, instance_id)
    if before != instance_id and not links.went_back():
        of_another = (CONTEXT,) if collection(before) != collection(instance_id) else ()
        names = [name for name in (*OF_INSTANCE, *of_another) if not links.is_news(name)]
        links.remember_together(dict.fromkeys(names, ""), dict.fromkeys(names, ""))
    if not takes_context:
        links.remember(CONTEXT, "", "")
    if before != instance_id or HISTORY not in st.session_state:
        now = edits()
        changed = now.edit or now.swaps or now.context != EMPTY_CONTEXT
        first = [(ORIGINAL, Edits())] if changed else []
        st.session_state[HISTORY] = History([*first, ("As opened" if changed else ORIGINAL, now)], len(first))
    st.session_state[SHOWN] = instance_id
    if links.went_back():
        _find_step()


def collection(instance_id: str) -> tuple[str, bool]:
    """Where an instance is from: its benchmark, or the reader himself, who typed the text or the pair."""
    return instance_id.partition("/")[0], instance_id.rpartition("/")[2].startswith("typed-")


def _find_step() -> None:
    """Has the history stand at the step that the way back in the browser led to."""
    steps, now = history(), edits()
    if steps.steps[steps.at][1] == now:
        return
    places = [place for place, (_, each) in enumerate(steps.steps) if each == now]
    if not places:
        steps.steps.append(("As opened", now))
    steps.at = places[-1] if places else len(steps.steps) - 1


def edits() -> Edits:
    """What is changed now."""
    return Edits(links.recall(EDIT), links.recall(SWAPS), links.recall(CONTEXT, EMPTY_CONTEXT) or EMPTY_CONTEXT)


def history() -> History:
    """The steps that can be returned to."""
    history = st.session_state.get(HISTORY)
    if not isinstance(history, History):
        history = st.session_state[HISTORY] = History([(ORIGINAL, edits())])
    return history


def write() -> None:
    """Puts all of it into the address, so that it can be shared."""
    now = edits()
    opened = {name: links.recall(name) for name in (WORD, TOKEN, PINS)}
    links.remember_together(
        {EDIT: now.edit, SWAPS: now.swaps, CONTEXT: now.context, **opened},
        {EDIT: "", SWAPS: "", CONTEXT: EMPTY_CONTEXT, **dict.fromkeys(opened, "")},
    )


def change(label: str, **changes: str) -> None:
    """Another state of edits, which the history calls `label`; what was undone before it is gone."""
    links.take_event()
    now = edits()
    new = replace(now, **changes)
    if new == now:
        return
    steps = history()
    del steps.steps[steps.at + 1 :]
    steps.steps.append((label, new))
    steps.at = len(steps.steps) - 1
    _show(new)


def go_to_step(to: int) -> None:
    """The edits of this step, and the others stay to be returned to."""
    steps = history()
    if 0 <= to < len(steps.steps):
        steps.at = to
        _show(steps.steps[to][1])


def undo() -> None:
    """The edits of one step before."""
    go_to_step(history().at - 1)


def redo() -> None:
    """The edits that were undone last."""
    go_to_step(history().at + 1)


def reset() -> None:
    """The instance as it stands in its benchmark; the edits stay in the history."""
    change("Started over", edit="", swaps="", context=EMPTY_CONTEXT)


def _show(new: Edits) -> None:
    links.choose(EDIT, new.edit)
    links.choose(SWAPS, new.swaps)
    links.choose(CONTEXT, new.context)


def open_word(key: str, token: str) -> None:
    """Opens a word."""
    links.choose(WORD, key)
    links.choose(TOKEN, token)
    st.session_state[GRAM] = -1


def close_word() -> None:
    """Closes the open word."""
    open_word("", "")


def parse(text: str) -> dict[str, str]:
    """The swaps that `format_swaps` wrote; what is no swap is left out."""
    pieces = (piece.partition(":") for piece in text.split(";"))
    return {key: substitute for key, _, substitute in pieces if key and substitute}


def format_swaps(swaps: Mapping[str, str]) -> str:
    """Swaps as a short text."""
    return ";".join(f"{key}:{substitute}" for key, substitute in sorted(swaps.items()))


def parse_texts(text: str) -> dict[str, str]:
    """The texts that `format_texts` wrote; what is none is left out."""
    parsed = _json(text)
    return {part: value for part, value in parsed.items() if isinstance(value, str)} if isinstance(parsed, dict) else {}


def format_texts(texts: Mapping[str, str]) -> str:
    """Texts typed over as a short text; "" for none."""
    return json.dumps(dict(sorted(texts.items())), ensure_ascii=False) if texts else ""


def pins() -> list[dict[str, str]]:
    """What is kept to be compared: the instance's id, its edits and swaps, and a text or pair of the reader's own."""
    parsed = _json(links.recall(PINS))
    pinned = [entry for entry in parsed if isinstance(entry, dict)] if isinstance(parsed, list) else []
    # A link may hold any number of them, and each is scored.
    pinned = [entry for entry in pinned if entry.get("id")][-MOST_PINS:]
    return [{name: str(entry.get(name, "")) for name in ("id", EDIT, SWAPS, *own_texts.FIELDS)} for entry in pinned]


def pin_of(instance: Instance) -> dict[str, str]:
    """What is kept of an instance with its edits."""
    now = edits()
    own = {**dict.fromkeys(own_texts.FIELDS, ""), **own_texts.fields_of(instance)}
    return {"id": instance.id, EDIT: now.edit, SWAPS: now.swaps, **own}


def pin(instance: Instance) -> None:
    """Keeps what is shown to be compared, or lets it go where it is kept already."""
    this, pinned = pin_of(instance), pins()
    store_pins(([entry for entry in pinned if entry != this] if this in pinned else [*pinned, this])[-MOST_PINS:])


def store_pins(pinned: list[dict[str, str]]) -> None:
    """These are pinned from now on."""
    short = [{name: value for name, value in entry.items() if value} for entry in pinned]
    links.choose(PINS, json.dumps(short, ensure_ascii=False) if short else "")


def vetoes() -> list[str]:
    """The words that full runs started from this window leave alone, and the cockpit too."""
    return [word.strip() for word in str(st.session_state.get(VETO) or "").split(",") if word.strip()]


def veto(word: str) -> None:
    """Adds a word to the vetoes and undoes its swaps."""
    st.session_state[VETO] = ", ".join(dict.fromkeys([*vetoes(), word]))
    left = {key: value for key, value in edits().chosen.items() if key.rpartition(".")[0] != word}
    change(f"Never swap “{word}”", swaps=format_swaps(left))
    close_word()


def allow(word: str) -> None:
    """Takes a word out of the vetoes."""
    st.session_state[VETO] = ", ".join(word_vetoed for word_vetoed in vetoes() if word_vetoed != word)


def _json(text: str) -> Any:
    try:
        return plain_json.without_halves(plain_json.read(text)) if text else None
    except ValueError:
        return None
