"""The texts of an instance, open to be changed and scored beside the original."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from explorer import display
from explorer.records import Condition, Instance
from explorer.ui import layout, live, show, token_view
from explorer.ui import scored_options as answers
from explorer.ui.instance import answer, view
from explorer.ui.instance.answer import Answer
from explorer.ui.scored_options import Asked
from explorer.ui.token_view import Unit
from explorer.writing import running

BETWEEN_REGIONS = " | "
TALL = 90  # characters from which a text gets a box instead of a line


def texts_of(instance: Instance) -> dict[str, str]:
    """The texts that may be changed, by their label, in reading order."""
    if instance.kind == "regions":
        return {condition.name: BETWEEN_REGIONS.join(condition.regions) for condition in instance.conditions}
    texts = {"Context": instance.context} if instance.context else {}
    if instance.second:
        texts["Second text"] = instance.second
    if instance.kind != "labelled":
        texts |= {answers.option_name(instance, number): text for number, text in enumerate(instance.options)}
    return texts


def with_texts(instance: Instance, texts: Mapping[str, str]) -> Instance:
    """The instance with these texts in place of its own."""
    if instance.kind == "regions":
        conditions = tuple(
            dataclasses.replace(condition, regions=_regions(condition, texts[condition.name]))
            for condition in instance.conditions
        )
        return live.edited(instance, conditions=conditions)
    options = tuple(
        texts.get(answers.option_name(instance, number), text) for number, text in enumerate(instance.options)
    )
    return live.edited(
        instance,
        context=texts.get("Context", instance.context),
        second=texts.get("Second text", instance.second),
        options=options,
    )


@st.fragment
def draw_editor(instance: Instance, model: str, scoring: Mapping[str, Any], unit: Unit) -> None:
    """A form with the texts; once sent, the changed instance beside the original, both scored now."""
    originals = texts_of(instance)
    with st.form(f"edit:{instance.id}", border=True):
        typed = {label: _box(instance, label, text) for label, text in originals.items()}
        if instance.kind == "regions":
            show.note("Regions are parted by | and keep their number.")
        sent = st.form_submit_button(
            f"Score with {show.plain(layout.model_title(model))}",
            type="primary",
            icon=":material/bolt:",
            key=f"score:{instance.id}",
        )
    if sent:
        st.session_state["edit:shown"] = (instance.id, typed)
        live.forget_fault("editor")
    shown_for, texts = st.session_state.get("edit:shown", ("", {}))
    if shown_for != instance.id:
        return
    changed = instance if texts == originals else with_texts(instance, texts)
    about = tuple(sorted(scoring.items()))
    answers_now = live.attempt(
        "editor", model, about, lambda: [answer.now(one, model, scoring) for one in (instance, changed)]
    )
    if answers_now is None:
        return
    if changed is instance:
        show.note("Nothing was changed: this is the original, scored now.")
        view.draw_instance(instance, answers_now[0], unit)
    else:
        _draw_both(instance, changed, answers_now[0], answers_now[1], unit)


def _draw_both(instance: Instance, changed: Instance, original: Answer, new: Answer, unit: Unit) -> None:
    pairs = list(zip(answers.options_of(original.asked), answers.options_of(new.asked), strict=False))
    _draw_numbers(instance, pairs, original, new, unit)
    for one, other in pairs if instance.kind != "regions" else ():
        if (one.context, one.continuation) != (other.context, other.continuation):
            show.section(answers.option_name(instance, one.option))
            if other.context and other.context != one.context:
                st.html(token_view.strip((), unit, context=other.context, label="Changed context"))
            st.html(token_view.aligned(other.tokens, one.tokens, unit, labels=("Changed", "Original")))
    show.section("Changed, as a whole")
    view.draw_instance(changed, new, unit)


def _draw_numbers(
    instance: Instance, pairs: Sequence[tuple[Asked, Asked]], original: Answer, new: Answer, unit: Unit
) -> None:
    cells = [("Margin", original.judgment.value("margin"), new.judgment.value("margin"))]
    if len(pairs) <= 3:
        cells += [(answers.option_name(instance, one.option), one.logprob, other.logprob) for one, other in pairs]
    known = [cell for cell in cells if cell[1] == cell[1] and cell[2] == cell[2]]
    for column, (label, old, fresh) in zip(st.columns(len(known)) if known else (), known, strict=False):
        old, fresh = token_view.in_unit(old, unit), token_view.in_unit(fresh, unit)
        column.metric(
            show.plain(f"{label} ({unit})"),
            display.number(fresh, signed=True),
            display.number(fresh - old, signed=True),
            delta_color="off",
            delta_arrow="off",
            help=f"Originally {display.number(old, signed=True)}",
        )


def _box(instance: Instance, label: str, text: str) -> str:
    key = f"text:{instance.id}:{label}"
    if len(text) > TALL or "\n" in text:
        return st.text_area(show.plain(label), text, key=key, height="content") or ""
    return st.text_input(show.plain(label), text, key=key) or ""


def _regions(condition: Condition, text: str) -> tuple[str, ...]:
    pieces = [piece.strip() for piece in text.split(BETWEEN_REGIONS.strip())]
    # Formulas name regions by number: a missing one is empty, those too many belong to the last.
    many = len(condition.regions)
    pieces += [""] * (many - len(pieces))
    return (*pieces[: many - 1], running(*pieces[many - 1 :]))
