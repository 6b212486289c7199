"""How a model reads texts, by its small files alone: its configuration and its tokenizer.

Nothing here imports PyTorch, so that a process that only wants to encode has transformers in a third of the time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import transformers

from explorer.errors import ModelError
from explorer.scoring import hf_kind
from explorer.scoring.encode import TokenizerFacts, TokenizerSetup
from explorer.scoring.hf_source import Source

UNLIMITED = 1 << 20  # tokens, for models without a window
MAX_DECODED = 1_000  # tokens that a model may lack and that are written out


def read_setup(source: Source) -> TokenizerSetup:
    """How the model in these files reads texts; ModelError where they do not tell."""
    config, tokenizer = read_config(source), read_tokenizer(source, repair_advice(source))
    words = int(getattr(config.get_text_config(), "vocab_size", 0) or 0)
    words = words if len(tokenizer) > words else 0
    require_known_tokens(source.name, tokenizer, words)
    ends = end_tokens(_ends_in_files(source.path, config), tokenizer)
    return TokenizerSetup(TokenizerFacts.of(tokenizer), window_of(config, tokenizer), words, ends)


def end_tokens(configured: int | Sequence[int] | None, tokenizer: Any) -> frozenset[int]:
    """The tokens at which a model ends an answer: those configured for generation, else the tokenizer's."""
    ends = tokenizer.eos_token_id if configured is None else configured
    return frozenset() if ends is None else frozenset([ends] if isinstance(ends, int) else ends)


def _ends_in_files(folder: Path, config: Any) -> int | list[int] | None:
    """What transformers configures generation with, once it has loaded the model of these files."""
    try:
        return transformers.GenerationConfig.from_pretrained(folder, local_files_only=True).eos_token_id
    except OSError:
        return getattr(config.get_text_config(decoder=True), "eos_token_id", None)


# A model has a row of numbers for each token that it knows. Often there are more rows than tokens, which is no fault.
# A tokenizer may also know a few tokens more, such as a mark for pictures that no plain text holds: then only a text
# that has one written out cannot be asked (see `hf_load.known_tokens`). But where words of plain text lie beyond the
# last row, the tokenizer is that of another, bigger model.
def require_known_tokens(name: str, tokenizer: Any, words: int) -> None:
    """ModelError where plain text becomes tokens that a model of so many words has not; 0 stands for enough."""
    if words and _uses_unknown_tokens(tokenizer, words):
        raise ModelError(
            f"The tokenizer of {name} has {len(tokenizer):,} tokens, the model only {words:,}: it belongs to another "
            "model. Put the model's own tokenizer files there."
        )


def _uses_unknown_tokens(tokenizer: Any, words: int) -> bool:
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
    texts = [backend.decode([token], skip_special_tokens=False) for token in sorted(beyond)[:MAX_DECODED]]
    tried = backend.encode_batch([*texts, *(f"a{text}" for text in texts)], add_special_tokens=False)
    return any(token >= words for found in tried for token in found.ids)


def import_ahead() -> None:
    """Imports what transformers otherwise imports when it reads the first tokenizer and configuration."""
    import transformers.models.llama.configuration_llama  # what most configurations share  # noqa: F401
    from transformers import AutoConfig, AutoTokenizer, PreTrainedTokenizerFast  # noqa: F401


def read_config(source: Source) -> Any:
    """A causal model's configuration as transformers has it; ModelError where it is none."""
    hf_kind.require_causal_folder(source.name, source.path)
    try:
        config = transformers.AutoConfig.from_pretrained(source.path, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # whatever transformers raises of a configuration from elsewhere
        raise ModelError(
            f"{source.name} has an architecture that transformers {transformers.__version__} does not know, "
            f"or a damaged config.json ({first_line(error)}). Code that comes with a model is never run; "
            "choose another model."
        ) from error
    hf_kind.require_package(source.name, hf_kind.quantized_by(config))
    return config


def read_tokenizer(source: Source, remedy: str) -> Any:
    """A model's tokenizer as transformers has it; ModelError where it has none."""
    try:
        return transformers.AutoTokenizer.from_pretrained(source.path, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # whatever transformers raises of files from elsewhere
        raise ModelError(
            f"The tokenizer of {source.name} cannot be read ({first_line(error)}). "
            f"The folder needs tokenizer.json or the files it is made from. {remedy}"
        ) from error


def window_of(config: Any, tokenizer: Any) -> int:
    """The longest sequence in tokens."""
    text = config.get_text_config()
    limits = [getattr(text, "max_position_embeddings", None), tokenizer.model_max_length]
    return next((int(limit) for limit in limits if limit and limit < UNLIMITED * 1024), UNLIMITED)


def repair_advice(source: Source) -> str:
    """How a damaged model is made whole."""
    if source.known and source.known.embedded:
        return f"Delete {source.path}: the model is made again when it is next needed."
    return "Copy or download the model again."


def first_line(error: BaseException) -> str:
    """The first line of what an error says, else its name; without the list that such a line may announce."""
    if isinstance(error, json.JSONDecodeError):
        return f"a file of JSON is {'damaged' if error.doc.strip() else 'empty'}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # A line that ends in a colon announces a list, which has no place in a sentence.
    first = lines[0][:200].rstrip(":") if lines else type(error).__name__
    return first.removesuffix(" from one of")
