"""An instance's scores on the screen: strips for its options, its regions or its last word."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import streamlit as st

from explorer import display, prompts
from explorer.figures.surprisal import surprisal_lines
from explorer.records import Instance
from explorer.studies.accuracy.declared import FORMULA, FORMULA_EQUAL
from explorer.ui import scored_options as answers
from explorer.ui import show, token_view
from explorer.ui.columns import text_column
from explorer.ui.instance.answer import Answer
from explorer.ui.scored_options import Asked
from explorer.ui.token_view import Unit

FORMULAS = (FORMULA.name, FORMULA_EQUAL.name)  # measures of an instance have the same names
SHAPES = ("Tokens", "Lines")


def draw_instance(instance: Instance, answer: Answer, unit: Unit, shape: str = SHAPES[0]) -> None:
    """The verdict, and all that was asked, token by token or as lines."""
    correct = answer.judgment.get("correct")
    kind = answers.verdict_of(correct.value)
    sentence = answers.verdict_sentence(
        instance, answer.asked, correct.value, answer.judgment.value("margin"), correct.reason
    )
    st.html(token_view.verdict(kind, sentence, answers.VERDICT_WORDS.get(instance.format, {}).get(kind, "")))
    options = answers.options_of(answer.asked)
    for fault in dict.fromkeys(one.reason for one in options if one.reason):
        show.note(f"Without a score: {fault}")
    if not has_tokens(answer):
        _sums(instance, options, unit)
    elif shape == "Lines":
        _draw_lines(instance, options, unit)
    else:
        VIEWS[instance.kind](instance, options, answer, unit)
        st.html(token_view.key(unit))


def has_tokens(answer: Answer) -> bool:
    """Whether an answer says more than the sums."""
    return any(one.tokens for one in answers.options_of(answer.asked))


def text(instance: Instance) -> None:
    """The instance's sentences alone, while no score is known."""
    for sentence in prompts.option_texts(instance)[:6]:
        st.html(f'<p class="lx-sentence">{html.escape(sentence)}</p>')


def _draw_lines(instance: Instance, options: Sequence[Asked], unit: Unit) -> None:
    lines: dict[str, tuple[list[str], list[float]]] = {}
    for one in options:
        name = one.condition or answers.option_name(instance, one.option)
        tokens, values = lines.setdefault(name, ([], []))
        tokens += [token.text for token in one.tokens]
        values += [token_view.in_unit(token.nats, unit) for token in one.tokens]
    figure = surprisal_lines([(name, tokens, values) for name, (tokens, values) in lines.items()], unit)
    show.chart(figure, key="surprisal", alt=f"Surprisal of each token in {unit}, a line a text")


def _draw_options(instance: Instance, options: Sequence[Asked], answer: Answer, unit: Unit) -> None:
    contexts = list(dict.fromkeys(one.context for one in options))
    if len(contexts) == 1 and contexts[0]:
        st.html(token_view.strip((), unit, context=contexts[0], label="Context"))
    elif len(contexts) > 1:
        for one in options:
            name = answers.option_name(instance, one.option)
            st.html(
                f'<p class="lx-option"><b>{html.escape(name)}</b></p>'
                + token_view.strip((), unit, context=f"{one.context} …", label=f"Context of {name}")
            )
    if len(options) == 2:
        first, second = options
        names = (_head(instance, first, unit), _head(instance, second, unit))
        st.html(token_view.aligned(first.tokens, second.tokens, unit, labels=names))
        return
    lines = [(answers.option_name(instance, one.option), _sum(one, unit), one.tokens) for one in options]
    st.html(token_view.rows(lines, unit))


def _draw_text(instance: Instance, options: Sequence[Asked], answer: Answer, unit: Unit) -> None:
    for one in options:
        st.html(token_view.strip(one.tokens, unit, context=one.context, label="Text") + _total(one, unit))


def _draw_regions(instance: Instance, options: Sequence[Asked], answer: Answer, unit: Unit) -> None:
    names = list(instance.extra.get("regions", ()))
    for condition in instance.conditions:
        parts = [(_region_name(names, one.part), one.tokens) for one in options if one.condition == condition.name]
        st.html(f'<p class="lx-option"><b>{html.escape(condition.name)}</b></p>' + token_view.regions(parts, unit))
    formulas_held = {one.part: one.value for one in answer.judgment.measured if one.name in FORMULAS}
    formulas = pd.DataFrame(
        {
            "prediction": list(instance.extra["formulas"]),
            "held": [_held(formulas_held.get(number, math.nan)) for number in range(len(instance.extra["formulas"]))],
        }
    )
    show.section("Predictions of the suite")
    show.table(
        formulas,
        "formulas",
        columns={"prediction": text_column("Formula", width="large"), "held": "Holds"},
        caption=f"The predictions of the suite and whether each holds for {instance.id}",
        n=1,
    )


VIEWS: Mapping[str, Callable[[Instance, Sequence[Asked], Answer, Unit], None]] = {
    "pair": _draw_options,
    "choice": _draw_options,
    "labelled": _draw_options,
    "cloze": _draw_text,
    "rating": _draw_text,
    "concept": _draw_text,
    "text": _draw_text,
    "regions": _draw_regions,
}


def _sums(instance: Instance, options: Sequence[Asked], unit: Unit) -> None:
    whole = prompts.option_texts(instance)
    for one in options:
        name = answers.option_name(instance, one.option)
        st.html(f'<p class="lx-option"><b>{html.escape(name)}</b><span class="lx-quiet">{_sum(one, unit)}</span></p>')
        if one.option < len(whole) == len(options):
            st.html(f'<p class="lx-sentence">{html.escape(whole[one.option])}</p>')


def _head(instance: Instance, one: Asked, unit: Unit) -> str:
    return f"{answers.option_name(instance, one.option)}  {_sum(one, unit)}"


def _sum(one: Asked, unit: Unit) -> str:
    if one.logprob != one.logprob:
        return "no score"
    return f"{display.number(token_view.in_unit(one.logprob, unit), signed=True)} {unit}"


def _total(one: Asked, unit: Unit) -> str:
    return f'<p class="lx-note lx-quiet">log-probability {html.escape(_sum(one, unit))}</p>'


def _region_name(names: Sequence[str], part: int) -> str:
    return f"{part} {names[part - 1]}" if 0 < part <= len(names) else str(part)


def _held(value: float) -> str:
    return "unknown" if math.isnan(value) else "yes" if value == 1 else "no"
