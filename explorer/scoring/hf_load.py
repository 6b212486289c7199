"""Masked and encoder-decoder models loaded by transformers, and the record of any model that transformers has loaded.

Where a file is damaged or incomplete, or transformers raises an error, the user reads one sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import transformers

from explorer.errors import ModelError
from explorer.scoring import hf_kind, hf_source, hf_tokenizer
from explorer.scoring.encode import TextEncoder
from explorer.scoring.engine.device import DTYPES, check_memory, choose_device, choose_dtype
from explorer.scoring.hf_model_record import model_record
from explorer.scoring.hf_source import Source
from explorer.scoring.hf_tokenizer import first_line, read_tokenizer


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of model that is not causal: what loads it, what it must have, and how a lack is told."""

    loader: str  # the class of transformers
    called: str  # "a masked language model"
    weights: str  # what is lacking where the files do not hold all weights
    needs: str  # what is lacking where `has_needs` is false
    has_needs: Callable[[Any, Any], bool]  # of a model and its tokenizer
    otherwise: str  # what cannot be done without it, and what to choose instead


class Describable(Protocol):
    """What the record of a loaded model is made from."""

    source: Source
    encoder: TextEncoder
    model: Any
    dtype: str
    window: int


def load(source: Source, kind: Kind, device: str = "auto", dtype: str = "auto") -> tuple[Any, Any, str]:
    """The model in its place, its tokenizer and its dtype; ModelError where the files hold none of this kind."""
    target_device = choose_device(device)
    dtype_name = choose_dtype(dtype, target_device)
    numbers_in_files = hf_source.count_parameters(source.path)
    check_memory(source.name, numbers_in_files, dtype_name, target_device)
    transformers.utils.logging.disable_progress_bar()
    offline = {"local_files_only": True, "trust_remote_code": False}
    try:
        config = transformers.AutoConfig.from_pretrained(source.path, **offline)
        hf_kind.require_package(source.name, hf_kind.quantized_by(config))
        hf_kind.require_size_as_files(source.name, config, numbers_in_files, "Choose another one.", kind.loader)
        tokenizer = read_tokenizer(source, "Copy or download the model again.")
        model, report = getattr(transformers, kind.loader).from_pretrained(
            source.path, dtype=DTYPES[dtype_name], use_safetensors=True, output_loading_info=True, **offline
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
    return model.to(target_device).eval(), tokenizer, dtype_name


def require_own_tokenizer(name: str, tokenizer: Any, model: Any) -> None:
    """ModelError where plain text becomes tokens that the model has not."""
    hf_tokenizer.require_known_tokens(name, tokenizer, known_tokens(model, tokenizer))


def known_tokens(model: Any, tokenizer: Any) -> int:
    """How many tokens a model knows, where its tokenizer has more; 0 where the model knows all of them."""
    try:
        words = int(getattr(model.get_input_embeddings(), "num_embeddings", 0))
    except NotImplementedError:  # models that read characters
        return 0
    return words if len(tokenizer) > words else 0


def describe(loaded: Describable, scored_by: Mapping[str, str | int]) -> dict[str, str | int]:
    """The record of a model that transformers has loaded; `scored_by` says how it scores texts."""
    reads: dict[str, str | int] = {"tokenizer": loaded.encoder.hash, "window": loaded.window}
    quantized = hf_kind.quantized_by(loaded.model.config)
    return model_record(loaded.source, loaded.dtype, loaded.model.device, {**scored_by, **reads}, quantized=quantized)
