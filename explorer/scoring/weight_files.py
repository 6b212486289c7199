"""The files that hold a model's weights, and one hash of them all."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from explorer.errors import ModelError

ADAPTER = "adapter_config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"


def weight_files(path: Path) -> list[Path]:
    """The safetensors files that make up a model, in order."""
    index = path / "model.safetensors.index.json"
    if index.is_file():
        return [path / file for file in _listed(index)]
    if (path / "model.safetensors").is_file():
        return [path / "model.safetensors"]
    return sorted(file for file in path.glob("*.safetensors") if file.name != ADAPTER_WEIGHTS)


def bin_files(path: Path) -> list[Path]:
    """The pickled files that PyTorch once saved a model in, in order; none where there are safetensors."""
    if weight_files(path):
        return []
    index = path / "pytorch_model.bin.index.json"
    if index.is_file():
        return [path / file for file in _listed(index)]
    return [path / "pytorch_model.bin"] if (path / "pytorch_model.bin").is_file() else []


def gguf_file(path: Path) -> Path | None:
    """The GGUF file that a name means: the file itself, or the only one of a folder without a configuration."""
    if path.suffix.lower() == ".gguf" and path.is_file():
        return path
    files = sorted(path.glob("*.gguf")) if path.is_dir() and not (path / "config.json").is_file() else []
    if len(files) > 1:
        raise ModelError(
            f"{path} holds {len(files)} GGUF files. Name one of them: {', '.join(f.name for f in files[:5])}."
        )
    return files[0] if files else None


def sources(path: Path) -> list[Path]:
    """The files that decide what a model is: its configuration and its weights, in whatever form they come."""
    if (path / ADAPTER).is_file():
        return [path / ADAPTER, path / ADAPTER_WEIGHTS]
    if file := gguf_file(path):
        return [file]
    return [path / "config.json", *(weight_files(path) or bin_files(path))]


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
    """SHA-256 over a model's configuration and weights, reckoned now."""
    whole = hashlib.sha256()
    for file in sources(path):
        with file.open("rb") as opened:
            whole.update(f"{file.name} {hashlib.file_digest(opened, 'sha256').hexdigest()}\n".encode())
    return f"sha256:{whole.hexdigest()[:32]}"
