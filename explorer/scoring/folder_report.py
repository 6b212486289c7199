"""What a model folder holds, read from its small files; nothing is loaded and no code is run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.errors import ModelError
from explorer.scoring import hf_kind, hf_source
from explorer.scoring.weight_files import model_files, require_regular_files, weight_files

VOCABULARIES = ("vocab_size", "n_vocab")
WINDOWS = ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length", "max_sequence_length")
UNLIMITED = 1 << 30  # tokens; tokenizers write a huge number where they know no limit


@dataclass(frozen=True, slots=True)
class FolderReport:
    """A model folder in a few facts; `refusal` says why the explorer cannot score with it, "" where it can."""

    path: Path
    architecture: str
    parameters: int  # numbers in the weight files; 0 where there are none
    bytes: int  # of the weight files
    files: int  # of weights
    form: str  # of weights that are no safetensors; "" for those that are
    numbers: str  # the format of the weights as the configuration has it, for example bfloat16
    tokenizer: str
    vocabulary: int
    window: int  # tokens; 0 where it is not told
    template: bool  # whether a chat template is there
    masked: bool  # whether it was trained to fill gaps, and is scored by pseudo-log-likelihood
    encoder_decoder: bool  # whether it has an encoder and a decoder, and is scored by the decoder, given a source
    refusal: str


def report(name: str, path: Path) -> FolderReport:
    """What the folder holds; ModelError where it is no model folder at all."""
    require_regular_files(path)
    form = hf_source.weights_format(path)
    if not path.is_dir() and not form:
        raise ModelError(f"There is no folder {path}. Give the path of a folder with config.json and weights.")
    config = _json(path / "config.json") or ({"architectures": [f"{form}: known once it is read"]} if form else {})
    if not config:
        raise ModelError(f"{path} has no config.json that can be read, so it is no model folder in the Hugging Face "
                         "layout.")  # fmt: skip
    text = config.get("text_config") if isinstance(config.get("text_config"), Mapping) else config
    refusal, parameters = "", 0
    encoder_decoder = hf_kind.is_encoder_decoder(config)
    masked = not encoder_decoder and hf_kind.is_masked(config)
    weights = weight_files(path)
    try:
        weights = weights or model_files(path)[1:] or model_files(path)
        if not masked and not encoder_decoder:
            hf_kind.require_causal(name, config)
        parameters = hf_source.count_parameters(path) if path.is_dir() else 0
        if not form:
            hf_source.require_weights(path)
    except ModelError as error:
        refusal = str(error)
    marks = _json(path / "tokenizer_config.json")
    return FolderReport(
        path=path,
        architecture=hf_kind.architecture(config),
        parameters=parameters,
        bytes=sum(file.stat().st_size for file in weights if file.is_file()),
        files=len(weights),
        form=form,
        numbers=str(config.get("dtype") or config.get("torch_dtype") or ""),
        tokenizer=_tokenizer(path, marks),
        vocabulary=_number(text, VOCABULARIES),
        window=_number(text, WINDOWS) or _number(marks, ("model_max_length",)),
        template=bool(marks.get("chat_template")) or (path / "chat_template.jinja").is_file(),
        masked=masked,
        encoder_decoder=encoder_decoder,
        refusal=refusal,
    )


def _tokenizer(path: Path, marks: Mapping[str, Any]) -> str:
    """The tokenizer's name and kind, or "" where the folder has none."""
    files = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model", "sentencepiece.bpe.model")
    file_name = next((file for file in files if (path / file).is_file()), "")
    if not file_name:
        return ""
    model = _json(path / file_name).get("model") if file_name == "tokenizer.json" else None
    kind = str(model.get("type") or "") if isinstance(model, Mapping) else ""
    return ", ".join(filter(None, [str(marks.get("tokenizer_class") or file_name), kind]))


def _number(fields: Any, names: tuple[str, ...]) -> int:
    values = [fields.get(name) for name in names] if isinstance(fields, Mapping) else []
    return next((int(value) for value in values if isinstance(value, int | float) and 0 < value < UNLIMITED), 0)


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
