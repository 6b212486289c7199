"""The corpus is the same bytes with other versions of packages: built anew in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from explorer.glassbox import corpus, tokenizer
from explorer.settings import ROOT

# Older than those of requirements.txt, and no more of them than the corpus needs.
OTHER = ("numpy==1.26.4", "pandas==2.1.4", "nltk==3.8.1", "pyarrow==15.0.2", "tokenizers==0.20.3", "filelock",
         "platformdirs", "requests", "regex")  # fmt: skip
BUILD = """
import json, sys
from importlib.metadata import version
from explorer import settings
from explorer.glassbox import corpus, tokenizer
documents = corpus.build(settings.read())
text = documents[0].text
print(json.dumps({"corpus": corpus.corpus_hash(documents), "tokenizer": tokenizer.load().hash,
                  "ids": tokenizer.load().encode_verbatim([text])[0][:200], "numpy": version("numpy")}))
"""


@pytest.mark.slow
@pytest.mark.network
def test_another_environment_builds_the_same_corpus_and_tokens(tmp_path, shared_settings):
    venv.create(tmp_path / "other", with_pip=True)
    python = next(tmp_path.glob("other/*/python*"))
    subprocess.run([python, "-m", "pip", "install", "-q", *OTHER], check=True)
    made = _built(python, shared_settings.cache)
    here = _built(Path(sys.executable), shared_settings.cache)
    assert made["corpus"] == here["corpus"] == corpus.CORPUS
    assert made["tokenizer"] == here["tokenizer"] == tokenizer.load().hash
    assert made["ids"] == here["ids"] and made["numpy"] != here["numpy"]


def _built(python: Path, cache: Path) -> dict[str, object]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "EXPLORER_CACHE": str(cache), "EXPLORER_OFFLINE": "1"}
    done = subprocess.run([python, "-c", BUILD], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])
