"""Masked and encoder-decoder models read from their files, and the record of any model that transformers has loaded.

What a file from elsewhere lacks, or what transformers raises of it, comes out as one sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch
import transformers

from explorer.errors import ModelError
from explorer.scoring import hf_kind, hf_source
from explorer.scoring.encode import TextEncoder
from explorer.scoring.engine.device import DTYPES, check_memory, choose_device, choose_dtype
from explorer.scoring.hf_reading import first_line, read_tokenizer
from explorer.scoring.hf_source import Source

TRIED = 1_000  # tokens that a model may lack and that are written out


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of model that is not causal: what loads it, what it must have, and how a lack is told."""

    loader: str  # the class of transformers
    called: str  # "a masked language model"
    weights: str  # what is lacking where the files do not hold all weights
    needs: str  # what is lacking where `has_needs` is false
    has_needs: Callable[[Any, Any], bool]  # of a model and its tokenizer
    otherwise: str  # what cannot be done without it, and what to choose instead


class Described(Protocol):
    """What the record of a loaded model is made from."""

    name: str
    source: Source
    encoder: TextEncoder
    model: Any
    dtype: str
    window: int


def load(source: Source, kind: Kind, device: str = "auto", dtype: str = "auto") -> tuple[Any, Any, str]:
    """The model in its place, its tokenizer and its dtype; ModelError where the files hold none of this kind."""
    place = choose_device(device)
    chosen = choose_dtype(dtype, place)
    held = hf_source.count_parameters(source.path)
    check_memory(source.name, held, chosen, place)
    transformers.utils.logging.disable_progress_bar()
    offline = {"local_files_only": True, "trust_remote_code": False}
    try:
        config = transformers.AutoConfig.from_pretrained(source.path, **offline)
        hf_kind.require_package(source.name, hf_kind.quantized_by(config))
        hf_kind.require_fit(source.name, config, held, "Choose another one.", kind.loader)
        tokenizer = read_tokenizer(source, "Copy or download the model again.")
        model, report = getattr(transformers, kind.loader).from_pretrained(
            source.path, dtype=DTYPES[chosen], use_safetensors=True, output_loading_info=True, **offline
        )
    except ModelError:
        raise
    except Exception as error:  # whatever transformers raises of files from elsewhere
        raise ModelError(
            f"{source.name} cannot be loaded as {kind.called} ({first_line(error)}). Choose another one."
        ) from error
    if report["missing_keys"] or not (tokenizer.is_fast and kind.has_needs(model, tokenizer)):
        lack = kind.weights if report["missing_keys"] else kind.needs
        raise ModelError(f"{source.name} lacks {lack}, without which {kind.otherwise}")
    require_own_tokenizer(source.name, tokenizer, model)
    return model.to(place).eval(), tokenizer, chosen


# A model has a row of numbers for each token that it knows. Often there are more rows than tokens, which is no fault.
# A tokenizer may also know a few tokens more, such as a mark for pictures that no plain text holds: then only a text
# that has one written out cannot be asked (see `words_of`). But where words of plain text lie beyond the last row, the
# tokenizer is that of another, bigger model.
def require_own_tokenizer(name: str, tokenizer: Any, model: Any) -> None:
    """ModelError where plain text becomes tokens that the model has not."""
    if (words := words_of(model, tokenizer)) and _goes_beyond(tokenizer, words):
        raise ModelError(
            f"The tokenizer of {name} has {len(tokenizer):,} tokens, the model only {words:,}: it belongs to another "
            "model. Put the model's own tokenizer files there."
        )


def words_of(model: Any, tokenizer: Any) -> int:
    """How many tokens a model knows, where its tokenizer has more; 0 where the model knows all of them."""
    try:
        words = int(getattr(model.get_input_embeddings(), "num_embeddings", 0))
    except NotImplementedError:  # models that read characters
        return 0
    return words if len(tokenizer) > words else 0


def _goes_beyond(tokenizer: Any, words: int) -> bool:
    """Whether what stands around texts, or some token of plain text, is none of the first `words` tokens."""
    bos, eos = tokenizer.bos_token_id, tokenizer.eos_token_id
    around = [*tokenizer("a")["input_ids"], eos if bos is None else bos, tokenizer.mask_token_id]
    if any(token is not None and token >= words for token in around):
        return True
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return len(tokenizer) > words
    added = backend.get_added_tokens_decoder()
    beyond = [token for token in backend.get_vocab(False).values() if token >= words and token not in added]
    # A vocabulary may hold words that no text becomes; some of them are written out to see.
    texts = [backend.decode([token], skip_special_tokens=False) for token in sorted(beyond)[:TRIED]]
    tried = backend.encode_batch([*texts, *(f"a{text}" for text in texts)], add_special_tokens=False)
    return any(token >= words for found in tried for token in found.ids)


def describe(loaded: Described, how: Mapping[str, str | int]) -> dict[str, str | int]:
    """Model id, revision or weights hash, tokenizer hash, dtype, device, versions, and `how` texts are scored."""
    quantized = hf_kind.quantized_by(loaded.model.config)
    return {
        "model": loaded.name,
        "revision": loaded.source.revision,
        "weights": loaded.source.weights,
        "tokenizer": loaded.encoder.hash,
        "dtype": loaded.dtype,
        "device": _device_name(loaded.model.device),
        **how,
        "window": loaded.window,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        **({"weights_from": loaded.source.form} if loaded.source.form else {}),
        **({"quantized": quantized} if quantized else {}),
    }


def _device_name(device: torch.device) -> str:
    return f"{device.type}: {torch.cuda.get_device_name(device)}" if device.type == "cuda" else device.type
