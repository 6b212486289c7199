"""From token log-probabilities to one number, and from several options' numbers to a verdict."""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from explorer.records import Score
from explorer.scoring.policy import Normalization, ScoringPolicy, TieRule

Outcome = Literal["right", "wrong", "tie", "missing", "unlabelled"]
TIE = 1e-5  # nats a token: below this float32, the finest number format, does not tell two options apart
# Nats by which a score moves when the same text is scored in a batch of another shape, times the root of its tokens,
# whose rounding is independent. The most seen in bfloat16 was 0.224, over 399 texts, three sizes of batches and both
# embedded models on a processor (99 in 100 texts moved by less than 0.19); float16 has three bits more.
SPREAD = {"bfloat16": 0.25, "float16": 0.25 / 8}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which option won.

    outcome    "right" or "wrong"; "tie"; "missing" where it cannot be said; "unlabelled" where no option is gold
    correct    1, 0, 0.5 for a tie, nan where it cannot be said
    margin     the gold option's number less the best other's (the best's less the second's where no option is gold);
               nan where one of them has none
    chosen     the option with the highest number, the first of equals; None for a tie or a missing score
    undecided  the difference is within what the dtype's rounding can turn
    """

    outcome: Outcome
    correct: float
    margin: float
    chosen: int | None
    undecided: bool = False


MISSING = Verdict("missing", math.nan, math.nan, None)


@dataclass(frozen=True, slots=True)
class Option:
    """An option's number under a reduction, nan or infinite where it has none.

    near   how far, in the same unit, another may lie so that the two are a tie
    shaky  how far rounding in the model's number format can move it
    text   what was scored; two options of the same text are a tie whatever rounding made of them
    """

    value: float
    near: float = 0.0
    shaky: float = 0.0
    text: Hashable = None

    @property
    def known(self) -> bool:
        return math.isfinite(self.value)


NO_SCORE = Option(math.nan)


def decide(options: Sequence[Option], gold: int | None, ties: TieRule = "half") -> Verdict:
    """Right, wrong, tie or not to be said: the one rule for every reduction, study and view.

    An option without a number is never beaten: the verdict is missing, unless an option that has one beats the gold
    option, which is then wrong whatever the other would get. A tie is worth half; under "first" the first of equal
    numbers wins.
    """
    if len(options) < 2 or (gold is not None and not (gold < len(options) and options[gold].known)):
        return MISSING
    known = [i for i, option in enumerate(options) if option.known]
    whole = len(known) == len(options)
    if gold is None and not whole:
        return MISSING
    best = max(known, key=lambda i: options[i].value)
    # The margin is told from the gold option's side, so that a wrong answer has a negative one. Without a gold option
    # it is the lead of the best one, which is never negative.
    first = best if gold is None else gold
    rivals = [i for i in known if i != first]
    tied = [i for i in rivals if ties == "half" and _is_tie(options[first], options[i])]
    beaten = any(_beats(options, i, first, ties) for i in rivals if i not in tied)
    if not whole:
        return Verdict("wrong", 0.0, math.nan, None) if beaten else MISSING
    second = max(rivals, key=lambda i: options[i].value)
    margin = options[first].value - options[second].value
    if tied and not beaten:
        return Verdict("unlabelled" if gold is None else "tie", math.nan if gold is None else 0.5, margin, None)
    undecided = abs(margin) <= max(options[first].shaky, options[second].shaky)
    if gold is None:
        return Verdict("unlabelled", math.nan, margin, best, undecided)
    return Verdict("wrong" if beaten else "right", float(not beaten), margin, best, undecided)


def _is_tie(first: Option, second: Option) -> bool:
    same = first.text is not None and first.text == second.text
    return same or abs(first.value - second.value) <= max(first.near, second.near)


def _beats(options: Sequence[Option], first: int, second: int, ties: TieRule) -> bool:
    higher, lower = options[first].value, options[second].value
    return higher > lower or (higher == lower and ties == "first" and first < second)


def word_of(correct: float | None) -> Literal["right", "wrong", "tie", "none"]:
    """A stored `correct` (1, 0, 0.5, or none or nan) in a word; of several passes, what most of them were."""
    if correct is None or math.isnan(correct):
        return "none"
    return "tie" if correct == 0.5 else "right" if correct > 0.5 else "wrong"


def tolerance(tokens: int, dtype: str) -> float:
    """Nats within which two scores of so many tokens are not told apart in a dtype."""
    return SPREAD[dtype] * math.sqrt(tokens) if dtype in SPREAD else TIE * tokens


def value(score: Score, normalization: Normalization, unconditional: float | None = None) -> float:
    """One number for a score: nats, or nats a token, character or byte; `pmi` is the gain over no context, in nats."""
    if normalization == "pmi":
        return math.nan if unconditional is None else score.sum - unconditional
    return divided(score.sum, size(normalization, score.scored, score.chars, score.bytes))


def size(normalization: Normalization, scored: float, chars: float, bytes: float) -> float:
    """What a sum is divided by: tokens, characters or bytes, or 1."""
    return {"mean_token": scored, "per_char": chars, "per_byte": bytes}.get(normalization, 1)


def divided(total: float, by: float) -> float:
    """A sum over a size; nan where there is nothing to divide by."""
    return total / by if by > 0 else math.nan


def compare(
    scores: Sequence[Score | None],
    gold: int | None,
    policy: ScoringPolicy,
    dtype: str,
    unconditional: Sequence[float] | None = None,
) -> Verdict:
    """The verdict over options, one score each (none where one was not asked).

    `unconditional` has each option's log P after an empty context.
    """
    # PMI divides by the option's probability after an empty context, which takes out how common its words are by
    # themselves: log P(option | context) - log P(option).
    priors: Sequence[float | None] = unconditional or [None] * len(scores)
    options = [
        NO_SCORE if score is None else _option(score, policy.normalization, dtype, prior)
        for score, prior in zip(scores, priors, strict=True)
    ]
    return decide(options, gold, policy.ties)


def judged(yes: Score | None, no: Score | None, dtype: str) -> Option:
    """A sentence's number where it was put up for judgment: log P(yes) less log P(no), in nats."""
    if yes is None or no is None:
        return NO_SCORE
    return Option(
        yes.sum - no.sum,
        near=TIE * (yes.scored + no.scored),
        shaky=math.hypot(tolerance(yes.scored, dtype), tolerance(no.scored, dtype)),
        text=(yes.request.context, yes.request.conversation),
    )


def compare_all(
    cases: Sequence[Sequence[Score | None]], golds: Sequence[int | None], policy: ScoringPolicy, dtype: str
) -> list[Verdict]:
    """What `compare` gives for each case, without unconditional scores; the plain cases all at once."""
    verdicts: list[Verdict | None] = [None] * len(cases)
    by_width: dict[int, list[int]] = {}
    for place, (scores, gold) in enumerate(zip(cases, golds, strict=True)):
        if gold is not None and len(scores) > 1 and None not in scores:
            by_width.setdefault(len(scores), []).append(place)
    if policy.normalization != "pmi":
        for places in by_width.values():
            _compare_plain(cases, golds, places, policy, dtype, verdicts)
    return [
        compare(scores, gold, policy, dtype) if verdict is None else verdict
        for scores, gold, verdict in zip(cases, golds, verdicts, strict=True)
    ]


def _compare_plain(
    cases: Sequence[Sequence[Score | None]],
    golds: Sequence[int | None],
    places: Sequence[int],
    policy: ScoringPolicy,
    dtype: str,
    verdicts: list[Verdict | None],
) -> None:
    """Fills in the verdicts of cases with equally many options and a gold one, where every option has a number."""
    flat = [score for place in places for score in cases[place] if score is not None]
    shape = (len(places), -1)
    scored = np.array([score.scored for score in flat], dtype=np.float64)
    unit = _sizes(flat, scored, policy.normalization)
    totals = np.array([score.sum for score in flat], dtype=np.float64)
    value = np.divide(totals, unit, out=np.full(len(flat), math.nan), where=unit > 0).reshape(shape)
    unit = np.where(unit == 0, 1, unit)
    near = (TIE * scored / unit).reshape(shape)
    shaky = ((SPREAD[dtype] * np.sqrt(scored) if dtype in SPREAD else TIE * scored) / unit).reshape(shape)
    gold = np.array([golds[place] for place in places])
    plain = np.isfinite(value).all(axis=1) & (gold < value.shape[1]) & (gold >= 0)
    gold = np.where(plain, gold, 0)
    same = np.zeros(value.shape, dtype=bool)
    for k, place in enumerate(places):
        texts = [(score.request.context, score.request.continuation) for score in cases[place] if score is not None]
        same[k] = [text == texts[gold[k]] for text in texts]
    decided = decide_plain(value, near, shaky, same, gold, policy.ties)
    for place, good, tie, lost, gap, chosen, close in zip(
        places, plain.tolist(), *(column.tolist() for column in decided), strict=True
    ):
        if good and tie:
            verdicts[place] = Verdict("tie", 0.5, gap, None)
        elif good:
            verdicts[place] = Verdict("wrong" if lost else "right", float(not lost), gap, chosen, close)


class PlainVerdicts(NamedTuple):
    """Verdicts of many cases, an array each: whether it is a tie, whether gold is beaten; margin, chosen, undecided."""

    tie: np.ndarray
    beaten: np.ndarray
    margin: np.ndarray
    chosen: np.ndarray
    undecided: np.ndarray


# Two thresholds, which must not be mixed up. `near` is rounding noise of one and the same number: within it, two
# options are the same and the case is a tie. `shaky` is what another batch size or card may change: a margin within it
# is a verdict, but one marked as undecided, since the next machine may turn it.
#
#     margin   0 ──── near ──────── shaky ───────────────
#              tie    │ verdict,     │ verdict
#                     │ undecided    │
#
# Options with the gold option's very text tie with it, too, whatever their numbers: nothing could tell them apart.
def decide_plain(
    value: np.ndarray, near: np.ndarray, shaky: np.ndarray, same: np.ndarray, gold: np.ndarray, ties: TieRule
) -> PlainVerdicts:
    """The steps of `decide` on arrays with a line per case and a column per option, where every option has a number.

    `same` says which options have the gold option's text, `gold` which one that is.
    """
    line, width = np.arange(len(value)), value.shape[1]
    gold_value = value[line, gold][:, None]
    rival = np.arange(width) != gold[:, None]
    with np.errstate(invalid="ignore"):
        tied = rival & (same | (np.abs(gold_value - value) <= np.maximum(near[line, gold][:, None], near)))
    beats = value > gold_value
    if ties == "first":
        tied[:] = False
        beats |= (value == gold_value) & (np.arange(width) < gold[:, None])
    beaten = (rival & ~tied & beats).any(axis=1)
    second = np.where(rival, value, -np.inf).argmax(axis=1)  # the first of equals, as max() takes
    best = np.where(np.isnan(value), -np.inf, value).argmax(axis=1)
    with np.errstate(invalid="ignore"):
        margin = value[line, gold] - value[line, second]
    undecided = np.abs(margin) <= np.maximum(shaky[line, gold], shaky[line, second])
    return PlainVerdicts(tied.any(axis=1) & ~beaten, beaten, margin, best, undecided)


def _sizes(scores: Sequence[Score], scored: np.ndarray, normalization: Normalization) -> np.ndarray:
    """`size` of each score."""
    if normalization == "mean_token":
        return scored
    if normalization in ("per_char", "per_byte"):
        of = operator.attrgetter("chars" if normalization == "per_char" else "bytes")
        return np.array([of(score) for score in scores], dtype=np.float64)
    return np.ones(len(scores))


def _option(score: Score, normalization: Normalization, dtype: str, prior: float | None) -> Option:
    unit = size(normalization, score.scored, score.chars, score.bytes) or 1
    return Option(
        value(score, normalization, prior),
        near=TIE * score.scored / unit,
        shaky=tolerance(score.scored, dtype) / unit,
        text=(score.request.context, score.request.continuation),
    )
