"""What an index says about itself, and whether its files agree; the engine itself would not notice."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from explorer.errors import CountError
from explorer.popularity.tokenizer import FILE as TOKENIZER_FILE

FILE = "manifest.json"
CHECKED = "checked.json"  # sizes and times of the files when their hashes were last right
FORMAT = 1
ENGINE_VERSION = 4  # the layout of the index files
WIDTHS = {"u8": 1, "u16": 2, "u32": 4}  # bytes a token
SEPARATORS = {"u8": 0xFF, "u16": 0xFFFF, "u32": 0xFFFFFFFF}  # the id that stands between documents


@dataclass(frozen=True, slots=True)
class Shard:
    """The size of one shard, with or without the separator after its last document."""

    tokens: int
    documents: int
    closed: bool


@dataclass(frozen=True, slots=True)
class Manifest:
    """Name, token width, tokenizer, sizes and checksums of an index, and how many counts were compared."""

    name: str
    dtype: str
    tokenizer: str  # in words
    tokenizer_hash: str
    vocabulary: int  # ids run from 0 to this minus 1
    shards: tuple[Shard, ...]
    sizes: Mapping[str, int]  # bytes a file
    sha256: Mapping[str, str]
    compared: int = 0  # counts that equalled brute force when the index was made
    sources: tuple[str, ...] = ()
    note: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    identity: str = ""  # the name of a corpus that is the same everywhere, where it has one

    @property
    def tokens(self) -> int:
        """The corpus size in tokens, separators not counted."""
        return sum(shard.tokens for shard in self.shards)

    @property
    def documents(self) -> int:
        """How many documents the corpus has."""
        return sum(shard.documents for shard in self.shards)

    @property
    def key(self) -> str:
        """The name under which counts of exactly this index are cached."""
        files = "".join(f"{name}:{self.sha256[name]}\n" for name in sorted(self.sha256))
        return self.identity or f"{self.name}-{short_hash(files)}"


def short_hash(text: str) -> str:
    """The first twelve hex digits of a text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def write(folder: Path, manifest: Manifest) -> None:
    """Writes manifest.json, last of all files."""
    content = {"format": FORMAT, **dataclasses.asdict(manifest)}
    (folder / FILE).write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")


def read(folder: Path) -> Manifest:
    """The manifest of an index, its words checked but not yet its files."""
    path = folder / FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if not folder.is_dir():
            raise CountError(
                f"{folder} does not exist. Build an index with `python -m explorer index build`."
            ) from None
        raise CountError(
            f"{folder} has no {FILE}, so its counts were never checked. Build the index anew, or take over one made "
            "elsewhere with `python -m explorer index check --in DIR --tokenizer T --adopt`."
        ) from None
    except (OSError, ValueError) as error:
        raise CountError(f"{path} cannot be read ({error}). Build the index anew.") from error
    try:
        return _parse(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CountError(f"{path} is not a manifest of this version ({error!r}). Build the index anew.") from error


def check_sizes(folder: Path, manifest: Manifest) -> None:
    """Refuses an index whose files have another size than the manifest and the layout say.

    A shortened table gives plausible wrong counts, a wrong token width too, and the engine warns of neither.
    """
    for name, size in manifest.sizes.items():
        size_now = (folder / name).stat().st_size if (folder / name).is_file() else None
        if size_now != size:
            problem = "is missing" if size_now is None else f"has {size_now:,} bytes"
            raise CountError(
                f"{folder / name} {problem}, expected {size:,} bytes: the index is damaged and would count wrongly. "
                "Build it anew."
            )
    width = WIDTHS[manifest.dtype]
    for number, shard in enumerate(manifest.shards):
        positions = shard.tokens + shard.documents + shard.closed
        expected_sizes = {"tokenized": positions * width, "offset": shard.documents * 8}
        for name, size in expected_sizes.items():
            if manifest.sizes[f"{name}.{number}"] != size:
                raise CountError(
                    f"{folder / FILE} says {manifest.dtype} tokens, so {name}.{number} should have {size:,} bytes, but "
                    f"it has {manifest.sizes[f'{name}.{number}']:,}: width and files disagree. Build the index anew."
                )
        if manifest.sizes[f"table.{number}"] != positions * pointer_width(positions * width):
            raise CountError(
                f"{folder / f'table.{number}'} has {manifest.sizes[f'table.{number}']:,} bytes, which does not fit "
                f"{positions:,} positions: the index is damaged and would count wrongly. Build it anew."
            )


def check_tokenizer(folder: Path, manifest: Manifest) -> None:
    """Refuses an index whose tokenizer is not the one it was made with."""
    path = folder / TOKENIZER_FILE
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise CountError(f"{path} cannot be read ({error.strerror}). Build the index anew.") from error
    if digest != manifest.tokenizer_hash:
        raise CountError(
            f"{path} has hash {digest[:12]}…, the index was made with {manifest.tokenizer_hash[:12]}…: other ids would "
            "be counted. Put the right tokenizer back, or build the index anew."
        )


def check_hashes(folder: Path, manifest: Manifest) -> None:
    """Refuses an index of which a single byte has changed."""
    for name, digest in manifest.sha256.items():
        with (folder / name).open("rb") as file:
            digest_now = hashlib.file_digest(file, "sha256").hexdigest()
        if digest_now != digest:
            raise CountError(
                f"{folder / name} has SHA-256 {digest_now[:12]}…, expected {digest[:12]}…: its content has changed. "
                "Build the index anew."
            )


def check_content(folder: Path, manifest: Manifest) -> None:
    """`check_hashes`, once for as long as no file's size or time of change differs.

    Damage that leaves the size alone gives plausible wrong counts, which would be kept under the intact index's name.
    """
    stamps = {name: [(folder / name).stat().st_size, (folder / name).stat().st_mtime_ns] for name in manifest.sha256}
    fingerprint = {"sha256": dict(manifest.sha256), "files": stamps}
    note = folder / CHECKED
    try:
        if json.loads(note.read_text(encoding="utf-8")) == fingerprint:
            return
    except (OSError, ValueError):
        pass
    check_hashes(folder, manifest)
    with contextlib.suppress(OSError):  # in a folder that cannot be written it is checked at every opening
        note.write_text(json.dumps(fingerprint), encoding="utf-8")


def pointer_width(size: int) -> int:
    """Bytes of one pointer into a file of `size` bytes: as many as `size` needs in base 256, at least one."""
    return max((size - 1).bit_length() + 7, 8) // 8


def _parse(content: Mapping[str, Any]) -> Manifest:
    if content["format"] != FORMAT:
        raise ValueError(f"format {content['format']}")
    content = {"identity": "", **content}  # which older manifests lack
    fields = {name: content[name] for name in (each.name for each in dataclasses.fields(Manifest))}
    fields["shards"] = tuple(Shard(**shard) for shard in fields["shards"])
    fields["sources"] = tuple(fields["sources"])
    if fields["dtype"] not in WIDTHS:
        raise ValueError(f"dtype {fields['dtype']}")
    return Manifest(**fields)
