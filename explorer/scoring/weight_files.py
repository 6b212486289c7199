"""The files that hold a model's weights, and one hash of them all."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from explorer.errors import ModelError


def weight_files(path: Path) -> list[Path]:
    """The safetensors files that make up a model, in order."""
    index = path / "model.safetensors.index.json"
    if index.is_file():
        return [path / file for file in _listed(index)]
    if (path / "model.safetensors").is_file():
        return [path / "model.safetensors"]
    return sorted(path.glob("*.safetensors"))


def _listed(index: Path) -> list[str]:
    """The files that the index of a model in several files names; each lies beside it."""
    try:
        named = sorted(set(json.loads(index.read_text("utf-8"))["weight_map"].values()))
        if not named or any(Path(file).name != file for file in named):
            raise ValueError("it names files outside of its folder" if named else "it names no files")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(f"{index} is damaged ({error}). Copy or download the model again.") from error
    return named


def hash_of(path: Path) -> str:
    """SHA-256 over a model folder's configuration and weights, reckoned now."""
    whole = hashlib.sha256()
    for file in (path / "config.json", *weight_files(path)):
        with file.open("rb") as opened:
            whole.update(f"{file.name} {hashlib.file_digest(opened, 'sha256').hexdigest()}\n".encode())
    return f"sha256:{whole.hexdigest()[:32]}"
