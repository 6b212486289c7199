"""An item after a context: its requests, and what their scores say. The same for full runs and the live lab."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from explorer import prompts, prompts_chat
from explorer.benchmarks.core import syntaxgym_formula
from explorer.benchmarks.core.syntaxgym_formula import Formula, Logic, Surprisals
from explorer.records import Factor, Instance, Request, Score
from explorer.rows.builders import Row, measure_row
from explorer.rows.columns import Measures
from explorer.scoring import reduce
from explorer.scoring.policy import PRESETS, Bos, ScoringPolicy
from explorer.studies import verdicts
from explorer.variants import running_text

BASELINE = "baseline"  # the condition of an item without a context
OTHER_TOKENS = "the target's tokens differ from those without a context"

Key = tuple[int, Factor]  # option, and for SyntaxGym the region


@dataclass(frozen=True, slots=True)
class Step:
    """An item after one context: the factors it is stored under, how long the context is, and its requests."""

    item: Instance
    factors: Mapping[str, Factor]
    sentences: int
    tokens: float  # nan where a server does not tell
    requests: tuple[Request, ...]


def policy_of(preset: str, bos: str) -> ScoringPolicy:
    """The scoring policy of a preset; "preset" as BOS is always one (natural), or what the tokenizer puts (minicons).

    Sentences are compared by their sums in either preset, as the paper did.
    """
    policy = dataclasses.replace(PRESETS[preset], normalization="sum")
    if bos != "preset":
        return dataclasses.replace(policy, bos=cast(Bos, bos))
    return dataclasses.replace(policy, bos="always") if preset == "natural" else policy


def step(
    item: Instance,
    text: str,
    opening: str,
    *,
    condition: str,
    length: int | None,
    edit: str = "none",
    sentences: int = 0,
    tokens: float = 0,
    policy: ScoringPolicy = PRESETS["natural"],
) -> Step:
    """The item after `text`, which may be empty; `opening` then stands before each target in place of a blank.

    In a chat the user says the text and then asks for a sentence, and the target is the answer at every length.

    SyntaxGym's requests have a condition of their own; in their rows the context's stands under `setting`.
    """
    about: dict[str, Factor] = {"condition": condition}
    if length is not None:
        about["length"] = length
    if edit != "none":
        about["setting"] = edit
    lead = "" if policy.chat else " " if text else opening
    before = "" if policy.chat else text
    if item.kind == "regions":
        where = {name: value for name, value in about.items() if name == "length"}
        where["setting"] = condition if edit == "none" else f"{condition}+{edit}"
        requests = tuple(_request_after(request, before, lead, where) for request in critical_requests(item))
    else:
        # A pair with a context of its own keeps it before its sentences.
        options = prompts.option_texts(item) if item.context else item.options
        requests = tuple(
            Request(item.id, i, before, running_text.as_target(option, lead), factors=about)
            for i, option in enumerate(options)
        )
    if policy.chat:
        requests = tuple(prompts_chat.after_text(request, text, policy.system) for request in requests)
    return Step(item, about, sentences, tokens, requests)


def critical_requests(item: Instance) -> list[Request]:
    """The requests of the regions that the item's formulas speak of."""
    regions = {region for text in item.extra["formulas"] for region in _regions_of(text)}
    whole = {name for name, number in regions if number is None}
    return [
        request
        for request in prompts.requests(item)
        if request.factors["condition"] in whole or (request.factors["condition"], request.factors["part"]) in regions
    ]


@lru_cache(maxsize=1024)
def _regions_of(formula: str) -> tuple[tuple[str, int | None], ...]:
    regions = syntaxgym_formula.regions_of(syntaxgym_formula.parse_formula(formula))
    return tuple((region.condition, region.number) for region in regions)


# "The author laughs ." is asked region by region, the words so far being the context. A context goes before all of it:
#
#     region   context                 continuation           after "Cats sleep."
#     1        ""                      "The author"           "Cats sleep."                 " The author"
#     2        "The author"            " laughs"              "Cats sleep. The author"      " laughs"
def _request_after(request: Request, text: str, lead: str, where: Mapping[str, Factor]) -> Request:
    """The request of a region with a context before its sentence."""
    factors = {**request.factors, **where}
    if request.context:
        before = text + running_text.as_target(request.context, lead)
        return dataclasses.replace(request, context=before, factors=factors)
    first = running_text.as_target(request.continuation, lead)
    return dataclasses.replace(request, context=text, continuation=first, factors=factors)


def token_ids(scores: Sequence[Score]) -> dict[Key, tuple[int, ...]]:
    """The tokens of each target of an item."""
    return {_key(score): score.token_ids for score in scores}


def judge(
    step: Step,
    scores: Sequence[Score],
    policy: ScoringPolicy,
    dtype: str,
    baseline: Mapping[Key, tuple[int, ...]] | None = None,
) -> list[Row]:
    """Rows of `measures`: correct, margin (nats), perplexity_margin, context_tokens; for SyntaxGym each formula.

    SyntaxGym's margin is by how much the least certain of its inequalities holds; it has no perplexity_margin.
    With the token ids of the baseline, a target that is other tokens after this context has no verdict.
    """
    item, factors = step.item, step.factors
    scores = _comparable(scores, baseline)
    rows = [row for row in verdicts.judge(item, scores, policy, dtype, factors) if row["measure"] != "chosen"]
    if item.kind == "pair":
        margin, reason = perplexity_margin(item, scores)
        rows.append(measure_row(item.id, "perplexity_margin", margin, reason=reason, factors=factors))
    else:
        slack, reason = formula_margin(item, scores)
        rows.append(measure_row(item.id, "margin", slack, reason=reason, factors=factors))
    rows.append(measure_row(item.id, "context_tokens", step.tokens, factors=factors))
    return rows


# A step, its scores, and the tokens of its item's targets without a context, where they are compared.
Judged = tuple[Step, Sequence[Score], Mapping[Key, tuple[int, ...]] | None]


def with_baselines(steps: Sequence[Step], scores: Iterable[Score], *, same_tokens: bool) -> list[Judged]:
    """What is to be judged of an item without a context and after contexts, in this order.

    `scores` are those of all requests, one after another. With `same_tokens` a target that is other tokens after a
    context than without one has no verdict: then the context would not be all that differs.
    """
    rest, baseline = iter(scores), None
    judged: list[Judged] = []
    for step in steps:
        of_step = list(itertools.islice(rest, len(step.requests)))
        judged.append((step, of_step, baseline))
        if baseline is None and same_tokens:
            baseline = token_ids(of_step)
    return judged


def judge_all(judged: Sequence[Judged], policy: ScoringPolicy, dtype: str) -> Measures:
    """What `judge` gives for each step, one after another; the verdicts between sentences of pairs all at once."""
    measures = Measures()
    comparable = [_comparable(scores, baseline) for _, scores, baseline in judged]
    pairs = [place for place, (step, _, _) in enumerate(judged) if step.item.kind == "pair"]
    compared = reduce.compare_all(
        [comparable[i] for i in pairs], [judged[i][0].item.gold for i in pairs], policy, dtype
    )
    of_pair = dict(zip(pairs, compared, strict=True))
    for place, (step, _, _) in enumerate(judged):
        item, factors = step.item, step.factors
        if place not in of_pair:
            measures.add_rows(judge(step, comparable[place], policy, dtype))
            continue
        verdicts.add_verdict(measures, item.id, of_pair[place], comparable[place], factors, chosen=False)
        margin, reason = perplexity_margin(item, comparable[place])
        measures.add(item.id, "perplexity_margin", margin, reason=reason, factors=factors)
        measures.add(item.id, "context_tokens", float(step.tokens), factors=factors)
    return measures


def _comparable(scores: Sequence[Score], baseline: Mapping[Key, tuple[int, ...]] | None) -> Sequence[Score]:
    """The scores, each with a reason where one's target is other tokens than without a context."""
    if baseline is not None and any(
        baseline.get(_key(score)) != score.token_ids for score in scores if not score.reason
    ):
        return [dataclasses.replace(score, reason=OTHER_TOKENS) for score in scores]
    return scores


def perplexity_margin(item: Instance, scores: Sequence[Score]) -> tuple[float, str]:
    """Perplexity of the acceptable less that of the unacceptable sentence, negative when right; nan with a reason."""
    reason = next((score.reason for score in scores if score.reason), "")
    if reason or item.gold is None:
        return math.nan, reason or "no option is acceptable"
    good, bad = (perplexity(scores[option]) for option in (item.gold, 1 - item.gold))
    return good - bad, "" if math.isfinite(good - bad) else "a perplexity beyond the range of numbers"


def formula_margin(item: Instance, scores: Sequence[Score]) -> tuple[float, str]:
    """By how many nats the least certain inequality of a SyntaxGym item holds, negative where one fails."""
    surprisal = verdicts.surprisals(item, scores)
    formulas = [syntaxgym_formula.parse_formula(text) for text in item.extra["formulas"]]
    slacks = [_slack(formula, surprisal) for formula in formulas if not syntaxgym_formula.tests_equality(formula)]
    if not slacks:
        return math.nan, "no inequality"
    if all(map(math.isfinite, slacks)):
        return min(slacks), ""
    return math.nan, next((score.reason for score in scores if score.reason), "a region has no score")


def _slack(formula: Formula, surprisal: Surprisals) -> float:
    if isinstance(formula, Logic):
        both = (_slack(formula.left, surprisal), _slack(formula.right, surprisal))
        return min(both) if formula.sign == "&" else max(both)
    gap = syntaxgym_formula.value_in_nats(formula.right, surprisal) - syntaxgym_formula.value_in_nats(
        formula.left, surprisal
    )
    return gap if formula.sign == "<" else -gap


def perplexity(score: Score) -> float:
    """exp of the mean surprisal of the scored tokens."""
    mean = -score.sum / score.scored if score.scored else math.nan
    return math.exp(mean) if mean < 700 else math.inf


def _key(score: Score) -> Key:
    return score.request.option, score.request.factors.get("part", -1)
