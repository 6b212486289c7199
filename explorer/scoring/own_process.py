"""Whether a model is best given a process of its own, told without the seconds that PyTorch takes to import."""

from __future__ import annotations

import os
from pathlib import Path

MODEL_MODULE = "explorer.scoring.model_process_child"
TOKENIZER_MODULE = "explorer.scoring.tokenizer_child"
DRIVER = Path("/dev/nvidiactl")  # there where NVIDIA's driver is


def is_worthwhile() -> bool:
    """Whether a run on this machine is faster with its model in a process of its own."""
    return os.name == "posix" and DRIVER.exists() and os.environ.get("CUDA_VISIBLE_DEVICES", "0") not in ("", "-1")
