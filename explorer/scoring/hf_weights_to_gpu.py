"""Weights of safetensors files straight onto a GPU: a piece is read from disk while the ones before it travel.

    thread 0   read piece 0 | read piece 8 | wait for 0, read 16 | ...
    thread 1   read piece 1 | read piece 9 | ...                          8 threads, two pinned buffers each
    GPU                     | 0, 1, 2 ...  | 8, 9, 10 ...

Mapped into memory, as safetensors reads a file, each page is fetched by itself and copied twice; this is three to four
times as fast (bench/RESULTS.md).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import torch

PIECE = 8 << 20  # bytes that are read and sent at once
READERS = 8  # threads
DTYPES = {"BF16": torch.bfloat16, "F16": torch.float16, "F32": torch.float32, "F64": torch.float64}


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """Where a tensor stands in a file."""

    file: Path
    dtype: torch.dtype
    shape: tuple[int, ...]
    start: int  # byte of the file
    size: int  # bytes


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some bytes of a file, and the numbers on the GPU that are made of them."""

    file: Path
    dtype: torch.dtype
    start: int
    size: int
    target: torch.Tensor


def find_tensors(file: Path) -> dict[str, StoredTensor]:
    """The tensors of plain numbers in a file that safetensors has opened, and so checked."""
    with file.open("rb") as opened:
        header_size = int.from_bytes(opened.read(8), "little")
        header = json.loads(opened.read(header_size))
    header.pop("__metadata__", None)
    return {
        name: StoredTensor(file, DTYPES[entry["dtype"]], tuple(entry["shape"]), 8 + header_size + first, last - first)
        for name, entry in header.items()
        if entry["dtype"] in DTYPES
        for first, last in [entry["data_offsets"]]
    }


def read_tensors(stored: Sequence[StoredTensor], device: torch.device, dtype: torch.dtype) -> list[torch.Tensor]:
    """The tensors on a device, in this dtype, in the order asked; OSError where a file ends too early."""
    tensors = [torch.empty(each.shape, dtype=dtype, device=device) for each in stored]
    pieces = [piece for each, tensor in zip(stored, tensors, strict=True) for piece in _pieces_of(each, tensor)]
    with ThreadPoolExecutor(READERS) as pool:
        for _ in pool.map(lambda first: _read(pieces[first::READERS], device), range(READERS)):
            pass
    return tensors


def _pieces_of(stored: StoredTensor, tensor: torch.Tensor) -> Iterator[_Piece]:
    flat = tensor.view(-1)
    width = stored.dtype.itemsize
    for first in range(0, stored.size, PIECE):
        size = min(PIECE, stored.size - first)
        target = flat[first // width : (first + size) // width]
        yield _Piece(stored.file, stored.dtype, stored.start + first, size, target)


def _read(pieces: Sequence[_Piece], device: torch.device) -> None:
    """Reads pieces one after the other and waits until the last one has arrived."""
    on_gpu = device.type == "cuda"
    buffers = [torch.empty(PIECE, dtype=torch.uint8, pin_memory=on_gpu) for _ in range(2)]
    views = [memoryview(buffer.numpy().data) for buffer in buffers]
    stream = torch.cuda.Stream(device) if on_gpu else None
    if stream:
        stream.wait_stream(torch.cuda.current_stream(device))  # what stood in this memory before may still be in use
    sent: list[torch.cuda.Event | None] = [None, None]
    files: dict[Path, int] = {}
    try:
        with torch.cuda.stream(stream):
            for number, piece in enumerate(pieces):
                turn = number % 2
                if waiting := sent[turn]:
                    waiting.synchronize()
                if piece.file not in files:
                    files[piece.file] = os.open(piece.file, os.O_RDONLY)
                _fill(views[turn][: piece.size], files[piece.file], piece)
                numbers = buffers[turn][: piece.size].view(piece.dtype)
                if piece.dtype != piece.target.dtype:
                    numbers = numbers.to(device, non_blocking=True)  # a GPU rounds faster
                piece.target.copy_(numbers, non_blocking=True)
                if stream:
                    arrived = torch.cuda.Event()
                    arrived.record(stream)
                    sent[turn] = arrived
        if stream:
            stream.synchronize()
    finally:
        for opened in files.values():
            os.close(opened)


def _fill(buffer: memoryview, opened: int, piece: _Piece) -> None:
    done = 0
    while done < piece.size:
        count = os.preadv(opened, [buffer[done:]], piece.start + done)
        if not count:
            raise OSError(f"{piece.file} ends at byte {piece.start + done}, expected more.")
        done += count
