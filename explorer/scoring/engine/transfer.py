"""Numbers on their way to a GPU and back, without Python or the GPU waiting for each other.

A plain copy waits until the GPU has done all that is queued before it. From and into pinned memory it is queued like
any other work, and Python goes on:

    Python   queue batch 1 | queue batch 2 | look at 1 | queue 3 | look at 2 | ...
    GPU                    | batch 1 .................| batch 2 ........| batch 3
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import torch

T = TypeVar("T")


def to_device(values: Any, device: torch.device) -> torch.Tensor:
    """Numbers on the device; a GPU fetches them when it comes to them, and nobody waits."""
    tensor = torch.as_tensor(np.ascontiguousarray(values))
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


class Arriving:
    """Tensors that are still being computed, on their way to this machine's memory."""

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        self._arrived: torch.cuda.Event | None = None
        self._tensors = list(tensors)
        if tensors and tensors[0].device.type == "cuda":
            self._tensors = [torch.empty(each.shape, dtype=each.dtype, pin_memory=True) for each in tensors]
            for into, each in zip(self._tensors, tensors, strict=True):
                into.copy_(each, non_blocking=True)
            # Pinned memory may be read after this alone.
            self._arrived = torch.cuda.Event()
            # On the stream of the tensors' own card, which need not be the current one (--device cuda:1).
            self._arrived.record(torch.cuda.current_stream(tensors[0].device))

    @property
    def is_here(self) -> bool:
        """Whether nobody has to wait for them."""
        return self._arrived is None

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The numbers, once they are here."""
        if self._arrived is not None:
            self._arrived.synchronize()
        return tuple(each.cpu().numpy() for each in self._tensors)


class OneBehind(Generic[T]):
    """Hands each batch's numbers to `take` when the next batch has been queued, so that a GPU is never idle meanwhile.

    A processor has done a batch when it was asked, so there nothing waits.
    """

    def __init__(self, take: Callable[[T, tuple[np.ndarray, ...]], None]) -> None:
        self._take = take
        self._before: tuple[T, Arriving] | None = None

    def add(self, batch: T, numbers: Arriving) -> None:
        """The batch that was queued last."""
        before, self._before = self._before, (batch, numbers)
        if before:
            self._take(before[0], before[1].arrays())
        if numbers.is_here:
            self.finish()

    def finish(self) -> None:
        """Waits for the last batch."""
        if self._before:
            (batch, numbers), self._before = self._before, None
            self._take(batch, numbers.arrays())
