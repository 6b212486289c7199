"""Writes answers with a transformers model: prefixes are read once and kept, batches shrink as answers are complete."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from explorer.scoring.engine import transfer
from explorer.scoring.engine.contract import MAX_SHORT_ANSWER, Answer, Decoder, Ids, Stats
from explorer.scoring.engine.cuda_graphs import CapturedStep, CapturedSteps
from explorer.scoring.engine.kv_cache import CachedRows, attention_over, masks
from explorer.scoring.engine.masks import sees_ancestors
from explorer.scoring.engine.memory import free_ram
from explorer.scoring.engine.norms import FusedNorms
from explorer.scoring.engine.out_of_memory import is_out_of_memory, no_room_to_run, run_or_release
from explorer.scoring.engine.pending_batch import PendingBatch
from explorer.scoring.engine.plain import PlainDecoder
from explorer.scoring.engine.prefixes import Forest, forest
from explorer.scoring.engine.rows import BATCH_TOKENS, HALF_TOLERANCE, TOLERANCE, RowRunner, planned_once
from explorer.scoring.engine.sampler import Sampler
from explorer.scoring.engine.tree import common_prefix

# Answers written at a time. On a GPU Python needs as long to queue the pass that reads 1,000 prompts as the one that
# reads 256, about 70 ms, which is longer than the card takes for the smaller one.
ROWS = {"cpu": 128, "cuda": 1024, "mps": 64}
PASS_TOKENS = {"cpu": 16, "cuda": 1024, "mps": 256}  # what a forward pass costs beside its tokens, in tokens
PREFIX_PIECE = {"cpu": 512, "cuda": 8192, "mps": 1024}  # tokens of a prefix that are read at a time
FOREST_TOKENS = {"cpu": 128, "cuda": 512, "mps": 256}  # in a row of merged prompts
MAX_PREFIXES = 2  # prefixes
STEPS_AHEAD = 2  # captured steps that are queued before the tokens of the one before them are looked at
MEMORY_SHARE = 0.3  # of the free memory, for the keys and values of a batch
SHRINK_BELOW = 0.9  # a batch is made smaller once this share of it, or less, is still unfinished
HALF_PRECISION_TOLERANCE = (
    0.2  # of hidden states in half precision: measured 0.05 to 0.08, and 0.4 where a position is wrong
)


def open_decoder(model: Any, rows: int | None = None) -> Decoder:
    """The fast decoder where the model's architecture is known to take it and it is on one card, else the plain one."""
    return open_cached_decoder(model.runner, model.window, rows) or PlainDecoder(model)


def open_cached_decoder(runner: RowRunner, window: int, rows: int | None = None) -> CachedDecoder | None:
    """The fast decoder, or none where the model does not take it."""
    if runner.mode == "packed" and runner.cards == 1:
        decoder = CachedDecoder(runner, window, rows)
        if decoder.agrees():
            return decoder
    return None


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
        self.sampler = Sampler(runner.head)
        self.token_bytes = 0  # of keys and values, known once a token has been read
        self.tolerance = TOLERANCE if runner.dtype in (torch.float32, torch.float64) else HALF_TOLERANCE
        self.norms = FusedNorms(self.base)
        self.steps: CapturedSteps | None = None
        if kind == "cuda":
            self.steps = CapturedSteps(self.forward, self.sampler.greedy, window, self.tolerance)

    def write(self, prefix: Ids, answers: Sequence[Answer], stats: Stats, done: Callable[[int], None]) -> None:
        """Completes the answers; where memory runs out, half as many at a time."""
        self.begin(prefix, answers, stats, done)()

    def begin(
        self, prefix: Ids, answers: Sequence[Answer], stats: Stats, done: Callable[[int], None]
    ) -> Callable[[], None]:
        """As `write`, but returns when the last batch is queued on a GPU, if it can be; what is given waits for it."""
        # All begin with the prefix, so that what comes behind it says which are the same, and how they are sorted.
        shared = len(prefix)
        if not self.prefixes.is_worth(prefix, {answer.prompt[shared:] for answer in answers}):
            prefix = ()
        # In sorted order, so that prompts that begin alike are read together.
        pending = sorted(answers, key=lambda answer: answer.prompt[shared:])
        most = self.rows
        earlier: PendingBatch | None = None
        while pending:
            batch = pending[: self._batch_size(pending, len(prefix), most)]
            written, begun = self._write_or_release(prefix, batch, stats, lambda: done(0))
            # While the GPU writes this batch, the answers of the one before are looked at.
            _complete_pending(earlier, done)
            earlier = begun
            if not written:
                most = len(batch) // 2
                continue
            pending = pending[len(batch) :]
            if not begun:
                done(len(batch))
        return lambda: _complete_pending(earlier, done)

    def read_prefix(
        self, ids: Ids, earlier: CachedRows | None = None, common: int = 0, stats: Stats | None = None
    ) -> CachedRows:
        """Keys and values of a prefix; `earlier` has read its first `common` tokens already."""
        rows = earlier.truncate(common, len(ids)) if earlier and common else CachedRows(1, len(ids), self.device)
        # In pieces: attention scores of a long prefix with itself would grow with its square.
        piece = PREFIX_PIECE.get(self.device.type, 512)
        for first in range(rows.used, len(ids), piece):
            part = ids[first : first + piece]
            self.forward(self.to_device([part]), self.to_device([range(first, first + len(part))]), rows)
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
                rows = CachedRows(2, 4, self.device, self.read_prefix(tuple(trunk)))
                # Three tokens of each branch at once, then one more each, as generating does.
                states = [
                    self.forward(self.to_device(ids), self.to_device([places] * 2), rows)
                    for ids, places in ((branches, [7, 8, 9]), ([[3], [4]], [10]))
                ]
                both = torch.cat(states, dim=1).float()
                plain = torch.cat(
                    [
                        self.base(
                            input_ids=self.to_device([[*trunk, *branch, last]]), use_cache=False
                        ).last_hidden_state
                        for branch, last in zip(branches, (3, 4), strict=True)
                    ]
                )[:, len(trunk) :].float()
        except (TypeError, ValueError, AttributeError, NotImplementedError, LookupError, RuntimeError) as error:
            if is_out_of_memory(error):
                raise no_room_to_run(error) from error
            return False
        # Per token and relative to its length: some models have hidden states of hundreds, which half precision rounds
        # by whole units.
        apart = torch.linalg.vector_norm(both - plain, dim=-1) / torch.linalg.vector_norm(plain, dim=-1)
        return bool((apart <= (self.tolerance if self.tolerance == TOLERANCE else HALF_PRECISION_TOLERANCE)).all())

    # What a batch takes is known only in the shape of its longest row, since keys and values are one block of memory:
    #
    #     prompts of 10, 20 and 400 tokens, 8 new ones each      1 row: 18    2 rows: 2 x 28    3 rows: 3 x 408
    #
    # Answers come sorted by their prompts, not by length, so the running maximum says what each further row would cost
    # all.
    def _batch_size(self, pending: Sequence[Answer], shared: int, rows: int) -> int:
        """How many of the first answers are written together: at most `rows`, and as many as memory holds."""
        lengths = np.array([len(answer.prompt) - shared for answer in pending[:rows]])
        fitting = np.cumsum(lengths) <= self.batch_tokens
        if self.token_bytes and (free := self._free_memory()):
            new = np.array([answer.max_new_tokens for answer in pending[:rows]])
            # Every row is as long as the longest.
            each = np.maximum.accumulate(lengths) + np.maximum.accumulate(new)
            fitting &= np.arange(1, len(lengths) + 1) * each * self.token_bytes <= free * MEMORY_SHARE
        return max(1, int(fitting.sum()))

    def _free_memory(self) -> int | None:
        if self.device.type != "cuda":
            return free_ram()
        # What PyTorch has taken from the driver and does not use counts as free: it is used again first.
        reserved_unused = torch.cuda.memory_reserved(self.device) - torch.cuda.memory_allocated(self.device)
        return int(torch.cuda.mem_get_info(self.device)[0]) + reserved_unused

    def _write_or_release(
        self, prefix: Ids, batch: Sequence[Answer], stats: Stats, report: Callable[[], None]
    ) -> tuple[bool, PendingBatch | None]:
        """Completes a batch or begins it (then with the batch to wait for); false where a smaller one may do."""

        def write() -> tuple[bool, PendingBatch | None]:
            with self.runner.lock, torch.inference_mode():
                return True, self._write(self.prefixes.get(prefix, stats) if prefix else None, batch, stats, report)

        too_large = (
            f"Memory ran out on a single prompt of {len(batch[0].prompt)} tokens. Shorten it, or choose a "
            "smaller model, a smaller dtype or a machine with more memory."
        )
        written = run_or_release(write, too_large if len(batch) == 1 else "", self.device, self._release)
        if written is None:
            for answer in batch:
                answer.restart()
        return written or (False, None)

    def _release(self) -> None:
        """Drops what is kept between batches."""
        if self.device.type == "cuda":
            # The batch before may still be in the captured steps, whose memory goes back here.
            torch.cuda.synchronize(self.device)
        self.prefixes.clear()
        if self.steps:
            self.steps.clear()

    def _write(
        self, prefix: CachedRows | None, batch: Sequence[Answer], stats: Stats, report: Callable[[], None]
    ) -> PendingBatch | None:
        """Completes the answers, or queues all their steps on the GPU and returns what to wait for."""
        start = prefix.used if prefix else 0
        most = max(answer.max_new_tokens for answer in batch)
        trees = forest([answer.prompt[start:] for answer in batch], FOREST_TOKENS.get(self.device.type, 128))
        read_rows, hidden = self._read_forest(trees, prefix)
        stats.read_tokens += trees.tokens
        stats.passes += 1
        self.token_bytes = read_rows.token_bytes
        is_sampled = any(answer.temperature > 0 for answer in batch)
        # Greedy tokens stay on the GPU: nobody waits for them.
        first = self.to_device(self.sampler.choose(hidden, batch, 0)) if is_sampled else self.sampler.greedy(hidden)
        step = rows = None
        if most > 1:
            rows = self._rows_per_prompt(trees, read_rows, most)
            if self.steps:
                places = self.to_device([len(answer.prompt) for answer in batch])
                step = self.steps.step_for(rows, most, self.rows, first.clamp(min=0), places)
        # Drawn tokens need the draws of each step, so sampled answers are never queued whole.
        if self.steps and not is_sampled and most <= MAX_SHORT_ANSWER and (step or most == 1):
            stats.passes += most - 1
            return PendingBatch(batch, first, step, most)
        if step and is_sampled:
            self._write_drawn_steps(step, batch, first.tolist(), most, stats, report)
        elif step:
            self._write_captured_steps(step, batch, first, most, stats, report)
        elif rows:
            self._write_steps(rows, batch, first.tolist(), most, stats, report)
        else:
            for answer, token in zip(batch, first.tolist(), strict=True):
                answer.add(token)
        return None

    def _write_steps(
        self,
        rows: CachedRows,
        batch: Sequence[Answer],
        tokens: list[int],
        most: int,
        stats: Stats,
        report: Callable[[], None],
    ) -> None:
        """Writes from the first tokens on; answers that are complete leave the batch."""
        live = list(range(len(batch)))  # the answer that each row writes
        for step in range(1, most + 1):
            going = [
                row for row, (i, token) in enumerate(zip(live, tokens, strict=True)) if not _is_done(batch[i], token)
            ]
            if not going:
                return
            if len(going) <= SHRINK_BELOW * len(live):
                # Copying the caches costs as much as a few steps, hence SHRINK: not at every answer that ends.
                rows = rows.select(self.to_device(going), rows.capacity)
                live, tokens = [live[row] for row in going], [tokens[row] for row in going]
            # A complete row stays in the batch and must not leave the model's table of positions.
            places = [[min(len(batch[i].prompt) + step, self.window) - 1] for i in live]
            hidden = self.forward(self.to_device(tokens).clamp(min=0)[:, None], self.to_device(places), rows)[:, 0]
            tokens = self.sampler.choose(hidden, [batch[i] for i in live], step)
            stats.passes += 1
            report()

    # The GPU always has a step to do: two are queued before the tokens of the one before them are looked at, which may
    # take Python as long as a step takes the GPU. When all answers turn out to be complete, as many steps were computed
    # in vain; that is cheaper than a GPU that waits after every token.
    #
    #     GPU       step 1            step 2            step 3            step 4
    #     Python    first tokens      tokens of 1       tokens of 2       tokens of 3
    #     queued    1 2             3                 4                 5
    def _write_captured_steps(
        self,
        step: CapturedStep,
        batch: Sequence[Answer],
        first: torch.Tensor,
        most: int,
        stats: Stats,
        report: Callable[[], None],
    ) -> None:
        """The same with a captured step, greedily; while steps run, the tokens before are looked at."""
        arriving = deque([transfer.Arriving([first])])
        for number in range(most):
            for _ in range(min(STEPS_AHEAD, most - 1 - number) + 1 - len(arriving)):
                step.replay()
                stats.passes += 1
                # Copied at once: the next replay overwrites the step's own buffer.
                arriving.append(transfer.Arriving([step.tokens[: len(batch)].clone()]))
            (tokens,) = arriving.popleft().arrays()
            # A list, not a generator: every answer must take its token, also behind one that is not complete.
            if all([_is_done(answer, token) for answer, token in zip(batch, tokens.tolist(), strict=True)]):
                return
            report()

    def _write_drawn_steps(
        self,
        step: CapturedStep,
        batch: Sequence[Answer],
        tokens: list[int],
        most: int,
        stats: Stats,
        report: Callable[[], None],
    ) -> None:
        """The same where tokens are drawn, which takes the draws of each step."""
        for number in range(1, most + 1):
            if number < most:
                step.replay()
            if all([_is_done(answer, token) for answer, token in zip(batch, tokens, strict=True)]):
                return
            tokens = self.sampler.choose(step.hidden[: len(batch)], batch, number)
            step.ids[: len(batch), 0] = self.to_device(tokens).clamp(min=0)
            stats.passes += 1
            report()

    def _read_forest(self, trees: Forest, prefix: CachedRows | None) -> tuple[CachedRows, torch.Tensor]:
        """Keys and values of all prompts' tokens, and the last hidden state of each prompt, (prompts, width)."""
        count, longest = trees.ids.shape
        read_rows = CachedRows(count, longest, self.device, prefix)
        positions = self.to_device(trees.depths) + read_rows.start
        hidden = self.forward(
            self.to_device(trees.ids), positions, read_rows, sees_ancestors(self.to_device(trees.ends))
        )
        return read_rows, hidden[self.to_device(trees.row), self.to_device([path[-1] for path in trees.paths])]

    def _rows_per_prompt(self, trees: Forest, read_rows: CachedRows, most: int) -> CachedRows:
        """A row of its own for each prompt, with room for `most` new tokens.

        Prompts go on in rows of their own: in a tree each new token would need a slot that no sibling may see.
        """
        sizes = np.array([len(path) for path in trees.paths])
        slots = np.zeros((len(sizes), sizes.max()), dtype=np.int64)
        for path, into in zip(trees.paths, slots, strict=True):
            into[: len(path)] = path
        return read_rows.gather(
            self.to_device(trees.row), self.to_device(slots), self.to_device(sizes), slots.shape[1] + most
        )

    def forward(
        self, ids: torch.Tensor, positions: torch.Tensor, rows: CachedRows, within: torch.Tensor | None = None
    ) -> torch.Tensor:
        """The last hidden states, (rows, tokens, width), of tokens that go on from what the rows hold.

        `ids` and `positions` are (rows, tokens); `within` says who sees whom where a row holds several sequences.
        """
        # Positions first: the mask must know the slots that the layers are about to fill.
        mask = masks(self.config, rows, positions, rows.append_positions(positions), within)
        with attention_over(self.config, rows), self.norms.inside(), planned_once(ids.shape[1]):
            hidden = self.base(
                input_ids=ids, attention_mask=mask, position_ids=positions, cache=rows, use_cache=True
            ).last_hidden_state
        rows.used += ids.shape[1]
        return hidden

    def to_device(self, values: Any) -> torch.Tensor:
        """Numbers on the model's device."""
        return transfer.to_device(values, self.device)


# Prompts with k = 1, 2, 4 ... demonstrations begin alike, each with what the one before had and some more. Keys and
# values of a token depend on what stands before it alone, so those read for k = 2 serve k = 4 as they are:
#
#     k = 2    [d1 d2]             read 2 demonstrations
#     k = 4    [d1 d2] d3 d4       cut to what both share, then 2 more are read
class PrefixCache:
    """Prefixes that the model has read, the latest last; a new one goes on from the longest part it shares with one."""

    def __init__(self, decoder: CachedDecoder) -> None:
        self.decoder = decoder
        self.prefixes: list[tuple[np.ndarray, CachedRows]] = []

    def is_worth(self, prefix: Ids, prompts: set[Ids]) -> bool:
        """Whether reading a prefix apart saves more than the forward pass that it costs."""
        known = self._longest_shared(np.asarray(prefix))[1]
        return (len(prompts) - 1) * len(prefix) + known > self.decoder.pass_tokens

    def get(self, prefix: Ids, stats: Stats | None = None) -> CachedRows:
        """Keys and values of this prefix, of which only what is new is read."""
        ids = np.asarray(prefix)
        rows, shared = self._longest_shared(ids)
        # A kept prefix that goes on beyond this one is cut to it, which reads nothing: its length must be exact, for
        # positions behind it are counted from `used`.
        if rows is None or shared < len(ids) or rows.used > len(ids):
            rows = self.decoder.read_prefix(prefix, rows, shared, stats)
            # What the new one goes on from is seldom asked for again.
            self.prefixes = [entry for entry in self.prefixes if common_prefix(entry[0], ids) < len(entry[0]) // 2]
            self.prefixes = [*self.prefixes[1 - MAX_PREFIXES :], (ids, rows)]
        return rows

    def clear(self) -> None:
        """Forgets all of them."""
        self.prefixes = []

    def _longest_shared(self, ids: np.ndarray) -> tuple[CachedRows | None, int]:
        """The kept prefix that shares most with these tokens, and how many tokens that is."""
        candidates = [(common_prefix(entry, ids), place) for place, (entry, _) in enumerate(self.prefixes)]
        shared, place = max(candidates, default=(0, -1))
        return (self.prefixes[place][1], shared) if shared else (None, 0)


def _complete_pending(batch: PendingBatch | None, done: Callable[[int], None]) -> None:
    if batch:
        batch.complete()
        done(len(batch.answers))


def _is_done(answer: Answer, token: int) -> bool:
    """Whether an answer is complete, at the latest with this token."""
    return bool(answer.finish) or answer.add(token)
