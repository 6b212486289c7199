"""Which model a name means: embedded, a folder's very weights, or a hub id's commit."""

from __future__ import annotations

import shutil

import pytest

from explorer.errors import ModelError
from explorer.scoring import identity


def test_an_embedded_model_is_known_before_it_is_converted(settings):
    found = identity.identify("gemma-3-270m", settings)
    assert found.name == "gemma-3-270m"
    assert found.weights.startswith("gguf-")


def test_a_folder_is_its_weights_whatever_its_dates(settings, tiny_gpt2, tmp_path):
    copy = shutil.copytree(tiny_gpt2, tmp_path / "copy", copy_function=shutil.copy)
    assert identity.identify(str(copy), settings).weights == identity.identify(str(tiny_gpt2), settings).weights
    weights = copy / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert identity.identify(str(copy), settings).weights != identity.identify(str(tiny_gpt2), settings).weights


def test_a_folder_without_safetensors_is_refused(settings, tmp_path):
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(ModelError, match=r"no \*\.safetensors"):
        identity.identify(str(tmp_path), settings)


def test_a_hub_id_offline_and_a_wrong_name_each_have_their_sentence(settings):
    with pytest.raises(ModelError, match="stay offline"):
        identity.identify("EleutherAI/pythia-70m", settings)
    with pytest.raises(ModelError, match="neither an embedded model"):
        identity.identify("gemma 3", settings)


def test_a_full_commit_needs_no_hub(settings):
    commit = "0123456789abcdef0123456789abcdef01234567"
    assert identity.identify(f"EleutherAI/pythia-70m@{commit}", settings).revision == commit
