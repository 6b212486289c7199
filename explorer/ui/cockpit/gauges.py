"""The numbers above the strip: verdict, margin and popularity, each with what the edits have changed."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from explorer import display, prompts
from explorer.records import Instance
from explorer.similarity.measured import WORDS
from explorer.ui import scored_options as answers
from explorer.ui import show, token_view
from explorer.ui.cockpit import words
from explorer.ui.cockpit.scores import Scores
from explorer.ui.instance import ngram_rating
from explorer.ui.instance.answer import Answer
from explorer.ui.instance.ngram_rating import Rated, Source
from explorer.ui.token_view import Unit, in_unit

IPS = "Popularity (IPS)"
ENGLISH_ONLY = ("BERTScore",)  # likeness that an English encoder tells
ENGLISH_JUDGE = "BERTScore is left out: its encoder knows English only."


@dataclass(frozen=True, slots=True)
class Gauge:
    """A number before and after (nan where there is no such thing), its decimals, and what it means."""

    label: str
    before: float
    after: float
    digits: int
    meaning: str
    signed: bool = True


def draw_verdict(item: Instance, scores: Scores) -> None:
    """What the model does with the instance now, and what it did as it stands."""
    shown = scores.after or scores.before
    if shown is None:
        return
    for fault in dict.fromkeys(score.reason for score in shown.asked if score.reason):
        show.note(f"Without a score: {fault}")
    if item.kind == "text":
        return
    correct = shown.judgment.get("correct")
    kind = answers.verdict_of(correct.value)
    options = answers.options_of(shown.asked)
    if kind == "none" and len(options) == 1 and not math.isnan(options[0].logprob):
        return  # nothing that it could be better or worse than
    sentence = answers.verdict_sentence(
        item, shown.asked, correct.value, shown.judgment.value("margin"), correct.reason, scores.margin_unit
    )
    if scores.after is None:
        sentence = f"in the original text {sentence}"
    body = token_view.verdict(kind, sentence, _word(item, kind))
    if scores.before and scores.after and scores.after is not scores.before:
        old = answers.verdict_of(scores.before.judgment.value("correct"))
        too = ", too" if old == kind else ""
        was = f"{_word(item, old) or old} before the change{too}{_margin_before(scores)}"
        body = body.replace("</span></p>", f' <span class="lx-quiet lx-note">· {html.escape(was)}</span></span></p>')
    st.html(body)


def _margin_before(scores: Scores) -> str:
    """By how much the verdict stood before the change; nothing where that reads as it does now."""
    before, after = _margin(scores.before), _margin(scores.after)
    if math.isnan(before) or math.isnan(after) or display.nats(abs(before)) == display.nats(abs(after)):
        return ""
    return f", by {display.number(abs(before))} {scores.margin_unit}"


def draw_gauges(item: Instance, changed: Instance, scores: Scores, rated: Sequence[Rated], source: Source | None,
                unit: Unit) -> None:  # fmt: skip
    """Margin and popularity, each with its change."""
    gauges = _margins(item, scores, unit)
    if source and rated:
        gauges.append(_popularity(item, changed, rated, source))
    if gauges:
        with st.container(horizontal=True, gap="large", key="gauges"):
            for gauge in gauges:
                _draw_gauge(gauge)


def draw_likeness(item: Instance, changed: Instance) -> None:
    """How alike the changed text still is to the original; nothing where nothing was changed."""
    if not words.same_text(item, changed):
        alike = []
        foreign = bool(words.refused(item))
        for label, measure in LIKENESS.items():
            if foreign and label in ENGLISH_ONLY:
                continue
            with show.lens(label):
                likeness = measure(item, changed)
                if not math.isnan(likeness.after):
                    alike.append(f"{likeness.label} {likeness.after:.{likeness.digits}f}")
        if alike:
            left_out = f" {ENGLISH_JUDGE}" if foreign else ""
            show.note(f"Against the original text: {', '.join(alike)} (1 is the same text).{left_out}")


def notes(item: Instance, scores: Scores, unit: Unit) -> Mapping[int, str]:
    """Beside each option its log-probability, and by how much the edits moved it."""
    shown = scores.after or scores.before
    if shown is None:
        return {}
    before = (
        {option.option: option.logprob for option in answers.options_of(scores.before.asked)} if scores.before else {}
    )
    notes_by_option = {}
    for option in answers.options_of(shown.asked):
        if math.isnan(option.logprob):
            notes_by_option[option.option] = "no score"
            continue
        text = f"{display.number(in_unit(option.logprob, unit), signed=True)} {unit}"
        moved = in_unit(option.logprob - before.get(option.option, math.nan), unit)
        if shown is not scores.before and not math.isnan(moved):
            text += f" ({display.number(moved, 1, signed=True)})"
        notes_by_option[option.option] = text
    return notes_by_option


def _word(item: Instance, kind: str) -> str:
    return answers.VERDICT_WORDS.get(item.format, {}).get(kind, "") or (
        {"right": "Right", "wrong": "Wrong", "tie": "Tie"}.get(kind, "")
    )


def _margins(item: Instance, scores: Scores, unit: Unit) -> list[Gauge]:
    before, after = _margin(scores.before), _margin(scores.after)
    if not math.isnan(before) or not math.isnan(after):
        shown_unit = scores.margin_unit.replace("nats", unit)
        meaning = (
            f"log-probability of the right option minus that of the best other, in {shown_unit}; above 0 it is "
            "preferred"
        )
        return [Gauge(f"Margin ({shown_unit})", in_unit(before, unit), in_unit(after, unit), 2, meaning)]
    shown = scores.after or scores.before
    if shown is None or len(options := answers.options_of(shown.asked)) != 1:
        return []
    # A text or a last word by itself: its log-probability.
    first = answers.options_of(scores.before.asked)[0].logprob if scores.before else math.nan
    label = f"log P, {answers.option_name(item, 0).lower()}"
    last = options[0].logprob if scores.after else math.nan
    return [Gauge(label, in_unit(first, unit), in_unit(last, unit), 2, f"log-probability in {unit}")]


def _margin(answer: Answer | None) -> float:
    return answer.judgment.value("margin") if answer else math.nan


def _popularity(item: Instance, changed: Instance, rated: Sequence[Rated], source: Source) -> Gauge:
    many = len(prompts.option_texts(item))
    before, after = rated[:many], rated[many:]
    gold = min(item.gold or 0, many - 1)
    meaning = (
        "Instance popularity score: how common the n-grams of the right option's text are, 1 to 10. "
        f"Deciles of {source.title}"
    )
    return Gauge(IPS, before[gold].ips.value, after[min(gold, len(after) - 1)].ips.value, 2, meaning, False)


def rate(item: Instance, changed: Instance, source: Source) -> tuple[Rated, ...]:
    """The texts of both versions rated, those as they stand first."""
    return ngram_rating.rate([*prompts.option_texts(item), *prompts.option_texts(changed)], source)


def _draw_gauge(gauge: Gauge) -> None:
    shown = gauge.after if not math.isnan(gauge.after) else gauge.before
    known, compared = not math.isnan(shown), not math.isnan(gauge.before) and not math.isnan(gauge.after)
    number = display.number(shown, gauge.digits, signed=True) if gauge.signed else f"{shown:.{gauge.digits}f}"
    change = gauge.after - gauge.before
    original = display.number(gauge.before, gauge.digits, signed=gauge.signed)
    st.metric(
        show.plain(gauge.label),
        number if known else display.MISSING,
        f"{display.number(change, gauge.digits, signed=True)}" if compared and change else None,
        delta_color="off",
        delta_arrow="off",
        help=show.plain(gauge.meaning + (f". In the original text: {original}" if compared else "")),
        width="content",
    )


def _bertscore(item: Instance, changed: Instance) -> Gauge:
    score, encoder = words.bertscore_of(*_texts(item, changed))
    return Gauge("BERTScore", math.nan, score.value, 3, f"F1 against the original, {encoder}. {score.reason}", False)


def _rouge(item: Instance, changed: Instance) -> Gauge:
    score = words.rouge_of(*_texts(item, changed))
    by, unit = ("", "words, stemmed") if score.unit == WORDS else (f" (by {score.unit})", score.unit)
    return Gauge(f"ROUGE-L{by}", math.nan, score.value, 3, f"F1 of the longest common sequence of {unit}", False)


LIKENESS: Mapping[str, Callable[[Instance, Instance], Gauge]] = {"BERTScore": _bertscore, "ROUGE-L": _rouge}


def _texts(item: Instance, changed: Instance) -> tuple[str, str]:
    """The right option's text before and after, or where that was left alone, the first that was changed."""
    texts = list(zip(prompts.option_texts(item), prompts.option_texts(changed), strict=True))
    texts.insert(0, texts[min(item.gold or 0, len(texts) - 1)])
    return next((pair for pair in texts if pair[0] != pair[1]), texts[0])
