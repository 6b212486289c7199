"""What every reader of an ontology gives back, and how a file becomes text."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

from explorer import unpacking
from explorer.errors import OntologyError
from explorer.records import Concept

LARGEST = 2 * 2**30  # bytes of an unpacked ontology; NCBITaxon, the largest, has under one GiB
LONGEST_ID = 200  # characters

_BOMS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
_CURIE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*:[A-Za-z0-9_.-]+")
_BARE = re.compile(r"([A-Za-z]{0,3}[0-9]+)(?:\.0)?")  # a table program may have made 6600.0 of it
_UNDERSCORED = re.compile(r"([A-Za-z][A-Za-z0-9.-]*)_([A-Z]*[0-9]+)")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a file that could not be used, with its line (0 where there are no lines)."""

    line: int
    what: str


@dataclass(frozen=True, slots=True)
class Contents:
    """All terms of a file in file order, obsolete and foreign ones too; nothing has been judged yet."""

    concepts: tuple[Concept, ...]
    problems: tuple[Problem, ...] = ()
    declared: str = ""  # the name that the file gives itself
    predictions: tuple[str, ...] = ()  # tables of predictions: the raw answer of each concept
    columns: tuple[str, ...] = ()  # tables: how the columns were read


def read_text(path: Path) -> str:
    """The file's text, unzipped where it is gzip (told by its content), without byte-order mark, line ends as \\n."""
    try:
        raw = _bytes(path)
        text = raw.decode(next((code for mark, code in _BOMS.items() if raw.startswith(mark)), "utf-8"))
    except (OSError, EOFError, zlib.error) as error:
        raise OntologyError(
            f"{path} cannot be read ({getattr(error, 'strerror', None) or error}). Check the path, or fetch it again."
        ) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise OntologyError(
            f"{path.name} line {line} holds bytes that are not {error.encoding}, expected UTF-8. Save it as UTF-8."
        ) from error
    text = text.lstrip("\ufeff").replace("\r\n", "\n")
    return text if "\n" in text else text.replace("\r", "\n")


def _bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        file_stat = os.fstat(file.fileno())
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        most = unpacking.most(file_stat.st_size, LARGEST) if packed else LARGEST
        data = unpacking.bounded(gzip.GzipFile(fileobj=file) if packed else file, most)
    if data is None:
        raise OntologyError(
            f"{path} {'unpacks to' if packed else 'has'} more than {most / 2**20:,.0f} MiB, which no ontology "
            f"{'of its size does' if packed else 'has'}. Look at what it holds, and cut it up."
        )
    return data


def as_curie(text: str, prefix: str = "") -> str:
    """A term's id as PREFIX:local, from an id, an IRI or PREFIX_local, quoted or not; "" where it is none of them.

    With a prefix, an id that has none gets it.
    """
    if len(text) > 4 * LONGEST_ID:
        return ""
    bare = text.strip().strip("\"'<>").strip()
    if "/" in bare or "#" in bare:
        bare = re.split(r"[/#]", bare.rstrip("/#"))[-1]
    if len(bare) > LONGEST_ID:
        return ""
    if _CURIE.fullmatch(bare):
        return bare
    if underscored := _UNDERSCORED.fullmatch(bare):
        return f"{underscored[1]}:{underscored[2]}"
    local = bare_id(bare)
    return f"{prefix}:{local}" if prefix and local else ""


def bare_id(text: str) -> str:
    """An id without a prefix, such as 0006600 or C123; "" where the text is none."""
    match = _BARE.fullmatch(text.strip().strip("\"'<>").strip())
    return match[1] if match else ""


def is_true(value: object) -> bool:
    """Whether a file says yes: true, "true", 1, "1", "yes", with a type behind or not."""
    return str(value).strip().partition("^^")[0].strip("\"' ").lower() in ("true", "1", "1.0", "yes", "y", "t")


def prefix_of(curie: str) -> str:
    """What stands before the colon."""
    return curie.partition(":")[0]
