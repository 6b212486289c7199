"""Log-probabilities from hidden states, a tile of the vocabulary at a time, in float32.

    logits of a tile   hidden (heads, width) x output embedding (tile, width), transposed
    kept of a tile     for each head: log of the sum of exponentials, highest logit and where it is
    kept of a target   its own logit, in the one tile that its id falls into
    at the end         log P(target) = its logit - log of the summed exponentials over all tiles

The log of a sum of logs of sums is the same number as one softmax over the whole vocabulary, and nothing as large as
the vocabulary is ever kept: Gemma's 262,144 words times 2,048 tokens would be 2 GiB in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from explorer.scoring.engine.transfer import to_device

# A tile of logits stays in a processor's cache, and the whole of a 262,144-word vocabulary never stands in memory.
ROWS = {"cpu": 512, "cuda": 4096, "mps": 1024}
TILE = {"cpu": 2048, "cuda": 32768, "mps": 32768}


class Head:
    """The last step of a causal language model: its output embedding and what the architecture does to the logits."""

    def __init__(self, model: Any, config: Any) -> None:
        # The engine calls the model without its head, so what an architecture does behind the embedding is done here.
        # An architecture with another such step would give other numbers: RowRunner compares a toy row with the model.
        output = model.get_output_embeddings()
        self.weight: torch.Tensor = output.weight
        self.bias: torch.Tensor | None = getattr(output, "bias", None)
        self.softcap: float | None = getattr(config, "final_logit_softcapping", None)
        self.scale = float(getattr(config, "logit_scale", None) or 1 / (getattr(config, "logits_scaling", None) or 1))

    def logits(self, hidden: torch.Tensor, first: int, after: int) -> torch.Tensor:
        """Logits of vocabulary entries `first` to `after`: (heads, after - first), float32."""
        bias = None if self.bias is None else self.bias[first:after]
        hidden = self._beside_weight(hidden)
        return self._finish_logits(torch.nn.functional.linear(hidden, self.weight[first:after], bias))

    def _beside_weight(self, hidden: torch.Tensor) -> torch.Tensor:
        """The same where the output layer is: a model on several cards may have it elsewhere than its last layer."""
        return hidden.to(self.weight.device, non_blocking=True)

    def _finish_logits(self, logits: torch.Tensor) -> torch.Tensor:
        if self.scale != 1:
            logits = logits * self.scale
        if self.softcap is not None:
            logits = torch.tanh(logits / self.softcap) * self.softcap
        # In bfloat16 the product stays in bfloat16, as the model itself makes it, but the softmax is taken in float32:
        # with three significant digits a sum over 50,000 words moves a score by 0.14 nats (bench/RESULTS.md).
        return logits.float()

    @property
    def words(self) -> int:
        """The size of the vocabulary."""
        return self.weight.shape[0]

    def score(self, hidden: torch.Tensor, heads: np.ndarray, targets: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """For each target its log-probability in nats at its head, and whether it is the argmax there.

        `hidden` is (heads, width); `heads`, ascending, says at which of them each target is scored. A head may have
        several targets (where a tree branches): its softmax is then taken once for all of them.
        """
        hidden = self._beside_weight(hidden)
        rows = ROWS.get(hidden.device.type, 256)
        score = self._score_on_cpu if hidden.device.type == "cpu" else self._score
        parts = []
        for first in range(0, len(hidden), rows):
            # Ascending heads make the targets of some heads one stretch.
            low, high = np.searchsorted(heads, [first, first + rows])
            indices = [to_device(part[low:high], hidden.device) for part in (heads - first, targets)]
            parts.append(score(hidden[first : first + rows], *indices))
        return torch.cat([part[0] for part in parts]), torch.cat([part[1] for part in parts])

    def moments(self, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """At each head the mean and the standard deviation of log P over the vocabulary, weighed by P, in nats.

        `hidden` is (heads, width). The log of the softmax is a logit less a constant, so that both follow from the
        weighed sums of the logits and of their squares, which are kept a tile at a time with the highest logit so far
        taken out, as in an online softmax:

            weight of a word   exp(logit - highest)
            mean of the logits sum of weight * (logit - highest) / sum of weight
            mean of log P      that mean - log of the sum of weights
        """
        hidden = self._beside_weight(hidden)
        rows, tile = ROWS.get(hidden.device.type, 256), TILE.get(hidden.device.type, 32768)
        means, deviations = [], []
        for start in range(0, len(hidden), rows):
            part = hidden[start : start + rows]
            highest = torch.full((len(part),), -torch.inf, device=part.device)
            total = torch.zeros((3, len(part)), device=part.device)  # of the weights, times the logits, times squares
            for first in range(0, self.words, tile):
                logits = self.logits(part, first, min(first + tile, self.words))
                peak = torch.maximum(highest, logits.max(1).values)
                down = torch.where(torch.isfinite(highest), highest - peak, torch.zeros_like(peak))
                # What was summed so far is about a lower highest logit: (l - peak) = (l - highest) + down.
                total = torch.stack([total[0], total[1] + down * total[0],
                                     total[2] + 2 * down * total[1] + down**2 * total[0]]) * down.exp()  # fmt: skip
                above = logits - peak[:, None]
                weight = above.exp()
                total = total + torch.stack([weight.sum(1), (weight * above).sum(1), (weight * above**2).sum(1)])
                highest = peak
            mean = total[1] / total[0]
            means.append(mean - total[0].log())
            deviations.append((total[2] / total[0] - mean**2).clamp(min=0).sqrt())
        return torch.cat(means), torch.cat(deviations)

    # A softmax over the whole vocabulary, a tile at a time. The sums of the tiles' exponentials differ by hundreds of
    # powers of e; `logsumexp` of each tile, then of the tiles' results, keeps them in range:
    #
    #     tile 1   logsumexp(2, 5)  = 5.05      tile 2   logsumexp(9, 1) = 9.00
    #     all      logsumexp(5.05, 9.00) = 9.02 = logsumexp(2, 5, 9, 1)
    def _score(
        self, hidden: torch.Tensor, heads: torch.Tensor, targets: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        tile = TILE.get(hidden.device.type, 32768)
        target_logits = torch.zeros(len(targets), device=hidden.device)
        sums, peaks, argmaxes = [], [], []
        for first in range(0, self.words, tile):
            after = min(first + tile, self.words)
            logits = self.logits(hidden, first, after)
            peak, argmax = logits.max(1)
            peaks.append(peak)
            argmaxes.append(argmax + first)
            # Chosen by `where`, not by an index of the targets in this tile: how many there are would have to be asked
            # of the GPU, and Python would wait for it in every tile.
            in_tile = (targets >= first) & (targets < after)
            at_target = logits[heads, (targets - first).clamp(0, after - first - 1)]
            target_logits = torch.where(in_tile, at_target, target_logits)
            sums.append(logits.logsumexp(1))
        # Of equal logits the first tile's wins, as argmax over the whole vocabulary would have it.
        best = torch.stack(peaks).argmax(0)
        argmax = torch.stack(argmaxes).gather(0, best[None])[0]
        return target_logits - torch.stack(sums).logsumexp(0)[heads], argmax[heads] == targets

    # As `_score`, in the order of memory that a processor likes: words x heads. MKL multiplies a tenth faster so, and
    # what is summed over the words runs along whole cache lines. Each tile is gone through three times, not six: its
    # maximum is also what `logsumexp` would look for, and the index of the maximum is asked only where it could be a
    # target's. Together a third of the time of the largest product of a small model (bench/RESULTS.md).
    def _score_on_cpu(
        self, hidden: torch.Tensor, heads: torch.Tensor, targets: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        tile, by_head = TILE["cpu"], hidden.T
        target_logits = torch.zeros(len(targets))
        is_peak = torch.zeros(len(targets), dtype=torch.bool)  # of its tile
        sums, peaks = [], []
        for first in range(0, self.words, tile):
            after = min(first + tile, self.words)
            logits = self.weight[first:after] @ by_head
            if self.bias is not None:
                logits += self.bias[first:after, None]
            logits = self._finish_logits(logits)
            peak = logits.amax(0)
            peaks.append(peak)
            in_tile = torch.nonzero((targets >= first) & (targets < after))[:, 0]
            target_logits[in_tile] = logits[targets[in_tile] - first, heads[in_tile]]
            equal = in_tile[target_logits[in_tile] == peak[heads[in_tile]]]
            is_peak[equal] = logits[:, heads[equal]].argmax(0) + first == targets[equal]  # of equal ones the first wins
            down = torch.where(torch.isfinite(peak), peak, torch.zeros_like(peak))
            sums.append(logits.sub_(down).exp_().sum(0).log_().add_(down))
        best = torch.stack(peaks).argmax(0)
        greedy = is_peak & (best[heads] == targets // tile)
        return target_logits - torch.stack(sums).logsumexp(0)[heads], greedy


def moments_of(logprobs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and standard deviation of log P over the vocabulary (the last axis), weighed by P, in nats."""
    weight = logprobs.exp()
    # A word without any probability adds nothing, though its log-probability is minus infinity.
    mean = (weight * logprobs).nan_to_num(0.0).sum(-1)
    square = (weight * logprobs**2).nan_to_num(0.0).sum(-1)
    return mean, (square - mean**2).clamp(min=0).sqrt()
