"""Chooses the next token of each row: the likeliest, or one drawn by temperature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from explorer.scoring.engine.contract import Answer
from explorer.scoring.engine.heads import TILE, Head

SAMPLED_ROWS = 16  # sampled rows whose probabilities over the whole vocabulary stand in memory at once


class Sampler:
    """Chooses the next token of each row from its hidden state."""

    def __init__(self, head: Head) -> None:
        self.head = head

    def choose(self, hidden: torch.Tensor, answers: Sequence[Answer], step: int) -> list[int]:
        """The likeliest token where an answer's temperature is 0, else one drawn; -1 where the model gave no number.

        `hidden` is (answers, width); `step` is the number of the new token, from 0.
        """
        sampled = [row for row, answer in enumerate(answers) if answer.temperature > 0]
        if not sampled:
            return self.greedy(hidden).tolist()
        tokens = torch.empty(len(answers), dtype=torch.long)
        greedy = [row for row, answer in enumerate(answers) if not answer.temperature > 0]
        if greedy:
            tokens[greedy] = self.greedy(hidden[greedy]).cpu()
        for first in range(0, len(sampled), SAMPLED_ROWS):
            part = sampled[first : first + SAMPLED_ROWS]
            temperatures = torch.tensor([answers[row].temperature for row in part], device=hidden.device)
            draws = torch.tensor([answers[row].draws[step] for row in part], device=hidden.device)
            tokens[part] = self.sample(hidden[part], temperatures, draws).cpu()
        return tokens.tolist()

    def greedy(self, hidden: torch.Tensor) -> torch.Tensor:
        """The likeliest token of each row, the first of equals; -1 where a logit is nan."""
        peaks, places = [], []
        for first, after in self._tiles(hidden.device.type):
            peak, argmax = self.head.logits(hidden, first, after).max(1)
            peaks.append(peak)
            places.append(argmax + first)
        # `max` passes nan on, from a tile to the whole: one broken logit shows.
        peak, best = torch.stack(peaks).max(0)
        return torch.stack(places).gather(0, best[None])[0].masked_fill(peak.isnan(), -1)

    def sample(self, hidden: torch.Tensor, temperatures: torch.Tensor, draws: torch.Tensor) -> torch.Tensor:
        """For each row the token at which the summed probabilities, in the vocabulary's order, pass the row's draw."""
        logits = self.head.logits(hidden, 0, self.head.words)
        if logits.device.type == "mps":  # which has no double precision
            logits, temperatures, draws = logits.cpu(), temperatures.cpu(), draws.cpu()
        # In float32 a sum over 262,144 words is off by more than the probability of most of them.
        sums = (logits / temperatures[:, None]).softmax(-1, dtype=torch.float64).cumsum(-1)
        # Times the last sum, which rounding leaves near 1: no draw can fall behind the last word.
        tokens = torch.searchsorted(sums, (draws * sums[:, -1])[:, None], right=True)[:, 0]
        return tokens.clamp(max=self.head.words - 1).masked_fill(sums[:, -1].isnan(), -1)

    def _tiles(self, device: str) -> Iterator[tuple[int, int]]:
        size = TILE.get(device, 32768)
        for first in range(0, self.head.words, size):
            yield first, min(first + size, self.head.words)
