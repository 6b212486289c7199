"""A causal model read straight from its config.json and safetensors, where the engine has its family itself.

Whatever is unusual about a folder (another family, a setting that is not built here, weights that are missing or too
many, quantized ones) gives None: transformers then loads it, and says what is wrong where something is.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

from explorer import plain_json
from explorer.scoring import hf_source
from explorer.scoring.engine.device import DTYPES, check_memory, choose_device, choose_dtype, spread_over
from explorer.scoring.engine.families import CausalModel, Shape, device_of, place_of, read_shape
from explorer.scoring.engine.rows import RowRunner
from explorer.scoring.hf_model_record import model_record
from explorer.scoring.hf_source import Source
from explorer.scoring.hf_weights_to_gpu import find_tensors, read_tensors
from explorer.scoring.weight_files import weight_files
from explorer.settings import Settings

# What Python raises where a configuration makes no sense.
CONFIG_ERRORS = (ValueError, TypeError, KeyError, ArithmeticError, RecursionError)
Named = tuple[Path, str, str]  # a weight's file, its name there, and its place in the model
READERS = 4  # threads that read weights: one alone waits for the disk, or for the card, half of the time


@dataclass(frozen=True, slots=True)
class DirectModel:
    """A loaded model that scores packed rows and goes on from prompts; how texts become tokens is known to who asks."""

    source: Source
    runner: RowRunner
    dtype: str

    @property
    def row_tokens(self) -> int:
        """How long a packed row is best made."""
        return self.runner.row_tokens

    @property
    def window(self) -> int:
        """The longest sequence in tokens."""
        return int(self.runner.config.max_position_embeddings)

    def record(self) -> dict[str, str | int]:
        """As `HFModel.record`, without what the tokenizer adds: its hash and the window."""
        scored_by: dict[str, str | int] = {
            "attention": self.runner.attention,
            "batches": self.runner.mode,
            "layers": "lexiscope",
        }
        if self.runner.cards > 1:
            scored_by["cards"] = self.runner.cards
        return model_record(self.source, self.dtype, self.runner.device, scored_by)


def load(source: Source, settings: Settings, device: str = "auto", dtype: str = "auto") -> DirectModel | None:
    """The model of these files, ready to score, or None where transformers has to load it.

    ModelError where it does not fit into memory. `dtype` auto is float32 on a CPU and bfloat16 on CUDA.
    """
    target_device = choose_device(device)
    dtype_name = choose_dtype(dtype, target_device)
    files = weight_files(source.path)
    shape = shape_of(source)
    if shape is None or not files:
        return None
    devices = spread_over(target_device, shard=settings.shard)
    check_memory(source.name, hf_source.count_parameters(source.path), dtype_name, *devices)
    if settings.threads:
        torch.set_num_threads(settings.threads)
    if dtype_name == "float32":
        torch.set_float32_matmul_precision("highest")  # no TF32
    try:
        model = _read_weights(files, shape, DTYPES[dtype_name], devices)
    except (OSError, SafetensorError, torch.OutOfMemoryError, *CONFIG_ERRORS):
        return None
    return DirectModel(source, RowRunner(model), dtype_name) if model else None


def shape_of(source: Source) -> Shape | None:
    """What the model's configuration describes, or None where it asks for what the engine does not have."""
    try:
        return read_shape(plain_json.read((source.path / "config.json").read_text("utf-8")))
    except (OSError, *CONFIG_ERRORS):
        return None


# The files are read into the model only if they hold exactly the weights that it needs, each of the expected shape. One
# name too many or too few means that the architecture is not quite the one built here, and a model with one layer left
# at its start values would still give scores, wrong ones. Each thread takes every fourth weight, so that all of them
# have large and small ones:
#
#     names      w0 w1 w2 w3 w4 w5 w6 w7
#     thread 0   w0          w4
#     thread 1      w1          w5                and so on
def _read_weights(
    files: Sequence[Path], shape: Shape, dtype: torch.dtype, devices: Sequence[torch.device]
) -> CausalModel | None:
    """The model with its weights in their place, or None where the files hold others than it needs."""
    names = [
        (file, name, place) for file in files for name in _names(file) if (place := place_of(name, shape.model_type))
    ]
    if shape.tie_word_embeddings:
        names = [entry for entry in names if entry[2] != "head.weight"]
    if shape.num_hidden_layers > len(names):  # else a line of text could ask for billions of layers
        return None
    model = CausalModel(shape)
    shapes = model.shapes_of_weights()
    if shape.tie_word_embeddings:
        shapes.pop("head.weight")
    if sorted(place for *_, place in names) != sorted(shapes):
        return None
    weights = _read_fast(names, shape, dtype, devices) or _read_mapped(names, shape, dtype, devices)
    if any(tuple(weights[place].shape) != shapes[place] for place in shapes):
        return None
    if shape.tie_word_embeddings:
        weights["head.weight"] = weights["base_model.embedding.weight"].to(devices[-1])
    model.put(weights)
    return model.eval()


def _read_fast(
    names: Sequence[Named], shape: Shape, dtype: torch.dtype, devices: Sequence[torch.device]
) -> dict[str, torch.Tensor] | None:
    """The weights by their places, read onto GPUs piece by piece; None where that cannot be."""
    if devices[0].type != "cuda" or not hasattr(os, "preadv"):
        return None
    stored = {file: find_tensors(file) for file in {file for file, *_ in names}}
    if any(name not in stored[file] for file, name, _ in names):
        return None
    weights: dict[str, torch.Tensor] = {}
    for device in dict.fromkeys(devices):
        there = [entry for entry in names if device_of(entry[2], shape.num_hidden_layers, devices) == device]
        tensors = read_tensors([stored[file][name] for file, name, _ in there], device, dtype)
        weights |= {place: tensor for (*_, place), tensor in zip(there, tensors, strict=True)}
    return weights


def _read_mapped(
    names: Sequence[Named], shape: Shape, dtype: torch.dtype, devices: Sequence[torch.device]
) -> dict[str, torch.Tensor]:
    """The weights by their places, as safetensors reads them."""

    def read(part: Sequence[Named]) -> dict[str, torch.Tensor]:
        tensors: dict[str, torch.Tensor] = {}
        wanted: dict[tuple[Path, torch.device], list[tuple[str, str]]] = {}
        for file, name, place in part:
            device = device_of(place, shape.num_hidden_layers, devices)
            wanted.setdefault((file, device), []).append((name, place))
        for (file, device), names_there in wanted.items():
            with safe_open(file, "pt", device=str(device)) as opened:
                tensors |= {place: opened.get_tensor(name).to(dtype) for name, place in names_there}
        return tensors

    weights: dict[str, torch.Tensor] = {}
    with ThreadPoolExecutor(READERS) as pool:
        for part in pool.map(read, (names[first::READERS] for first in range(READERS))):
            weights |= part
    return weights


def _names(file: Path) -> list[str]:
    with safe_open(file, "pt") as opened:
        return list(opened.keys())
