"""What a run stores about the model that scored it, whoever loaded the model: transformers or the engine itself."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.metadata import version

import torch

from explorer.scoring.engine.device import device_name
from explorer.scoring.hf_source import Source


def model_record(
    source: Source, dtype: str, device: torch.device, scored_by: Mapping[str, str | int], *, quantized: str = ""
) -> dict[str, str | int]:
    """Model id, revision or weights hash, dtype, device, `scored_by` and package versions, under the stored names.

    `scored_by` says how texts are scored: attention, batches and, where they are known, tokenizer and window.
    """
    return {
        "model": source.name,
        "revision": source.revision,
        "weights": source.weights,
        "dtype": dtype,
        "device": device_name(device),
        **scored_by,
        # A plain text: torch's version is of a class of its own, and a process that unpickled it would import PyTorch,
        # which takes 5 seconds.
        "torch": str(torch.__version__),
        # Read from the package's metadata: the engine's own models are loaded without importing transformers.
        "transformers": _transformers_version(),
        **({"weights_from": source.form} if source.form else {}),
        **({"quantized": quantized} if quantized else {}),
    }


@functools.cache  # asked for with every batch of a run
def _transformers_version() -> str:
    return version("transformers")
