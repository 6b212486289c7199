"""How much memory a Parquet file takes once it is read, known before any of it is taken.

The numbers in a file's footer are the file's own word. Here the header of every page is read, which is what a reader
goes by: how large the page is unpacked and how many values it holds. A value that stands once in a dictionary may be
meant a million times, so where that could be much, the lengths are added up without writing the values out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import pyarrow as pa

MOST_COLUMNS = 2_000
MOST_CHUNKS = 200_000  # columns times row groups
MOST_PAGES = 2_000_000
MOST_FOOTER = 64 << 20  # bytes
PAGE_HEADER = 1 << 16  # bytes of a page's own header, statistics included
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 8}
_LEVELS = 4  # bytes a value for where it stands in a list or is null
# DELTA_BYTE_ARRAY (7) writes a value as what it adds to the one before: a few bytes may stand for a megabyte.
_PLAIN, _BY_DICTIONARY, _REFUSED = {0, 3, 4, 5, 6, 9}, {2, 8}, {7}


class TooLarge(Exception):
    """The file is no table that should be read; the text says what was found and what was expected."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a table may have at most: rows, values in all, and bytes in memory."""

    rows: int
    values: int
    bytes: int


@dataclass(slots=True)
class _Sizes:
    values: int = 0
    bytes: int = 0
    dictionary: int = 0  # bytes of the chunk's dictionary, unpacked
    meant: int = 0  # values given by their place in the dictionary


def check(path: Path, bounds: Bounds) -> None:
    """Nothing where the file keeps within its bounds; TooLarge, ArrowException or OSError where it cannot be read."""
    import pyarrow.parquet as pq

    _check_footer(path)
    with pq.ParquetFile(path) as file:
        metadata = file.metadata
        if metadata.num_columns > MOST_COLUMNS:
            raise TooLarge(f"{metadata.num_columns:,} columns, expected at most {MOST_COLUMNS:,}")
        if metadata.num_columns * metadata.num_row_groups > MOST_CHUNKS:
            raise TooLarge(f"{metadata.num_row_groups:,} row groups, expected fewer and larger ones")
        rows = sum(metadata.row_group(group).num_rows for group in range(metadata.num_row_groups))
        if max(rows, metadata.num_rows) > bounds.rows or min(rows, metadata.num_rows) < 0:
            raise TooLarge(f"{max(rows, metadata.num_rows):,} rows, expected at most {bounds.rows:,}")
        widths = [
            metadata.schema.column(place).length
            if metadata.schema.column(place).physical_type == "FIXED_LEN_BYTE_ARRAY"
            else _WIDTHS[metadata.schema.column(place).physical_type]
            for place in range(metadata.num_columns)
        ]
        total = _Sizes()
        open_ends: dict[tuple[int, str], int] = {}  # row group and column → values meant by a dictionary of texts
        with path.open("rb") as raw:
            size = os.fstat(raw.fileno()).st_size
            for group in range(metadata.num_row_groups):
                for place, width in enumerate(widths):
                    chunk = metadata.row_group(group).column(place)
                    sizes = _chunk(raw, size, chunk)
                    total.values += sizes.values
                    total.bytes += sizes.bytes + sizes.values * (max(width, 0) + _LEVELS)
                    if chunk.physical_type == "BYTE_ARRAY" and sizes.meant:
                        open_ends[group, chunk.path_in_schema] = sizes.dictionary * sizes.meant
                    _compare(total, bounds)
    if total.bytes + sum(open_ends.values()) <= bounds.bytes:
        return
    named = sorted({name for _, name in open_ends})
    with pq.ParquetFile(path, read_dictionary=named) as file:
        for group, name in open_ends:
            total.bytes += _meant(file.read_row_group(group, columns=[name]))
            _compare(total, bounds)


def _check_footer(path: Path) -> None:
    with path.open("rb") as raw:
        size = raw.seek(0, os.SEEK_END)
        raw.seek(max(0, size - 8))
        end = raw.read(8)
    footer = int.from_bytes(end[:4], "little")
    if end[4:] == b"PAR1" and footer > MOST_FOOTER:
        raise TooLarge(f"a footer of {footer:,} bytes, expected at most {MOST_FOOTER:,}")


def _compare(sizes: _Sizes, bounds: Bounds) -> None:
    if sizes.values > bounds.values:
        raise TooLarge(f"more than {bounds.values:,} values, expected at most that")
    if sizes.bytes > bounds.bytes:
        raise TooLarge(f"more than {bounds.bytes / 2**20:,.0f} MiB in memory, expected at most that")


def _chunk(raw: BinaryIO, size: int, chunk: Any) -> _Sizes:
    """What the pages of one column of one row group say."""
    start = chunk.data_page_offset
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        start = min(start, chunk.dictionary_page_offset)
    end = start + chunk.total_compressed_size
    if not 0 <= start <= end <= size:
        raise TooLarge("a column that lies outside of the file, expected a whole table")
    sizes = _Sizes()
    if not chunk.num_values:
        return sizes  # no reader looks at its pages
    pages = 0
    while start < end:
        raw.seek(start)
        header, length = _struct(raw.read(min(PAGE_HEADER, end - start)), 0, 0)
        unpacked, packed = header.get(2), header.get(3)
        about: dict[int, Any] = next(
            (header[number] for number in (5, 8, 7) if isinstance(header.get(number), dict)), {}
        )
        values = about.get(1, 0)
        pages += 1
        if not isinstance(unpacked, int) or not isinstance(packed, int) or min(unpacked, packed, values) < 0:
            raise TooLarge("a page without its size, expected a whole table")
        if pages > MOST_PAGES:
            raise TooLarge(f"more than {MOST_PAGES:,} pages in a column, expected fewer")
        sizes.bytes += unpacked
        if 7 in header:
            sizes.dictionary += unpacked
        elif 5 in header or 8 in header:
            encoding = about.get(4 if 8 in header else 2, 0)
            if encoding in _REFUSED or encoding not in _PLAIN | _BY_DICTIONARY:
                raise TooLarge(
                    f"values in the encoding {encoding}, expected plain ones or a dictionary. Write the table again "
                    "with pandas or pyarrow as they do by default"
                )
            sizes.values += values
            sizes.meant += values if encoding in _BY_DICTIONARY else 0
        start += length + packed
    return sizes


def _meant(table: pa.Table) -> int:
    """The bytes of all texts in a table whose texts are read as a dictionary."""
    return sum(_text_bytes(chunk) for column in table.columns for chunk in column.chunks)


def _text_bytes(values: pa.Array) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values, pa.DictionaryArray):
        lengths = pc.binary_length(values.dictionary)
        return pc.sum(pc.cast(pc.take(lengths, values.indices), pa.int64())).as_py() or 0
    if isinstance(values, pa.StructArray):
        return sum(_text_bytes(values.field(place)) for place in range(values.type.num_fields))
    if isinstance(values, pa.MapArray):
        return _text_bytes(values.keys) + _text_bytes(values.items)
    if isinstance(values, pa.ListArray | pa.LargeListArray | pa.FixedSizeListArray):
        return _text_bytes(values.values)
    return int(values.nbytes)


# --- Thrift's compact protocol, in which a page's header is written: field number → value


def _struct(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """A struct's fields, and the place behind it."""
    fields: dict[int, Any] = {}
    number = 0
    try:
        while True:
            head = data[at]
            at += 1
            if head == 0:
                return fields, at
            if head >> 4:
                number += head >> 4
            else:
                number, at = _signed(data, at)
            fields[number], at = _value(data, at, head & 0x0F, depth)
    except IndexError:
        raise TooLarge("a page without a whole header, expected a whole table") from None


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if depth > 8:
        raise TooLarge("a page whose header is nested without end, expected a whole table")
    if kind in (1, 2):
        return kind == 1, at
    if kind == 3:
        return data[at], at + 1
    if kind in (4, 5, 6):
        return _signed(data, at)
    if kind == 7:
        return None, at + 8
    if kind == 8:
        length, at = _unsigned(data, at)
        return None, at + length
    if kind in (9, 10):
        head = data[at]
        at += 1
        count = head >> 4
        if count == 15:
            count, at = _unsigned(data, at)
        for _ in _counted(count):
            _, at = _value(data, at, 3 if head & 0x0F in (1, 2) else head & 0x0F, depth + 1)
        return None, at
    if kind == 12:
        return _struct(data, at, depth + 1)
    raise TooLarge("a page with an unknown header, expected a whole table")


def _counted(count: int) -> Iterator[int]:
    if count > PAGE_HEADER:
        raise TooLarge("a page with an unknown header, expected a whole table")
    return iter(range(count))


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise TooLarge("a page with an unknown header, expected a whole table")


def _signed(data: bytes, at: int) -> tuple[int, int]:
    value, at = _unsigned(data, at)
    return (value >> 1) ^ -(value & 1), at
