"""Log-probabilities from hidden states, a tile of the vocabulary at a time, in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

# A tile of logits stays in a processor's cache, and the whole of a 262,144-word vocabulary never stands in memory.
ROWS = {"cpu": 256, "cuda": 4096, "mps": 1024}
TILE = {"cpu": 4096, "cuda": 32768, "mps": 32768}


class Head:
    """The last step of a causal language model: its output embedding and what the architecture does to the logits."""

    def __init__(self, model: Any, config: Any) -> None:
        output = model.get_output_embeddings()
        self.weight: torch.Tensor = output.weight
        self.bias: torch.Tensor | None = getattr(output, "bias", None)
        self.softcap: float | None = getattr(config, "final_logit_softcapping", None)
        self.scale = float(getattr(config, "logit_scale", None) or 1 / (getattr(config, "logits_scaling", None) or 1))

    def logits(self, hidden: torch.Tensor, first: int, after: int) -> torch.Tensor:
        """Logits of vocabulary entries `first` to `after`, float32."""
        bias = None if self.bias is None else self.bias[first:after]
        found = torch.nn.functional.linear(hidden, self.weight[first:after], bias)
        if self.scale != 1:
            found = found * self.scale
        if self.softcap is not None:
            found = torch.tanh(found / self.softcap) * self.softcap
        return found.float()

    @property
    def words(self) -> int:
        """The size of the vocabulary."""
        return self.weight.shape[0]

    def score(self, hidden: torch.Tensor, heads: np.ndarray, targets: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """For each target its log-probability in nats at its head, and whether it is the argmax there.

        `hidden` is (heads, width); `heads`, ascending, says at which of them each target is scored.
        """
        rows = ROWS.get(hidden.device.type, 256)
        parts = []
        for first in range(0, len(hidden), rows):
            low, high = np.searchsorted(heads, [first, first + rows])
            here = [torch.from_numpy(part[low:high]).to(hidden.device) for part in (heads - first, targets)]
            parts.append(self._score(hidden[first : first + rows], *here))
        return torch.cat([part[0] for part in parts]), torch.cat([part[1] for part in parts])

    def _score(
        self, hidden: torch.Tensor, heads: torch.Tensor, targets: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        tile = TILE.get(hidden.device.type, 32768)
        wanted = torch.zeros(len(targets), device=hidden.device)
        sums, peaks, argmaxes = [], [], []
        for first in range(0, self.words, tile):
            after = min(first + tile, self.words)
            logits = self.logits(hidden, first, after)
            peak, argmax = logits.max(1)
            peaks.append(peak)
            argmaxes.append(argmax + first)
            here = (targets >= first) & (targets < after)
            wanted = torch.where(here, logits[heads, (targets - first).clamp(0, after - first - 1)], wanted)
            sums.append(logits.logsumexp(1))
        best = torch.stack(peaks).argmax(0)
        argmax = torch.stack(argmaxes).gather(0, best[None])[0]
        return wanted - torch.stack(sums).logsumexp(0)[heads], argmax[heads] == targets
