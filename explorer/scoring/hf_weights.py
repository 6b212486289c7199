"""Weights in other files than safetensors, made into safetensors once: PyTorch's .bin, GGUF, and LoRA adapters.

What is made stands in the cache, under the hash of all it was made from, so that a changed file is made anew. A .bin
file is a pickle, a program that builds what it holds. It is read by torch.load(weights_only=True), which builds numbers
alone; a file that wants more is refused.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from explorer import leftovers, plain_json, sharing
from explorer.errors import ModelError
from explorer.scoring import hf_kind
from explorer.scoring.embedded import Steps
from explorer.scoring.weight_files import ADAPTER, COPIED, bin_files, converted_folder, gguf_file, weight_files
from explorer.settings import Settings

NOT_COPIED = ("pytorch_model.bin.index.json", "model.safetensors.index.json", "adapter_config.json")
MAX_GROWTH = 4  # times its size a file of weights may become, where weights are tied
MAX_NUMBERS_PER_BYTE = 8  # of the densest quantization of a GGUF file
ALWAYS_ALLOWED = 1 << 26  # bytes that any file may become
ADVICE_MERGE = "Merge it with peft (merge_and_unload), save that model, and give its folder."
# What an adapter may say of itself that a sum of two matrices does not cover, and what it says where it does not.
PLAIN_LORA: Mapping[str, tuple[Any, ...]] = {
    "use_dora": (False, None), "bias": ("none", None), "lora_bias": (False, None), "modules_to_save": (None, []),
    "rank_pattern": ({}, None), "alpha_pattern": ({}, None), "layer_replication": (None, []),
    "trainable_token_indices": (None, []), "target_parameters": (None, []),
}  # fmt: skip


Change = tuple[float, Any, Any]  # what a LoRA adapter adds to a weight: scale, B and A


def as_safetensors(
    path: Path, digest: str, settings: Settings, progress: Steps | None, base: Callable[[str], Path] | None = None
) -> Path:
    """A folder with the model in safetensors: `path` itself, or what was made of it; `digest` is a hash of its files.

    `base` gives the folder of the model that an adapter names; without it no folder is taken for an adapter.
    """
    from safetensors import SafetensorError

    merge = partial(_merge, path, base) if base is not None and (path / ADAPTER).is_file() else None
    if merge is None and path.is_dir() and weight_files(path):
        return path
    folder = converted_folder(settings, digest)
    if why := sharing.kept_within(folder):
        raise ModelError(why)
    if (folder / "config.json").is_file():
        return folder
    make = merge or partial(_from_bin if path.is_dir() and bin_files(path) else _from_gguf, path)
    if progress:
        progress(f"Converting {path.name} to safetensors, once", 0.9)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with leftovers.scratch(settings.cache, folder.parent, ".making-") as part:
            make(part)
            sharing.share_files(part)
            if not folder.exists():
                os.replace(part, folder)
    except (OSError, SafetensorError) as error:
        raise ModelError(
            f"{path.name} could not be converted to safetensors in {folder.parent} ({error}). Free some space there, "
            "or set EXPLORER_CACHE to another disk."
        ) from error
    return folder


# PyTorch's .bin


def _from_bin(path: Path, out: Path) -> None:
    import torch
    from safetensors.torch import save_file

    files = bin_files(path)
    index: dict[str, str] = {}
    for number, file in enumerate(files, 1):
        try:
            tensors = torch.load(file, map_location="cpu", weights_only=True, mmap=_can_be_mapped(file))
        except pickle.UnpicklingError as error:
            raise ModelError(
                f"{file.name} of {path} holds more than numbers, and reading it would run code that came with it, "
                "which is never done. Look for a copy of the model in safetensors."
            ) from error
        except Exception as error:  # whatever torch raises of files from elsewhere
            raise ModelError(f"{file} is damaged ({_first_line(error)}). Copy or download the model again.") from error
        if not isinstance(tensors, Mapping) or not all(
            isinstance(name, str) and isinstance(tensor, torch.Tensor) for name, tensor in tensors.items()
        ):
            raise ModelError(
                f"{file.name} of {path} holds {type(tensors).__name__} with more than named tensors, expected a "
                "model's weights by their names. Save the model with save_pretrained."
            )
        _require_numbers(file, tensors)
        name = "model.safetensors" if len(files) == 1 else f"model-{number:05d}-of-{len(files):05d}.safetensors"
        save_file(_unshared(tensors), out / name, metadata={"format": "pt"})
        index |= dict.fromkeys(tensors, name)
    if len(files) > 1:
        (out / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}), "utf-8")
    _copy_rest(path, out)


# A tensor need not have a number of its own in every place: one number may be said to stand in a trillion of them, and
# a file of two kilobytes would become one of terabytes. Tied weights are the honest case: one matrix, two names.
def _require_numbers(file: Path, tensors: Mapping[str, Any]) -> None:
    """ModelError where tensors are more than the file holds, or are none of plain numbers."""
    import torch

    for name, tensor in tensors.items():
        if tensor.layout != torch.strided or tensor.is_quantized or tensor.device.type != "cpu":
            raise ModelError(
                f"{file} holds {name} as {'a quantized' if tensor.is_quantized else 'a sparse or an empty'} tensor, "
                "expected plain numbers. Save the model with save_pretrained."
            )
    size = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    if size > MAX_GROWTH * file.stat().st_size + ALWAYS_ALLOWED:
        raise ModelError(
            f"{file} has {file.stat().st_size:,} bytes and would become {size:,}, since it repeats the same numbers. "
            "Save the model with save_pretrained."
        )


def _can_be_mapped(file: Path) -> bool:
    """Whether a file is a zip, as torch has saved since 2020, which need not be read whole."""
    with file.open("rb") as opened:
        return opened.read(2) == b"PK"


def _unshared(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Tensors of which no two share memory, as tied weights do, and which are contiguous."""
    seen: set[int] = set()
    separate = {}
    for name, tensor in tensors.items():
        place = tensor.untyped_storage().data_ptr()
        separate[name] = tensor.clone().contiguous() if place in seen else tensor.contiguous()
        seen.add(place)
    return separate


# GGUF


def _from_gguf(path: Path, out: Path) -> None:
    import torch
    import transformers

    file = path if path.is_file() else gguf_file(path)
    assert file is not None
    where: dict[str, Any] = {"gguf_file": file.name, "local_files_only": True, "trust_remote_code": False}
    transformers.utils.logging.disable_progress_bar()
    try:
        config = transformers.AutoConfig.from_pretrained(file.parent, **where)
        max_numbers = file.stat().st_size * MAX_NUMBERS_PER_BYTE
        hf_kind.require_size_as_files(file.name, config, max_numbers, "Give the model in safetensors.")
        tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, **where)
        loaded: Any = transformers.AutoModelForCausalLM.from_pretrained(
            file.parent, dtype=torch.float32, output_loading_info=True, **where
        )
        model, report = loaded
    except ModelError:
        raise
    except Exception as error:  # whatever transformers and gguf raise of files from elsewhere
        # Of a file whose beginning it cannot read, transformers says that it is no JSON.
        why = "it is damaged, or no GGUF file" if "valid JSON" in str(error) else _first_line(error).rstrip(".")
        raise ModelError(
            f"transformers cannot read {file.name} ({why}). Give the model in safetensors; or serve this file "
            "with llama.cpp and give the server's address."
        ) from error
    if missing := sorted(report["missing_keys"]):
        raise ModelError(
            f"{file.name} lacks {len(missing)} of the model's weights ({missing[0]}, ...) as transformers reads it. "
            "Give the model in safetensors."
        )
    # The weights are plain float32 by now, but the marks of the quantizer would forbid to save them.
    for owner, mark in ((model, "hf_quantizer"), (model.config, "quantization_config")):
        if hasattr(owner, mark):
            delattr(owner, mark)
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)


# LoRA adapters


MAX_RANK = 1 << 20
MAX_NAME = 1_000  # characters of the name of a base model


@dataclass(frozen=True, slots=True)
class LoraAdapter:
    """What adapter_config.json says of a plain LoRA; rank and alpha as written there, checked when they are used."""

    base: str  # the model that it changes: a name or a folder
    rank: Any
    alpha: Any
    by_root_of_rank: bool  # the change is scaled by alpha / root of the rank, not by alpha / rank
    transposed: bool  # the base keeps its matrices as (in, out), as GPT-2 does


def adapter_config(path: Path) -> LoraAdapter:
    """What an adapter says of itself; ModelError where it is no plain LoRA, which alone is merged here."""
    try:
        settings = plain_json.read((path / ADAPTER).read_text("utf-8"))
        named = settings["base_model_name_or_path"] or ""
        if not isinstance(named, str) or "\0" in named or len(named) > MAX_NAME:
            raise ValueError("base_model_name_or_path is no name")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelError(f"{path / ADAPTER} is damaged ({error}), or names no base model. {ADVICE_MERGE}") from error
    if str(settings.get("peft_type")) != "LORA" or not named:
        raise ModelError(
            f"{path} is an adapter of the kind {settings.get('peft_type')!r}; only LoRA is merged here. {ADVICE_MERGE}"
        )
    for name, plain in PLAIN_LORA.items():
        if settings.get(name, plain[0]) not in plain:
            raise ModelError(
                f"{path} is a LoRA adapter with {name} = {settings[name]!r}, which is not merged here. {ADVICE_MERGE}"
            )
    return LoraAdapter(
        base=named,
        rank=settings.get("r"),
        alpha=settings.get("lora_alpha"),
        by_root_of_rank=bool(settings.get("use_rslora")),
        transposed=bool(settings.get("fan_in_fan_out")),
    )


def _merge(path: Path, base: Callable[[str], Path], out: Path) -> None:
    """The base model with W + scale · B A in place of each weight W that the adapter changes."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file, save_file

    config = adapter_config(path)
    folder = base(config.base)
    changes = _adapter_changes(path, config)
    missing = set(changes)
    for file in weight_files(folder):
        try:
            tensors = load_file(file)
        except (OSError, SafetensorError) as error:
            raise ModelError(
                f"{file}, of the base that the adapter {path} names, is damaged ({_first_line(error)}). Copy or "
                "download the base again."
            ) from error
        for name, tensor in tensors.items():
            module = name.removesuffix(".weight")
            changed = next((key for key in missing if module in (key, key.partition(".")[2])), None)
            if changed:
                tensors[name] = _apply_change(tensor, changes[changed], config.transposed, name)
                missing.discard(changed)
        save_file(_unshared(tensors), out / file.name, metadata={"format": "pt"})
    if missing:
        raise ModelError(
            f"The adapter {path} changes {sorted(missing)[0]}, which {folder} has not. It belongs to another base."
        )
    if (folder / "model.safetensors.index.json").is_file():
        shutil.copy(folder / "model.safetensors.index.json", out)
    _copy_rest(folder, out)


def _adapter_changes(path: Path, config: LoraAdapter) -> dict[str, Change]:
    """Module → the factors of what is added to its weight: scale, B (out, rank) and A (rank, in)."""
    from safetensors.torch import load_file

    try:
        tensors = load_file(path / "adapter_model.safetensors")
        rank, alpha = int(config.rank), float(config.alpha)
        if not 1 <= rank <= MAX_RANK or not math.isfinite(alpha):
            raise ValueError(f"r = {rank}, lora_alpha = {alpha}")
    except Exception as error:  # whatever safetensors raises of files from elsewhere
        raise ModelError(
            f"{path} lacks a readable adapter_model.safetensors, or its rank ({_first_line(error)}). {ADVICE_MERGE}"
        ) from error
    scale = alpha / (rank**0.5 if config.by_root_of_rank else rank)
    changes = {}
    for name in tensors:
        module, _, rest = name.removeprefix("base_model.model.").partition(".lora_")
        if rest not in ("A.weight", "B.weight"):
            raise ModelError(f"{path} holds {name}, which is no part of a plain LoRA. {ADVICE_MERGE}")
        if rest == "A.weight":
            down, up = tensors[name], tensors.get(name.replace(".lora_A.", ".lora_B."))
            if up is None or down.dim() != 2 or up.dim() != 2 or up.shape[1] != down.shape[0]:
                raise ModelError(f"{path} holds {name} without a second matrix that fits. {ADVICE_MERGE}")
            changes[module] = (scale, up, down)
    return changes


def _apply_change(weight: Any, change: Change, transposed: bool, name: str) -> Any:
    scale, up, down = change
    # Before it is multiplied out: two narrow matrices of some megabytes may stand for one of terabytes.
    shape = (down.shape[1], up.shape[0]) if transposed else (up.shape[0], down.shape[1])
    if tuple(weight.shape) != shape:
        raise ModelError(
            f"The adapter's change of {name} has the shape {shape}, expected {tuple(weight.shape)}. It belongs to "
            "another base."
        )
    product = scale * (up.float() @ down.float())
    return (weight.float() + (product.T if transposed else product)).to(weight.dtype)


def _copy_rest(path: Path, out: Path) -> None:
    for pattern in COPIED:
        for file in path.glob(pattern):
            if file.name not in NOT_COPIED:
                shutil.copyfile(file, out / file.name)


def _first_line(error: BaseException) -> str:
    lines: Iterable[str] = (line.strip() for line in str(error).splitlines())
    return next(filter(None, lines), type(error).__name__)[:200]
