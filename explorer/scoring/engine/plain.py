"""Answers of models whose layers cannot be taken over (state-space models, unknown architectures): one at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from explorer.scoring.engine.contract import Ids, Stats, Writing


class PlainDecoder:
    """Writes answers by transformers' own `generate`, and decides about each token itself."""

    pass_tokens = 1 << 30  # nothing is gained by grouping

    def __init__(self, model: Any) -> None:
        self.model = model.model
        self.lock = model.runner.lock

    def write(self, prefix: Ids, writings: Sequence[Writing], stats: Stats, done: Callable[[int], None]) -> None:
        """Completes the answers."""
        for writing in writings:
            with self.lock, torch.inference_mode():
                self._write(writing)
            stats.read_tokens += len(writing.prompt)
            stats.passes += len(writing.ids) + 1
            done(1)

    def _write(self, writing: Writing) -> None:
        def choose(ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
            step = ids.shape[1] - len(writing.prompt)
            token = _chosen(scores[0].float(), writing, step)
            writing.add(token)
            only = torch.full_like(scores, -torch.inf)
            only[0, max(token, 0)] = 0.0
            return only

        ids = torch.tensor([writing.prompt], device=self.model.device)
        self.model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            num_beams=1,
            max_new_tokens=writing.most,
            pad_token_id=0,
            logits_processor=[choose],
            stopping_criteria=[lambda ids, scores, **_: torch.tensor([bool(writing.finish)], device=ids.device)],
        )


def _chosen(scores: torch.Tensor, writing: Writing, step: int) -> int:
    if scores.isnan().any():
        return -1
    if not writing.temperature > 0:
        return int(scores.argmax())
    sums = (scores / writing.temperature).softmax(-1, dtype=torch.float64).cumsum(-1)
    draw = float(writing.draws[step]) * sums[-1]
    return min(int(torch.searchsorted(sums, draw, right=True)), len(scores) - 1)
