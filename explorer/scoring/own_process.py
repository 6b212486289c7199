"""Whether a model is best given a process of its own, told without the seconds that PyTorch takes to import."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

MODEL_MODULE = "explorer.scoring.model_process_child"
TOKENIZER_MODULE = "explorer.scoring.tokenizer_child"
JUDGING_MODULE = "explorer.cluster.judging_child"
NO_CARD = "-1"  # as CUDA reads it; for a process beside one whose model may fill the card
DRIVER = Path("/dev/nvidiactl")  # there where NVIDIA's driver is


def cards() -> tuple[str, ...]:
    """The GPUs that this process may use, named as in CUDA_VISIBLE_DEVICES; all there are where that is not set."""
    if os.name != "posix" or not DRIVER.exists():
        return ()
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is None:
        # CUDA counts the cards that it finds: in a container that was given /dev/nvidia3 alone, that one is card 0.
        found = [path for path in DRIVER.parent.glob("nvidia[0-9]*") if path.name.removeprefix("nvidia").isdecimal()]
        return tuple(str(number) for number in range(len(found)))
    # As CUDA reads it: what follows a negative number is not there.
    return tuple(
        itertools.takewhile(lambda name: not name.startswith("-"), filter(None, map(str.strip, named.split(","))))
    )


def is_worthwhile() -> bool:
    """Whether a run on this machine is faster with its model in a process of its own."""
    return os.name == "posix" and DRIVER.exists() and os.environ.get("CUDA_VISIBLE_DEVICES", "0") not in ("", "-1")
