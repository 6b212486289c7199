"""Chooses the next token of each row: the likeliest, or one drawn by temperature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from explorer.scoring.engine.contract import Writing
from explorer.scoring.engine.heads import TILE, Head

WARM_ROWS = 16  # sampled rows whose probabilities over all words stand in memory at once


class Picker:
    """Chooses the next token of each row from its hidden state."""

    def __init__(self, head: Head) -> None:
        self.head = head

    def pick(self, hidden: torch.Tensor, writings: Sequence[Writing], step: int) -> list[int]:
        """The likeliest token where an answer's temperature is 0, else one drawn; -1 where the model gave no number."""
        warm = [row for row, writing in enumerate(writings) if writing.temperature > 0]
        if not warm:
            return self.greedy(hidden).tolist()
        tokens = torch.empty(len(writings), dtype=torch.long)
        cold = [row for row, writing in enumerate(writings) if not writing.temperature > 0]
        if cold:
            tokens[cold] = self.greedy(hidden[cold]).cpu()
        for first in range(0, len(warm), WARM_ROWS):
            part = warm[first : first + WARM_ROWS]
            heat = torch.tensor([writings[row].temperature for row in part], device=hidden.device)
            draws = torch.tensor([writings[row].draws[step] for row in part], device=hidden.device)
            tokens[part] = self.drawn(hidden[part], heat, draws).cpu()
        return tokens.tolist()

    def greedy(self, hidden: torch.Tensor) -> torch.Tensor:
        """The likeliest token of each row."""
        peaks, found = [], []
        for first, after in self._tiles(hidden.device.type):
            peak, argmax = self.head.logits(hidden, first, after).max(1)
            peaks.append(peak)
            found.append(argmax + first)
        peak, best = torch.stack(peaks).max(0)
        return torch.stack(found).gather(0, best[None])[0].masked_fill(peak.isnan(), -1)

    def drawn(self, hidden: torch.Tensor, heat: torch.Tensor, draws: torch.Tensor) -> torch.Tensor:
        """For each row the token at which the summed probabilities, in the vocabulary's order, pass the row's draw."""
        logits = self.head.logits(hidden, 0, self.head.words)
        if logits.device.type == "mps":  # which has no double precision
            logits, heat, draws = logits.cpu(), heat.cpu(), draws.cpu()
        sums = (logits / heat[:, None]).softmax(-1, dtype=torch.float64).cumsum(-1)
        found = torch.searchsorted(sums, (draws * sums[:, -1])[:, None], right=True)[:, 0]
        return found.clamp(max=self.head.words - 1).masked_fill(sums[:, -1].isnan(), -1)

    def _tiles(self, device: str) -> Iterator[tuple[int, int]]:
        size = TILE.get(device, 32768)
        for first in range(0, self.head.words, size):
            yield first, min(first + size, self.head.words)
