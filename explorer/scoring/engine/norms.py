"""RMS norms in one kernel each: written out in PyTorch, as transformers has them, each takes eight.

A kernel is a call into PyTorch that reads and writes the whole tensor. In a step that writes one token a row the
tensors are tiny and the calls are what costs; Gemma 3 has six such norms a layer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch

Forward = Callable[[torch.Tensor], torch.Tensor]

TOLERANCE = 1e-5  # relative; in half precision no two orders of rounding agree, so those stay as they are


class FusedNorms:
    """A model's RMS norms by PyTorch's own kernel, wherever it gives what the model's code gives."""

    def __init__(self, model: Any) -> None:
        norms = {module: _fuse(module) for module in model.modules() if type(module).__name__.endswith("RMSNorm")}
        self._forwards = [(module, forward) for module, forward in norms.items() if forward]

    def __len__(self) -> int:
        return len(self._forwards)

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """Inside, the norms are fused; one thread at a time."""
        # An entry in the object's own dictionary hides the class's `forward`, and taking it out brings that back.
        # It holds for whoever runs the model meanwhile, hence RowRunner.lock around every forward pass.
        for module, forward in self._forwards:
            module.__dict__["forward"] = forward
        try:
            yield
        finally:
            for module, _ in self._forwards:
                module.__dict__.pop("forward", None)


@torch.inference_mode()
def _fuse(module: torch.nn.Module) -> Forward | None:
    """The norm as one kernel, or None where no known formula gives the module's numbers."""
    weight, eps = getattr(module, "weight", None), getattr(module, "eps", getattr(module, "variance_epsilon", None))
    if not isinstance(weight, torch.Tensor) or weight.dtype != torch.float32 or eps is None:
        return None
    if "forward" in module.__dict__:  # somebody has put another one in
        return None
    # Which formula a class means is found by trying, not by its name: new architectures need no entry here, and one
    # that does something else keeps its own code.
    probe = torch.linspace(-3, 3, 2 * weight.numel(), device=weight.device).sin().view(2, *weight.shape)
    expected = module(probe)
    for gain in (weight, 1 + weight):  # as Llama means it, and as Gemma

        def forward(x: torch.Tensor, gain: torch.Tensor = gain) -> torch.Tensor:
            return torch.nn.functional.rms_norm(x, weight.shape, gain, float(eps))

        if torch.allclose(forward(probe), expected, rtol=TOLERANCE, atol=TOLERANCE):
            return forward
    return None
