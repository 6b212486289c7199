"""A causal model with the engine's own layers in this process: it scores and writes, and transformers is not imported.

    this process     read the weights, make the layers     | forward passes, each a third of transformers' Python
    the tokenizer's  import, read the tokenizer, tell it

Whatever needs more of a model than scores and answers (its own `generate`, its embeddings) has it loaded by `hf.py`, as
are all that the engine does not know, and those that are spread over several cards.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace

from explorer.scoring import hf_direct
from explorer.scoring.embedded import Steps
from explorer.scoring.encode import DescribedTokenizer, TextEncoder, TokenizerSetup
from explorer.scoring.engine.device import choose_device
from explorer.scoring.hf_direct import DirectModel
from explorer.scoring.hf_source import Source
from explorer.scoring.hf_text_model import TextModel
from explorer.scoring.tokenizer_reading import TokenizerReading
from explorer.settings import Settings

# On a processor a pass takes far longer than the Python that orders it, whoever has the layers.
DEVICES = ("cuda",)


class LightModel(TextModel):
    """A loaded causal model of one of the engine's families."""

    def __init__(self, direct: DirectModel, setup: TokenizerSetup) -> None:
        self.tokenizer = DescribedTokenizer(setup.tokenizer)
        known = direct.source.known
        encoder = TextEncoder(self.tokenizer, known.bos if known else "")
        super().__init__(direct.source, direct.runner, encoder, setup.window, setup.words, direct.dtype)
        self._direct = direct
        self._ends = setup.ends

    def identify(self, source: Source) -> None:
        """Sets the identity of a model that was loaded ahead, before its weights were hashed."""
        self.source, self._direct = source, replace(self._direct, source=source)

    @property
    def ends(self) -> frozenset[int]:
        """The tokens at which it ends an answer."""
        return self._ends

    def record(self) -> dict[str, str | int]:
        """As `HFModel.record`, with whose layers they are."""
        return {**self._direct.record(), "tokenizer": self.encoder.hash, "window": self.window}


def load(
    source: Source, settings: Settings, device: str = "auto", dtype: str = "auto", progress: Steps | None = None
) -> LightModel | None:
    """The model of these files, or None where transformers has to load it, or may as well."""
    if not is_worthwhile(settings, device) or hf_direct.shape_of(source) is None:
        return None
    if progress:
        progress(f"Loading {source.name}", 0.9)
    with contextlib.closing(TokenizerReading(source)) as reading:
        direct = hf_direct.load(source, settings, device, dtype)
        model = LightModel(direct, reading.result()) if direct else None
    if model and progress:
        progress(f"{source.name} is loaded", 1.0)
    return model


def is_worthwhile(settings: Settings, device: str = "auto") -> bool:
    """Whether a model is best loaded so where it runs."""
    return os.name == "posix" and not settings.shard and choose_device(device).type in DEVICES
