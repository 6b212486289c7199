"""Sentence vectors and masked language models by transformers."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from explorer import packaged
from explorer.errors import ModelError
from explorer.scoring import hf_kind, hf_load, hf_source, hf_tokenizer
from explorer.scoring.embedded import Steps
from explorer.scoring.encode import why_unencodable
from explorer.scoring.engine.device import choose_device
from explorer.scoring.hf_batches import pad_rows
from explorer.scoring.model import Gap
from explorer.scoring.vocabulary_words import whole_words
from explorer.settings import Settings

MINILM = "all-minilm-l6-v2"
BATCH_TOKENS = {"cpu": 1024, "cuda": 65536, "mps": 16384}
ROBERTA = "FacebookAI/roberta-base"
MASKED_TOKENS = {"cpu": 1024, "cuda": 8192, "mps": 2048}  # each makes logits of the whole vocabulary
AROUND = 800  # characters on each side of a gap that a masked model reads: about its window
LONGEST = 256  # tokens, where a model does not say how much of a text it was trained to take


class SentenceEncoder:
    """Texts to unit vectors by a transformer encoder whose token vectors are averaged."""

    def __init__(self, name: str, path: Path, record: dict[str, str], device: str = "auto") -> None:
        self.name = name
        self._record = record
        self._device = choose_device(device)
        self._lock = threading.Lock()
        self._tokenizer, model, _ = _read(
            path, transformers.AutoModel, f"The encoder {name} cannot be loaded", "Reinstall or fetch it again."
        )
        self._model = model.to(self._device).eval()
        self._longest = int(_setting(path / "sentence_bert_config.json", "max_seq_length", LONGEST))
        self._first_token = bool(_setting(path / "1_Pooling" / "config.json", "pooling_mode_cls_token", False))

    def record(self) -> dict[str, str]:
        """What identifies the encoder: name, revision, weights hash."""
        return dict(self._record)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors, float32, shape (texts, dimensions); texts beyond the model's length are cut at their end."""
        vectors = np.zeros((len(texts), self._model.config.hidden_size), dtype=np.float32)
        # An unpaired surrogate, which no tokenizer takes, is read as the mark of a broken character.
        plain = [text.encode("utf-8", "replace").decode() if why_unencodable(text) else text for text in texts]
        with self._lock, torch.inference_mode():
            rows = self._tokenizer(plain, truncation=True, max_length=self._longest)["input_ids"] if plain else []
            order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
            # The longest texts first: if memory is too small it shows in the first batch.
            while order:
                longest = len(rows[order[-1]])
                size = max(1, BATCH_TOKENS.get(self._device.type, 4096) // max(1, longest))
                batch, order = order[-size:], order[:-size]
                vectors[batch] = self._vectors([rows[i] for i in batch])
        return vectors

    def _vectors(self, rows: Sequence[Sequence[int]]) -> np.ndarray:
        ids, mask = pad_rows(rows, 0, self._device)
        states = self._model(input_ids=ids, attention_mask=mask).last_hidden_state
        # Models differ in what stands for a whole text: the vector of the first token ([CLS]), or the mean of all
        # vectors. In the mean padding must not count, or a text's vector would depend on the length of the longest text
        # beside it.
        if self._first_token:
            pooled = states[:, 0]
        else:
            weights = mask[:, :, None].to(states.dtype)
            pooled = (states * weights).sum(1) / weights.sum(1).clamp(min=1)
        return torch.nn.functional.normalize(pooled.float(), dim=-1).cpu().numpy()


class MaskedModel:
    """A masked language model that proposes words for a gap."""

    def __init__(self, name: str, path: Path, record: dict[str, str], device: str = "auto") -> None:
        self.name = name
        self.method = f"masked LM {name}"
        self._record = record
        self._device = choose_device(device)
        self._lock = threading.Lock()
        self._tokenizer, model, report = _read(
            path, transformers.AutoModelForMaskedLM, f"{name} cannot be loaded as a masked model", "Give another one."
        )
        if report["missing_keys"] or self._tokenizer.mask_token is None:
            raise ModelError(f"{name} is no masked language model: it has no trained head or no mask token.")
        self._model = model.to(self._device).eval()
        self._words, self._starts_word = whole_words(self._tokenizer)
        # RoBERTa counts positions from 2.
        self._longest = min(self._tokenizer.model_max_length, self._model.config.max_position_embeddings - 2)

    def record(self) -> dict[str, str]:
        """What identifies the model: name, revision, weights hash."""
        return dict(self._record)

    def propose(self, gaps: Sequence[Gap], count: int) -> list[list[tuple[str, float]]]:
        """For each gap the likeliest whole words with their log-probability in nats; none where it was cut away."""
        texts = [self._with_mask(gap) for gap in gaps]
        rows = self._tokenizer(texts, truncation=True, max_length=self._longest)["input_ids"] if texts else []
        proposals: list[list[tuple[str, float]]] = [[] for _ in gaps]
        mask = self._tokenizer.mask_token_id
        order = sorted((i for i, ids in enumerate(rows) if mask in ids), key=lambda i: len(rows[i]))
        while order:
            longest = len(rows[order[-1]])
            size = max(1, MASKED_TOKENS.get(self._device.type, 1024) // longest)
            batch, order = order[-size:], order[:-size]
            places = [rows[i].index(mask) for i in batch]
            for i, logprobs in zip(batch, self._logprobs([rows[i] for i in batch], places), strict=True):
                best = self._starts_word[np.argsort(-logprobs[self._starts_word], kind="stable")[:count]]
                proposals[i] = [(self._words[int(word)], float(logprobs[word])) for word in best]
        return proposals

    def _with_mask(self, gap: Gap) -> str:
        left, right = gap.left[-AROUND:], gap.right[:AROUND]
        return f"{left}{self._tokenizer.mask_token}{right}"

    def _logprobs(self, rows: Sequence[Sequence[int]], places: Sequence[int]) -> np.ndarray:
        """Log-probabilities of the vocabulary at one place of each row."""
        ids, mask = pad_rows(rows, self._tokenizer.pad_token_id or 0, self._device)
        with self._lock, torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=mask).logits
            chosen = logits[torch.arange(len(rows)), torch.tensor(places)]
            return chosen.float().log_softmax(-1).cpu().numpy()


def load(name: str, settings: Settings, progress: Steps | None = None) -> SentenceEncoder:
    """A sentence encoder: the installed all-MiniLM-L6-v2, a Hugging Face id or a folder."""
    if name.lower() in (MINILM, f"sentence-transformers/{MINILM}"):
        path = packaged.folder(packaged.MINILM, ModelError)
        return SentenceEncoder(MINILM, path, {"model": MINILM, "weights": packaged.MINILM.package})
    source = hf_source.locate(name, settings, progress=progress)
    return SentenceEncoder(source.name, source.path, _record(source))


def load_masked(name: str, settings: Settings, progress: Steps | None = None) -> MaskedModel:
    """A masked language model: a Hugging Face id (roberta-base is the usual choice) or a folder."""
    source = hf_source.locate(name, settings, progress=progress)
    return MaskedModel(source.name, source.path, _record(source))


def _read(path: Path, kind: Any, failure: str, remedy: str) -> tuple[Any, Any, Any]:
    """Tokenizer, model in float32 and what was missing in its files; ModelError where they cannot be read."""
    transformers.utils.logging.disable_progress_bar()
    try:
        where: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        config = transformers.AutoConfig.from_pretrained(path, **where)
        hf_kind.require_size_as_files(path.name, config, hf_source.count_parameters(path), remedy, kind.__name__)
        tokenizer = transformers.AutoTokenizer.from_pretrained(path, **where)
        model, report = kind.from_pretrained(
            path, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **where
        )
    except Exception as error:  # whatever transformers raises of files from elsewhere
        why = error if isinstance(error, ModelError) else hf_tokenizer.first_line(error)
        raise ModelError(f"{failure} ({why}). {remedy}") from error
    hf_load.require_own_tokenizer(path.name, tokenizer, model)
    return tokenizer, model, report


def _record(source: hf_source.Source) -> dict[str, str]:
    return {"model": source.name, "revision": source.revision, "weights": source.weights}


def _setting(path: Path, key: str, default: Any) -> Any:
    return json.loads(path.read_text("utf-8")).get(key, default) if path.is_file() else default
