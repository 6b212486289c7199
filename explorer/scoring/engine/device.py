"""Which device and dtype a model runs on, and whether it fits."""

from __future__ import annotations

import contextlib

import torch

from explorer.errors import ModelError
from explorer.scoring.engine.memory import free_ram

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
ALIASES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
MISREAD_MULTIPLE = 32  # see row_length
LONG_ROW = 512  # tokens from which attention is worth planning
ROW_MULTIPLES = ((LONG_ROW, 64), (64, 8), (0, 1))  # from so many tokens on, rows are padded to multiples of so many
MEMORY_BEYOND_WEIGHTS = 1.1, 400e6  # memory beyond the weights: a share of them, and bytes for a small batch


def choose_device(device: str = "auto") -> torch.device:
    """The device asked for, or the best there is."""
    if device == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        place = torch.device(device)
        torch.empty(0, device=place)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        why = str(error).splitlines()[0]
        raise ModelError(
            f"The device {device!r} cannot be used here ({why}). Choose auto, cpu, cuda or mps."
        ) from error
    return place


def start_gpu() -> None:
    """Has a GPU begin: its context and its library of products take half a second, in which others can import."""
    with contextlib.suppress(RuntimeError):  # what is wrong with it is said when a model is loaded
        if torch.cuda.is_available():
            ones = torch.ones(64, 64, device="cuda", dtype=torch.bfloat16)
            (ones @ ones).sum().item()


def spread_over(device: torch.device, *, shard: bool) -> list[torch.device]:
    """The devices that a model is loaded on: this one, or with `shard` all GPUs, where there are several."""
    count = torch.cuda.device_count() if shard and device.type == "cuda" and device.index is None else 1
    return [torch.device("cuda", number) for number in range(count)] if count > 1 else [device]


def choose_dtype(dtype: str, device: torch.device) -> str:
    """The dtype's name, or for `auto` the one that suits the device."""
    if dtype == "auto":
        return (
            "bfloat16"
            if device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
            else "float32"
        )
    name = ALIASES.get(dtype, dtype)
    if name not in DTYPES:
        raise ModelError(f"The dtype {dtype!r} is unknown. Choose auto, {', '.join(DTYPES)}.")
    return name


def device_name(device: torch.device) -> str:
    """The device's kind and, of a GPU, what it is."""
    return f"{device.type}: {torch.cuda.get_device_name(device)}" if device.type == "cuda" else device.type


def row_length(length: int, device: torch.device, window: int | None = None) -> int:
    """The length to which rows are padded: on a GPU a multiple of 8 or 64, within the model's `window`.

    Kernels read rows of such lengths without copying masks, and cuDNN, which plans its attention for each length anew,
    has fewer to plan: for 700 rows of a thousand tokens that took 2.4 s (bench/RESULTS.md).
    """
    if device.type != "cuda":
        return length
    multiple = next(multiple for least, multiple in ROW_MULTIPLES if length >= least)
    rounded = -(-length // multiple) * multiple
    if window and rounded > window:
        rounded = length
    # Where all heads share their keys, as in Gemma 3 270M, PyTorch's memory-efficient attention gives wrong numbers at
    # one more than a multiple of 32: seen in 2.11 with float32, reported for 2.12 with bfloat16 (pytorch issue 191937).
    return rounded + 1 if rounded % MISREAD_MULTIPLE == 1 else rounded


def check_memory(name: str, parameters: int, dtype: str, *devices: torch.device) -> None:
    """Refuses a model whose weights would not fit into what is free on these devices together."""
    share, spare = MEMORY_BEYOND_WEIGHTS
    need = parameters * DTYPES[dtype].itemsize * share + spare * len(devices)
    on_gpu = devices[0].type == "cuda"
    free = sum(torch.cuda.mem_get_info(device)[0] for device in devices) if on_gpu else free_ram()
    where = "This machine" if not on_gpu else "The GPU" if len(devices) == 1 else f"{len(devices)} GPUs together"
    has = "has" if len(devices) == 1 else "have"
    if free is not None and need > free:
        smaller = " or --dtype bfloat16" if dtype == "float32" else ""
        smaller += ", or --shard auto" if on_gpu and len(devices) == 1 and torch.cuda.device_count() > 1 else ""
        raise ModelError(
            f"{name} is too large: {parameters / 1e6:,.0f} million parameters in {dtype} need about "
            f"{need / 1e9:.1f} GB. {where} {has} {free / 1e9:.1f} GB free. Choose a smaller model{smaller}, "
            "or close other programs."
        )
