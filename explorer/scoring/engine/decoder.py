"""Writes answers with a transformers model: prefixes are read once and kept, batches shrink as answers are complete."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from explorer.errors import ModelError
from explorer.scoring.engine.contract import Decoder, Ids, Stats, Writing
from explorer.scoring.engine.cuda_graphs import CapturedStep, CapturedSteps
from explorer.scoring.engine.kv_cache import Rows, attention_over, masks
from explorer.scoring.engine.memory import free_ram
from explorer.scoring.engine.norms import FusedNorms
from explorer.scoring.engine.pending_batch import SHORT, Flight
from explorer.scoring.engine.plain import PlainDecoder
from explorer.scoring.engine.prefixes import Forest, common, forest
from explorer.scoring.engine.rows import AGREEMENT, BATCH_TOKENS, HALF_AGREEMENT, OUT_OF_MEMORY, RowRunner
from explorer.scoring.engine.sampler import Picker

ROWS = {"cpu": 128, "cuda": 256, "mps": 64}  # answers written at a time
PASS_TOKENS = {"cpu": 16, "cuda": 1024, "mps": 256}  # what a forward pass costs beside its tokens, in tokens
PIECE = {"cpu": 512, "cuda": 8192, "mps": 1024}  # tokens of a prefix that are read at a time
FOREST_TOKENS = {"cpu": 128, "cuda": 512, "mps": 256}  # in a row of merged prompts
KEPT = 2  # prefixes
MEMORY_SHARE = 0.3  # of the free memory, for the keys and values of a batch
SHRINK = 0.9  # a batch is made smaller once this share of it, or less, is still unfinished
HALF_APART = 0.2  # of hidden states in half precision: measured 0.05 to 0.08, and 0.4 where a position is wrong


def open_decoder(model: Any, rows: int | None = None) -> Decoder:
    """The fast decoder where the model's architecture is known to take it, else the plain one."""
    runner: RowRunner = model.runner
    if runner.mode == "packed":
        decoder = CachedDecoder(runner, model.window, rows)
        if decoder.agrees():
            return decoder
    return PlainDecoder(model)


class CachedDecoder:
    """Writes answers in batches over a shared prefix; one batch at a time."""

    def __init__(self, runner: RowRunner, window: int, rows: int | None = None) -> None:
        kind = runner.device.type
        self.runner = runner
        self.window = window
        self.base = runner.model.base_model
        self.config = runner.config
        self.device = runner.device
        self.rows = rows or ROWS.get(kind, 64)
        self.pass_tokens = PASS_TOKENS.get(kind, 256)
        self.batch_tokens = BATCH_TOKENS.get(kind, 2048)
        self.prefixes = PrefixCache(self)
        self.picker = Picker(runner.head)
        self.token_bytes = 0  # of keys and values, known once a token has been read
        self.near = AGREEMENT if runner.dtype in (torch.float32, torch.float64) else HALF_AGREEMENT
        self.norms = FusedNorms(self.base)
        self.steps: CapturedSteps | None = None
        if kind == "cuda":
            self.steps = CapturedSteps(self.forward, self.picker.greedy, window, self.near)

    def write(self, prefix: Ids, writings: Sequence[Writing], stats: Stats, done: Callable[[int], None]) -> None:
        """Completes the answers; where memory runs out, half as many at a time."""
        if not self.prefixes.is_worth(prefix, {writing.prompt for writing in writings}):
            prefix = ()
        # In sorted order, so that prompts that begin alike are read together.
        pending = sorted(writings, key=lambda writing: writing.prompt)
        most = self.rows
        flights: list[Flight] = []
        while pending:
            batch = pending[: self._fitting(pending, len(prefix), most)]
            begun = self._try(prefix, batch, stats, lambda: done(0))
            # While the GPU writes this batch, the answers of the one before are looked at.
            _land(flights, done)
            flights = begun or []
            if begun is None:
                most = len(batch) // 2
                continue
            pending = pending[len(batch) :]
            if not flights:
                done(len(batch))
        _land(flights, done)

    def read(self, ids: Ids, behind: Rows | None = None, common: int = 0, stats: Stats | None = None) -> Rows:
        """Keys and values of a prefix; `behind` has read its first `common` tokens already."""
        rows = behind.first(common, len(ids)) if behind and common else Rows(1, len(ids), self.device)
        piece = PIECE.get(self.device.type, 512)
        for first in range(rows.used, len(ids), piece):
            part = ids[first : first + piece]
            self.forward(self.put([part]), self.put([range(first, first + len(part))]), rows)
            if stats:
                stats.read_tokens += min(piece, len(ids) - first)
                stats.passes += 1
        self.token_bytes = rows.token_bytes
        return rows

    def agrees(self) -> bool:
        """Whether tokens behind a shared prefix get the hidden states that they get in a plain sequence."""
        trunk = [3 + 7 * i % min(self.runner.head.words, 89) for i in range(7)]
        branches = [[5, 9, 4], [8, 6, 7]]
        try:
            with self.runner.lock, torch.inference_mode():
                rows = Rows(2, 4, self.device, self.read(tuple(trunk)))
                found = [
                    self.forward(self.put(ids), self.put([places] * 2), rows)
                    for ids, places in ((branches, [7, 8, 9]), ([[3], [4]], [10]))
                ]
                both = torch.cat(found, dim=1).float()
                plain = torch.cat(
                    [
                        self.base(input_ids=self.put([[*trunk, *branch, last]]), use_cache=False).last_hidden_state
                        for branch, last in zip(branches, (3, 4), strict=True)
                    ]
                )[:, len(trunk) :].float()
        except (TypeError, ValueError, AttributeError, NotImplementedError, KeyError, RuntimeError) as error:
            if is_out_of_memory(error):
                raise ModelError(
                    "The model was loaded, but no memory is left to run it. "
                    "Choose a smaller model, a smaller dtype or a machine with more memory."
                ) from error
            return False
        # Per token and relative to its length: some models have hidden states of hundreds, which half precision rounds
        # by whole units.
        apart = torch.linalg.vector_norm(both - plain, dim=-1) / torch.linalg.vector_norm(plain, dim=-1)
        return bool((apart <= (self.near if self.near == AGREEMENT else HALF_APART)).all())

    def _fitting(self, pending: Sequence[Writing], shared: int, rows: int) -> int:
        """How many of the first answers are written together: at most `rows`, and as many as memory holds."""
        own = np.array([len(writing.prompt) - shared for writing in pending[:rows]])
        fitting = np.cumsum(own) <= self.batch_tokens
        if self.token_bytes and (free := self._free_memory()):
            new = np.array([writing.most for writing in pending[:rows]])
            # Every row is as long as the longest.
            each = np.maximum.accumulate(own) + np.maximum.accumulate(new)
            fitting &= np.arange(1, len(own) + 1) * each * self.token_bytes <= free * MEMORY_SHARE
        return max(1, int(fitting.sum()))

    def _free_memory(self) -> int | None:
        if self.device.type != "cuda":
            return free_ram()
        held = torch.cuda.memory_reserved(self.device) - torch.cuda.memory_allocated(self.device)
        return int(torch.cuda.mem_get_info(self.device)[0]) + held

    def _try(
        self, prefix: Ids, batch: Sequence[Writing], stats: Stats, step: Callable[[], None]
    ) -> list[Flight] | None:
        """Completes a batch, or returns its flight; None where memory ran out and a smaller batch may do."""
        try:
            with self.runner.lock, torch.inference_mode():
                return self._write(self.prefixes.get(prefix, stats) if prefix else None, batch, stats, step)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            if len(batch) == 1:
                raise ModelError(
                    f"Memory ran out on a single prompt of {len(batch[0].prompt)} tokens. Shorten it, or choose a "
                    "smaller model, a smaller dtype or a machine with more memory."
                ) from error
        # Only here is the error, with all that hung on it, gone.
        for writing in batch:
            writing.restart()
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)  # a batch before may still be in the steps
        self.prefixes.clear()
        if self.steps:
            self.steps.clear()
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        return None

    def _write(
        self, behind: Rows | None, batch: Sequence[Writing], stats: Stats, tell: Callable[[], None]
    ) -> list[Flight]:
        start = behind.used if behind else 0
        most = max(writing.most for writing in batch)
        found = forest([writing.prompt[start:] for writing in batch], FOREST_TOKENS.get(self.device.type, 128))
        read, hidden = self._read_forest(found, behind)
        stats.read_tokens += found.tokens
        stats.passes += 1
        self.token_bytes = read.token_bytes
        is_warm = any(writing.temperature > 0 for writing in batch)
        first = self.put(self.picker.pick(hidden, batch, 0)) if is_warm else self.picker.greedy(hidden)
        step = rows = None
        if most > 1:
            rows = self._part(found, read, most)
            if self.steps:
                places = self.put([len(writing.prompt) for writing in batch])
                step = self.steps.ready(rows, most, self.rows, first.clamp(min=0), places)
        if self.steps and not is_warm and most <= SHORT and (step or most == 1):
            stats.passes += most - 1
            return [Flight(batch, first, step, most)]
        tokens = first.tolist()
        if step:
            self._go_on_captured(step, batch, tokens, most, stats, tell)
        elif rows:
            self._go_on(rows, batch, tokens, most, stats, tell)
        else:
            for writing, token in zip(batch, tokens, strict=True):
                writing.add(token)
        return []

    def _go_on(
        self, rows: Rows, batch: Sequence[Writing], tokens: list[int], most: int, stats: Stats, tell: Callable[[], None]
    ) -> None:
        """Writes from the first tokens on; answers that are complete leave the batch."""
        live = list(range(len(batch)))  # the answer that each row writes
        for step in range(1, most + 1):
            going = [
                row for row, (i, token) in enumerate(zip(live, tokens, strict=True)) if not _is_done(batch[i], token)
            ]
            if not going:
                return
            if len(going) <= SHRINK * len(live):
                rows = rows.take(self.put(going), rows.capacity)
                live, tokens = [live[row] for row in going], [tokens[row] for row in going]
            # A row that rides along must not leave the table of positions.
            places = [[min(len(batch[i].prompt) + step, self.window) - 1] for i in live]
            hidden = self.forward(self.put(tokens).clamp(min=0)[:, None], self.put(places), rows)[:, 0]
            tokens = self.picker.pick(hidden, [batch[i] for i in live], step)
            stats.passes += 1
            tell()

    def _go_on_captured(
        self,
        step: CapturedStep,
        batch: Sequence[Writing],
        tokens: list[int],
        most: int,
        stats: Stats,
        tell: Callable[[], None],
    ) -> None:
        """The same with a captured step; while it runs, the tokens before are looked at."""
        is_warm = any(writing.temperature > 0 for writing in batch)
        for number in range(1, most + 1):
            if number < most:
                step.replay()
            if all([_is_done(writing, token) for writing, token in zip(batch, tokens, strict=True)]):
                return
            if is_warm:
                tokens = self.picker.pick(step.hidden[: len(batch)], batch, number)
                step.ids[: len(batch), 0] = self.put(tokens).clamp(min=0)
            else:
                tokens = step.tokens[: len(batch)].tolist()
            stats.passes += 1
            tell()

    def _read_forest(self, found: Forest, behind: Rows | None) -> tuple[Rows, torch.Tensor]:
        """Keys and values of all prompts' tokens, and the last hidden state of each prompt."""
        count, longest = found.ids.shape
        read = Rows(count, longest, self.device, behind)
        ends, place = self.put(found.ends), torch.arange(longest, device=self.device)
        within = (place[None, None, :] <= place[None, :, None]) & (place[None, :, None] < ends[:, None, :])
        hidden = self.forward(self.put(found.ids), self.put(found.depths) + read.start, read, within)
        return read, hidden[self.put(found.row), self.put([path[-1] for path in found.paths])]

    def _part(self, found: Forest, read: Rows, most: int) -> Rows:
        """A row of its own for each prompt, with room for `most` new tokens."""
        sizes = np.array([len(path) for path in found.paths])
        slots = np.zeros((len(sizes), sizes.max()), dtype=np.int64)
        for path, into in zip(found.paths, slots, strict=True):
            into[: len(path)] = path
        return read.gather(self.put(found.row), self.put(slots), self.put(sizes), slots.shape[1] + most)

    def forward(
        self, ids: torch.Tensor, positions: torch.Tensor, rows: Rows, within: torch.Tensor | None = None
    ) -> torch.Tensor:
        """The last hidden states of tokens that go on from what the rows hold."""
        mask = masks(self.config, rows, positions, rows.note(positions), within)
        with attention_over(self.config, rows), self.norms.inside():
            found = self.base(
                input_ids=ids, attention_mask=mask, position_ids=positions, cache=rows, use_cache=True
            ).last_hidden_state
        rows.used += ids.shape[1]
        return found

    def put(self, values: Any) -> torch.Tensor:
        """Numbers on the model's device; a GPU fetches them when it comes to them, and nobody waits."""
        found = torch.as_tensor(np.asarray(values))
        if self.device.type == "cuda":
            return found.pin_memory().to(self.device, non_blocking=True)
        return found.to(self.device)


class PrefixCache:
    """Prefixes that the model has read, the latest last; a new one goes on from the longest part it shares with one."""

    def __init__(self, decoder: CachedDecoder) -> None:
        self.decoder = decoder
        self.kept: list[tuple[np.ndarray, Rows]] = []

    def is_worth(self, prefix: Ids, prompts: set[Ids]) -> bool:
        """Whether reading a prefix apart saves more than the forward pass that it costs."""
        known = self._best(np.asarray(prefix))[1]
        return (len(prompts) - 1) * len(prefix) + known > self.decoder.pass_tokens

    def get(self, prefix: Ids, stats: Stats | None = None) -> Rows:
        """Keys and values of this prefix, of which only what is new is read."""
        ids = np.asarray(prefix)
        rows, shared = self._best(ids)
        if rows is None or shared < len(ids) or rows.used > len(ids):
            rows = self.decoder.read(prefix, rows, shared, stats)
            # What the new one goes on from is seldom asked for again.
            self.kept = [entry for entry in self.kept if common(entry[0], ids) < len(entry[0]) // 2]
            self.kept = [*self.kept[1 - KEPT :], (ids, rows)]
        return rows

    def clear(self) -> None:
        """Forgets all of them."""
        self.kept = []

    def _best(self, ids: np.ndarray) -> tuple[Rows | None, int]:
        found = [(common(entry, ids), place) for place, (entry, _) in enumerate(self.kept)]
        shared, place = max(found, default=(0, -1))
        return (self.kept[place][1], shared) if shared else (None, 0)


def _land(flights: Sequence[Flight], done: Callable[[int], None]) -> None:
    for flight in flights:
        flight.land()
        done(len(flight.batch))


def _is_done(writing: Writing, token: int) -> bool:
    """Whether an answer is complete, at the latest with this token."""
    return bool(writing.finish) or writing.add(token)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a failure means that a smaller batch may do."""
    return isinstance(error, torch.OutOfMemoryError) or any(sign in str(error).lower() for sign in OUT_OF_MEMORY)
