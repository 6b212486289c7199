"""Batches of short answers whose every step is queued on the GPU at once, so that the next batch is read meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from explorer.scoring.engine.contract import Writing
from explorer.scoring.engine.cuda_graphs import CapturedStep

SHORT = 16  # new tokens: so many steps at most run in vain when all answers of a batch are complete early


class Flight:
    """Greedy answers on their way: the tokens of every step will arrive in memory that the GPU writes to."""

    def __init__(self, batch: Sequence[Writing], first: torch.Tensor, step: CapturedStep | None, most: int) -> None:
        self.batch = batch
        found = torch.empty(most, len(batch), dtype=torch.long, device=first.device)
        found[0] = first
        for number in range(1, most):
            assert step is not None
            step.replay()
            found[number] = step.tokens[: len(batch)]
        self.tokens = torch.empty(found.shape, dtype=torch.long, pin_memory=True)
        self.tokens.copy_(found, non_blocking=True)
        self.arrived = torch.cuda.Event()
        self.arrived.record()

    def land(self) -> None:
        """Waits for the tokens and completes the answers; what was written after an answer's end is dropped."""
        self.arrived.synchronize()
        for writing, tokens in zip(self.batch, self.tokens.T.tolist(), strict=True):
            for token in tokens[: writing.most]:
                if writing.add(token):
                    break
