"""What to do when memory runs out: give everything back, so that the caller can try again with half the batch."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TypeVar

import torch

from explorer.errors import ModelError

T = TypeVar("T")
# PyTorch has an error class of its own for GPUs alone; its allocator for processors raises a plain RuntimeError.
ALLOCATION_MESSAGES = ("can't allocate memory", "not enough memory", "out of memory", "failed to allocate")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a failure means that a smaller batch may succeed."""
    return isinstance(error, torch.OutOfMemoryError) or any(sign in str(error).lower() for sign in ALLOCATION_MESSAGES)


def run_or_release(
    run: Callable[[], T], too_large: str, device: torch.device, release: Callable[[], None] | None = None
) -> T | None:
    """What `run` returns, or None where memory ran out and the caller should try again with a smaller batch.

    `too_large` is the message where the batch cannot be made smaller, "" where it can. `release` drops what the caller
    keeps between batches.
    """
    try:
        return run()
    except RuntimeError as error:  # torch.OutOfMemoryError is one
        if not is_out_of_memory(error):
            raise
        if too_large:
            raise ModelError(too_large) from error
    # Outside of the handler on purpose: inside it the error still holds its traceback, the traceback the frames of the
    # model, and those the very tensors that must be freed.
    if release:
        release()
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    return None


def no_room_to_run(error: BaseException) -> ModelError:
    """The error of a model whose weights fit, but which has no memory left for its first small batch."""
    model_error = ModelError(
        "The model was loaded, but no memory is left to run it. "
        "Choose a smaller model, a smaller dtype or a machine with more memory."
    )
    model_error.__cause__ = error
    return model_error
