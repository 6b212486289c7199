"""The quicker reader of GGUF files: what gguf's own reads, and an error at once where a file ends early."""

from __future__ import annotations

import gguf
import numpy as np
import pytest

from explorer.scoring.hf_gguf_conversion import _plain_reader

WORDS = ["the", "", " cat", "Ünïcode", "a longer word of a vocabulary"]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("gguf") / "small.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_array("tokenizer.ggml.tokens", WORDS)
    writer.add_array("tokenizer.ggml.scores", [0.5, -1.0, 2.25, 0.0, 3.0])
    writer.add_array("tokenizer.ggml.token_type", [1, 2, 3, 1, 6])
    writer.add_tensor("token_embd.weight", np.arange(12, dtype=np.float32).reshape(3, 4))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_it_reads_what_the_plain_reader_reads(file):
    quick, plain = _plain_reader()(file), gguf.GGUFReader(file)
    assert list(quick.fields) == list(plain.fields)
    for name, field in plain.fields.items():
        assert quick.fields[name].contents() == field.contents(), name
    assert quick.fields["tokenizer.ggml.tokens"].contents() == WORDS
    for one, other in zip(quick.tensors, plain.tensors, strict=True):
        np.testing.assert_array_equal(one.data, other.data)


@pytest.mark.parametrize("key", ["tokenizer.ggml.tokens", "tokenizer.ggml.scores", "tokenizer.ggml.token_type"])
def test_a_file_that_ends_within_an_array_is_an_error_and_no_endless_loop(file, tmp_path, key):
    whole = file.read_bytes()
    field = gguf.GGUFReader(file).fields[key]
    first = field.offset + 8 + len(key) + 4 + 12  # behind its name, its type, and the array's head
    size = sum(part.nbytes for part in field.parts[field.data[0] :]) - 1
    cut = tmp_path / "cut.gguf"
    for end in {first + 1, first + size // 2, first + size}:
        cut.write_bytes(whole[:end])
        with pytest.raises((IndexError, ValueError)):
            _plain_reader()(cut)
