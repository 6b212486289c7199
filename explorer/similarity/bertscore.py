"""BERTScore F1 (Zhang et al. 2020) with any encoder on this machine, always named with its layer."""

from __future__ import annotations

import json
import math
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from explorer import packaged
from explorer.errors import ModelError
from explorer.settings import Settings
from explorer.similarity.measured import Similarity, similarity_of_empty

MINILM = "all-minilm-l6-v2"
PAPERS = "FacebookAI/roberta-large"  # the encoder of the published scores; MiniLM's are not comparable with them
BATCH = 64


class BertScore:
    """Scores pairs of texts by matching their token vectors; `name` says which encoder and which of its layers."""

    def __init__(self, name: str, path: Path, device: str = "cpu") -> None:
        from bert_score import BERTScorer
        from bert_score.utils import model2layers

        try:
            layers = int(json.loads((path / "config.json").read_text("utf-8"))["num_hidden_layers"])
            # The layers that its authors found best; for other encoders the last one.
            self.layer = model2layers.get(name.rpartition("/")[2], layers)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._scorer: Any = BERTScorer(model_type=str(path), num_layers=self.layer, device=device)
        except (OSError, KeyError, ValueError) as error:
            raise ModelError(f"{path} holds no encoder that BERTScore can use ({error}). Name another one.") from error
        self.name = f"{name}, layer {self.layer}"
        self._longest = min(int(self._scorer._tokenizer.model_max_length), 10**6)
        self._lock = threading.Lock()

    def f1(self, originals: Sequence[str], changed: Sequence[str]) -> list[Similarity]:
        """BERTScore F1 of each pair, without rescaling; a reason where the encoder saw only the beginning of a text."""
        pairs = list(zip(originals, changed, strict=True))
        shortcuts = [similarity_of_empty(original, edited) for original, edited in pairs]
        scored = [
            pair for pair, shortcut in zip(pairs, shortcuts, strict=True) if shortcut is None
        ]  # an empty text crashes the package
        with self._lock:
            values = (
                self._scorer.score([two for _, two in scored], [original for original, _ in scored])[2]
                if scored
                else []
            )
            cut = [any(self._tokens(text) > self._longest for text in pair) for pair in scored]
        scores = iter(zip(values, cut, strict=True))
        return [shortcut or self._similarity(*next(scores)) for shortcut in shortcuts]

    def _tokens(self, text: str) -> int:
        # A token has at least one character; only long texts are worth counting.
        return len(self._scorer._tokenizer(text)["input_ids"]) if len(text) > self._longest else 0

    def _similarity(self, value: Any, cut: bool) -> Similarity:
        number = float(value)
        if math.isnan(number):
            return Similarity(math.nan, "the encoder gave no vectors")
        return Similarity(number, f"text cut to {self._longest} tokens" if cut else "")


def load(settings: Settings, encoder: str = MINILM, device: str = "cpu") -> BertScore:
    """BERTScore over the installed MiniLM, a Hugging Face id (the paper's is roberta-large) or a folder."""
    if encoder.lower() == MINILM:
        return BertScore(MINILM, packaged.folder(packaged.MINILM, ModelError), device)
    from explorer.scoring import hf_source

    source = hf_source.locate(encoder, settings)
    return BertScore(source.name, source.path, device)
