"""The sizes of the glass-box models and how each is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from explorer.errors import UsageError

WINDOW = 1_024  # tokens
BATCH = 16  # sequences of the window's length in a step
EPOCHS = 3
SEED = 0


@dataclass(frozen=True, slots=True)
class Size:
    """The shape of a model (a Llama with tied embeddings) and its highest learning rate."""

    name: str
    width: int
    layers: int
    heads: int
    inner: int
    rate: float

    def config(self) -> dict[str, Any]:
        """What transformers' LlamaConfig is made from, but for the vocabulary."""
        return {
            "hidden_size": self.width,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.heads,
            "intermediate_size": self.inner,
            "max_position_embeddings": WINDOW,
            "tie_word_embeddings": True,
            "bos_token_id": 0,
            "eos_token_id": 0,
            "attention_dropout": 0.0,
        }


SIZES = {
    size.name: size
    for size in (
        # Heads of 32 numbers, as the others have: of 24, attention takes three times as long on a processor.
        Size("xs", 96, 4, 3, 264, 5e-3),
        Size("s", 128, 6, 4, 352, 4e-3),
        Size("m", 256, 8, 8, 704, 2e-3),
        Size("l", 448, 10, 8, 1216, 1.2e-3),
    )
}


def size_of(name: str) -> Size:
    """The size of this name, also written as the model's: `s` or `glassbox-s`."""
    short = name.removeprefix("glassbox-")
    if short not in SIZES:
        raise UsageError(f"There is no glass-box model {name!r}, expected one of {', '.join(SIZES)}.")
    return SIZES[short]


def checkpoint_steps(total: int) -> list[int]:
    """The steps after which weights are kept: 0, 1, 2, 4, 8, ... and the last."""
    steps = [0, *(2**power for power in range(total.bit_length()) if 2**power < total)]
    return [*steps, total]
