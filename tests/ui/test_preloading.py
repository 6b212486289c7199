"""What is loaded while the server starts: what is here, and nothing that must be fetched, built or converted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from explorer import settings as settings_module
from explorer.settings import ROOT
from explorer.ui import live, resources
from explorer.ui.cockpit import preloading, words


def printed(code: str, cache) -> str:
    """What a program prints in a process of its own over this cache."""
    environment = {**os.environ, "EXPLORER_CACHE": str(cache), "EXPLORER_OFFLINE": "1"}
    command = [sys.executable, "-W", "ignore", "-c", code]
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_over_an_empty_cache_nothing_is_loaded(tmp_path):
    code = (
        "import sys\n"
        "from explorer.ui.cockpit import preloading\n"
        "faults = preloading.load()\n"
        "print(faults, *[name for name in ('torch', 'spacy') if name in sys.modules])\n"
    )
    assert printed(code, tmp_path / "cache").strip() == "[]"
    assert not (tmp_path / "cache" / "models").exists()


def test_words_are_read_where_wordnet_is_here(tmp_path, monkeypatch, shared_settings):
    from explorer.variants.wordnet import find_wordnet

    place = tmp_path / "cache" / "nltk_data" / "corpora"
    place.mkdir(parents=True)
    (place / "wordnet").symlink_to(find_wordnet(shared_settings))
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    assert preloading.load() == []
    read = words.read_words(resources.instances(preloading.FIRST).instances[0], ())
    assert read.offered


def test_what_is_loaded_at_the_start_is_set_aside_from_collections_and_what_is_let_go_of_is_still_freed(tmp_path):
    code = (
        "import gc, weakref\n"
        "from explorer.ui import resources\n"
        "from explorer.ui.cockpit import preloading\n"
        "held = resources.resources().model('glassbox-m')\n"
        "seen = weakref.ref(held.model)\n"
        "preloading.load()\n"
        "gc.disable()\n"
        "frozen = gc.get_freeze_count()\n"
        "del held\n"
        "resources.forget()\n"
        "print(frozen > 100_000, len(gc.get_objects()) < frozen / 10, seen() is None)\n"
    )
    assert printed(code, tmp_path / "cache").split() == ["True", "True", "True"]


def test_a_page_asks_unasked_only_small_models_that_are_here(tmp_path, monkeypatch, tiny_gpt2: Path):
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    assert live.answers_at_once(str(tiny_gpt2))
    assert live.answers_at_once("glassbox-m")  # comes along
    assert not live.answers_at_once("gemma-3-270m")  # not converted in this cache
    assert not live.answers_at_once("EleutherAI/pythia-1b")
    assert not live.answers_at_once("http://127.0.0.1:9/v1#m")
    large = Path(shutil.copytree(tiny_gpt2, tmp_path / "large"))
    with (large / "model.safetensors").open("ab") as weights:
        weights.truncate(int(live.SMALL) + 1)  # a hole: nothing is written
    assert not live.answers_at_once(str(large))
    assert settings_module.read().cache == tmp_path / "cache"
