"""FlexAttention and compiled layers, switched on for a batch and off again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

FROM_TOKENS = 512  # on shorter rows block masks gain nothing


class FlexLayers:
    """A model's layers in compiled form, with FlexAttention in place of its usual attention."""

    def __init__(self, model: Any, config: Any, backend: str = "inductor") -> None:
        self.config = config
        lists = [list(module) for module in model.base_model.modules() if isinstance(module, torch.nn.ModuleList)]
        self.layers: list[Any] = max(lists, key=len)
        self.compiled = [torch.compile(layer.forward, backend=backend) for layer in self.layers]

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Inside, the model's forward pass takes block masks and runs the compiled layers."""
        usual = self.config._attn_implementation
        self.config._attn_implementation = "flex_attention"
        for layer, compiled in zip(self.layers, self.compiled, strict=True):
            layer.forward = compiled
        try:
            yield
        finally:
            self.config._attn_implementation = usual
            for layer in self.layers:
                del layer.forward
