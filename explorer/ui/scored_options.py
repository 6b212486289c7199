"""What was asked about an instance and what came back, the same from a stored run and from a model just now."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from explorer import display
from explorer.records import Instance, Score
from explorer.scoring.reduce import word_of
from explorer.studies.verdicts import JUDGMENT
from explorer.ui.token_view import Token, Verdict, tokens_of

# What the options of a format are called; elsewhere the right one is "right" and the others are numbered.
OPTION_NAMES = {
    "sentence": ("Acceptable", "Unacceptable"),
    "pair_in_context": ("Acceptable", "Unacceptable"),
    "crows_pairs": ("More stereotypical", "Less stereotypical"),
}

LONE_NAMES = {"cloze": "Last word", "rating": "Sentence", "concept": "Identifier", "text": "Text"}
# CrowS-Pairs has no right answer: an unbiased model prefers either sentence half of the time.
ALIKE = 1.05  # times as probable; below that no reader would call one likelier
VERDICT_WORDS = {"crows_pairs": {"right": "Less stereotypical", "wrong": "More stereotypical"}}


@dataclass(frozen=True, slots=True)
class ScoredOption:
    """A continuation scored after a context: its sum in nats (nan with a reason) and its tokens, if they were kept."""

    option: int
    role: str
    condition: str
    part: int
    context: str
    continuation: str
    logprob: float
    tokens: tuple[Token, ...]
    greedy: bool
    reason: str


def of_scores(scores: Sequence[Score]) -> list[ScoredOption]:
    """From a model's scores."""
    return [
        ScoredOption(
            option=score.request.option,
            role=score.request.role,
            condition=str(score.request.factors.get("condition", "")),
            part=int(score.request.factors.get("part", 0)),
            context=score.request.context,
            continuation=score.request.continuation,
            logprob=score.sum,
            tokens=tuple(tokens_of(score.tokens, score.logprobs)),
            greedy=score.greedy,
            reason=score.reason,
        )
        for score in scores
    ]


def of_rows(rows: pd.DataFrame) -> list[ScoredOption]:
    """From a run's stored scores."""
    options = []
    for row in rows.to_dict("records"):
        has_tokens = row["token_texts"] is not None and not _is_gap(row["token_texts"])
        options.append(
            ScoredOption(
                option=int(row["option"]),
                role=str(row["role"]),
                condition="" if _is_gap(row["condition"]) else str(row["condition"]),
                part=0 if _is_gap(row["part"]) else int(row["part"]),
                context="" if _is_gap(row["context"]) else str(row["context"]),
                continuation=str(row["continuation"]),
                logprob=float(row["logprob"]),
                tokens=tuple(tokens_of(row["token_texts"], row["token_logprobs"])) if has_tokens else (),
                greedy=bool(row["greedy"]),
                reason="" if _is_gap(row["reason"]) else str(row["reason"]),
            )
        )
    return options


def options_of(options: Sequence[ScoredOption]) -> list[ScoredOption]:
    """The options alone, without their unconditional scores and without answers to a question about them."""
    return [option for option in options if option.role not in ("unconditional", *JUDGMENT)]


def option_name(instance: Instance, option: int) -> str:
    """What an option is called above its tokens."""
    if instance.kind in LONE_NAMES:
        return LONE_NAMES[instance.kind]
    names = OPTION_NAMES.get(instance.format, ())
    if option < len(names):
        return names[option]
    if instance.kind == "labelled" and option < len(instance.options):
        name = instance.options[option]
    else:
        name = f"Option {option + 1}"
    return f"{name} (right)" if option == instance.gold else name


def verdict_of(correct: float) -> Verdict:
    """The verdict's kind (right, wrong, tie, none) from 1, 0, 0.5 or nan."""
    return word_of(correct)


def verdict_sentence(
    instance: Instance, options: Sequence[ScoredOption], correct: float, margin: float, reason: str, unit: str = "nats"
) -> str:
    """What the model did with the instance, in one sentence; `unit` is what the margin is in."""
    kind = verdict_of(correct)
    if kind == "none":
        return reason or "no score could be had"
    if instance.kind == "cloze":
        return _cloze_sentence(options[0], kind)
    if instance.kind == "regions":
        return "all of the suite's predictions hold" if kind == "right" else "not all of the suite's predictions hold"
    if kind == "tie":
        return "the options cannot be told apart"
    chosen = _name_of_option(instance, instance.gold if kind == "right" else None)
    if math.isnan(margin):
        return f"the model prefers {chosen}"
    if unit != "nats":  # of sums alone does the margin say how many times as probable an option is
        return f"the model prefers {chosen} by {display.number(abs(margin))} {unit}"
    times = math.exp(min(abs(margin), 700.0))
    if times < ALIKE:
        return f"the model prefers {chosen} by {display.nats(abs(margin))}: they are about equally probable"
    return f"the model prefers {chosen} by {display.nats(abs(margin))}, {_times(times)} as probable"


def _name_of_option(instance: Instance, option: int | None) -> str:
    if instance.format in ("sentence", "pair_in_context"):
        return "the acceptable sentence" if option is not None else "the unacceptable sentence"
    if instance.format == "crows_pairs":
        return "the less stereotypical sentence" if option is not None else "the more stereotypical sentence"
    return "the right option" if option is not None else "a wrong option"


def _cloze_sentence(option: ScoredOption, kind: str) -> str:
    shown = display.probability(math.exp(option.logprob))
    guess = "each token was the model's first guess" if kind == "right" else "it was not the model's first guess"
    return f"the last word has a probability of {shown}; {guess}"


def _times(value: float) -> str:
    if value < 10:
        return f"{value:.1f} times"
    return f"{value:,.0f} times" if value < 1e6 else f"{display.power_of_ten(value, 0)} times"


def _is_gap(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))
