"""From an instance's scores to its verdict, the same for full runs and live demos."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from explorer.benchmarks.core import syntaxgym_formula
from explorer.records import Factor, Instance, Score
from explorer.rows.builders import Row, measure_row
from explorer.rows.columns import Measures
from explorer.scoring import reduce
from explorer.scoring.policy import ScoringPolicy


def judge(
    instance: Instance,
    scores: Sequence[Score],
    policy: ScoringPolicy,
    dtype: str,
    factors: Mapping[str, Factor] | None = None,
) -> list[Row]:
    """Rows of `measures` for an instance: `correct` (1, 0, 0.5 for a tie), `margin` in nats, and what its kind adds."""
    if instance.kind == "cloze":
        return _judge_cloze(instance, scores, factors)
    if instance.kind == "rating":
        return _judge_rating(instance, scores, factors)
    if instance.kind == "regions":
        return _judge_regions(instance, scores, factors)
    return _judge_options(instance, scores, policy, dtype, factors)


def judge_all(
    judged: Sequence[tuple[Instance, Sequence[Score]]],
    policy: ScoringPolicy,
    dtype: str,
    factors: Sequence[Mapping[str, Factor]] | None = None,
) -> Measures:
    """What `judge` gives for each instance and its scores, one after another; verdicts between options all at once."""
    measures = Measures()
    by_itself = policy.normalization != "pmi"  # whether an option's score alone tells its number
    choices = [
        _options(instance, scores) if by_itself and instance.kind in CHOOSING else None for instance, scores in judged
    ]
    plain = [place for place, options in enumerate(choices) if options is not None]
    compared = reduce.compare_all([choices[i] or () for i in plain], [judged[i][0].gold for i in plain], policy, dtype)
    verdicts = dict(zip(plain, compared, strict=True))
    for place, (instance, scores) in enumerate(judged):
        item_factors = factors[place] if factors else None
        if place in verdicts:
            add_verdict(measures, instance.id, verdicts[place], choices[place] or (), item_factors)
        else:
            measures.add_rows(judge(instance, scores, policy, dtype, item_factors))
    return measures


JUDGMENT = ("yes", "no")  # roles of the two answers to the question about a sentence
CHOOSING = ("pair", "choice", "labelled")  # kinds judged by their options
NO_CONTEXT = "an option stands after no context, so that there is nothing that a context adds (pmi)"


def _options(instance: Instance, scores: Sequence[Score]) -> list[Score | None] | None:
    """The score of each option; none where it takes more than its score to tell its number."""
    by_option: dict[int, Score] = {}
    for score in scores:
        if score.request.role in ("unconditional", *JUDGMENT):
            return None
        by_option[score.request.option] = score
    return [by_option.get(option) for option in range(len(instance.options))]


def add_verdict(
    measures: Measures,
    instance_id: str,
    verdict: reduce.Verdict,
    options: Sequence[Score | None],
    factors: Mapping[str, Factor] | None,
    *,
    chosen: bool = True,
) -> None:
    """Adds what a verdict between options says: `correct`, `margin`, and which was `chosen`."""
    for name, value, reason in _measures_of(verdict, options):
        if chosen or name != "chosen":
            measures.add(instance_id, name, value, reason=reason, factors=factors)


def _measures_of(verdict: reduce.Verdict, options: Sequence[Score | None]) -> list[tuple[str, float, str]]:
    """(measure, value, reason) of everything that a verdict between options says, for one instance and for many."""
    remark = _remark(verdict, options)
    measures = [("correct", verdict.correct, remark), ("margin", verdict.margin, remark)]
    return measures if verdict.chosen is None else [*measures, ("chosen", float(verdict.chosen), "")]


def _judge_options(
    instance: Instance,
    scores: Sequence[Score],
    policy: ScoringPolicy,
    dtype: str,
    factors: Mapping[str, Factor] | None,
) -> list[Row]:
    if policy.ask == "judge":
        return _judge_judgments(instance, scores, policy, dtype, factors)
    by_option = {score.request.option: score for score in scores if score.request.role != "unconditional"}
    priors = {score.request.option: score.sum for score in scores if score.request.role == "unconditional"}
    options = [by_option.get(option) for option in range(len(instance.options))]
    prior_sums = [priors.get(option, math.nan) for option in range(len(options))] if priors else None
    verdict = reduce.compare(options, instance.gold, policy, dtype, unconditional=prior_sums)
    without_context = policy.normalization == "pmi" and any(option not in priors for option in by_option)
    return [
        measure_row(instance.id, name, value, reason=NO_CONTEXT if without_context else reason, factors=factors)
        for name, value, reason in _measures_of(verdict, options)
    ]


def _judge_judgments(
    instance: Instance,
    scores: Sequence[Score],
    policy: ScoringPolicy,
    dtype: str,
    factors: Mapping[str, Factor] | None,
) -> list[Row]:
    """The sentence of which yes is the more probable, against no, is the chosen one."""
    answers = {(score.request.option, score.request.role): score for score in scores}
    options = [
        reduce.judged(answers.get((option, "yes")), answers.get((option, "no")), dtype)
        for option in range(len(instance.options))
    ]
    verdict = reduce.decide(options, instance.gold, policy.ties)
    return [
        measure_row(instance.id, name, value, reason=reason, factors=factors)
        for name, value, reason in _measures_of(verdict, scores)
    ]


def _judge_cloze(instance: Instance, scores: Sequence[Score], factors: Mapping[str, Factor] | None) -> list[Row]:
    (score,) = scores
    correct = math.nan if score.reason else float(score.greedy)
    return [
        measure_row(instance.id, "correct", correct, reason=score.reason, factors=factors),
        measure_row(instance.id, "logprob", score.sum, reason=score.reason, factors=factors),
    ]


def _judge_rating(instance: Instance, scores: Sequence[Score], factors: Mapping[str, Factor] | None) -> list[Row]:
    """A rated sentence is neither right nor wrong: its rating stands beside its score, to be correlated over all."""
    (score,) = (scored for scored in scores if scored.request.role != "unconditional")
    rating = float(instance.extra["rating"])
    remark = score.reason or f"rated {rating:g}, at {reduce.value(score, 'mean_token'):.2f} nats a token"
    return [
        measure_row(instance.id, "correct", math.nan, reason=remark, factors=factors),
        measure_row(instance.id, "rating", rating, factors=factors),
    ]


def _judge_regions(instance: Instance, scores: Sequence[Score], factors: Mapping[str, Factor] | None) -> list[Row]:
    surprisal = surprisals(instance, scores)
    reason = next((score.reason for score in scores if score.reason), "a region has no score")
    rows, formulas_held = [], []
    for number, text in enumerate(instance.extra["formulas"]):
        formula = syntaxgym_formula.parse_formula(text)
        outcome = syntaxgym_formula.is_true(formula, surprisal)
        about_equality = syntaxgym_formula.tests_equality(formula)
        name = "formula_equal" if about_equality else "formula"
        rows.append(_truth_row(instance.id, name, outcome, reason, {**(factors or {}), "part": number}))
        if not about_equality:
            formulas_held.append(outcome)
    # One that is known to fail decides the item, whatever the others would be.
    correct = False if False in formulas_held else None if None in formulas_held or not formulas_held else True
    return [_truth_row(instance.id, "correct", correct, reason if formulas_held else "no inequality", factors), *rows]


def surprisals(instance: Instance, scores: Sequence[Score]) -> dict[tuple[str, int], float]:
    """The surprisal (nats) of each region by condition and number: 0 of an empty one, nan of one without a score."""
    by_region = {
        (condition.name, number): math.nan if text.strip() else 0.0
        for condition in instance.conditions
        for number, text in enumerate(condition.regions, 1)
    }
    for score in scores:
        by_region[str(score.request.factors["condition"]), int(score.request.factors["part"])] = -score.sum
    return by_region


def _truth_row(
    instance_id: str, name: str, truth: bool | None, reason: str, factors: Mapping[str, Factor] | None
) -> Row:
    value = math.nan if truth is None else float(truth)
    return measure_row(instance_id, name, value, reason=reason if truth is None else "", factors=factors)


def _remark(verdict: reduce.Verdict, scores: Sequence[Score | None]) -> str:
    if verdict.outcome in ("right", "wrong") and not verdict.undecided and not math.isnan(verdict.margin):
        return ""
    why = next((score.reason for score in scores if score and score.reason), "an option has no score")
    if verdict.outcome == "missing":
        return why
    if verdict.outcome == "wrong" and math.isnan(verdict.margin):
        return f"wrong by the options that have a score; {why}"
    if verdict.undecided:
        return "undecided at this precision"
    return "" if verdict.outcome in ("right", "wrong") else verdict.outcome
