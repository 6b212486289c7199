"""What a swap moves: log-probability, margin, verdict, popularity, and how alike the texts are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explorer import display, prompts
from explorer.records import Instance
from explorer.similarity.measured import WORDS
from explorer.studies.perturbation.likeness import compared_texts
from explorer.ui import layout, live, show, token_view
from explorer.ui import scored_options as answers
from explorer.ui.instance import answer, ngram_rating
from explorer.ui.instance import view as instance_view
from explorer.ui.instance.answer import Answer
from explorer.ui.instance.ngram_rating import Source
from explorer.ui.perturbation import lab_tools

MOST_OPTIONS = 3  # whose log-probabilities stand beside the margin


@dataclass(frozen=True, slots=True)
class Cell:
    """A number before and after (nan where there is no such thing), its decimals, and what it means."""

    label: str
    before: float
    after: float
    digits: int
    meaning: str
    signed: bool = True


def draw_lab_metrics(
    instance: Instance, changed: Instance, model: str, scoring: Mapping[str, Any], source: Source | None
) -> None:
    """The changed instance's numbers with their change against the original's."""
    scores = None
    if _may_score(model):
        about = tuple(sorted(scoring.items()))
        scores = live.attempt(
            "lab", model, about, lambda: [answer.now(one, model, scoring) for one in (instance, changed)]
        )
    if scores:
        _verdicts(instance, changed, *scores)
    row = st.container()
    cells = _log_probabilities(instance, *scores) if scores else []
    with show.lens("Popularity", ngram_rating.ask_again):
        cells += _popularity(instance, changed, source) if source else []
    if changed is not instance:
        for what, measure in LIKENESS.items():
            with show.lens(what):
                cells.append(measure(instance, changed))
    if cells:
        with row:
            _metrics(cells)
    if scores and changed is not instance and all(map(instance_view.has_tokens, scores)):
        drawer = st.expander("Token by token", key="lab:tokens", on_change="rerun")
        if drawer.open:
            with drawer:
                _tokens(instance, *scores)


def _may_score(model: str) -> bool:
    """Whether the model is loaded, or the visitor wants it to be."""
    if why := live.why_unknown(model):
        show.note(why)
        return False
    if live.is_loaded(model) or st.session_state.get("lab:scored") == model:
        return True
    title = layout.model_title(model)
    st.button(
        f"Score with {show.plain(title)}", type="primary", icon=":material/bolt:", key="lab:score",
        on_click=st.session_state.__setitem__, args=("lab:scored", model),
    )  # fmt: skip
    show.note(f"With {title} every swap is scored as you click; {live.beginning(model)}.")
    return False


def _verdicts(instance: Instance, changed: Instance, before: Answer, after: Answer) -> None:
    for fault in dict.fromkeys(one.reason for side in (before, after) for one in side.asked if one.reason):
        show.note(f"Without a score: {fault}")
    if instance.kind == "text":
        return
    shown = [("Now" if changed is not instance else "", after)]
    shown += [("Before", before)] if changed is not instance else []
    for when, side in shown:
        correct = side.judgment.get("correct")
        kind = answers.verdict_of(correct.value)
        sentence = answers.verdict_sentence(
            instance, side.asked, correct.value, side.judgment.value("margin"), correct.reason
        )
        word = answers.VERDICT_WORDS.get(instance.format, {}).get(kind, "")
        st.html(token_view.verdict(kind, f"{when}: {sentence}" if when else sentence, word))


def _log_probabilities(instance: Instance, before: Answer, after: Answer) -> list[Cell]:
    pairs = list(zip(answers.options_of(before.asked), answers.options_of(after.asked), strict=False))
    cells: list[Cell] = []
    if not math.isnan(margin := before.judgment.value("margin")):
        meaning = "log P of the right option less that of the best other, in nats"
        cells.append(Cell("Margin", margin, after.judgment.value("margin"), 2, meaning))
    if instance.kind == "regions":
        for condition in instance.conditions:
            sums = [
                math.fsum(one.logprob for one in side.asked if one.condition == condition.name)
                for side in (before, after)
            ]
            cells.append(Cell(condition.name, sums[0], sums[1], 1, "log P of the whole sentence, in nats"))
        return cells[:MOST_OPTIONS]
    if len(pairs) <= MOST_OPTIONS:
        cells += [
            Cell(f"log P, {_small(instance, one.option)}", one.logprob, other.logprob, 2, "in nats")
            for one, other in pairs
        ]
    return cells


def _popularity(instance: Instance, changed: Instance, source: Source) -> list[Cell]:
    old, new = prompts.option_texts(instance), prompts.option_texts(changed)
    rated = ngram_rating.rate([*old, *new], source)
    before, after = rated[: len(old)], rated[len(old) :]
    gold = instance.gold or 0
    what = f"of the right option's text, between 1 and 10: {source.title}"
    return [Cell("IPS", before[gold].ips.value, after[gold].ips.value, 2, what, False)]


def _small(instance: Instance, option: int) -> str:
    return answers.option_name(instance, option).lower()


def _bertscore(instance: Instance, changed: Instance) -> Cell:
    score, encoder = lab_tools.bertscore_of(*_texts(instance, changed))
    return Cell("BERTScore", math.nan, score.value, 3, f"F1 against the original, {encoder}. {score.reason}", False)


def _rouge(instance: Instance, changed: Instance) -> Cell:
    score = lab_tools.rouge_of(*_texts(instance, changed))
    by, unit = ("", "words, stemmed") if score.unit == WORDS else (f" (by {score.unit})", score.unit)
    return Cell(f"ROUGE-L{by}", math.nan, score.value, 3, f"F1 of the longest common sequence of {unit}", False)


LIKENESS: Mapping[str, Callable[[Instance, Instance], Cell]] = {"BERTScore": _bertscore, "ROUGE-L": _rouge}


def _texts(instance: Instance, changed: Instance) -> tuple[str, str]:
    """The right option's text before and after; of a text without a right option, the first."""
    _, before, after = compared_texts(instance, changed)[0]
    return before, after


def _metrics(cells: Sequence[Cell]) -> None:
    for column, cell in zip(st.columns(len(cells)), cells, strict=True):
        known, compared = not math.isnan(cell.after), not math.isnan(cell.before)
        number = (
            display.number(cell.after, cell.digits, signed=True) if cell.signed else f"{cell.after:.{cell.digits}f}"
        )
        column.metric(
            show.plain(cell.label),
            number if known else display.MISSING,
            display.number(cell.after - cell.before, cell.digits, signed=True) if known and compared else None,
            delta_color="off",
            delta_arrow="off",
            help=show.plain(cell.meaning + (f". Originally {cell.before:.{cell.digits}f}" if compared else "")),
        )


def _tokens(instance: Instance, before: Answer, after: Answer) -> None:
    for one, other in zip(answers.options_of(before.asked), answers.options_of(after.asked), strict=False):
        if (one.context, one.continuation) == (other.context, other.continuation):
            continue
        name = one.condition or answers.option_name(instance, one.option)
        show.section(f"{name}, region {one.part}" if one.condition else name)
        if other.context and other.context != one.context and not one.condition:
            st.html(token_view.strip((), context=other.context, label="Changed context"))
        st.html(token_view.aligned(other.tokens, one.tokens, labels=("Changed", "Original")))
