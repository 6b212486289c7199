"""FlexAttention and compiled layers, switched on for a batch and off again.

With a dense mask, attention computes every pair of a row and throws most away: in a packed row of 2,048 tokens a branch
sees its trunk and itself. FlexAttention skips whole blocks of 128 x 128 pairs. It must be compiled to be fast, which
takes a minute or two, so RowRunner turns it on only once enough has been scored in long rows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

MIN_ROW_TOKENS = 512  # on shorter rows block masks gain nothing


class FlexLayers:
    """A model's layers in compiled form, with FlexAttention in place of its usual attention."""

    def __init__(self, model: Any, config: Any, backend: str = "inductor") -> None:
        self.config = config
        # The layers are the longest list of modules in every architecture of `masks.MASKS`.
        lists = [list(module) for module in model.base_model.modules() if isinstance(module, torch.nn.ModuleList)]
        self.layers: list[Any] = max(lists, key=len)
        self.compiled = [torch.compile(layer.forward, backend=backend) for layer in self.layers]

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Inside, the model's forward pass takes block masks and runs the compiled layers."""
        usual = self.config._attn_implementation
        self.config._attn_implementation = "flex_attention"
        # An entry in the object hides its class's `forward`; `del` brings that back. RowRunner.lock is held meanwhile.
        for layer, compiled in zip(self.layers, self.compiled, strict=True):
            layer.forward = compiled
        try:
            yield
        finally:
            self.config._attn_implementation = usual
            for layer in self.layers:
                del layer.forward
