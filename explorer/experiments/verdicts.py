"""From an instance's scores to its verdict, the same for full runs and live demos."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from explorer.benchmarks import syntaxgym_formula
from explorer.records import Factor, Instance, Score
from explorer.results.rows import measure_row
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
    options = [score for score in scores if score.request.role != "unconditional"]
    priors = {score.request.option: score.sum for score in scores if score.request.role == "unconditional"}
    prior_sums = [priors.get(score.request.option, math.nan) for score in options] if priors else None
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
    # An empty region has no request and no surprisal.
    surprisal = {
        (condition.name, number): 0.0
        for condition in instance.conditions
        for number in range(1, len(condition.regions) + 1)
    }
    reason = ""
    for score in scores:
        where = (str(score.request.factors["condition"]), int(score.request.factors["part"]))
        surprisal[where] = -score.sum
        reason = reason or score.reason
    rows, held = [], []
    for number, text in enumerate(instance.extra["formulas"]):
        formula = syntaxgym_formula.parse(text)
        outcome = math.nan if reason else float(syntaxgym_formula.holds(formula, surprisal))
        about_equality = syntaxgym_formula.tests_equality(formula)
        name = "formula_equal" if about_equality else "formula"
        rows.append(measure_row(instance.id, name, outcome, reason=reason, factors={**(factors or {}), "part": number}))
        if not about_equality:
            held.append(outcome)
    correct = math.nan if reason or not held else float(all(held))
    return [measure_row(instance.id, "correct", correct, reason=reason, factors=factors), *rows]


def _remark(verdict: reduce.Verdict, scores: Sequence[Score]) -> str:
    if verdict.outcome == "missing":
        return next((score.reason for score in scores if score.reason), "missing")
    if verdict.undecided:
        return "undecided at this precision"
    return "" if verdict.outcome in ("right", "wrong") else verdict.outcome
