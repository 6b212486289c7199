"""The bytes of a zip's entry, also where it is packed with Zstandard, which Python reads from 3.14 on."""

from __future__ import annotations

import zipfile
import zlib

import pyarrow as pa

ZSTANDARD = 93  # the compression method's number in a zip file
_ENCRYPTED = 0x1  # the bit of an entry's flags that says so
_HEADER = 30  # bytes of an entry's own header before its name


def entry_bytes(archive: zipfile.ZipFile, name: str) -> bytes:
    """The entry's bytes, no more than it says it has; ValueError where it is damaged."""
    entry = archive.getinfo(name)
    if entry.flag_bits & _ENCRYPTED:
        raise ValueError(f"{name} is locked with a password")
    if entry.compress_type == ZSTANDARD and not hasattr(zipfile, "ZIP_ZSTANDARD"):
        data = _zstandard(archive, entry)
        if zlib.crc32(data) != entry.CRC:
            raise ValueError(f"{name} has a wrong checksum")
        return data
    with archive.open(entry) as file:
        data = file.read(entry.file_size + 1)
    if len(data) > entry.file_size:
        raise ValueError(f"{name} is larger than it says")
    return data


def _zstandard(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    file = archive.fp
    if file is None:
        raise ValueError("the archive is closed")
    file.seek(entry.header_offset)
    header = file.read(_HEADER)
    if len(header) < _HEADER or header[:4] != b"PK\x03\x04":
        raise ValueError(f"{entry.filename} has no header")
    # The name and the extra field may be longer here than in the list of files at the end, so their lengths are read.
    file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
    packed = file.read(entry.compress_size)
    try:
        return bytes(pa.decompress(packed, entry.file_size, codec="zstd", asbytes=True))
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{entry.filename} cannot be unpacked ({error})") from error
