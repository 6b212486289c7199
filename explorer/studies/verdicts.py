"""From an instance's scores to its verdict, the same for full runs and live demos."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from explorer.benchmarks.core import syntaxgym_formula
from explorer.records import Factor, Instance, Score
from explorer.rows.builders import measure_row
from explorer.scoring import reduce
from explorer.scoring.policy import ScoringPolicy


def judge(
    instance: Instance,
    scores: Sequence[Score],
    policy: ScoringPolicy,
    dtype: str,
    factors: Mapping[str, Factor] | None = None,
) -> list[dict[str, Any]]:
    """Rows of `measures` for an instance: `correct` (1, 0, 0.5 for a tie), `margin` in nats, and what its kind adds."""
    if instance.kind == "cloze":
        return _judge_cloze(instance, scores, factors)
    if instance.kind == "rating":
        return _judge_rating(instance, scores, factors)
    if instance.kind == "regions":
        return _judge_regions(instance, scores, factors)
    return _judge_options(instance, scores, policy, dtype, factors)


def _judge_options(
    instance: Instance,
    scores: Sequence[Score],
    policy: ScoringPolicy,
    dtype: str,
    factors: Mapping[str, Factor] | None,
) -> list[dict[str, Any]]:
    own = {score.request.option: score for score in scores if score.request.role != "unconditional"}
    priors = {score.request.option: score.sum for score in scores if score.request.role == "unconditional"}
    options = [own.get(option) for option in range(len(instance.options))]
    prior_sums = [priors.get(option, math.nan) for option in range(len(options))] if priors else None
    verdict = reduce.compare(options, instance.gold, policy, dtype, unconditional=prior_sums)
    remark = _remark(verdict, options)
    rows = [
        measure_row(instance.id, "correct", verdict.correct, reason=remark, factors=factors),
        measure_row(instance.id, "margin", verdict.margin, reason=remark, factors=factors),
    ]
    if verdict.chosen is not None:
        rows.append(measure_row(instance.id, "chosen", verdict.chosen, factors=factors))
    return rows


def _judge_cloze(
    instance: Instance, scores: Sequence[Score], factors: Mapping[str, Factor] | None
) -> list[dict[str, Any]]:
    (score,) = scores
    correct = math.nan if score.reason else float(score.greedy)
    return [
        measure_row(instance.id, "correct", correct, reason=score.reason, factors=factors),
        measure_row(instance.id, "logprob", score.sum, reason=score.reason, factors=factors),
    ]


def _judge_rating(
    instance: Instance, scores: Sequence[Score], factors: Mapping[str, Factor] | None
) -> list[dict[str, Any]]:
    """A rated sentence is neither right nor wrong: its rating stands beside its score, to be correlated over all."""
    (score,) = (one for one in scores if one.request.role != "unconditional")
    rating = float(instance.extra["rating"])
    told = score.reason or f"rated {rating:g}, at {reduce.value(score, 'mean_token'):.2f} nats a token"
    return [
        measure_row(instance.id, "correct", math.nan, reason=told, factors=factors),
        measure_row(instance.id, "rating", rating, factors=factors),
    ]


def _judge_regions(
    instance: Instance, scores: Sequence[Score], factors: Mapping[str, Factor] | None
) -> list[dict[str, Any]]:
    surprisal = surprisals(instance, scores)
    reason = next((score.reason for score in scores if score.reason), "a region has no score")
    rows, held = [], []
    for number, text in enumerate(instance.extra["formulas"]):
        formula = syntaxgym_formula.parse(text)
        outcome = syntaxgym_formula.truth(formula, surprisal)
        about_equality = syntaxgym_formula.tests_equality(formula)
        name = "formula_equal" if about_equality else "formula"
        rows.append(_truth_row(instance.id, name, outcome, reason, {**(factors or {}), "part": number}))
        if not about_equality:
            held.append(outcome)
    # One that is known to fail decides the item, whatever the others would be.
    correct = False if False in held else None if None in held or not held else True
    return [_truth_row(instance.id, "correct", correct, reason if held else "no inequality", factors), *rows]


def surprisals(instance: Instance, scores: Sequence[Score]) -> dict[tuple[str, int], float]:
    """The surprisal (nats) of each region by condition and number: 0 of an empty one, nan of one without a score."""
    found = {
        (condition.name, number): math.nan if text.strip() else 0.0
        for condition in instance.conditions
        for number, text in enumerate(condition.regions, 1)
    }
    for score in scores:
        found[str(score.request.factors["condition"]), int(score.request.factors["part"])] = -score.sum
    return found


def _truth_row(
    instance_id: str, name: str, truth: bool | None, reason: str, factors: Mapping[str, Factor] | None
) -> dict[str, Any]:
    value = math.nan if truth is None else float(truth)
    return measure_row(instance_id, name, value, reason=reason if truth is None else "", factors=factors)


def _remark(verdict: reduce.Verdict, scores: Sequence[Score | None]) -> str:
    why = next((score.reason for score in scores if score and score.reason), "an option has no score")
    if verdict.outcome == "missing":
        return why
    if verdict.outcome == "wrong" and math.isnan(verdict.margin):
        return f"wrong by the options that have a score; {why}"
    if verdict.undecided:
        return "undecided at this precision"
    return "" if verdict.outcome in ("right", "wrong") else verdict.outcome
