"""The conventions under which a continuation is scored, as one frozen record that is part of every cache key."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

Bos = Literal["auto", "always", "never", "declared", "tokenizer"]
Blanks = Literal["spaces", "whitespace", "stay"]
Normalization = Literal["sum", "mean_token", "per_char", "per_byte", "pmi"]
Split = Literal["offsets", "token_count", "spliced"]
TieRule = Literal["half", "first"]
Ask = Literal["plain", "judge"]


@dataclass(frozen=True, slots=True)
class ScoringPolicy:
    """How a request becomes token ids and how a score becomes a verdict.

    bos           "auto": what the tokenizer itself puts first, and before an empty context always a token: the
                  catalog's plain-text BOS, else the BOS, else the EOS; "always": that same token before every context;
                  "never": none, so that an empty context leaves the first token unscored;
                  "declared": as auto, but by the tokenizer's declaration alone, without the catalog (lm-eval);
                  "tokenizer": what the tokenizer itself puts first and nothing else (minicons)
    blanks        which trailing blanks of a context move to the continuation: "spaces" (U+0020 only),
                  "whitespace" (newlines and tabs too), or none ("stay")
    split         "offsets": by character offsets of the original string; "token_count": after as many tokens as the
                  context has alone (minicons); "spliced": there too, with the context's own tokens in place of those
                  that the joint encoding has before (lm-eval)
    normalization how a score is reduced to one number when two options are compared
    ties          "half": a tie is its own outcome worth 0.5; "first": option 0 wins a tie
    chat          whether what stands before an option is a conversation in the model's chat template, and the option
                  the assistant's answer; the template alone then says what stands first
    system        the system prompt of that conversation, "" for none
    ask           "plain": the options themselves are scored; "judge": each stands in a question, and log P(yes) less
                  log P(no) is its number (`prompts_chat.py` has the wording)
    """

    preset: str = "natural"
    bos: Bos = "auto"
    blanks: Blanks = "spaces"
    split: Split = "offsets"
    normalization: Normalization = "sum"
    ties: TieRule = "half"
    chat: bool = False
    system: str = ""
    ask: Ask = "plain"

    @property
    def key(self) -> tuple[object, ...]:
        """What tells policies apart, in keys of kept answers: a plain one has the key that it had before chats."""
        values = dataclasses.astuple(self)
        return values if self.chat or self.ask != "plain" else values[:-3]

    def as_chat(self, system: str = "") -> ScoringPolicy:
        """The same with options as answers in a conversation: nothing is put before it, and no blank is moved."""
        return dataclasses.replace(self, chat=True, system=system, bos="never", blanks="stay")

    def move(self, context: str, continuation: str) -> tuple[str, str]:
        """The pair with the context's trailing blanks where the policy wants them."""
        head = {"spaces": context.rstrip(" "), "whitespace": context.rstrip(), "stay": context}[self.blanks]
        return head, context[len(head) :] + continuation


PLL = "pll"  # the preset of masked models, and of no others
SEQ2SEQ, DECODER = "seq2seq", "decoder"  # the presets of models of an encoder and a decoder, and of no others
ENCODER_DECODER_PRESETS = (SEQ2SEQ, DECODER)
NOT_CAUSAL_PRESETS = (PLL, *ENCODER_DECODER_PRESETS)  # presets that no causal model takes
PRESETS: Mapping[str, ScoringPolicy] = {
    "natural": ScoringPolicy(),
    "lm-eval": ScoringPolicy(preset="lm-eval", bos="declared", blanks="whitespace", split="spliced", ties="first"),
    "minicons": ScoringPolicy(
        preset="minicons",
        bos="tokenizer",
        blanks="stay",
        split="token_count",
        normalization="mean_token",
        ties="first",
    ),
    # Pseudo-log-likelihood, within-word left-to-right (explorer/scoring/hf_masked.py): sums of tokens each of which is
    # given all others, so they compare with one another and with no sum of a causal model.
    PLL: ScoringPolicy(preset=PLL, bos="tokenizer"),
    # By the decoder, given a source: the context, or none (explorer/scoring/hf_encoder_decoder.py).
    SEQ2SEQ: ScoringPolicy(preset=SEQ2SEQ, bos="tokenizer"),
    DECODER: ScoringPolicy(preset=DECODER, bos="tokenizer"),
}


# What a margin is in: two that were reduced in different ways are numbers of different things.
UNITS: Mapping[str, str] = {
    "sum": "nats",
    "mean_token": "nats a token",
    "per_char": "nats a character",
    "per_byte": "nats a byte",
    "pmi": "nats added by the context",
}


def normalization_of(settings: Mapping[str, object]) -> Normalization:
    """How a run with these settings reduces what it compares; studies without the setting compare sums."""
    chosen = str(settings.get("normalization", "sum"))
    if chosen in UNITS:
        return cast(Normalization, chosen)
    preset = str(settings.get("preset", ""))
    return PRESETS[preset].normalization if preset in PRESETS else "sum"


def margin_unit(settings: Mapping[str, object]) -> str:
    """What the margins of a run with these settings are in."""
    return UNITS[normalization_of(settings)]
