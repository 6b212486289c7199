"""The files that hold a model's weights, those beside them that decide its scores, and a hash of each kind."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from io import FileIO
from pathlib import Path

from explorer import plain_json
from explorer.errors import ModelError
from explorer.processors import usable_processors
from explorer.settings import Settings

MAX_TEXT = 1 << 28  # bytes of a configuration, a vocabulary or a template
ADAPTER = "adapter_config.json"
# Files beside the weights by which texts become tokens, and which say with what token an answer ends.
TOKENIZER_FILES = (
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json",
    "merges.txt", "vocab.txt", "tekken.json", "generation_config.json", "*.model", "*.tiktoken", "*.codes",
)  # fmt: skip
COPIED = ("*.json", "*.txt", "*.model", "*.jinja", "*.tiktoken", "*.codes")  # beside weights that are made anew
ADAPTER_WEIGHTS = "adapter_model.safetensors"
HASHED_AT_ONCE = 1 << 24  # bytes
PIECEWISE_FROM = 1 << 32  # bytes of a file whose pieces are hashed side by side
PIECE = 1 << 28  # bytes
HASHED_BESIDE = 8  # pieces at a time


def require_regular_files(path: Path) -> None:
    """ModelError where a model's folder holds a pipe, a device or a text without end, at which a reader would wait."""
    try:
        files = [path] if not path.is_dir() else sorted(path.iterdir())
        for file in files:
            mode = file.stat().st_mode if file.exists() else 0
            if mode and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise ModelError(f"{file} is a pipe or a device, expected a file. Give a folder with a model's files.")
            if file.suffix in (".json", ".txt", ".jinja") and mode and file.stat().st_size > MAX_TEXT:
                raise ModelError(
                    f"{file} has {file.stat().st_size:,} bytes, expected at most {MAX_TEXT:,} of a file beside the "
                    "weights. Copy or download the model again."
                )
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read ({error}). Check the folder and its permissions.") from error


def weight_files(path: Path) -> list[Path]:
    """The safetensors files that make up a model, in order."""
    index = path / "model.safetensors.index.json"
    if index.is_file():
        return [path / file for file in _files_of_index(index)]
    if (path / "model.safetensors").is_file():
        return [path / "model.safetensors"]
    return sorted(file for file in path.glob("*.safetensors") if file.name != ADAPTER_WEIGHTS)


def bin_files(path: Path) -> list[Path]:
    """The pickled files that PyTorch once saved a model in, in order; none where there are safetensors."""
    if weight_files(path):
        return []
    index = path / "pytorch_model.bin.index.json"
    if index.is_file():
        return [path / file for file in _files_of_index(index)]
    return [path / "pytorch_model.bin"] if (path / "pytorch_model.bin").is_file() else []


def require_parts(path: Path) -> None:
    """ModelError where weights that come in several files lack one of them."""
    files = weight_files(path) or bin_files(path)
    missing = [number for number, file in enumerate(files, 1) if not file.exists()]
    if missing:
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ModelError(
            f"Of the weights in {path} part {missing[0]} of {len(files)} ({files[missing[0] - 1].name}) is missing"
            f"{more}. Copy or download {'them' if more else 'it'} again."
        )


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


def model_files(path: Path) -> list[Path]:
    """The files that decide what a model is: its configuration and its weights, in whatever form they come."""
    if (path / ADAPTER).is_file():
        return [path / ADAPTER, path / ADAPTER_WEIGHTS]
    if file := gguf_file(path):
        return [file]
    return [path / "config.json", *(weight_files(path) or bin_files(path))]


def _files_of_index(index: Path) -> list[str]:
    """The files that the index of a model in several files names; each lies beside it."""
    try:
        named = sorted(set(plain_json.read(index.read_text("utf-8"))["weight_map"].values()))
        if not named or any(Path(file).name != file or file in ("", ".", "..") or "\0" in file for file in named):
            raise ValueError("it names files outside of its folder" if named else "it names no files")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(f"{index} is damaged ({error}). Copy or download the model again.") from error
    return named


def converted_folder(settings: Settings, digest: str) -> Path:
    """Where the safetensors stand that were made of weights in another form, by their hash or commit."""
    return settings.models / "converted" / digest.removeprefix("sha256:")


def remove_converted(settings: Settings, digest: str) -> int:
    """Removes the safetensors that were made of weights in another form; bytes that were freed."""
    folder = converted_folder(settings, digest)
    if not digest.isalnum() or not folder.is_dir():
        return 0
    freed = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
    shutil.rmtree(folder, ignore_errors=True)
    return freed


def tokenizer_files_hash(path: Path) -> str:
    """SHA-256 over the tokenizer in a model's folder and what it says of generating; without its chat template.

    The template may stand in tokenizer_config.json, but decides nothing of texts that are read as they are.
    """
    whole = hashlib.sha256()
    for file in _matching_files(path, TOKENIZER_FILES):
        content = file.read_bytes()
        if file.name == "tokenizer_config.json":
            content = _without_template(content)
        whole.update(f"{file.name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return whole.hexdigest()


def copied_files_hash(path: Path) -> str:
    """SHA-256 over all that is copied beside weights that are made anew."""
    whole = hashlib.sha256()
    for file in _matching_files(path, COPIED):
        whole.update(f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def _matching_files(path: Path, patterns: tuple[str, ...]) -> list[Path]:
    return sorted({file for pattern in patterns for file in path.glob(pattern) if file.is_file()})


def _without_template(content: bytes) -> bytes:
    try:
        settings = json.loads(content)
    except (ValueError, RecursionError):
        return content
    without = (
        {name: value for name, value in settings.items() if name != "chat_template"}
        if isinstance(settings, dict)
        else settings
    )
    return json.dumps(without, sort_keys=True).encode()


def weights_hash(path: Path) -> str:
    """SHA-256 over a model's configuration and weights, reckoned now."""
    whole = hashlib.sha256()
    for file in model_files(path):
        whole.update(f"{file.name} {_sha256(file)}\n".encode())
    return f"sha256:{whole.hexdigest()[:32]}"


# hashlib.file_digest reads a quarter of a megabyte at a time, and after each has to wait until another thread lets go
# of the interpreter: beside one that imports, a file of 3 GB took 11 s instead of 2.
#
# One processor hashes a gigabyte a second, so that a run with a model of 14 GB waited 15 s for its name. The hash of a
# large file is therefore that of the hashes of its pieces, which are made side by side.
def _sha256(path: Path) -> str:
    size = path.stat().st_size
    if size < PIECEWISE_FROM:
        return _sha256_of(path, 0, size)
    starts = range(0, size, PIECE)
    with ThreadPoolExecutor(min(HASHED_BESIDE, usable_processors())) as pool:
        pieces = list(pool.map(lambda start: _sha256_of(path, start, PIECE), starts))
    return hashlib.sha256("".join(f"{piece}\n" for piece in pieces).encode()).hexdigest()


def _sha256_of(path: Path, start: int, length: int) -> str:
    digest, room = hashlib.sha256(), memoryview(bytearray(min(HASHED_AT_ONCE, length)))
    with FileIO(path) as file:
        file.seek(start)
        while length and (size := file.readinto(room[: min(len(room), length)])):
            digest.update(room[:size])
            length -= size
    return digest.hexdigest()
