"""What a loaded causal model answers, whoever has its layers: transformers (`hf.py`) or the engine (`hf_light.py`)."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

from explorer.records import PackedRow
from explorer.scoring.encode import Pair, TextEncoder
from explorer.scoring.engine.rows import RowRunner
from explorer.scoring.hf_source import Source
from explorer.scoring.model import Encoding, Progress, RowScores
from explorer.scoring.policy import Bos, Split


class TextModel(abc.ABC):
    """A loaded causal language model that reads texts; safe to call from several threads."""

    tokenizer: Any  # of transformers, or what chat templates and `TextEncoder` ask of one

    def __init__(
        self, source: Source, runner: RowRunner, encoder: TextEncoder, window: int, words: int, dtype: str
    ) -> None:
        self.source = source
        self.name = source.name
        self.encoder = encoder
        self.window = window
        self.words = words
        self.dtype = dtype
        self.runner = runner
        self.lock = runner.lock

    @property
    def row_tokens(self) -> int:
        """How long a packed row is best made."""
        return self.runner.row_tokens

    @property
    @abc.abstractmethod
    def ends(self) -> frozenset[int]:
        """The tokens at which it ends an answer."""

    @abc.abstractmethod
    def record(self) -> dict[str, str | int]:
        """Model id, revision or weights hash, tokenizer hash, dtype, device, versions, and how rows are batched."""

    def encode(self, context: str, continuation: str, bos: Bos, split: Split) -> Encoding:
        """One request as token ids."""
        return self.encoder.encode(context, continuation, bos, split)

    def encode_all(self, pairs: Sequence[Pair], bos: Bos, split: Split) -> list[Encoding]:
        """Many requests as token ids, in the order asked."""
        return self.encoder.encode_all(pairs, bos, split)

    def decode(self, ids: Sequence[int]) -> tuple[str, ...]:
        """The text of each token; a character spread over several tokens is given by the last of them."""
        return self.encoder.texts(ids)

    def logprobs(
        self,
        rows: Sequence[PackedRow],
        progress: Progress | None = None,
        token_budget: int | None = None,
        *,
        moments: bool = False,
    ) -> list[RowScores]:
        """Scores of packed rows, in the order asked; a batch holds at most `token_budget` tokens."""
        return self.runner.run(rows, progress, token_budget, moments=moments)

    def likeliest(self, ids: Sequence[int], count: int) -> list[tuple[int, float]]:
        """The `count` likeliest next tokens after these, each with its log-probability in nats."""
        return self.runner.likeliest(ids, count)
