"""Runs packed rows through a transformers model: batches, out-of-memory, and plain batches where packing cannot be.

How a model is batched is decided once, by trying: a toy row of a trunk and two branches is scored packed, and its two
sequences are scored by the model's own forward pass. What does not agree is never used.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
import torch

from explorer.records import PackedRow
from explorer.scoring.engine import masks
from explorer.scoring.engine.contract import ROW_TOKENS, Progress, RowScores
from explorer.scoring.engine.device import LONG_ROW, row_length
from explorer.scoring.engine.heads import Head, moments_of
from explorer.scoring.engine.out_of_memory import is_out_of_memory, no_room_to_run, run_or_release
from explorer.scoring.engine.packing import (
    FedRow,
    Scored,
    no_scores,
    pad,
    paths,
    prepare,
    targets_of,
    write_scores,
)
from explorer.scoring.engine.transfer import Arriving, OneBehind, to_device

Mode = Literal["packed", "padded", "one at a time"]

BATCH_TOKENS = {"cpu": 2048, "cuda": 32768, "mps": 8192}
PADDED_LOGITS = 1 << 27  # how many logits a batch without packing may make
MIN_LENGTH_SHARE = 0.9  # a batch's shortest row is at least this share of its longest, beyond the spare tokens
# Padding that a batch may hold whatever its rows are like, in tokens: less than what one more pass would cost. On a GPU
# Python needs as long to queue the calls of a pass, 1,000 and more, as the card for some thousand tokens.
SPARE_TOKENS = {"cuda": 4096}
TOY_TRUNK, TOY_BRANCH = 5, 3
TOLERANCE, HALF_TOLERANCE = 1e-3, 0.5  # nats between a packed and a plain toy row: float32, and half precision


class RowRunner:
    """Scores packed rows with one loaded model; one forward pass at a time."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.config = model.config.get_text_config()
        self.device: torch.device = model.device
        self.cards = _count_cards(model)
        self.dtype: torch.dtype = model.dtype
        self.head = Head(model, self.config)
        # Held around every forward pass, the generator's too: some tricks replace parts of the model while they run.
        # Re-entrant, since a decoder that holds it asks for prefixes, which are read by forward passes.
        self.lock = threading.RLock()
        self._window: int | None = getattr(self.config, "max_position_embeddings", None)
        self.batch_tokens = BATCH_TOKENS.get(self.device.type, 2048)
        self.row_tokens = ROW_TOKENS.get(self.device.type, 128)
        self.spare_tokens = SPARE_TOKENS.get(self.device.type, 0)
        self.mode: Mode = "packed"
        if masks.has_length_dependent_positions(self.config):
            self.mode = "one at a time"
        elif not (masks.takes_packed_rows(self.config) and self._agrees(_toy_row(TOY_TRUNK, self.head.words))):
            self.mode = "padded"

    @property
    def attention(self) -> str:
        """How attention is computed, for the record."""
        return str(self.config._attn_implementation)

    def run(
        self,
        rows: Sequence[PackedRow],
        progress: Progress | None = None,
        token_budget: int | None = None,
        *,
        moments: bool = False,
    ) -> list[RowScores]:
        """Scores of the rows, in the order asked; nan for a scored token that nothing stands before.

        `moments` adds the mean and the standard deviation of log P over the vocabulary at each scored token's place.
        """
        return self.begin(rows, progress, token_budget, moments=moments)()

    def begin(
        self,
        rows: Sequence[PackedRow],
        progress: Progress | None = None,
        token_budget: int | None = None,
        *,
        moments: bool = False,
    ) -> Callable[[], list[RowScores]]:
        """As `run`, but returns when the last batch is queued on a GPU; what is given waits for it.

        In between the next rows can be prepared and queued, so that the GPU is not left idle.
        """
        results = no_scores(rows, moments=moments)
        fed_rows = [prepare(row, number) for number, row in enumerate(rows)]
        if self.mode != "packed":
            fed_rows = [path for fed in fed_rows for path in paths(fed)]
        pending = [fed for fed in fed_rows if len(fed.targets)]
        # The longest of a kind first: memory runs out at once or not at all. Of like length, rows waste no padding.
        pending.sort(key=lambda fed: (fed.chain, -len(fed)))
        parts_left = np.bincount(
            [fed.row for fed in pending], minlength=len(rows)
        )  # parts of each row still to be scored
        budget = token_budget or self.batch_tokens

        def store(batch: Sequence[FedRow], scored: Scored) -> None:
            write_scores(batch, scored, results)
            for fed in batch:
                parts_left[fed.row] -= 1
            if progress:
                progress(int((parts_left == 0).sum()), len(rows))

        queue = OneBehind(store)
        while pending:
            batch = pending[: self._batch_size(pending, budget)]
            scored = self._score_or_release(batch, moments)
            if scored is None:
                # For all that follows, too: what has run out once is not tried again.
                budget = len(batch[0]) * (len(batch) // 2)
                continue
            queue.add(batch, scored)
            pending = pending[len(batch) :]

        def finish() -> list[RowScores]:
            queue.finish()
            return results

        return finish

    def likeliest(self, ids: Sequence[int], count: int) -> list[tuple[int, float]]:
        """The tokens that are likeliest after these, each with its log-probability in nats, the likeliest first."""
        tokens = np.asarray(ids, dtype=np.int64)[None]

        def ask() -> list[tuple[int, float]]:
            with self.lock, torch.inference_mode():
                if self.mode == "packed":
                    inputs = self._to_device(tokens)
                    hidden = self.model.base_model(input_ids=inputs, use_cache=False).last_hidden_state[0, -1:]
                    # One position alone: its logits over all of the vocabulary take a megabyte.
                    logits = self.head.logits(hidden, 0, self.head.words)[0]
                else:
                    logits = self.model(input_ids=self._to_device(tokens), use_cache=False).logits[0, -1].float()
                best = logits.log_softmax(-1).topk(min(count, len(logits)))
                return list(zip(best.indices.tolist(), best.values.double().tolist(), strict=True))

        too_large = f"Memory ran out on a text of {tokens.shape[1]} tokens. Shorten it, or choose a smaller model."
        likeliest = run_or_release(ask, too_large, self.device)
        assert likeliest is not None  # a message was given, so running out raises
        return likeliest

    def _batch_size(self, pending: Sequence[FedRow], budget: int) -> int:
        """How many of the first rows go together: within the budget, and alike."""
        if self.mode == "one at a time":
            return 1
        if self.mode == "padded":
            budget = min(budget, PADDED_LOGITS // self.head.words)
        first, size, padding = pending[0], 1, 0
        # As long as it will be padded to, so that full batches have few shapes.
        length = row_length(len(first), self.device, self._window)
        while size < len(pending) and (size + 1) * length <= budget:
            row = pending[size]
            padding += len(first) - len(row)
            if row.chain != first.chain or (
                len(row) < int(MIN_LENGTH_SHARE * len(first)) and padding > self.spare_tokens
            ):
                break
            size += 1
        return size

    def _score_or_release(self, batch: Sequence[FedRow], moments: bool = False) -> Arriving | None:
        """The batch's scores on their way, or none where memory ran out and a smaller batch may do."""

        def score() -> Arriving:
            with self.lock, torch.inference_mode():
                return self._score(batch, moments)

        too_large = (
            f"Memory ran out on a single row of {len(batch[0])} tokens. Shorten the context, or choose a "
            "smaller model, a smaller dtype or a machine with more memory."
        )
        return run_or_release(score, too_large if len(batch) == 1 else "", self.device)

    def _score(self, batch: Sequence[FedRow], moments: bool = False) -> Arriving:
        """Log-probabilities and greedy flags of all targets of a batch, row after row; with `moments` two more."""
        length = row_length(max(map(len, batch)), self.device, self._window)
        padded = pad(batch, length)
        heads, target_heads, targets = targets_of(batch, length)
        if self.mode == "packed":
            # The output layer only where something is scored: it is the largest product of a small model.
            with planned_once(length, is_full=(len(batch) + 1) * length > self.batch_tokens):
                hidden = self._hidden(batch[0].chain, *padded).flatten(0, 1)
            # Of a model on several cards the last states are not where its tokens are read.
            hidden = hidden[to_device(heads, hidden.device)]
            logprobs, greedy = self.head.score(hidden, target_heads, targets)
            spread = (
                [each[to_device(target_heads, each.device)] for each in self.head.moments(hidden)] if moments else []
            )
        else:
            # An architecture the engine does not know may do more behind its layers than Head does: its own logits.
            logits = self._logits(batch, padded[0]).flatten(0, 1)
            logits = logits[to_device(heads[target_heads], logits.device)].float()
            at = to_device(targets, logits.device)
            every = logits.log_softmax(-1)
            logprobs, greedy = every.gather(1, at[:, None])[:, 0], logits.argmax(-1) == at
            spread = list(moments_of(every)) if moments else []
        # Float64 from here on: sums over thousands of tokens then add no rounding of their own.
        return Arriving([logprobs.double(), greedy, *(each.double() for each in spread)])

    def _hidden(self, chains: bool, ids: np.ndarray, positions: np.ndarray, ends: np.ndarray) -> torch.Tensor:
        """The last hidden states of a packed batch, (rows, tokens, width); `chains` says that no row branches."""
        base, inputs = self.model.base_model, self._to_device(ids)
        if chains:
            # Right padding of plain sequences needs no mask: nothing looks at what comes later.
            return base(input_ids=inputs, use_cache=False).last_hidden_state
        places = self._to_device(positions)
        mask = masks.masks(self.config, self._to_device(ends), places, self.dtype)
        return base(input_ids=inputs, attention_mask=mask, position_ids=places, use_cache=False).last_hidden_state

    def _logits(self, batch: Sequence[FedRow], ids: np.ndarray) -> torch.Tensor:
        """The logits of plain sequences, padded at the right: (rows, tokens, words)."""
        sizes = np.array([len(fed) for fed in batch])
        mask = (np.arange(ids.shape[1]) < sizes[:, None]).astype(np.int64)
        return self.model(input_ids=self._to_device(ids), attention_mask=self._to_device(mask), use_cache=False).logits

    def _to_device(self, array: np.ndarray) -> torch.Tensor:
        return to_device(array, self.device)

    def _agrees(self, row: PackedRow) -> bool:
        """Whether a packed row of two branches scores as its two plain sequences do."""
        fed = prepare(row)
        try:
            with torch.inference_mode():
                packed, plain = np.full((2, sum(row.scored)), np.nan)
                packed[fed.slots] = self._score([fed]).arrays()[0]
                for path in paths(fed):
                    logits = self.model(input_ids=self._to_device(path.ids[None]), use_cache=False).logits[0].float()
                    logprobs = logits.log_softmax(-1)[
                        to_device(path.heads[path.target_heads], logits.device), to_device(path.targets, logits.device)
                    ]
                    plain[path.slots] = logprobs.double().cpu().numpy()
        except (TypeError, ValueError, AttributeError, NotImplementedError, RuntimeError) as error:
            if is_out_of_memory(error):
                raise no_room_to_run(error) from error
            return False
        near = TOLERANCE if self.dtype in (torch.float32, torch.float64) else HALF_TOLERANCE
        return bool(np.allclose(packed, plain, rtol=0, atol=near))


# cuDNN plans its attention anew for every number of rows and every length: of short rows, whose lengths are many, that
# costs more than it saves, unless they fill a batch, whose shape comes again (bench/RESULTS.md). Whatever is computed
# beside keeps the kernels it has without scoring.
@contextlib.contextmanager
def planned_once(length: int, *, is_full: bool = False) -> Iterator[None]:
    """Leaves cuDNN's attention out for rows of so many tokens, where they are short and do not fill a batch."""
    usual = torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(usual and (is_full or length >= LONG_ROW))
    try:
        yield
    finally:
        torch.backends.cuda.enable_cudnn_sdp(usual)


def _count_cards(model: Any) -> int:
    """How many devices a model is on: the engine's own says it, accelerate notes it on those of transformers."""
    return int(getattr(model, "cards", 0)) or max(1, len(set(getattr(model, "hf_device_map", {}).values())))


def _toy_row(trunk: int, words: int) -> PackedRow:
    """A trunk with two branches, everything scored that can be."""
    first, second = range(trunk, trunk + TOY_BRANCH), range(trunk + TOY_BRANCH, trunk + 2 * TOY_BRANCH)
    size = second.stop
    parents = [*range(-1, trunk - 1), *range(trunk - 1, first.stop - 1), trunk - 1, *second[:-1]]
    positions = [*range(trunk + TOY_BRANCH), *range(trunk, trunk + TOY_BRANCH)]
    ids = [(3 + 7 * i) % min(words, 89) for i in range(size)]
    return PackedRow(tuple(ids), tuple(parents), tuple(positions), tuple(parent >= 0 for parent in parents))
