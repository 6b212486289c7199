"""Weights read piece by piece are those that safetensors reads, whatever their type, size and number."""

from __future__ import annotations

import os

import pytest
import torch
from safetensors.torch import load_file, save_file

from explorer.scoring import hf_weights_to_gpu
from explorer.scoring.hf_weights_to_gpu import find_tensors, read_tensors

CPU = torch.device("cpu")


@pytest.fixture
def file(tmp_path):
    """Tensors of several types and sizes, some of none or one number, one that is no weight."""
    torch.manual_seed(1)
    tensors = {
        "wide": torch.randn(300, 70),
        "half": torch.randn(33, 65).half(),
        "brain": torch.randn(4, 5, 6).bfloat16(),
        "double": torch.randn(17).double(),
        "one": torch.tensor(2.5),
        "none": torch.empty(0, 8),
        "mask": torch.ones(3, 3, dtype=torch.bool),
    }
    path = tmp_path / "model.safetensors"
    save_file(tensors, path, metadata={"format": "pt"})
    return path


@pytest.mark.parametrize("piece", [64, 1000 * 8, 8 << 20])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_they_are_what_safetensors_reads(file, piece, dtype, monkeypatch):
    monkeypatch.setattr(hf_weights_to_gpu, "PIECE", piece)
    stored = find_tensors(file)
    assert set(stored) == {"wide", "half", "brain", "double", "one", "none"}  # a mask is no weight
    names = sorted(stored, reverse=True)
    read = read_tensors([stored[name] for name in names], CPU, dtype)
    theirs = load_file(file)
    for name, tensor in zip(names, read, strict=True):
        torch.testing.assert_close(tensor, theirs[name].to(dtype), rtol=0, atol=0)


def test_a_file_that_ends_too_early_is_an_error(file):
    stored = find_tensors(file)
    os.truncate(file, file.stat().st_size - 40)
    with pytest.raises(OSError, match="ends at byte"):
        read_tensors(list(stored.values()), CPU, torch.float32)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_gpu_has_the_same_numbers(file, dtype, monkeypatch):
    monkeypatch.setattr(hf_weights_to_gpu, "PIECE", 64)
    stored = find_tensors(file)
    theirs = load_file(file)
    for name, tensor in zip(stored, read_tensors(list(stored.values()), torch.device("cuda"), dtype), strict=True):
        torch.testing.assert_close(tensor.cpu(), theirs[name].to(dtype), rtol=0, atol=0)
