"""Answers of models whose layers cannot be taken over (state-space models, unknown architectures): one at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from explorer.scoring.engine.contract import Answer, Ids, Stats


class PlainDecoder:
    """Writes answers by transformers' own `generate`, and decides about each token itself."""

    pass_tokens = 1 << 30  # nothing is gained by grouping

    def __init__(self, model: Any) -> None:
        self.model = model.model
        self.lock = model.runner.lock

    def write(self, prefix: Ids, answers: Sequence[Answer], stats: Stats, done: Callable[[int], None]) -> None:
        """Completes the answers."""
        for answer in answers:
            with self.lock, torch.inference_mode():
                self._write(answer)
            stats.read_tokens += len(answer.prompt)
            stats.passes += len(answer.ids) + 1
            done(1)

    def _write(self, answer: Answer) -> None:
        def choose(ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
            step = ids.shape[1] - len(answer.prompt)
            token = _choose(scores[0].float(), answer, step)
            answer.add(token)
            # All other tokens are ruled out, so that `generate`, which takes the likeliest, goes on with this one.
            only = torch.full_like(scores, -torch.inf)
            only[0, max(token, 0)] = 0.0
            return only

        ids = torch.tensor([answer.prompt], device=self.model.device)
        self.model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            num_beams=1,
            max_new_tokens=answer.max_new_tokens,
            pad_token_id=0,
            logits_processor=[choose],
            stopping_criteria=[lambda ids, scores, **_: torch.tensor([bool(answer.finish)], device=ids.device)],
        )


def _choose(scores: torch.Tensor, answer: Answer, step: int) -> int:
    """The next token by the same rule as Sampler, so that both decoders give the same answers."""
    if scores.isnan().any():
        return -1
    if not answer.temperature > 0:
        return int(scores.argmax())
    sums = (scores / answer.temperature).softmax(-1, dtype=torch.float64).cumsum(-1)
    threshold = float(answer.draws[step]) * sums[-1]
    return min(int(torch.searchsorted(sums, threshold, right=True)), len(scores) - 1)
