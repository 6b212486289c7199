"""Scores packed rows behind a prefix that all of them share, whose keys and values the generator keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from explorer.records import PackedRow
from explorer.scoring.engine.contract import Decoder, Ids, Progress, RowScores, Stats
from explorer.scoring.engine.decoder import FOREST_TOKENS, CachedDecoder
from explorer.scoring.engine.kv_cache import CachedRows
from explorer.scoring.engine.masks import sees_ancestors
from explorer.scoring.engine.out_of_memory import run_or_release
from explorer.scoring.engine.packing import FedRow, Scored, no_scores, pad, prepare, targets_of, write_scores
from explorer.scoring.engine.transfer import Arriving, OneBehind


def can_share(decoder: Decoder) -> bool:
    """Whether the model behind a decoder can go on from a kept prefix."""
    return isinstance(decoder, CachedDecoder)


def row_tokens(decoder: Decoder) -> int:
    """How long a row behind a prefix is best made."""
    assert isinstance(decoder, CachedDecoder)
    return FOREST_TOKENS.get(decoder.device.type, 128)


@dataclass(frozen=True, slots=True)
class PreparedRows:
    """Packed rows, and what the model must be fed to score them."""

    rows: Sequence[PackedRow]
    fed: Sequence[FedRow]


def prepare_rows(rows: Sequence[PackedRow]) -> PreparedRows:
    """Rows that can be scored behind a prefix; made on the processor alone."""
    return PreparedRows(rows, [prepare(row, number) for number, row in enumerate(rows)])


def logprobs(
    decoder: Decoder, prefix: Ids, prepared: PreparedRows, stats: Stats, progress: Progress | None = None
) -> list[RowScores]:
    """Scores of rows whose roots follow the prefix, in the order asked; a root itself has none."""
    return begin(decoder, prefix, prepared, stats, progress)()


def begin(
    decoder: Decoder, prefix: Ids, prepared: PreparedRows, stats: Stats, progress: Progress | None = None
) -> Callable[[], list[RowScores]]:
    """As `logprobs`, but returns when the last batch is queued on a GPU; what is given waits for it."""
    assert isinstance(decoder, CachedDecoder)
    results = no_scores(prepared.rows)
    # The longest first: memory runs out at once or not at all.
    pending = sorted((fed for fed in prepared.fed if len(fed.targets)), key=lambda fed: -len(fed))
    total, most, scored_rows = len(pending), len(pending), 0

    def store(batch: Sequence[FedRow], scored: Scored) -> None:
        nonlocal scored_rows
        write_scores(batch, scored, results)
        scored_rows += len(batch)
        if progress:
            progress(scored_rows, total)

    queue = OneBehind(store)
    while pending:
        size = max(1, min(most, decoder.batch_tokens // len(pending[0])))
        batch = pending[:size]
        scored = _score_or_release(decoder, prefix, batch, stats)
        if scored is None:
            most = max(1, len(batch) // 2)
            continue
        queue.add(batch, scored)
        pending = pending[len(batch) :]

    def finish() -> list[RowScores]:
        queue.finish()
        return results

    return finish


def _score_or_release(decoder: CachedDecoder, prefix: Ids, batch: Sequence[FedRow], stats: Stats) -> Arriving | None:
    """The batch's scores on their way, or none where memory ran out and a smaller batch may do."""

    def score() -> Arriving:
        with decoder.runner.lock, torch.inference_mode():
            scored = _score(decoder, decoder.prefixes.get(prefix, stats) if prefix else None, batch)
        stats.read_tokens += sum(len(fed) for fed in batch)
        stats.passes += 1
        return scored

    too_large = (
        f"Memory ran out on a row of {len(batch[0])} tokens behind {len(prefix)} shared ones. Choose fewer "
        "demonstrations, a smaller model, a smaller dtype or a machine with more memory."
    )
    # The kept prefixes go, too: the next try reads the one it needs again.
    return run_or_release(score, too_large if len(batch) == 1 else "", decoder.device, decoder.prefixes.clear)


def _score(decoder: CachedDecoder, prefix: CachedRows | None, batch: Sequence[FedRow]) -> Arriving:
    """Log-probabilities and greedy flags of all targets of a batch, row after row."""
    # No `row_length` here: a kernel misreads keys that are expanded over heads, and kv_cache never expands them.
    length = max(map(len, batch))
    rows = CachedRows(len(batch), length, decoder.device, prefix)
    ids, positions, ends = (decoder.to_device(part) for part in pad(batch, length))
    # Roots follow the prefix: their position 0 is the first behind it.
    hidden = decoder.forward(ids, positions + rows.start, rows, sees_ancestors(ends))
    heads, target_heads, targets = targets_of(batch, length)
    logprobs, greedy = decoder.runner.head.score(hidden.flatten(0, 1)[decoder.to_device(heads)], target_heads, targets)
    return Arriving([logprobs.double(), greedy])
