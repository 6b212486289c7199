"""The conventions under which a continuation is scored, as one frozen record that is part of every cache key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Bos = Literal["auto", "always", "never"]
Normalization = Literal["sum", "mean_token", "per_char", "per_byte", "pmi"]
Split = Literal["offsets", "token_count"]
TieRule = Literal["half", "first"]


@dataclass(frozen=True, slots=True)
class ScoringPolicy:
    """How a request becomes token ids and how a score becomes a verdict.

    bos           which token stands before the context
    split         "offsets": by character offsets of the original string; "token_count": after len(tokens(context))
    move_blanks   trailing U+0020 of a context move to the continuation
    normalization how a score is reduced to one number when two options are compared
    ties          "half": a tie is its own outcome worth 0.5; "first": option 0 wins a tie
    """

    preset: str = "natural"
    bos: Bos = "auto"
    split: Split = "offsets"
    move_blanks: bool = True
    normalization: Normalization = "sum"
    ties: TieRule = "half"


PRESETS: Mapping[str, ScoringPolicy] = {
    "natural": ScoringPolicy(),
    "lm-eval": ScoringPolicy(preset="lm-eval", split="token_count", ties="first"),
    "minicons": ScoringPolicy(
        preset="minicons", bos="never", move_blanks=False, normalization="mean_token", ties="first"
    ),
}
