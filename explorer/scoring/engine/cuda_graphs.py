"""The step that writes one more token of each row, captured once as a CUDA graph and then replayed.

On a GPU, launching a small model's kernels one by one takes ten times as long as running them. A captured step has no
such cost, but its shapes and addresses are fixed:

- It keeps buffers of its own (`ids`, `positions`, `rows`, `hidden`, `tokens`); a batch is copied in by `load`, and
  results are read out of `hidden` and `tokens` before the next replay overwrites them.
- It looks at all `capacity` slots at every step; those without a token stand NOWHERE and are masked.
- CachedRows whose answer is complete stay in until the batch ends; what they write is dropped.
- Its prefix stands in a room of its own (`kv_cache.PrefixRoom`), longer than most, into which each batch's prefix is
  copied: a step serves all prefixes that fit. What is empty there is masked, too, and costs time: rooms are not much
  longer than what they hold.
- Whatever Python decides while capturing (which kernel, which branch) is decided for all replays.
"""

from __future__ import annotations

import contextlib
import math
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator

import torch

from explorer.scoring.engine.contract import MAX_SHORT_ANSWER
from explorer.scoring.engine.kv_cache import NOWHERE, CachedRows, PrefixRoom

MAX_STEPS = 3  # captured steps
SLOT_MULTIPLE = 32  # capacities are multiples of this, so that batches of like length share a step
MIN_NEW_TOKENS = 4  # new tokens from which a captured step pays
ROOM_TO_SPARE = 2  # times as many rows and slots as are needed that a step may have for long answers

# Slots for prefixes are multiples of the first number up to so many tokens, else of the second.
ROOM_MULTIPLES, LONG_PREFIX = (64, 256), 512
SPARE_ROOM = 512  # slots more than a prefix needs that it may be given, at most twice as many, ...
BATCHES_IN_SPARE_ROOM = 4  # ... until so many batches were written behind it one after another

Shape = tuple[int, int, int]  # rows, slots of each, and slots for what all of them share
Forward = Callable[[torch.Tensor, torch.Tensor, CachedRows], torch.Tensor]  # ids, positions, rows → hidden states
Choose = Callable[[torch.Tensor], torch.Tensor]  # hidden states → likeliest tokens


class CapturedStep:
    """One step of `count` rows with `capacity` slots: `ids` go in, `hidden` and the likeliest `tokens` come out."""

    def __init__(self, rows: CachedRows, shape: Shape, forward: Forward, choose: Choose, window: int) -> None:
        count, capacity, room = shape
        device = rows.positions.device
        self.forward, self.choose, self.window = forward, choose, window
        self.prefix = PrefixRoom(rows.prefix, room) if rows.prefix else None
        self.rows = CachedRows(count, capacity, device, self.prefix)
        self.rows.slot = torch.zeros(1, dtype=torch.long, device=device)
        for layers, source in ((self.rows.keys, rows.keys), (self.rows.values, rows.values)):
            layers += [layer.new_zeros(count, layer.shape[1], capacity, layer.shape[3]) for layer in source]
        self.ids = torch.zeros(count, 1, dtype=torch.long, device=device)
        self.positions = torch.zeros(count, 1, dtype=torch.long, device=device)
        self.hidden = torch.empty(0)
        self.tokens = torch.empty(0)
        # Runs the step, once it is captured; it goes on from its own likeliest tokens unless `ids` are overwritten.
        self.replay: Callable[[], None] = lambda: None

    def capture(self, rows: CachedRows, tokens: torch.Tensor, positions: torch.Tensor, near: float) -> bool:
        """Records the step; whether a replay then gives what the plain step gave."""
        # Run twice before: libraries get their work space and choose kernels on first use, which must not be recorded.
        with _on_another_stream(self.ids.device):
            self.load(rows, tokens, positions)
            self._step()
            plain = self.hidden[: rows.count].clone()
            self._step()
        self.replay = _record(self._step, self.ids.device)
        self.load(rows, tokens, positions)
        self.replay()
        return torch.allclose(self.hidden[: rows.count].float(), plain.float(), rtol=near, atol=near)

    def load(self, rows: CachedRows, tokens: torch.Tensor, positions: torch.Tensor) -> None:
        """Takes over what the rows hold, and the tokens that come next; rows of its own that are left over idle.

        `tokens` and `positions` are (rows,).
        """
        own_rows = self.rows
        if self.prefix and rows.prefix:
            self.prefix.load(rows.prefix)
        for layers, source in ((own_rows.keys, rows.keys), (own_rows.values, rows.values)):
            for buffer, layer in zip(layers, source, strict=True):
                buffer[: rows.count, :, : rows.used] = layer[:, :, : rows.used]
        own_rows.positions.fill_(NOWHERE)
        own_rows.positions[: rows.count, : rows.used] = rows.positions[:, : rows.used]
        assert own_rows.slot is not None
        own_rows.slot.fill_(rows.used)
        for buffer, values in ((self.ids, tokens), (self.positions, positions)):
            buffer.zero_()
            buffer[: rows.count, 0] = values

    def _step(self) -> None:
        hidden = self.forward(self.ids, self.positions, self.rows)[:, 0]
        tokens = self.choose(hidden)
        # Results go to the same addresses at every step: made in the first, uncaptured one.
        if not self.hidden.numel():
            self.hidden, self.tokens = torch.empty_like(hidden), torch.empty_like(tokens)
        self.hidden.copy_(hidden)
        self.tokens.copy_(tokens)
        self.ids.copy_(tokens.clamp(min=0)[:, None])
        # A complete row stays in the batch and must not leave the model's table of positions.
        self.positions.add_(1).clamp_(max=self.window - 1)
        assert self.rows.slot is not None
        self.rows.slot += 1


@contextlib.contextmanager
def _on_another_stream(device: torch.device) -> Iterator[None]:
    """As PyTorch asks for what comes before a capture."""
    if device.type != "cuda":
        yield
        return
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        yield
    torch.cuda.current_stream().wait_stream(stream)


def _record(step: Callable[[], None], device: torch.device) -> Callable[[], None]:
    """What replays the step; on a processor, where launching costs nothing, the step itself."""
    if device.type != "cuda":
        return step
    graph = torch.cuda.CUDAGraph()
    # "thread_local": other threads (a page, the next batch's copies) may use the GPU during the capture.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        step()
    return graph.replay


def room_for(prefix: CachedRows | None) -> int:
    """How many slots a captured step has for a prefix."""
    if prefix is None:
        return 0
    multiple = ROOM_MULTIPLES[prefix.used > LONG_PREFIX]
    return -(-prefix.used // multiple) * multiple


# To capture a step takes as long as to replay it some hundred times. So a larger one that is there serves, too: for a
# short answer whatever its size, else while little is computed in vain. Room for a longer prefix is read in vain by
# every row at every step, which costs less than a capture only as long as few batches are written behind a prefix.
def find_shape(captured: Iterable[Shape], wanted: Shape, new_tokens: int, spare_room: int = SPARE_ROOM) -> Shape:
    """The smallest of the captured shapes in which so many new tokens are best written, else the one wanted."""
    count, capacity, room = wanted
    factor = ROOM_TO_SPARE if new_tokens > MAX_SHORT_ANSWER else math.inf
    fitting = [
        shape
        for shape in captured
        if count <= shape[0] <= factor * count
        and capacity <= shape[1] <= factor * capacity
        and room <= shape[2] <= min(2 * room, room + spare_room)
    ]
    return min(fitting, key=lambda shape: shape[0] * (shape[1] + shape[2]), default=wanted)


class CapturedSteps:
    """The steps captured last, by shape; none once capturing has failed."""

    def __init__(self, forward: Forward, choose: Choose, window: int, near: float) -> None:
        self.forward, self.choose, self.window, self.tolerance = forward, choose, window, near
        self.works = True
        self._prefix: Callable[[], CachedRows | None] = lambda: None  # behind which the last batches were written ...
        self._batches = 0  # ... and how many
        self.captured: OrderedDict[Shape, CapturedStep] = OrderedDict()

    def step_for(
        self, rows: CachedRows, most: int, full: int, tokens: torch.Tensor, positions: torch.Tensor
    ) -> CapturedStep | None:
        """A step loaded with the rows and the tokens that come next, or None where a plain step must do."""
        if not self.works or most < MIN_NEW_TOKENS:
            return None
        # Few shapes, so that steps are found again: full batches, powers of two, and multiples of SLOTS.
        count = rows.count if rows.count == full else 1 << (rows.count - 1).bit_length()
        capacity = -(-(rows.used + most) // SLOT_MULTIPLE) * SLOT_MULTIPLE
        key = find_shape(self.captured, (count, capacity, room_for(rows.prefix)), most, self._spare_room(rows.prefix))
        step = self.captured.get(key)
        if step is None:
            # Before the new one is made: each holds keys and values of a whole batch.
            while len(self.captured) >= MAX_STEPS:
                self.captured.popitem(last=False)
            step = CapturedStep(rows, key, self.forward, self.choose, self.window)
            try:
                self.works = step.capture(rows, tokens, positions, self.tolerance)
            except (RuntimeError, AssertionError):
                # Also where memory ran out: plain steps need less, and the batch goes on with them.
                self.works = False
            if not self.works:
                self.captured.clear()
                return None
            self.captured[key] = step
        self.captured.move_to_end(key)
        step.load(rows, tokens, positions)
        return step

    def _spare_room(self, prefix: CachedRows | None) -> int:
        """How many slots too many the next batch behind this prefix may have for it."""
        if prefix is None or self._prefix() is not prefix:
            self._batches = 0
            self._prefix = weakref.ref(prefix) if prefix else lambda: None
        self._batches += 1
        return SPARE_ROOM if self._batches <= BATCHES_IN_SPARE_ROOM else 0

    def clear(self) -> None:
        """Gives the memory back."""
        self.captured.clear()
