"""Which model a name means: embedded, a folder's very weights, or a hub id's commit."""

from __future__ import annotations

import shutil

import pytest

from explorer.errors import ModelError
from explorer.scoring import identity


def test_an_embedded_model_is_known_before_it_is_converted(settings):
    found = identity.identify("gemma-3-270m", settings)
    assert found.name == "gemma-3-270m"
    assert found.weights.startswith("sha256:")


def test_a_folder_is_its_weights_whatever_its_dates(settings, tiny_gpt2, tmp_path):
    copy = shutil.copytree(tiny_gpt2, tmp_path / "copy", copy_function=shutil.copy)
    assert identity.identify(str(copy), settings).weights == identity.identify(str(tiny_gpt2), settings).weights
    weights = copy / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert identity.identify(str(copy), settings).weights != identity.identify(str(tiny_gpt2), settings).weights


def test_a_folder_that_is_no_model_and_a_wrong_name_each_have_their_sentence(settings, tmp_path):
    with pytest.raises(ModelError, match="safetensors|config"):
        identity.identify(str(tmp_path), settings)
    with pytest.raises(ModelError, match="neither an embedded model"):
        identity.identify("gemma 3", settings)


def test_a_hub_id_offline_says_what_to_do(settings, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match="folder that holds the model"):
        identity.identify("EleutherAI/pythia-70m", settings)
