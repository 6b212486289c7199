"""Cards that are not there: tensors that say they are on one, and that refuse to be computed with those of another.

Within `MadeUpCards` a tensor made on or moved to a card is computed on the processor and remembers its card, so that
numbers are real. A plain tensor is on the processor, and may stand beside them only where it is a single number.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_map

PROCESSOR = torch.device("cpu")


class OnCard(torch.Tensor):
    """A tensor that remembers its card."""

    card: torch.device


class MadeUpCards(TorchFunctionMode):
    """In force within a `with`; `moves` counts tensors that went from one card to another."""

    def __init__(self) -> None:
        super().__init__()
        self.moves = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        tensors = [each for each in tree_flatten((args, kwargs))[0] if isinstance(each, torch.Tensor)]
        cards = {_card_of(each) for each in tensors if isinstance(each, OnCard) or each.dim()}
        if func == torch.Tensor.device.__get__:  # type: ignore[attr-defined]
            return _card_of(args[0])
        if func is torch.Tensor.pin_memory:
            return args[0]
        wanted = [each for each in (*args, kwargs.get("device")) if isinstance(each, torch.device)]
        if not wanted:
            assert len(cards) <= 1, f"{func.__name__} was given tensors of {sorted(map(str, cards))}"
        on = wanted[0] if wanted else next(iter(cards), PROCESSOR)
        self.moves += bool(wanted and cards and on not in cards)
        args, kwargs = tree_map(_plain, (args, kwargs))
        result = func(*args, **kwargs)
        return tree_map(lambda each: _put(each, on) if isinstance(each, torch.Tensor) else each, result)


def _card_of(tensor: torch.Tensor) -> torch.device:
    return tensor.card if isinstance(tensor, OnCard) else PROCESSOR


def _plain(each: Any) -> Any:
    """The same for the processor."""
    if isinstance(each, torch.device):
        return PROCESSOR
    with torch._C.DisableTorchFunction():
        return each.as_subclass(torch.Tensor) if isinstance(each, OnCard) else each


def _put(tensor: torch.Tensor, card: torch.device) -> torch.Tensor:
    if card == PROCESSOR:
        return tensor
    with torch._C.DisableTorchFunction():
        placed = tensor.as_subclass(OnCard)
    placed.card = card
    return placed
