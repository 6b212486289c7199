"""Batches of short answers whose every step is queued on the GPU at once, so that the next batch is read meanwhile.

Python and the GPU take turns in a plain loop: a step is queued, its tokens are awaited, the next is queued. Here all
steps of a batch are queued without looking at a token, and the tokens are fetched when the next batch is under way:

    Python   queue batch 1 | queue batch 2 | look at 1 | queue 3 | look at 2 | ...
    GPU                    | batch 1 .................| batch 2 ........| batch 3

The price is steps run in vain after an answer's end, so this is for short answers alone. It needs captured steps
(cuda_graphs.py), whose own likeliest token is the next input, and greedy choice.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from explorer.scoring.engine.contract import Answer
from explorer.scoring.engine.cuda_graphs import CapturedStep
from explorer.scoring.engine.transfer import Arriving


class PendingBatch:
    """Greedy answers that the GPU is still writing: the tokens of every step arrive in memory of this machine."""

    def __init__(self, answers: Sequence[Answer], first: torch.Tensor, step: CapturedStep | None, most: int) -> None:
        self.answers = answers
        tokens = torch.empty(most, len(answers), dtype=torch.long, device=first.device)
        tokens[0] = first
        for number in range(1, most):
            assert step is not None
            step.replay()
            # Copied at once: the next replay overwrites the step's own buffer.
            tokens[number] = step.tokens[: len(answers)]
        self.tokens = Arriving([tokens])

    def complete(self) -> None:
        """Waits for the tokens and completes the answers; what was written after an answer's end is dropped."""
        (written,) = self.tokens.arrays()
        for answer, tokens in zip(self.answers, written.T.tolist(), strict=True):
            for token in tokens[: answer.max_new_tokens]:
                if answer.add(token):
                    break
