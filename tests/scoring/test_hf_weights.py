"""Weights of all kinds: each scores as the model does from which its file was made, or is refused by a sentence."""

from __future__ import annotations

import json
import math
import pickle
import shutil
from pathlib import Path

import pytest
import torch
import transformers as t
from safetensors.torch import save_file

from explorer import settings as settings_module
from explorer.errors import ModelError
from explorer.records import Request
from explorer.scoring import hf, hf_kind, hf_source
from explorer.scoring.score import score
from tests.scoring import naive

PAIR = ("The keys to the old", " cabinet are here.")


@pytest.fixture
def settings(tmp_path):
    return settings_module.read(cache=tmp_path / "cache")


@pytest.fixture
def model(tiny_gpt2: Path):
    return t.AutoModelForCausalLM.from_pretrained(tiny_gpt2).eval()


def in_bin(tiny_gpt2: Path, folder: Path, model, files: int = 1) -> Path:
    """The model as PyTorch once saved it: one pickled file, or several with an index."""
    shutil.copytree(tiny_gpt2, folder)
    (folder / "model.safetensors").unlink()
    held = model.state_dict()
    if files == 1:
        torch.save(held, folder / "pytorch_model.bin")
        return folder
    names = list(held)
    index = {}
    for number in range(files):
        name = f"pytorch_model-{number + 1:05d}-of-{files:05d}.bin"
        part = {key: held[key] for key in names[number::files]}
        torch.save(part, folder / name)
        index |= dict.fromkeys(part, name)
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": index}))
    return folder


def scored(folder: Path, settings) -> list[float]:
    loaded = hf.load(str(folder), settings)
    (found,) = score(loaded, [Request("x", 0, *PAIR)])
    return list(found.logprobs)


def expected(model, folder: Path) -> list[float]:
    """A naive loop's answer, from the model that the test made the files of."""
    values, _ = naive.score(model, t.AutoTokenizer.from_pretrained(folder), *PAIR)
    return values


@pytest.mark.parametrize("files", [1, 3])
def test_pickled_weights_score_as_the_model_they_were_saved_from(tiny_gpt2, tmp_path, settings, model, files):
    folder = in_bin(tiny_gpt2, tmp_path / "old", model, files)
    assert scored(folder, settings) == pytest.approx(expected(model, tiny_gpt2), abs=1e-5)
    loaded = hf.load(str(folder), settings)
    assert loaded.record()["weights_from"] == "PyTorch .bin"
    assert loaded.name == str(folder)
    assert loaded.record()["weights"] == hf_source.identity(str(folder), settings)["weights"]


def test_they_are_converted_once_and_anew_when_they_change(tiny_gpt2, tmp_path, settings, model):
    folder = in_bin(tiny_gpt2, tmp_path / "old", model)
    first = hf_source.locate(str(folder), settings)
    made = first.path.stat().st_mtime_ns
    new = tmp_path / "new"
    new.touch()
    assert {file.stat().st_mode for file in first.path.iterdir()} == {new.stat().st_mode}  # others may read the weights
    assert hf_source.locate(str(folder), settings).path == first.path and first.path.stat().st_mtime_ns == made
    with torch.no_grad():
        model.transformer.wte.weight += 0.1
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    again = hf_source.locate(str(folder), settings)
    assert again.path != first.path and again.weights != first.weights
    assert scored(folder, settings) == pytest.approx(expected(model, tiny_gpt2), abs=1e-5)


class Evil:
    def __reduce__(self):
        return (Path.touch, (Path(self.__class__.where),))


@pytest.mark.parametrize("way", ["torch", "pickle"])
def test_a_pickle_that_would_run_code_is_refused_and_runs_nothing(tiny_gpt2, tmp_path, settings, model, way):
    folder = in_bin(tiny_gpt2, tmp_path / "old", model)
    Evil.where = str(tmp_path / "ran")
    held = {"weight": Evil()}
    if way == "torch":
        torch.save(held, folder / "pytorch_model.bin")
    else:
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(held))
    with pytest.raises(ModelError, match=r"holds more than numbers.*never done.*safetensors"):
        hf.load(str(folder), settings)
    assert not (tmp_path / "ran").exists()
    assert not list((settings.models / "converted").iterdir())


@pytest.mark.parametrize(
    ("held", "why"),
    [(b"not a pickle", "holds more than numbers|is damaged"), ({"epoch": 3}, "more than named tensors")],
)
def test_a_file_that_is_no_model_is_told_in_one_sentence(tiny_gpt2, tmp_path, settings, model, held, why):
    folder = in_bin(tiny_gpt2, tmp_path / "old", model)
    if isinstance(held, bytes):
        (folder / "pytorch_model.bin").write_bytes(held)
    else:
        torch.save(held, folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match=why):
        hf.load(str(folder), settings)


# Adapters


def lora(tiny_gpt2: Path, folder: Path, **said) -> tuple[Path, dict[str, torch.Tensor]]:
    """A LoRA adapter on the tiny model, and what it adds to which weight."""
    folder.mkdir()
    rank, alpha = 2, 6
    config = {"peft_type": "LORA", "base_model_name_or_path": str(tiny_gpt2), "r": rank, "lora_alpha": alpha,
              "fan_in_fan_out": True, "bias": "none", **said}  # fmt: skip
    (folder / "adapter_config.json").write_text(json.dumps(config))
    base = t.AutoModelForCausalLM.from_pretrained(tiny_gpt2)
    chance = torch.Generator().manual_seed(1)
    held, added = {}, {}
    for name, weight in base.named_parameters():
        if name.endswith("c_attn.weight"):
            fan_in, fan_out = weight.shape  # as GPT-2 keeps it
            module = name.removesuffix(".weight")
            down, up = torch.randn(rank, fan_in, generator=chance), torch.randn(fan_out, rank, generator=chance)
            held[f"base_model.model.{module}.lora_A.weight"] = down
            held[f"base_model.model.{module}.lora_B.weight"] = up
            scale = alpha / (math.sqrt(rank) if said.get("use_rslora") else rank)
            added[name] = scale * (up @ down).T
    save_file(held, folder / "adapter_model.safetensors")
    return folder, added


@pytest.mark.parametrize("said", [{}, {"use_rslora": True}])
def test_a_lora_adapter_scores_as_its_base_with_the_product_added(tiny_gpt2, tmp_path, settings, model, said):
    folder, added = lora(tiny_gpt2, tmp_path / "adapter", **said)
    plain = expected(model, tiny_gpt2)
    with torch.no_grad():
        for name, change in added.items():
            model.get_parameter(name).add_(change)
    values = scored(folder, settings)
    assert values == pytest.approx(expected(model, tiny_gpt2), abs=1e-4)
    assert values != pytest.approx(plain, abs=1e-2)
    assert hf.load(str(folder), settings).record()["weights_from"] == f"LoRA adapter on {tiny_gpt2}"
    # Another base is another model, though the adapter's files are the same.
    other = Path(shutil.copytree(tiny_gpt2, tmp_path / "base"))
    held = t.AutoModelForCausalLM.from_pretrained(other)
    held.transformer.wpe.weight.data += 1
    held.save_pretrained(other)
    before = hf_source.identity(str(folder), settings)["weights"]
    lora(other, tmp_path / "second", **said)
    assert hf_source.identity(str(tmp_path / "second"), settings)["weights"] != before


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"peft_type": "PREFIX_TUNING"}, r"kind 'PREFIX_TUNING'; only LoRA is merged here. Merge it with peft"),
        ({"use_dora": True}, r"use_dora = True, which is not merged here. Merge it with peft"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save"),
        ({"base_model_name_or_path": ""}, "Merge it with peft"),
    ],
)
def test_an_adapter_of_another_kind_is_refused_with_the_way_out(tiny_gpt2, tmp_path, settings, said, why):
    folder, _ = lora(tiny_gpt2, tmp_path / "adapter", **said)
    with pytest.raises(ModelError, match=why):
        hf.load(str(folder), settings)


def test_an_adapter_of_another_base_is_refused(tiny_gpt2, tmp_path, settings):
    folder, _ = lora(tiny_gpt2, tmp_path / "adapter")
    save_file(
        {
            "base_model.model.model.layers.9.q.lora_A.weight": torch.zeros(2, 8),
            "base_model.model.model.layers.9.q.lora_B.weight": torch.zeros(8, 2),
        },
        folder / "adapter_model.safetensors",
    )
    with pytest.raises(ModelError, match="It belongs to another base"):
        hf.load(str(folder), settings)


# GGUF


def in_gguf(folder: Path) -> tuple[Path, Path, object]:
    """A tiny random Qwen 2 as a GGUF file of 32-bit numbers, its tokenizer's folder, and the model itself."""
    gguf = pytest.importorskip("gguf")
    letters = sorted({chr(code) for code in range(33, 127)} | {"Ġ"})
    tokens = [*letters, "th", "<|endoftext|>"]
    torch.manual_seed(3)
    config = t.Qwen2Config(
        vocab_size=len(tokens), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64, rms_norm_eps=1e-6, rope_theta=10000.0,
        tie_word_embeddings=False, initializer_range=0.4,
    )  # fmt: skip
    model = t.Qwen2ForCausalLM(config).eval()
    path = folder / "tiny.gguf"
    writer = gguf.GGUFWriter(str(path), "qwen2")
    writer.add_context_length(64)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(64)
    writer.add_block_count(2)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * (len(tokens) - 1) + [3])
    writer.add_token_merges(["t h"])
    writer.add_eos_token_id(len(tokens) - 1)
    writer.add_bos_token_id(len(tokens) - 1)
    names = {
        "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
        "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    }  # fmt: skip
    for name, tensor in model.state_dict().items():
        module, _, kind = name.rpartition(".")
        head, number = "", ""
        if module.startswith("model.layers."):
            _, _, number, module = module.split(".", 3)
            head = f"blk.{number}."
        writer.add_tensor(f"{head}{names[module]}.{kind}", tensor.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path, folder, model


@pytest.mark.parametrize("named", ["file", "folder"])
def test_a_gguf_file_scores_as_the_model_it_was_written_from(tmp_path, settings, named):
    folder = tmp_path / "gguf"
    folder.mkdir()
    path, _, model = in_gguf(folder)
    loaded = hf.load(str(path if named == "file" else folder), settings)
    (found,) = score(loaded, [Request("x", 0, "the", " cat")])
    values, _ = naive.score(model, loaded.tokenizer, "the", " cat")
    assert list(found.logprobs) == pytest.approx(values, abs=1e-4)
    assert loaded.record()["weights_from"] == "GGUF"


def test_a_gguf_file_that_cannot_be_read_and_a_folder_with_several_are_told(tmp_path, settings):
    (tmp_path / "x.gguf").write_bytes(b"GGUF and no more")
    with pytest.raises(ModelError, match=r"transformers cannot read x\.gguf .* llama\.cpp"):
        hf.load(str(tmp_path / "x.gguf"), settings)
    (tmp_path / "y.gguf").write_bytes(b"GGUF")
    with pytest.raises(ModelError, match=r"holds 2 GGUF files. Name one of them: x\.gguf, y\.gguf"):
        hf.load(str(tmp_path), settings)


# Quantized weights


@pytest.mark.parametrize(
    ("said", "package"),
    [
        ({"quant_method": "gptq", "bits": 4}, "gptqmodel"),
        ({"quant_method": "awq", "bits": 4}, "gptqmodel"),
        ({"load_in_4bit": True}, "bitsandbytes"),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "bitsandbytes"),
        ({"quant_method": "fbgemm_fp8"}, "fbgemm-gpu"),
        ({"quant_method": "compressed-tensors"}, "compressed-tensors"),
    ],
)
def test_quantized_weights_name_the_package_to_install(tiny_gpt2, tmp_path, settings, monkeypatch, said, package):
    folder = Path(shutil.copytree(tiny_gpt2, tmp_path / "small"))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"quantization_config": said}))
    monkeypatch.setattr(hf_kind.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=rf"are quantized by .*Install it \(`pip install {package}`"):
        hf_kind.require_package(str(folder), hf_kind.quantized_by(t.AutoConfig.from_pretrained(folder)))
