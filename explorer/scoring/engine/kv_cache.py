"""What generation keeps of the tokens it has read: keys and values of each row, behind a prefix that all rows share.

transformers' own caches would hold a copy of the prefix a row. Here it stands once, and attention puts the two together
under one softmax: each row's query meets the shared keys and the row's own. Nothing is ever dropped, so that a prefix
can be cut and continued; sliding windows are kept by masks, counted in positions.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import torch
import transformers

from explorer.scoring.engine.masks import by_layer

NAME = "shared_prefix"
NOWHERE = 1 << 40  # the position of a slot that holds no token: beyond every query
SCORES = {"cpu": 1 << 22, "cuda": 1 << 27, "mps": 1 << 25}  # attention scores that may stand in memory at once


class Rows:
    """Keys and values of some rows' own tokens, by layer; what a transformers model sees as its cache.

    `places[r, s]` is the position of the token in slot s of row r. A captured step writes into the slot that `slot`
    names and looks at all slots, so that its shapes never change.
    """

    def __init__(self, count: int, capacity: int, device: torch.device, behind: Rows | None = None) -> None:
        self.count = count
        self.capacity = capacity
        self.behind = behind
        self.used = 0
        self.places = torch.full((count, capacity), NOWHERE, device=device)
        self.keys: list[torch.Tensor] = []
        self.values: list[torch.Tensor] = []
        self.slot: torch.Tensor | None = None
        self.layer = 0

    @property
    def start(self) -> int:
        """How many tokens the shared prefix has."""
        return self.behind.used if self.behind else 0

    @property
    def token_bytes(self) -> int:
        """Bytes of keys and values that a token of a row takes."""
        return sum(layer.shape[1] * layer.shape[3] * layer.element_size() for layer in (*self.keys, *self.values))

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """How many tokens stand before the next one, as transformers asks it."""
        return self.start + self.used

    def update(
        self, key: torch.Tensor, value: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Keeps what a layer has computed and returns all that the layer's queries may look at."""
        self.layer = layer_idx
        if layer_idx == len(self.keys):
            for kept, new in ((self.keys, key), (self.values, value)):
                kept.append(new.new_zeros(self.count, new.shape[1], self.capacity, new.shape[3]))
        keys, values = self.keys[layer_idx], self.values[layer_idx]
        if self.slot is not None:
            keys.index_copy_(2, self.slot, key)
            values.index_copy_(2, self.slot, value)
            return keys, values
        end = self.used + key.shape[2]
        keys[:, :, self.used : end] = key
        values[:, :, self.used : end] = value
        return keys[:, :, :end], values[:, :, :end]

    def note(self, positions: torch.Tensor) -> torch.Tensor:
        """Says where the tokens stand that come next; returns the positions of all slots that may be looked at."""
        if self.slot is not None:
            self.places.index_copy_(1, self.slot, positions)
            return self.places
        end = self.used + positions.shape[1]
        self.places[:, self.used : end] = positions
        return self.places[:, :end]

    def take(self, rows: torch.Tensor, capacity: int) -> Rows:
        """These rows, in this order, with room for `capacity` tokens."""
        made = Rows(len(rows), capacity, self.places.device, self.behind)
        made.used = self.used
        made.places[:, : self.used] = self.places[rows, : self.used]
        for kept, source in ((made.keys, self.keys), (made.values, self.values)):
            for layer in source:
                fresh = layer.new_zeros(len(rows), layer.shape[1], capacity, layer.shape[3])
                fresh[:, :, : self.used] = layer[rows, :, : self.used]
                kept.append(fresh)
        return made

    def gather(self, rows: torch.Tensor, slots: torch.Tensor, sizes: torch.Tensor, capacity: int) -> Rows:
        """New rows of single tokens: the first `sizes[i]` of `slots[i]` in row `rows[i]`, with room for `capacity`."""
        made = Rows(len(rows), capacity, self.places.device, self.behind)
        made.used = slots.shape[1]
        held = torch.arange(made.used, device=slots.device) < sizes[:, None]
        made.places[:, : made.used] = self.places[rows[:, None], slots].masked_fill(~held, NOWHERE)
        for kept, source in ((made.keys, self.keys), (made.values, self.values)):
            for layer in source:
                fresh = layer.new_zeros(len(rows), layer.shape[1], capacity, layer.shape[3])
                fresh[:, :, : made.used] = layer[rows[:, None], :, slots].transpose(1, 2)
                kept.append(fresh)
        return made

    def first(self, tokens: int, capacity: int) -> Rows:
        """The same rows up to their first `tokens` tokens, with room for `capacity`."""
        made = Rows(self.count, capacity, self.places.device, self.behind)
        made.used = tokens
        made.places[:, :tokens] = self.places[:, :tokens]
        for kept, source in ((made.keys, self.keys), (made.values, self.values)):
            for layer in source:
                fresh = layer.new_zeros(self.count, layer.shape[1], capacity, layer.shape[3])
                fresh[:, :, :tokens] = layer[:, :, :tokens]
                kept.append(fresh)
        return made


def masks(
    config: Any, rows: Rows, positions: torch.Tensor, places: torch.Tensor, within: torch.Tensor | None = None
) -> Any:
    """For queries at `positions` the `attention_mask` of each kind of layer: (rows, 1, queries, shared + own keys).

    `within` (rows, queries, own keys) says which keys are of a query's own sequence, where a row holds several. Of the
    prefix, a sliding layer gets only the end, as far back as any query can see; the mask's width tells how much.
    """
    start = rows.start
    query = positions[:, None, :, None]

    def finish(near: int | None) -> torch.Tensor:
        own = places[:, None, None, :]
        sees = own <= query if within is None else within[:, None]
        if near is not None:
            sees = sees & (query - own < near)
        if not start:
            return sees
        far = torch.arange(start - min(start, near - 1 if near else start), start, device=places.device)
        shared = (query - far < near) if near else torch.ones(1, device=places.device, dtype=torch.bool)
        return torch.cat([shared.expand(*sees.shape[:3], len(far)), sees], dim=-1)

    return by_layer(config, finish)


@contextlib.contextmanager
def attention_over(config: Any, rows: Rows) -> Iterator[None]:
    """Inside, the model's layers attend to the rows and to the prefix behind them."""
    usual = config._attn_implementation
    config._attn_implementation = NAME
    _now.rows = rows
    try:
        yield
    finally:
        config._attn_implementation = usual
        _now.rows = None


_now = threading.local()


def _attend(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor,
    scaling: float | None = None,
    softcap: float | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Attention of (rows, heads, queries, width) to own keys and, where the mask is wider than they, to shared ones."""
    count, heads, queries, width = query.shape
    groups = heads // key.shape[1]
    scale = width**-0.5 if scaling is None else scaling
    # The query heads that share a head of keys stand behind each other: one product for all of them.
    query = query.reshape(count, key.shape[1], groups * queries, width)
    mask = attention_mask.repeat(1, 1, groups, 1) if groups > 1 and queries > 1 else attention_mask
    near = attention_mask.shape[-1] - key.shape[2]
    if not near and softcap is None:
        found = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale)
    else:
        shared = _shared(_now.rows, near) if near else None
        size = max(1, SCORES.get(query.device.type, 1 << 22) // (key.shape[1] * query.shape[2] * mask.shape[-1]))
        parts = [
            _weigh(query[at : at + size], key[at : at + size], value[at : at + size],
                   mask[at : at + size] if len(mask) > 1 else mask, shared, scale, softcap)
            for at in range(0, count, size)
        ]  # fmt: skip
        found = torch.cat(parts) if len(parts) > 1 else parts[0]
    return found.reshape(count, heads, queries, value.shape[3]).transpose(1, 2), None


def _shared(rows: Rows, near: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The last `near` keys and values of the prefix in the layer at hand: (heads, near, width) each."""
    prefix = rows.behind
    assert prefix is not None
    window = slice(prefix.used - near, prefix.used)
    return prefix.keys[rows.layer][0, :, window], prefix.values[rows.layer][0, :, window]


def _weigh(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor,
    shared: tuple[torch.Tensor, torch.Tensor] | None,
    scale: float,
    softcap: float | None,
) -> torch.Tensor:
    """One softmax over shared and own keys; the shared ones meet the queries of all rows in a single product."""
    scores = query @ key.transpose(2, 3)
    if shared is not None:
        count, heads, queries, width = query.shape
        together = query.transpose(0, 1).reshape(heads, count * queries, width)
        far = (together @ shared[0].transpose(1, 2)).view(heads, count, queries, -1).transpose(0, 1)
        scores = torch.cat([far, scores], dim=-1)
    scores = scores.float() * scale
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    weights = scores.masked_fill_(~mask, torch.finfo(torch.float32).min).softmax(-1).to(value.dtype)
    if shared is None:
        return weights @ value
    near = shared[0].shape[1]
    together = weights[..., :near].transpose(0, 1).reshape(heads, count * queries, near)
    found = (together @ shared[1]).view(heads, count, queries, -1).transpose(0, 1)
    return found + weights[..., near:] @ value


transformers.AttentionInterface.register(NAME, _attend)
