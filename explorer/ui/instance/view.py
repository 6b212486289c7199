"""An instance's scores on the screen: strips for its options, its regions or its last word."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from explorer import prompts
from explorer.figures.surprisal import surprisal_lines
from explorer.records import Instance
from explorer.studies.accuracy.declared import FORMULA, FORMULA_EQUAL
from explorer.ui import scored_options as answers
from explorer.ui import show, token_view
from explorer.ui.columns import text_column
from explorer.ui.instance.answer import Answer
from explorer.ui.scored_options import ScoredOption
from explorer.ui.token_view import Unit

FORMULAS = (FORMULA.name, FORMULA_EQUAL.name)  # measures of an instance have the same names
SHAPES = ("Tokens", "Lines")


def draw_more(instance: Instance, answer: Answer, unit: Unit, shape: str = SHAPES[0]) -> None:
    """What stands under the strip: the lines of surprisal where they are wanted, and a suite's predictions."""
    if shape == "Lines":
        _draw_lines(instance, answers.options_of(answer.asked), unit)
    if instance.kind == "regions":
        _draw_formulas(instance, answer)


def has_tokens(answer: Answer) -> bool:
    """Whether an answer says more than the sums."""
    return any(option.tokens for option in answers.options_of(answer.asked))


def text(instance: Instance) -> None:
    """The instance's sentences alone, while no score is known."""
    for sentence in prompts.option_texts(instance)[:6]:
        st.html(f'<p class="lx-sentence">{html.escape(sentence)}</p>')


def _draw_lines(instance: Instance, options: Sequence[ScoredOption], unit: Unit) -> None:
    lines: dict[str, tuple[list[str], list[float]]] = {}
    for option in options:
        name = option.condition or answers.option_name(instance, option.option)
        tokens, values = lines.setdefault(name, ([], []))
        tokens += [token.text for token in option.tokens]
        values += [token_view.in_unit(token.nats, unit) for token in option.tokens]
    figure = surprisal_lines([(name, tokens, values) for name, (tokens, values) in lines.items()], unit)
    show.chart(figure, key="surprisal", alt=f"Surprisal of each token in {unit}, one line per text")


def _draw_formulas(instance: Instance, answer: Answer) -> None:
    formulas_held = {
        measured.part: measured.value for measured in answer.judgment.measured if measured.name in FORMULAS
    }
    formulas = pd.DataFrame(
        {
            "prediction": list(instance.extra["formulas"]),
            "held": [
                _yes_or_no(formulas_held.get(number, math.nan)) for number in range(len(instance.extra["formulas"]))
            ],
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


def _yes_or_no(value: float) -> str:
    return "unknown" if math.isnan(value) else "yes" if value == 1 else "no"
