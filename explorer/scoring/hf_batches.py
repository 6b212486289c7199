"""Rows of different lengths in padded batches, for models that are not causal; causal ones pack (engine/packing)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch

from explorer.scoring.model import Progress
from explorer.stopping import turn

Row = TypeVar("Row")
Answer = TypeVar("Answer")

# Tokens of a batch: each has a log-probability for the whole vocabulary.
BATCH_TOKENS = {"cuda": 16384, "cpu": 1024}


def run_in_batches(
    rows: Sequence[Row],
    length: Callable[[Row], int],
    ask: Callable[[Sequence[Row]], Sequence[Answer]],
    device: torch.device,
    lock: threading.Lock,
    progress: Progress | None,
) -> list[Answer]:
    """What `ask` says of each row, in the order given; others may have the model between two batches."""
    # The lock is given back between batches, so that a page that asks for one sentence need not wait for a whole run.
    answer_of: dict[int, Answer] = {}
    # The longest first: rows of like length share a batch, so that little of it is padding.
    order = sorted(range(len(rows)), key=lambda number: length(rows[number]))
    while order:
        size = max(1, BATCH_TOKENS.get(device.type, 1024) // length(rows[order[-1]]))
        batch, order = order[-size:], order[:-size]
        with turn(lock):
            answers = ask([rows[number] for number in batch])
        answer_of.update(zip(batch, answers, strict=True))
        if progress:
            progress(len(rows) - len(order), len(rows))
    return [answer_of[number] for number in range(len(rows))]


def pad_rows(rows: Sequence[Sequence[int]], filler: int, device: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows as one tensor, padded at the right, and a mask that is 1 where a token stands and 0 on padding.

    For example (5, 6, 7) and (8,) with the filler 0:  [5 6 7]   [1 1 1]
                                                       [8 0 0]   [1 0 0]
    """
    ids = torch.full((len(rows), max(map(len, rows))), filler, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.tensor(row, dtype=torch.long)
        mask[number, : len(row)] = 1
    return ids.to(device), mask.to(device)


def progress_in_requests(progress: Progress | None, requests: int) -> Progress | None:
    """Progress that is told in rows, passed on in requests, since one request may be several rows."""
    if progress is None:
        return None
    return lambda done, rows: progress(requests * done // max(rows, 1), requests)
