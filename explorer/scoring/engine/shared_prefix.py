"""Scores packed rows behind a prefix that all of them share, whose keys and values the generator keeps."""

from __future__ import annotations

import gc
from collections.abc import Sequence

import numpy as np
import torch

from explorer.errors import ModelError
from explorer.records import PackedRow
from explorer.scoring.engine.contract import Decoder, Ids, Progress, RowScores, Stats
from explorer.scoring.engine.decoder import FOREST_TOKENS, CachedDecoder, is_out_of_memory
from explorer.scoring.engine.kv_cache import Rows
from explorer.scoring.engine.packing import Work, prepare


def can_share(decoder: Decoder) -> bool:
    """Whether the model behind a decoder can go on from a kept prefix."""
    return isinstance(decoder, CachedDecoder)


def row_tokens(decoder: Decoder) -> int:
    """How long a row behind a prefix is best made."""
    assert isinstance(decoder, CachedDecoder)
    return FOREST_TOKENS.get(decoder.device.type, 128)


def logprobs(
    decoder: Decoder, prefix: Ids, rows: Sequence[PackedRow], stats: Stats, progress: Progress | None = None
) -> list[RowScores]:
    """Scores of rows whose roots follow the prefix, in the order asked; a root itself has none."""
    assert isinstance(decoder, CachedDecoder)
    results = [RowScores(np.full(sum(row.scored), np.nan), np.zeros(sum(row.scored), bool)) for row in rows]
    works = [prepare(row, number) for number, row in enumerate(rows)]
    # The longest first: memory runs out at once or not at all.
    pending = sorted((work for work in works if len(work.targets)), key=lambda work: -len(work))
    total, most = len(pending), len(pending)
    while pending:
        size = max(1, min(most, decoder.batch_tokens // len(pending[0])))
        batch = pending[:size]
        found = _try(decoder, prefix, batch, stats)
        if found is None:
            most = max(1, len(batch) // 2)
            continue
        cuts = np.cumsum([len(work.targets) for work in batch])[:-1]
        for work, values, flags in zip(batch, *(np.split(part, cuts) for part in found), strict=True):
            results[work.row].logprobs[work.slots] = values
            results[work.row].greedy[work.slots] = flags
        pending = pending[len(batch) :]
        if progress:
            progress(total - len(pending), total)
    return results


def _try(
    decoder: CachedDecoder, prefix: Ids, batch: Sequence[Work], stats: Stats
) -> tuple[np.ndarray, np.ndarray] | None:
    """The batch's scores, or none where memory ran out and a smaller batch may do."""
    try:
        with decoder.runner.lock, torch.inference_mode():
            found = _score(decoder, decoder.prefixes.get(prefix, stats) if prefix else None, batch)
        stats.read_tokens += sum(len(work) for work in batch)
        stats.passes += 1
        return found
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        if len(batch) == 1:
            raise ModelError(
                f"Memory ran out on a row of {len(batch[0])} tokens behind {len(prefix)} shared ones. Choose fewer "
                "demonstrations, a smaller model, a smaller dtype or a machine with more memory."
            ) from error
    # Only here is the error, with all that hung on it, gone.
    decoder.prefixes.clear()
    gc.collect()
    if decoder.device.type == "cuda":
        torch.cuda.empty_cache()
    return None


def _score(decoder: CachedDecoder, behind: Rows | None, batch: Sequence[Work]) -> tuple[np.ndarray, np.ndarray]:
    length = max(map(len, batch))
    rows = Rows(len(batch), length, decoder.device, behind)
    ids, positions = np.zeros((2, len(batch), length), dtype=np.int64)
    # A padding token ends with itself: it is seen by none and sees itself.
    ends = np.tile(np.arange(1, length + 1), (len(batch), 1))
    for row, work in enumerate(batch):
        size = len(work)
        ids[row, :size], positions[row, :size], ends[row, :size] = work.ids, work.positions, work.end
    place = torch.arange(length, device=decoder.device)
    end = decoder.put(ends)
    within = (place[None, None, :] <= place[None, :, None]) & (place[None, :, None] < end[:, None, :])
    hidden = decoder.forward(decoder.put(ids), decoder.put(positions) + rows.start, rows, within)
    heads = np.concatenate([row * length + work.heads for row, work in enumerate(batch)])
    before = np.cumsum([0, *(len(work.heads) for work in batch)])
    target_heads = np.concatenate([count + work.target_heads for count, work in zip(before, batch, strict=False)])
    targets = np.concatenate([work.targets for work in batch])
    logs, greedy = decoder.runner.head.score(hidden.flatten(0, 1)[decoder.put(heads)], target_heads, targets)
    return logs.double().cpu().numpy(), greedy.cpu().numpy()
