"""What the explorer knows about a benchmark before a single row is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.records import Instance, Kind


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a benchmark: where it lies in a data folder, where it is published, and its checksum.

    Most files are published as they are (one address, `join` None). Where the published edition is in pieces, `join`
    makes the file from the downloaded pieces, in the order of `urls`.
    """

    path: str  # relative to the data folder, for example "blimp/adjunct_island.jsonl"
    splits: tuple[str, ...] = ()  # the splits it is needed for; () = all
    urls: tuple[str, ...] = ()
    sha256: str = ""
    size: int = 0  # bytes
    join: Callable[[Sequence[Path]], bytes] | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row that became no instance, and why."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a loader made of its files."""

    instances: tuple[Instance, ...]
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class Loaded:
    """A benchmark's instances, with where they came from and the SHA-256 of the files they were read from."""

    instances: tuple[Instance, ...]
    left_out: tuple[LeftOut, ...]
    source: str
    data_hash: str
    language: str = ""  # as the benchmark's


# Takes the benchmark's files by their `SourceFile.path`, and the splits wanted.
Loader = Callable[[Mapping[str, Path], Sequence[str]], Parsed]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A named set of instances; `load` reads them from files that are already on this machine."""

    name: str
    title: str
    kind: Kind
    load: Loader
    files: tuple[SourceFile, ...]
    splits: tuple[str, ...]
    default_splits: tuple[str, ...]
    field: str = ""  # "formal", "functional" or ""
    license: str = ""
    hub_id: str = ""  # id on the Hugging Face hub, for reference
    folder: Path | None = None  # files that come with the program or were imported lie here; else they are looked for
    note: str = ""  # what a user should know, for example that it is a sample
    language: str = ""  # of its texts as an ISO 639 code ("en"), "mul" for several, "" where nobody said
