from __future__ import annotations

import dataclasses
import json
import shutil
import struct
import threading

import pytest
import torch

from explorer.errors import ModelError, ScoringError
from explorer.records import Request
from explorer.scoring import hf
from explorer.scoring.engine import device
from explorer.scoring.score import score


@pytest.fixture
def copy(tiny_folders, tmp_path):
    """A copy of the tiny Llama's folder that a test may damage."""
    return shutil.copytree(tiny_folders("llama"), tmp_path / "copy")


def rewrite(path, change):
    settings = json.loads(path.read_text("utf-8"))
    change(settings)
    path.write_text(json.dumps(settings), "utf-8")


def test_a_loaded_model_tells_what_it_is(settings, tiny_folders):
    model = hf.load(str(tiny_folders("gpt2")), settings, device="cpu")
    record = model.record()
    assert record["model"] == model.name == str(tiny_folders("gpt2"))
    assert (record["dtype"], record["device"], record["attention"], record["batches"]) == (
        "float32",
        "cpu",
        "sdpa",
        "packed",
    )
    assert record["window"] == model.window == 256
    assert record["weights"].startswith("sha256:") and record["torch"] == torch.__version__


def test_auto_is_float32_on_a_cpu():
    assert device.choose_dtype("auto", torch.device("cpu")) == "float32"
    assert device.choose_dtype("bf16", torch.device("cpu")) == "bfloat16"


@pytest.mark.parametrize(
    "options, message", [({"device": "tpu9"}, "device 'tpu9'"), ({"dtype": "int3"}, "dtype 'int3'")]
)
def test_an_unknown_device_or_dtype_is_refused(settings, tiny_folders, options, message):
    with pytest.raises(ModelError, match=message):
        hf.load(str(tiny_folders("gpt2")), settings, **options)


def test_half_precision_is_near(settings, tiny_folders):
    asked = [Request("i", 0, "The keys", " to the cabinet are on the table.")]
    exact = score(hf.load(str(tiny_folders("llama")), settings, device="cpu"), asked)[0]
    half = hf.load(str(tiny_folders("llama")), settings, device="cpu", dtype="bfloat16")
    assert half.record()["dtype"] == "bfloat16" and half.model.dtype == torch.bfloat16
    assert score(half, asked)[0].sum == pytest.approx(exact.sum, abs=0.1 * exact.scored)


def test_a_model_that_does_not_fit_is_refused_by_its_header(settings, copy):
    header = json.dumps({"w": {"dtype": "F32", "shape": [10**7, 10**6], "data_offsets": [0, 0]}}).encode()
    (copy / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(ModelError, match=r"too large: 10,000,000 million parameters in float32 need about 44000\.4 GB"):
        hf.load(str(copy), settings, device="cpu")


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda config: config.update(model_type="nonsense"), "an architecture that transformers .* does not know"),
        (lambda config: config.update(model_type="vit"), "'vit', which is no causal language model"),
        (lambda config: config.update(hidden_size=64, head_dim=16), "cannot be loaded|lack"),
    ],
)
def test_what_is_no_causal_model_of_transformers_is_refused(settings, copy, change, message):
    rewrite(copy / "config.json", change)
    with pytest.raises(ModelError, match=message):
        hf.load(str(copy), settings, device="cpu")


def test_code_that_comes_with_a_model_is_never_run(settings, copy):
    (copy / "modeling.py").write_text(f"open({str(copy / 'ran')!r}, 'w')\n")
    rewrite(
        copy / "config.json",
        lambda config: config.update(
            model_type="own", auto_map={"AutoConfig": "modeling.Config", "AutoModelForCausalLM": "modeling.Model"}
        ),
    )
    with pytest.raises(ModelError, match="never run"):
        hf.load(str(copy), settings, device="cpu")
    assert not (copy / "ran").exists()


def test_weights_that_are_missing_are_not_made_up(settings, copy):
    from safetensors.torch import load_file, save_file

    weights = load_file(copy / "model.safetensors")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"lack 1 of the model's weights \(model.layers.1.mlp.up_proj.weight"):
        hf.load(str(copy), settings, device="cpu")


def test_damaged_weights_are_named(settings, copy):
    (copy / "model.safetensors").write_bytes(b"\x01\x02")
    with pytest.raises(ModelError, match="damaged"):
        hf.load(str(copy), settings, device="cpu")


def test_a_folder_without_a_tokenizer_is_refused(settings, copy):
    for file in copy.glob("tokenizer*"):
        file.unlink()
    with pytest.raises((ModelError, ScoringError), match="tokenizer"):
        hf.load(str(copy), settings, device="cpu")


def test_steps_are_told(settings, tiny_folders):
    seen = []
    hf.load(str(tiny_folders("gpt2")), settings, device="cpu", progress=lambda text, share: seen.append((text, share)))
    assert seen[0][0].startswith("Loading") and seen[-1][1] == 1.0


def test_several_threads_get_the_same_numbers(settings, tiny_folders):
    model = hf.load(str(tiny_folders("gemma3_text")), settings, device="cpu")
    asked = [Request(str(i), 0, "The keys to", f" cabinet number {i} are old.") for i in range(20)]
    expected = [found.sum for found in score(model, asked)]
    results: dict[int, list[float]] = {}

    def work(number):
        results[number] = [found.sum for found in score(model, asked, token_budget=40 + number)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == list(range(6))
    for sums in results.values():
        assert sums == pytest.approx(expected, abs=1e-4)


def test_float32_keeps_its_whole_precision(settings, tiny_folders):
    torch.set_float32_matmul_precision("medium")
    hf.load(str(tiny_folders("gpt2")), settings, device="cpu")
    assert torch.get_float32_matmul_precision() == "highest"


def test_the_threads_of_the_settings_are_taken(settings, tiny_folders):
    before = torch.get_num_threads()
    try:
        hf.load(str(tiny_folders("gpt2")), dataclasses.replace(settings, threads=1), device="cpu")
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
