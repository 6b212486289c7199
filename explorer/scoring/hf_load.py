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
from explorer.scoring import hf_kind, hf_reading, hf_source
from explorer.scoring.encode import TextEncoder
from explorer.scoring.engine.device import DTYPES, check_memory, choose_device, choose_dtype, device_name
from explorer.scoring.hf_reading import first_line, read_tokenizer
from explorer.scoring.hf_source import Source


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


def require_own_tokenizer(name: str, tokenizer: Any, model: Any) -> None:
    """ModelError where plain text becomes tokens that the model has not."""
    hf_reading.require_own_words(name, tokenizer, words_of(model, tokenizer))


def words_of(model: Any, tokenizer: Any) -> int:
    """How many tokens a model knows, where its tokenizer has more; 0 where the model knows all of them."""
    try:
        words = int(getattr(model.get_input_embeddings(), "num_embeddings", 0))
    except NotImplementedError:  # models that read characters
        return 0
    return words if len(tokenizer) > words else 0


def describe(loaded: Described, how: Mapping[str, str | int]) -> dict[str, str | int]:
    """Model id, revision or weights hash, tokenizer hash, dtype, device, versions, and `how` texts are scored."""
    quantized = hf_kind.quantized_by(loaded.model.config)
    return {
        "model": loaded.name,
        "revision": loaded.source.revision,
        "weights": loaded.source.weights,
        "tokenizer": loaded.encoder.hash,
        "dtype": loaded.dtype,
        "device": device_name(loaded.model.device),
        **how,
        "window": loaded.window,
        # A plain text: of its own kind it would have the process that reads the record import PyTorch, in 5 seconds.
        "torch": str(torch.__version__),
        "transformers": transformers.__version__,
        **({"weights_from": loaded.source.form} if loaded.source.form else {}),
        **({"quantized": quantized} if quantized else {}),
    }
