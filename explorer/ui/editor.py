"""The texts of an instance, open to be changed and scored beside the original."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from explorer.records import Condition, Instance
from explorer.ui import asked as answers
from explorer.ui import instance_view, live, show, strips
from explorer.ui.asked import Asked
from explorer.ui.live import Judged
from explorer.ui.strips import Unit

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
def draw(instance: Instance, model: str, title: str, scoring: Mapping[str, Any], unit: Unit) -> None:
    """A form with the texts; once sent, the changed instance beside the original, both scored now."""
    own = texts_of(instance)
    with st.form(f"edit:{instance.id}", border=True):
        typed = {label: _box(instance, label, text) for label, text in own.items()}
        if instance.kind == "regions":
            show.note("Regions are parted by | and keep their number.")
        sent = st.form_submit_button(
            f"Score with {title}", type="primary", icon=":material/bolt:", key=f"score:{instance.id}"
        )
    if sent:
        st.session_state["edit:shown"] = (instance.id, typed)
    shown_for, texts = st.session_state.get("edit:shown", ("", {}))
    if shown_for != instance.id:
        return
    with show.problems():
        original = judge(instance, model, title, scoring)
        if texts == own:
            show.note("Nothing was changed: this is the original, scored now.")
            _one(instance, original, unit)
            return
        changed = with_texts(instance, texts)
        _both(instance, changed, original, judge(changed, model, title, scoring), unit)


def judge(instance: Instance, model: str, title: str, scoring: Mapping[str, Any]) -> Judged:
    """The instance scored now, with a word on what takes long the first time."""
    if live.is_loaded(model):
        return live.judge(instance, model, scoring)
    with st.spinner(
        f"Loading {title}; the very first time its file is converted, which takes a minute", show_time=True
    ):
        return live.judge(instance, model, scoring)


def _one(instance: Instance, judged: Judged, unit: Unit) -> None:
    asked = answers.of_scores(judged.scores)
    instance_view.verdict(instance, asked, judged.measures)
    instance_view.draw(instance, asked, judged.measures, unit)


def _both(instance: Instance, changed: Instance, original: Judged, new: Judged, unit: Unit) -> None:
    before, after = answers.of_scores(original.scores), answers.of_scores(new.scores)
    instance_view.verdict(changed, after, new.measures)
    _numbers(instance, before, after, original, new, unit)
    if instance.kind != "regions":
        for one, other in zip(answers.options_of(before), answers.options_of(after)):
            if (one.context, one.continuation) != (other.context, other.continuation):
                show.section(answers.option_name(instance, one.option))
                if other.context and other.context != one.context:
                    st.html(strips.strip((), unit, context=other.context, label="Changed context"))
                st.html(strips.aligned(other.tokens, one.tokens, unit, labels=("Changed", "Original")))
    show.section("Changed, as a whole")
    instance_view.draw(changed, after, new.measures, unit)


def _numbers(
    instance: Instance, before: Sequence[Asked], after: Sequence[Asked], original: Judged, new: Judged, unit: Unit
) -> None:
    cells = [("Margin", original.measure("margin"), new.measure("margin"))]
    if len(answers.options_of(before)) <= 3:
        cells += [
            (answers.option_name(instance, one.option), one.logprob, other.logprob)
            for one, other in zip(answers.options_of(before), answers.options_of(after))
        ]
    known = [cell for cell in cells if cell[1] == cell[1] and cell[2] == cell[2]]
    if not known:
        return
    for column, (label, old, fresh) in zip(st.columns(len(known)), known):
        old, fresh = strips.in_unit(old, unit), strips.in_unit(fresh, unit)
        column.metric(
            f"{label} ({unit})", strips.signed(fresh), f"{fresh - old:+.2f}", delta_color="off",
            help=f"Originally {strips.signed(old)}",
        )  # fmt: skip


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
    return (*pieces[: many - 1], " ".join(piece for piece in pieces[many - 1 :] if piece))
