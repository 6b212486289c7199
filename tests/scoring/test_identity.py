"""Which model a name means: embedded, a folder's very weights, or a hub id's commit."""

from __future__ import annotations

import dataclasses
import json
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


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json", "generation_config.json"])
def test_a_folder_is_its_tokenizer_and_how_its_answers_end_as_well(settings, tiny_gpt2, tmp_path, name):
    copy = shutil.copytree(tiny_gpt2, tmp_path / "copy")
    before = identity.identify(str(copy), settings)
    held = json.loads((copy / name).read_text()) if (copy / name).is_file() else {}
    (copy / name).write_text(json.dumps(held | {"changed": True}))
    assert identity.identify(str(copy), settings) != before


def test_a_chat_template_is_no_part_of_what_a_folder_is(settings, tiny_gpt2, tmp_path):
    copy = shutil.copytree(tiny_gpt2, tmp_path / "copy")
    before = identity.identify(str(copy), settings)
    (copy / "chat_template.jinja").write_text("{{ messages }}")
    config = copy / "tokenizer_config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"chat_template": "{{ messages }}"}))
    (copy / "README.md").write_text("Ours.")
    (copy / "trainer_state.json").write_text("{}")
    assert identity.identify(str(copy), settings) == before


def test_an_adapter_is_its_base_with_its_tokenizer(settings, tiny_gpt2, tmp_path):
    base = shutil.copytree(tiny_gpt2, tmp_path / "base")
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    said = {"peft_type": "LORA", "base_model_name_or_path": str(base), "r": 2, "lora_alpha": 4}
    (adapter / "adapter_config.json").write_text(json.dumps(said))
    (adapter / "adapter_model.safetensors").write_bytes(b"x")
    before = identity.identify(str(adapter), settings)
    config = base / "tokenizer_config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"add_bos_token": True}))
    assert identity.identify(str(adapter), settings) != before


def test_a_folder_that_is_no_model_and_a_wrong_name_each_have_their_sentence(settings, tmp_path):
    with pytest.raises(ModelError, match=r"safetensors|config"):
        identity.identify(str(tmp_path), settings)
    with pytest.raises(ModelError, match="neither an embedded model"):
        identity.identify("gemma 3", settings)


@pytest.mark.parametrize("name", ["distilgpt2", "gpt2@main", "EleutherAI/pythia-70m@step1000"])
def test_a_hub_id_may_have_no_owner(name, settings, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match="is not on this machine"):
        identity.identify(name, settings)


def test_a_hub_id_offline_says_what_to_do(settings, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match="folder that holds the model"):
        identity.identify("EleutherAI/pythia-70m", settings)


def test_an_endpoint_is_identified_by_its_address_and_model(settings):
    assert (
        identity.identify("http://localhost:8000/v1#some-model", settings).name == "http://localhost:8000/v1#some-model"
    )


def test_openai_names_a_model_behind_the_address_in_the_settings(settings):
    assert identity.identify("openai:gpt-4o", settings).name == "https://api.openai.com/v1#gpt-4o"
    here = dataclasses.replace(settings, api_url="http://127.0.0.1:9/v1/")
    assert identity.identify("openai:gpt-4o", here).name == "http://127.0.0.1:9/v1#gpt-4o"


@pytest.mark.parametrize("name", ["http://localhost:8000/v1", "openai:", "http://#model"])
def test_an_endpoint_without_a_model_or_a_host_is_refused(name, settings):
    with pytest.raises(ModelError, match="expected http://host:port/v1#model-name"):
        identity.identify(name, settings)
