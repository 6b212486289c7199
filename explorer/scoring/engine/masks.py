"""Attention masks of packed rows: a token sees itself and its ancestors, and in sliding layers only those near it.

A row in depth-first order needs one number per token to say who sees whom: `end`, the index after its last descendant.

    the tree                    a row in depth-first order
    0 The ─ 1 cat ─ 2 sleeps    token   The cat sleeps sleep dog
            └────── 3 sleep     index    0   1    2      3    4
      └──── 4 dog               end      5   4    3      4    5

    query i sees key j  ⇔  j <= i < end[j]          sleep (3) sees The (3 < 5) and cat (3 < 4), not sleeps (3 < 3)

The same inequality fills the dense mask, the blocks of FlexAttention and the kernel's own test inside a block; they
cannot drift apart as long as all three are derived from `end`.

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
BLOCK = 128


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


def block_masks(config: Any, end: torch.Tensor, positions: torch.Tensor) -> Any:
    """The same as FlexAttention's block masks; the number of tokens is a multiple of BLOCK."""
    return by_layer(config, lambda near: _block_mask(end, positions, near))


def by_layer(config: Any, finish: Any) -> Any:
    """One mask, or one for each kind of layer by its name: `finish` makes it from the width of the window or None."""
    window = getattr(config, "sliding_window", None)
    if MASKS[config.model_type] == "layers":
        kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
        return {kind: finish(window if kind == "sliding_attention" else None) for kind in sorted(kinds)}
    return finish(window if MASKS[config.model_type] == "window" else None)


def _block_mask(end: torch.Tensor, positions: torch.Tensor, near: int | None) -> Any:
    from torch.nn.attention.flex_attention import BlockMask

    # The kernel asks these about each pair in the blocks that are neither empty nor whole.
    def sees(b: Any, h: Any, q: Any, k: Any) -> Any:
        return (k <= q) & (q < end[b, k])

    def sees_near(b: Any, h: Any, q: Any, k: Any) -> Any:
        return sees(b, h, q, k) & (positions[b, q] - positions[b, k] < window)

    window = near or 0
    some, whole = _blocks(end, positions, near)
    return BlockMask.from_kv_blocks(
        *_list_blocks(some),
        *_list_blocks(whole),
        BLOCK_SIZE=BLOCK,
        mask_mod=sees if near is None else sees_near,
        seq_lengths=(end.shape[1], end.shape[1]),
    )


def _blocks(end: torch.Tensor, positions: torch.Tensor, near: int | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Which blocks of queries x keys hold some permitted pair but not all, and which hold only permitted pairs.

    Both are (rows, blocks of queries, blocks of keys), bool, from the lowest and highest number of each block alone: a
    mask of all pairs, 2,048 x 2,048 a row, is never made. "Some" may be too generous, since the kernel then looks at
    each pair; "whole" must not be, since there it does not look.
    """
    rows, tokens = end.shape
    count = tokens // BLOCK
    first = torch.arange(count, device=end.device) * BLOCK
    query, key = first[None, :, None], first[None, None, :]
    ends = end.view(rows, count, BLOCK)
    # Whole: all keys stand before all queries (so not the diagonal block), and no key ends before the last query.
    some = (key <= query) & (ends.amax(-1)[:, None, :] > query)
    whole = (key < query) & (ends.amin(-1)[:, None, :] >= query + BLOCK)
    if near is not None:
        by_block = positions.view(rows, count, BLOCK)
        low, high = by_block.amin(-1), by_block.amax(-1)
        # The nearest pair decides whether any is near enough, the farthest whether all are.
        some &= low[:, :, None] - high[:, None, :] < near
        whole &= high[:, :, None] - low[:, None, :] < near
    return some & ~whole, whole


def _list_blocks(chosen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """For each block of queries how many blocks of keys are chosen, and their numbers first in the list."""
    # A stable sort of 0 and 1 puts the chosen first and keeps their order; the kernel reads as many as are counted.
    order = chosen.int().argsort(dim=-1, descending=True, stable=True)
    return chosen.sum(-1, dtype=torch.int32)[:, None].contiguous(), order.int()[:, None].contiguous()
