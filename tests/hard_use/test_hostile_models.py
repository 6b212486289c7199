"""Model folders made to do harm: each is refused by one sentence, before its numbers take memory or a reader waits."""

from __future__ import annotations

import json
import os
import shutil
import struct
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from explorer.errors import ModelError
from explorer.scoring import folder_report, hf, hf_source

LONG_AGO = "base_model.model.transformer.h.0.attn.c_attn"
DOWN, UP = f"{LONG_AGO}.lora_A.weight", f"{LONG_AGO}.lora_B.weight"


def folder(tiny_gpt2: Path, tmp_path: Path, config: dict[str, object] | None = None, *, weights: bool = True) -> Path:
    """A copy of the small model, with these fields in its configuration."""
    made = Path(shutil.copytree(tiny_gpt2, tmp_path / "model"))
    said = json.loads((made / "config.json").read_text("utf-8"))
    (made / "config.json").write_text(json.dumps({**said, **(config or {})}), "utf-8")
    if not weights:
        (made / "model.safetensors").unlink()
    return made


BOMBS = {
    "one number in a trillion places": ({"w": torch.zeros(1).expand(2_000_000, 1_000_000)}, "repeats the same numbers"),
    "a matrix without numbers": ({"w": torch.empty(1_000_000, 1_000_000, device="meta")}, "expected plain numbers"),
    "a sparse matrix": (
        {"w": torch.sparse_coo_tensor(torch.tensor([[0], [0]]), torch.ones(1), (1_000_000, 1_000_000))},
        "expected plain numbers",
    ),
    "numbers for names": ({1: torch.zeros(3)}, "weights by their names"),
}


@pytest.mark.parametrize(("held", "why"), BOMBS.values(), ids=BOMBS.keys())
def test_pickled_weights_that_become_more_than_their_file_are_refused(tiny_gpt2, tmp_path, settings, held, why):
    made = folder(tiny_gpt2, tmp_path, weights=False)
    torch.save(held, made / "pytorch_model.bin")
    with pytest.raises(ModelError, match=why):
        hf.load(str(made), settings)
    assert not list(settings.models.rglob("*.safetensors"))


@pytest.mark.parametrize(
    "config",
    [{"vocab_size": 10**9}, {"n_embd": 60_000}, {"n_positions": 3 * 10**8}, {"n_layer": 200_000}, {"n_embd": -32}],
    ids=str,
)
def test_a_configuration_that_asks_for_more_than_the_files_hold_takes_no_memory(tiny_gpt2, tmp_path, settings, config):
    with pytest.raises(ModelError, match=r"asks for|as its config\.json says"):
        hf.load(str(folder(tiny_gpt2, tmp_path, config)), settings)


@pytest.mark.parametrize(
    "config",
    [{"architectures": {"a": 1}}, {"architectures": 5}, {"model_type": ["gpt2"]}, {"n_layer": "2"}, {"dtype": ["x"]},
     {"quantization_config": "x"}, {"text_config": [1]}, {"n_positions": 10**400}],
    ids=str,
)  # fmt: skip
def test_a_configuration_of_odd_types_is_reported_and_refused_or_read(tiny_gpt2, tmp_path, settings, config):
    made = folder(tiny_gpt2, tmp_path, config)
    assert isinstance(folder_report.report("it", made).architecture, str)
    try:
        hf.load(str(made), settings)
    except ModelError as error:
        assert len(str(error)) < 1_000


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json", "model.safetensors"])
def test_a_pipe_or_a_device_in_a_model_folder_holds_nobody_up(tiny_gpt2, tmp_path, settings, name):
    made = folder(tiny_gpt2, tmp_path)
    (made / name).unlink()
    if name == "config.json":
        (made / name).symlink_to("/dev/zero")
    else:
        os.mkfifo(made / name)
    for look in (lambda: folder_report.report("it", made), lambda: hf.load(str(made), settings)):
        with pytest.raises(ModelError, match="pipe or a device"):
            look()


def test_a_header_of_gigabytes_is_not_read(tiny_gpt2, tmp_path):
    made = folder(tiny_gpt2, tmp_path)
    with (made / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", 2_000_000_000))
        file.truncate(2_000_000_100)  # a file with a hole, which takes no room
    with pytest.raises(ModelError, match="header would have 2,000,000,000 bytes"):
        hf_source.count_parameters(made)


@pytest.mark.parametrize("named", ["..", "../x.bin", "a\0b", "", 5, ["x"]], ids=repr)
@pytest.mark.parametrize("index", ["pytorch_model.bin.index.json", "model.safetensors.index.json"])
def test_an_index_names_no_file_outside_of_its_folder(tiny_gpt2, tmp_path, settings, index, named):
    made = folder(tiny_gpt2, tmp_path, weights=False)
    (made / index).write_text(json.dumps({"weight_map": {"a": named}}), "utf-8")
    with pytest.raises(ModelError, match="is damaged"):
        hf.load(str(made), settings)


ADAPTERS = {
    "a product of terabytes": ({}, {DOWN: torch.ones(1, 10**6), UP: torch.ones(10**6, 1)}, "belongs to another"),
    "half a product": ({}, {DOWN: torch.ones(1, 32)}, "without a second matrix"),
    "no matrices": ({}, {DOWN: torch.ones(2, 3, 4), UP: torch.ones(96, 3, 2)}, "without a second matrix"),
    "no rank": ({"r": 0}, {DOWN: torch.ones(1, 32), UP: torch.ones(96, 1)}, "or its rank"),
    "a rank without end": ({"r": 10**400}, {DOWN: torch.ones(1, 32), UP: torch.ones(96, 1)}, "or its rank"),
    "no scale": ({"lora_alpha": float("nan")}, {DOWN: torch.ones(1, 32), UP: torch.ones(96, 1)}, "or its rank"),
    "a base that is no name": ({"base_model_name_or_path": ["x"]}, {DOWN: torch.ones(1, 32)}, "is no name"),
    "a base with NUL": ({"base_model_name_or_path": "a\0b"}, {DOWN: torch.ones(1, 32)}, "is no name"),
    "a base outside": ({"base_model_name_or_path": "/etc"}, {DOWN: torch.ones(1, 32)}, "no config.json"),
    "a server for a base": (
        {"base_model_name_or_path": "http://127.0.0.1:9/v1#x"}, {DOWN: torch.ones(1, 32)}, "neither a folder nor",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("said", "held", "why"), ADAPTERS.values(), ids=ADAPTERS.keys())
def test_an_adapter_made_to_do_harm_is_refused(tiny_gpt2, tmp_path, settings, said, held, why):
    made = tmp_path / "adapter"
    made.mkdir()
    fields = {"peft_type": "LORA", "base_model_name_or_path": str(tiny_gpt2), "r": 1, "lora_alpha": 1}
    (made / "adapter_config.json").write_text(json.dumps({**fields, **said}), "utf-8")
    save_file(held, made / "adapter_model.safetensors")
    with pytest.raises(ModelError, match=why):
        hf.load(str(made), settings)


def test_an_adapter_on_itself_ends(tmp_path, settings):
    made = tmp_path / "adapter"
    made.mkdir()
    fields = {"peft_type": "LORA", "base_model_name_or_path": str(made), "r": 1, "lora_alpha": 1}
    (made / "adapter_config.json").write_text(json.dumps(fields), "utf-8")
    save_file({DOWN: torch.ones(1, 32)}, made / "adapter_model.safetensors")
    with pytest.raises(ModelError, match="which is an adapter, too"):
        hf.load(str(made), settings)


def test_what_a_repository_says_of_an_adapter_leads_to_no_folder_here(tiny_gpt2, tmp_path, settings, monkeypatch):
    """A visitor may name any model of the hub, and its adapter_config.json any folder of the server."""
    snapshot = folder(tiny_gpt2, tmp_path)
    fields = {"peft_type": "LORA", "base_model_name_or_path": str(tmp_path / "secret"), "r": 1, "lora_alpha": 1}
    (snapshot / "adapter_config.json").write_text(json.dumps(fields), "utf-8")
    monkeypatch.setattr(hf_source, "_cached", lambda *words, **named: snapshot)
    monkeypatch.setattr(
        hf_source, "_offer", lambda *words: (_ for _ in ()).throw(hf_source._HubUnreachable("no network"))
    )
    source = hf_source.locate("somebody/model", settings)
    assert source.path == snapshot and source.form == ""
