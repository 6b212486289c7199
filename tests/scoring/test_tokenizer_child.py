"""The process that reads a tokenizer without PyTorch: what it tells equals what is read with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from multiprocessing.connection import Connection, Pipe

import pytest

from explorer.errors import ModelError
from explorer.scoring import hf, hf_chat, hf_tokenizer
from explorer.scoring.hf_source import Source
from explorer.settings import ROOT

HIDDEN = """
import sys
from explorer.scoring import tokenizer_child
tokenizer_child.main(int(sys.argv[1]))
assert sys.modules["torch"] is None, "PyTorch was imported to read a tokenizer"
"""
SHOWN = HIDDEN.replace("assert", "assert not")


def told(source: Source, program: str = HIDDEN) -> tuple:
    ours, theirs = Pipe()
    with theirs, ours:
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(theirs.fileno())],
            pass_fds=[theirs.fileno()], env=env, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        theirs.close()
        assert isinstance(ours, Connection)
        ours.send(source)
        message = ours.recv()
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0 and "PyTorch was not found" not in said
        return message


def source_of(folder) -> Source:
    return Source(str(folder), folder, "", "", None)


def test_what_is_read_without_pytorch_is_what_is_read_with_it(tiny_gpt2):
    assert told(source_of(tiny_gpt2)) == ("tokenizer", hf_tokenizer.read_setup(source_of(tiny_gpt2)))


def test_what_cannot_be_read_is_tried_again_with_pytorch_and_told_in_the_same_sentence(tiny_gpt2, tmp_path):
    folder = tmp_path / "without"
    shutil.copytree(tiny_gpt2, folder)
    for name in ("tokenizer.json", "vocab.json", "merges.txt"):
        (folder / name).unlink(missing_ok=True)
    with pytest.raises(ModelError) as here:
        hf_tokenizer.read_setup(source_of(folder))
    assert told(source_of(folder), SHOWN) == ("unreadable", "ModelError", str(here.value))


def test_it_ends_when_nobody_is_left_to_ask():
    ours, theirs = Pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "explorer.scoring.tokenizer_child", str(theirs.fileno())],
        pass_fds=[theirs.fileno()], cwd=ROOT,
    )  # fmt: skip
    theirs.close()
    ours.close()
    assert process.wait(60) == 0


@pytest.mark.parametrize("said", [None, {}, {"eos_token_id": [7, 9]}, {"eos_token_id": 5}], ids=str)
@pytest.mark.parametrize("in_config", [0, 11])
def test_where_answers_end_is_known_before_the_model_is_loaded(tiny_gpt2, settings, tmp_path, said, in_config):
    folder = tmp_path / "model"
    shutil.copytree(tiny_gpt2, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"eos_token_id": in_config}))
    (folder / "generation_config.json").unlink(missing_ok=True)
    if said is not None:
        (folder / "generation_config.json").write_text(json.dumps(said))
    (folder / "chat_template.jinja").write_text("{{ messages[0]['content'] }}")
    setup, loaded = hf_tokenizer.read_setup(source_of(folder)), hf.load(str(folder), settings, device="cpu")
    assert setup.ends == loaded.ends
    assert hf_chat.default_template(setup.tokenizer) == hf_chat.template_of(loaded)
    assert dict(setup.tokenizer.special_tokens_map) == dict(loaded.tokenizer.special_tokens_map)
