"""The conventions under which a continuation is scored, as one frozen record that is part of every cache key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Bos = Literal["auto", "always", "never", "declared", "tokenizer"]
Blanks = Literal["spaces", "whitespace", "stay"]
Normalization = Literal["sum", "mean_token", "per_char", "per_byte", "pmi"]
Split = Literal["offsets", "token_count", "spliced"]
TieRule = Literal["half", "first"]


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
    """

    preset: str = "natural"
    bos: Bos = "auto"
    blanks: Blanks = "spaces"
    split: Split = "offsets"
    normalization: Normalization = "sum"
    ties: TieRule = "half"

    def move(self, context: str, continuation: str) -> tuple[str, str]:
        """The pair with the context's trailing blanks where the policy wants them."""
        head = {"spaces": context.rstrip(" "), "whitespace": context.rstrip(), "stay": context}[self.blanks]
        return head, context[len(head) :] + continuation


PLL = "pll"  # the preset of masked models, and of no others
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
}
