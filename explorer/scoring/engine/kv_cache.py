"""What generation keeps of the tokens it has read: keys and values of each row, behind a prefix that all rows share.

transformers' own caches would hold a copy of the prefix a row. Here it stands once, and attention puts the two together
under one softmax: each row's query meets the shared keys and the row's own. Nothing is ever dropped, so that a prefix
can be cut and continued; sliding windows are kept by masks, counted in positions.

    prefix.keys[layer]   (1, heads, capacity, width)      slots 0 .. used - 1 hold tokens, at positions 0 .. used - 1
    rows.keys[layer]     (rows, heads, capacity, width)   slot s of row r holds the token at rows.positions[r, s]
    a query at q         prefix: all (a sliding layer: those nearer than its window)
                         own: slots with positions[r, s] <= q; an empty slot's position is NOWHERE, beyond every query

How a layer gets here: the model is called with `cache=rows`. A layer of the engine's own families asks
`CachedRows.attend`. transformers hands each layer's new keys and values to `CachedRows.update` and what that returns to
the attention function of the configuration's name, `_attend`. The prefix does not fit through that door (it has one
row, not as many as the batch), so `_attend` fetches it from `_thread`. The mask is wider than the row's own keys by the
number of prefix tokens that this layer looks at.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch

from explorer.scoring.engine.families import Shape
from explorer.scoring.engine.masks import by_layer

ATTENTION_NAME = "shared_prefix"
NOWHERE = 1 << 40  # the position of a slot that holds no token: beyond every query
MAX_SCORES = {"cpu": 1 << 22, "cuda": 1 << 27, "mps": 1 << 25}  # attention scores that may stand in memory at once


class CachedRows:
    """Keys and values of some rows' own tokens, by layer; what a transformers model sees as its cache.

    `positions[r, s]` is the position of the token in slot s of row r. A captured step writes into the slot that `slot`
    names and looks at all slots, so that its shapes never change.
    """

    def __init__(self, count: int, capacity: int, device: torch.device, prefix: CachedRows | None = None) -> None:
        self.count = count
        self.capacity = capacity
        self.prefix = prefix
        self.used = 0
        self.positions = torch.full((count, capacity), NOWHERE, device=device)
        self.keys: list[torch.Tensor] = []
        self.values: list[torch.Tensor] = []
        self.slot: torch.Tensor | None = None
        self.layer = 0

    @property
    def start(self) -> int:
        """How many tokens the shared prefix has."""
        return self.prefix.used if self.prefix else 0

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
        self.layer = layer_idx  # for `_attend`, which comes next and is not told which layer it serves
        # The first pass finds out how many layers there are, and their shapes.
        if layer_idx == len(self.keys):
            for layers, new in ((self.keys, key), (self.values, value)):
                layers.append(new.new_zeros(self.count, new.shape[1], self.capacity, new.shape[3]))
        keys, values = self.keys[layer_idx], self.values[layer_idx]
        if self.slot is not None:
            # Captured: the slot is a number on the GPU, and all slots are returned, so that no shape ever changes.
            keys.index_copy_(2, self.slot, key)
            values.index_copy_(2, self.slot, value)
            return keys, values
        end = self.used + key.shape[2]
        keys[:, :, self.used : end] = key
        values[:, :, self.used : end] = value
        return keys[:, :, :end], values[:, :, :end]

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: torch.Tensor,
        scale: float | None = None,
    ) -> torch.Tensor:
        """Keeps a layer's keys and values; attention over all there are, (rows, queries, heads * width)."""
        keys, values = self.update(key, value, layer)
        return attention(self, query, keys, values, mask, scale).flatten(2)

    def append_positions(self, positions: torch.Tensor) -> torch.Tensor:
        """Says where the tokens stand that come next; returns the positions of all slots that may be looked at."""
        if self.slot is not None:
            self.positions.index_copy_(1, self.slot, positions)
            return self.positions
        end = self.used + positions.shape[1]
        self.positions[:, self.used : end] = positions
        return self.positions[:, :end]

    def select(self, rows: torch.Tensor, capacity: int) -> CachedRows:
        """These rows, in this order, with room for `capacity` tokens."""
        return self._copy(
            len(rows), capacity, self.positions[rows, : self.used], lambda layer: layer[rows, :, : self.used]
        )

    def gather(self, rows: torch.Tensor, slots: torch.Tensor, sizes: torch.Tensor, capacity: int) -> CachedRows:
        """New rows of single tokens: the first `sizes[i]` of `slots[i]` in row `rows[i]`, with room for `capacity`."""
        is_filled = torch.arange(slots.shape[1], device=slots.device) < sizes[:, None]
        # Rows of unlike length are filled up with some token's keys; nobody sees them, for they stand NOWHERE.
        positions = self.positions[rows[:, None], slots].masked_fill(~is_filled, NOWHERE)
        return self._copy(len(rows), capacity, positions, lambda layer: layer[rows[:, None], :, slots].transpose(1, 2))

    def truncate(self, tokens: int, capacity: int) -> CachedRows:
        """The same rows up to their first `tokens` tokens, with room for `capacity`."""
        return self._copy(self.count, capacity, self.positions[:, :tokens], lambda layer: layer[:, :, :tokens])

    def _copy(
        self, count: int, capacity: int, positions: torch.Tensor, chosen: Callable[[torch.Tensor], torch.Tensor]
    ) -> CachedRows:
        """Other rows behind the same prefix: `chosen` gives of a layer (rows, heads, slots, width) what they hold."""
        copy = CachedRows(count, capacity, self.positions.device, self.prefix)
        copy.used = positions.shape[1]
        copy.positions[:, : copy.used] = positions
        for layers, source in ((copy.keys, self.keys), (copy.values, self.values)):
            for layer in source:
                # Zeros, not whatever memory holds: a nan in an unseen slot would still reach the sum, as 0 x nan.
                fresh = layer.new_zeros(count, layer.shape[1], capacity, layer.shape[3])
                fresh[:, :, : copy.used] = chosen(layer)
                layers.append(fresh)
        return copy


# A captured step reads its prefix at one address, always as many slots of it. The prefixes that it serves one after
# another are copied there, to the end of the room, so that a layer which looks back a window finds what is near in the
# same slots, however long the prefix is:
#
#     room of 8   .  .  .  p0 p1 p2 p3 p4     a dot: a slot that stands NOWHERE, which nobody sees
#     a window               p2 p3 p4
class PrefixRoom(CachedRows):
    """A prefix of changing content whose shape never changes."""

    def __init__(self, like: CachedRows, capacity: int) -> None:
        super().__init__(1, capacity, like.positions.device)
        self.used = capacity
        for layers, source in ((self.keys, like.keys), (self.values, like.values)):
            layers += [layer.new_zeros(1, layer.shape[1], capacity, layer.shape[3]) for layer in source]
        self._holds: Callable[[], CachedRows | None] = lambda: None

    def load(self, prefix: CachedRows) -> None:
        """Takes over a prefix, unless it is the one that is here."""
        if self._holds() is prefix:
            return
        first = self.capacity - prefix.used
        for buffer, layer in zip((*self.keys, *self.values), (*prefix.keys, *prefix.values), strict=True):
            buffer[:, :, first:] = layer[:, :, : prefix.used]
            # What an earlier prefix left there may be nan, which reaches the sum although nobody sees it, as 0 x nan.
            buffer[:, :, :first].zero_()
        self.positions[:, first:] = prefix.positions[:, : prefix.used]
        self.positions[:, :first].fill_(NOWHERE)
        self._holds = weakref.ref(prefix)  # not kept alive for it: it takes as much memory again


def masks(
    config: Any, rows: CachedRows, positions: torch.Tensor, places: torch.Tensor, within: torch.Tensor | None = None
) -> Any:
    """For queries at `positions` the `attention_mask` of each kind of layer: (rows, 1, queries, shared + own keys).

    `places` are the positions of the own keys, (rows, own keys). `within` (rows, queries, own keys) says which keys are
    of a query's own sequence, where a row holds several. Of the prefix, a sliding layer gets only the end, as far back
    as any query can see; the mask's width tells how much.
    """
    start = rows.start
    query = positions[:, None, :, None]

    def finish(near: int | None) -> torch.Tensor:
        key = places[:, None, None, :]
        sees = key <= query if within is None else within[:, None]
        if near is not None:
            sees = sees & (query - key < near)
        if not start:
            return sees
        assert rows.prefix is not None
        # The nearest query stands right behind the prefix, at `start`: it sees back to `start - near + 1`.
        far = rows.prefix.positions[0, start - min(start, near - 1 if near else start) : start]
        shared = (query - far < near) if near else torch.ones(1, device=places.device, dtype=torch.bool)
        if isinstance(rows.prefix, PrefixRoom):
            shared = shared & (far <= query)
        return torch.cat([shared.expand(*sees.shape[:3], len(far)), sees], dim=-1)

    return by_layer(config, finish)


@contextlib.contextmanager
def attention_over(config: Any, rows: CachedRows) -> Iterator[None]:
    """Inside, the model's layers attend to the rows and to the prefix before them."""
    # The configuration is the model's own, so this holds for whoever runs it meanwhile: RowRunner.lock is held.
    usual = config._attn_implementation
    if not isinstance(config, Shape):  # the engine's own layers ask `CachedRows.attend`
        _register()
    config._attn_implementation = ATTENTION_NAME
    _thread.rows = rows
    try:
        yield
    finally:
        config._attn_implementation = usual
        _thread.rows = None


_thread = threading.local()  # `.rows`: what this thread's forward pass attends to


def _register() -> None:
    """Tells transformers of `_attend`."""
    import transformers

    transformers.AttentionInterface.register(ATTENTION_NAME, _attend)


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
    """`attention` as transformers calls it."""
    return attention(_thread.rows, query, key, value, attention_mask, scaling, softcap), None


def attention(
    rows: CachedRows,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor,
    scaling: float | None = None,
    softcap: float | None = None,
) -> torch.Tensor:
    """Attention of (rows, heads, queries, width) to own keys and, where the mask is wider than they, to shared ones.

    Gives (rows, queries, heads, width).
    """
    count, heads, queries, width = query.shape
    groups = heads // key.shape[1]
    scale = width**-0.5 if scaling is None else scaling
    # The query heads that share a head of keys stand behind each other: one product for all of them. Expanding the keys
    # instead would copy them, and PyTorch's memory-efficient kernel misreads expanded keys (device.row_length).
    query = query.reshape(count, key.shape[1], groups * queries, width)
    mask = attention_mask.repeat(1, 1, groups, 1) if groups > 1 and queries > 1 else attention_mask
    near = attention_mask.shape[-1] - key.shape[2]  # tokens of the prefix that this layer looks at
    if not near and softcap is None:
        attended = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale)
    else:
        shared = _shared_keys(rows, near) if near else None
        # A few rows at a time: scores are (rows, heads, queries, keys) in float32.
        size = max(1, MAX_SCORES.get(query.device.type, 1 << 22) // (key.shape[1] * query.shape[2] * mask.shape[-1]))
        parts = [
            _attend_to_both(query[at : at + size], key[at : at + size], value[at : at + size],
                   mask[at : at + size] if len(mask) > 1 else mask, shared, scale, softcap)
            for at in range(0, count, size)
        ]  # fmt: skip
        attended = torch.cat(parts) if len(parts) > 1 else parts[0]
    return attended.reshape(count, heads, queries, value.shape[3]).transpose(1, 2)


def _shared_keys(rows: CachedRows, near: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The last `near` keys and values of the prefix in the layer at hand: (heads, near, width) each."""
    prefix = rows.prefix
    assert prefix is not None
    window = slice(prefix.used - near, prefix.used)
    return prefix.keys[rows.layer][0, :, window], prefix.values[rows.layer][0, :, window]


def _attend_to_both(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor,
    shared: tuple[torch.Tensor, torch.Tensor] | None,
    scale: float,
    softcap: float | None,
) -> torch.Tensor:
    """One softmax over shared and own keys; the shared ones meet the queries of all rows in a single product."""
    # Prefix first, then own keys: the order of the mask's columns. One softmax over both, as if the prefix stood in
    # every row; two softmaxes, combined, would round differently from the plain sequence.
    scores = query @ key.transpose(2, 3)
    if shared is not None:
        count, heads, queries, width = query.shape
        together = query.transpose(0, 1).reshape(heads, count * queries, width)
        far = (together @ shared[0].transpose(1, 2)).view(heads, count, queries, -1).transpose(0, 1)
        scores = torch.cat([far, scores], dim=-1)
    scores = scores.float() * scale  # the softmax in float32 whatever the dtype, as the models' own code does
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    weights = scores.masked_fill_(~mask, torch.finfo(torch.float32).min).softmax(-1).to(value.dtype)
    if shared is None:
        return weights @ value
    near = shared[0].shape[1]
    together = weights[..., :near].transpose(0, 1).reshape(heads, count * queries, near)
    from_prefix = (together @ shared[1]).view(heads, count, queries, -1).transpose(0, 1)
    return from_prefix + weights[..., near:] @ value
