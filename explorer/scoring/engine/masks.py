"""Attention masks of packed rows: a token sees itself and its ancestors, and in sliding layers only those near it.

A row in depth-first order needs one number per token to say who sees whom: `end`, the index after its last descendant.

    the tree                    a row in depth-first order
    0 The ─ 1 cat ─ 2 sleeps    token   The cat sleeps sleep dog
            └────── 3 sleep     index    0   1    2      3    4
      └──── 4 dog               end      5   4    3      4    5

    query i sees key j  ⇔  j <= i < end[j]          sleep (3) sees The (3 < 5) and cat (3 < 4), not sleeps (3 < 3)

"Near" is counted in positions along the token's own path. Row indices would not do: a branch may lie far from its
trunk in the row, and other branches between them.
"""

from __future__ import annotations

from typing import Any, Literal

import torch

# Architectures whose layers take a finished mask. "window": every layer looks back `sliding_window` positions where
# the configuration has one; "layers": a dictionary of masks, from which each layer picks by its entry in `layer_types`.
MASKS: dict[str, Literal["full", "window", "layers"]] = {
    "cohere": "full",
    "gemma": "full",
    "gemma2": "layers",
    "gemma3_text": "layers",
    "gpt2": "full",
    "gpt_neox": "full",
    "granite": "full",
    "llama": "full",
    "mistral": "window",
    "mixtral": "window",
    "olmo": "full",
    "olmo2": "full",
    "olmo3": "layers",
    "olmoe": "full",
    "opt": "full",
    "phi": "full",
    "phi3": "window",
    "qwen2": "layers",
    "qwen3": "layers",
    "smollm3": "layers",
    "stablelm": "full",
    "starcoder2": "window",
}


def takes_packed_rows(config: Any) -> bool:
    """Whether an architecture is known to take a finished mask and to score a token by its ancestors alone."""
    return config.model_type in MASKS and not getattr(config, "use_bidirectional_attention", None)


def has_length_dependent_positions(config: Any) -> bool:
    """Whether a token's numbers change with the longest row beside it, as with some rotary embeddings."""
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    parts = [rope, *(part for part in rope.values() if isinstance(part, dict))]
    return any(part.get("rope_type") in ("dynamic", "longrope") for part in parts)


def sees_ancestors(end: torch.Tensor) -> torch.Tensor:
    """Whether a query sees a key in rows whose tokens end at `end` (rows, tokens): (rows, queries, keys), bool."""
    index = torch.arange(end.shape[1], device=end.device)
    return (index[None, None, :] <= index[None, :, None]) & (index[None, :, None] < end[:, None, :])


def masks(config: Any, end: torch.Tensor, positions: torch.Tensor, dtype: torch.dtype) -> Any:
    """What to hand to a model as `attention_mask`: dense 4-D masks of shape (rows, 1, queries, keys).

    `end` and `positions` are (rows, tokens). Every query sees itself, padding too: a softmax over nothing is nan, and
    nan times a weight of zero is nan for everybody.
    """
    sees = sees_ancestors(end)

    def finish(near: int | None) -> torch.Tensor:
        seen = sees if near is None else sees & (positions[:, :, None] - positions[:, None, :] < near)
        if config._attn_implementation == "eager":  # adds its mask to the attention scores
            # The lowest finite number, as in transformers' own masks: minus infinity everywhere would be nan.
            return torch.zeros(seen.shape, dtype=dtype, device=end.device).masked_fill_(~seen, torch.finfo(dtype).min)[
                :, None
            ]
        return seen[:, None]

    return by_layer(config, finish)


def by_layer(config: Any, finish: Any) -> Any:
    """One mask, or one for each kind of layer by its name: `finish` makes it from the width of the window or None."""
    window = getattr(config, "sliding_window", None)
    if MASKS[config.model_type] == "layers":
        kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
        return {kind: finish(window if kind == "sliding_attention" else None) for kind in sorted(kinds)}
    return finish(window if MASKS[config.model_type] == "window" else None)
