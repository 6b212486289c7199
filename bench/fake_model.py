"""A language model that answers at once, so that all that stands around the engine can be timed and tested alone.

Its log-probabilities are arithmetic on the token ids: no weights, no torch, the same numbers on every machine. The
texts are encoded by a real tokenizer, and rows are packed, scored and put together as for any other model.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from explorer.records import Generation, PackedRow, Request
from explorer.resources import Resources
from explorer.scoring.encode import TextEncoder
from explorer.scoring.generate import Stats
from explorer.scoring.model import Encoding, Progress, RowScores
from explorer.scoring.score import ModelScorer

END = "</s>"


def make_folder(folder: Path, tokenizer: Path | None = None) -> Path:
    """A folder that looks like a model's, with the named tokenizer.json, or one whose tokens are bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    if tokenizer is not None:
        shutil.copyfile(tokenizer, folder / "tokenizer.json")
    else:
        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
        made = Tokenizer(models.BPE(vocab={END: 0, **{letter: i + 1 for i, letter in enumerate(alphabet)}}, merges=[]))
        made.add_special_tokens([END])
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = decoders.ByteLevel()
        made.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}))
    header = b"{}"
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    return folder


class FastTokenizer:
    """What TextEncoder asks of a tokenizer of transformers, without importing transformers."""

    bos_token_id = eos_token_id = 0
    chat_template = None

    def __init__(self, path: Path) -> None:
        self.backend_tokenizer = Tokenizer.from_file(str(path))

    def __call__(self, text: str) -> dict[str, list[int]]:
        return {"input_ids": self.backend_tokenizer.encode(text, add_special_tokens=False).ids}


class FakeModel:
    """A LanguageModel whose token has the log-probability that its id and its predecessor's are hashed to.

    `rate` is how many tokens a second a card would score; 0 answers at once. The wait leaves the processor free, as
    a card does.
    """

    window = 4096
    row_tokens = 128
    dtype = "float32"

    def __init__(self, folder: Path, rate: float = 0.0) -> None:
        self.name = str(folder)
        self.tokenizer = FastTokenizer(folder / "tokenizer.json")
        self.encoder = TextEncoder(self.tokenizer)
        self.rate = rate
        self.busy = 0.0  # seconds that the card would have worked
        self.calls: list[tuple[float, float]] = []  # when each call began and ended

    def record(self) -> dict[str, str | int]:
        """What identifies it."""
        return {"model": self.name, "weights": "", "dtype": self.dtype, "device": "none", "window": self.window}

    def encode(self, context: str, continuation: str, bos: Any, split: Any) -> Encoding:
        """One request as token ids."""
        return self.encoder.encode(context, continuation, bos, split)

    def encode_all(self, pairs: Sequence[tuple[str, str]], bos: Any, split: Any) -> list[Encoding]:
        """Many requests as token ids."""
        return self.encoder.encode_all(pairs, bos, split)

    def decode(self, ids: Sequence[int]) -> tuple[str, ...]:
        """The text of each token."""
        return self.encoder.texts(ids)

    def logprobs(
        self, rows: Sequence[PackedRow], progress: Progress | None = None, token_budget: int | None = None
    ) -> list[RowScores]:
        """Scores of packed rows, in the order asked."""
        began = time.monotonic()
        tokens = sum(len(row.ids) for row in rows)
        made = [self._row(row) for row in rows]
        if self.rate:
            time.sleep(max(0.0, tokens / self.rate - (time.monotonic() - began)))
        self.busy += tokens / self.rate if self.rate else 0.0
        self.calls.append((began, time.monotonic()))
        if progress:
            progress(len(rows), len(rows))
        return made

    def _row(self, row: PackedRow) -> RowScores:
        ids = np.array(row.ids, dtype=np.int64)
        scored = np.array(row.scored)
        parents = np.array(row.parents)[scored]
        before = np.where(parents >= 0, ids[parents], 0)
        mixed = (ids[scored] * 2_654_435_761 + before * 40_503 + 12_345) % 65_521
        # A power of two below, so that every number is exact.
        return RowScores(-(mixed % 4096) / 512.0 - 0.0625, mixed % 3 == 0)


class FakeGenerator:
    """Answers every prompt with digits that follow from its length."""

    def __init__(self, model: FakeModel) -> None:
        self.model = model
        self.name = model.name
        self.stats = Stats()

    def generate(
        self, requests: Sequence[Request], *, max_new_tokens: int, progress: Progress | None = None, **rest: Any
    ) -> list[Generation]:
        """A text after each request's context."""
        made = [Generation(one, f"{len(one.context) % 10_000_000:07d}.", (1, 2, 3), "stop") for one in requests]
        if progress:
            progress(len(requests), len(requests))
        return made


class FakeResources(Resources):
    """The real resources, but for the language model."""

    rate = 0.0
    made: FakeModel | None = None

    def fetch(self, name: str, dtype: str = "auto", device: str = "auto") -> None:
        """Nothing is fetched."""

    def model(self, name: str, dtype: str = "auto", device: str = "auto") -> Any:
        """The fake model with the tokenizer in the folder `name`."""
        found = self.once(("fake model", name), lambda: FakeModel(Path(name), self.rate))
        FakeResources.made = found
        return found

    def scorer(self, name: str, dtype: str = "auto", device: str = "auto") -> Any:
        """The fake model as a scorer."""
        return ModelScorer(self.model(name))

    def generator(self, name: str, dtype: str = "auto", device: str = "auto") -> Any:
        """The fake model as a generator."""
        return self.once(("fake generator", name), lambda: FakeGenerator(self.model(name)))
