"""What the log-probabilities of a text's tokens say about its having been memorized.

extraction (TDE)   does the model complete the text's first half with its second? (Carlini et al. 2021, 2023)
loss, perplexity   how surprising is the whole text? (Yeom et al. 2018)
min-k %            how surprising are its least likely tokens? (Shi et al. 2024)
zlib ratio         how surprising is it for what it compresses to? (Carlini et al. 2021)
neighbours         how much more surprising are texts that differ in a word? (Mattern et al. 2023)
min-k %++          how unlikely are its least likely tokens beside all that could stand there? (Zhang et al. 2025)
ReCaLL             how much less surprising is it after texts that were not seen? (Xie et al. 2024)
calibrated loss    how much less surprising is it than to a reference model? (Carlini et al. 2021; Watson et al. 2022)

A text is scored once, whole: all of these follow from its tokens, since a greedy completion equals the rest of a text
exactly where every token of the rest is the likeliest after those before it.
"""

from __future__ import annotations

import dataclasses
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from explorer.records import Score
from explorer.scoring.model import Scorer
from explorer.scoring.policy import ScoringPolicy
from explorer.scoring.score import ModelScorer

MIN_K = 0.20  # the share of a text's tokens that min-k % looks at; the best of those that Shi et al. tried
ONE_TOKEN = "a single token has no first half"


@dataclass(frozen=True, slots=True)
class Signal:
    """A number about a text, nan with the reason where there is none."""

    value: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Extraction:
    """Whether the greedy completion is the rest of the text, and log P of the rest (nats) over its `tokens`."""

    accuracy: Signal
    likelihood: Signal
    tokens: int


def extraction(score: Score) -> Extraction:
    """Of a text of L tokens the last L - floor(L/2), given the first floor(L/2)."""
    half = len(score.logprobs) // 2
    rest = score.logprobs[half:]
    reason = ONE_TOKEN if len(score.logprobs) == 1 else score.reason
    if reason:
        gap = Signal(math.nan, reason)
        return Extraction(gap, gap, 0)
    return Extraction(Signal(float(all(score.likeliest[half:]))), Signal(math.fsum(rest)), len(rest))


def loss(score: Score) -> Signal:
    """The mean negative log-probability of the text's tokens, in nats a token."""
    return Signal(math.nan, score.reason) if score.reason else Signal(-score.sum / score.scored)


def perplexity(score: Score) -> Signal:
    """exp(loss)."""
    signal = loss(score)
    return signal if signal.reason else Signal(math.exp(signal.value))


def min_k(score: Score, share: float = MIN_K) -> Signal:
    """The mean negative log-probability of the least likely `share` of the tokens, at least one, in nats a token."""
    if score.reason:
        return Signal(math.nan, score.reason)
    values = sorted(value for value in score.logprobs if not math.isnan(value))
    lowest = values[: max(1, int(share * len(values)))]
    return Signal(-math.fsum(lowest) / len(lowest))


def min_k_plus(score: Score, share: float = MIN_K) -> Signal:
    """The mean of the lowest `share` of the tokens' standardized log-probabilities, at least one; no unit.

    A token's is (log P - mean) / standard deviation, both over the vocabulary at its place, each word weighing as much
    as its probability: a seen token is a mode of what could stand there, however flat that is. High speaks for
    membership.
    """
    if score.reason:
        return Signal(math.nan, score.reason)
    if not score.means:
        return Signal(math.nan, "the vocabulary's mean and deviation were not asked for")
    values = sorted(
        (value - mean) / deviation
        for value, mean, deviation in zip(score.logprobs, score.means, score.deviations, strict=True)
        if not math.isnan(value) and deviation > 0
    )
    if not values:
        return Signal(math.nan, "no place at which words differ in probability")
    lowest = values[: max(1, int(share * len(values)))]
    return Signal(math.fsum(lowest) / len(lowest))


def recall(text_loss: Signal, loss_after: Signal) -> Signal:
    """The loss after a prefix of texts that were not seen over the loss without it; a ratio.

    Such a prefix makes an unseen text likelier and tells the model little of one that it knows: a seen text has the
    higher ratio.
    """
    if text_loss.reason or loss_after.reason:
        return Signal(math.nan, text_loss.reason or loss_after.reason)
    if not text_loss.value:
        return Signal(math.nan, "the loss without a prefix is 0")
    return Signal(loss_after.value / text_loss.value)


def calibrated(text_loss: Signal, reference: Signal) -> Signal:
    """The loss less that of a reference model on the same text, in nats a token; low speaks for membership.

    Tokens of two models are not the same, so that a reference with other tokens is compared by its loss a token, too.
    """
    if text_loss.reason or reference.reason:
        return Signal(math.nan, text_loss.reason or f"reference model: {reference.reason}")
    return Signal(text_loss.value - reference.value)


def zlib_ratio(score: Score, text: str) -> Signal:
    """The loss over the text's length in bytes after compression by zlib, in nats a token and byte."""
    signal = loss(score)
    if signal.reason:
        return signal
    return Signal(signal.value / len(zlib.compress(text.encode("utf-8", "surrogatepass"))))


def against_neighbours(text_loss: Signal, neighbours: Sequence[Signal]) -> Signal:
    """The text's loss less the mean loss of its neighbours, in nats a token; gaps among these are left out."""
    known = [neighbour.value for neighbour in neighbours if not neighbour.reason]
    if text_loss.reason:
        return text_loss
    if not known:
        return Signal(math.nan, next((neighbour.reason for neighbour in neighbours), "no word could be replaced"))
    return Signal(text_loss.value - math.fsum(known) / len(known))


def extraction_policy(scorer: Scorer, policy: ScoringPolicy) -> ScoringPolicy | None:
    """The policy under which the first half would stand as a prompt; none where it is that of the whole text.

    Before an empty context a policy may put a token that it does not put before a prompt. Then the rest of the text
    has other log-probabilities after the prompt than in the whole text, and must be scored apart. A server puts the
    same before both.
    """
    if not isinstance(scorer, ModelScorer):
        return None
    # Whether the policy treats both alike is found out by encoding one letter as a prompt and as a text. For example
    # GPT-2 under "natural" puts <|endoftext|> before a text and nothing before a prompt, so its halves are scored
    # apart.
    probe = "a"
    as_prompt = scorer.model.encode(probe, "", policy.bos, policy.split).ids
    as_text = scorer.model.encode("", probe, policy.bos, policy.split).ids
    return None if as_prompt == as_text else dataclasses.replace(policy, bos="tokenizer")
