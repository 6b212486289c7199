"""Counters by name."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest

from explorer import fetch
from explorer.errors import CountError
from explorer.popularity.counters import known_key, open_counter
from explorer.popularity.infinigram_api import InfinigramAPI
from explorer.popularity.infinigram_local import LocalCounter
from explorer.popularity.infinigram_mini import InfinigramMini
from explorer.settings import Settings

ONCE = fetch.Patience(connect=1.0, read=2.0, tries=2, delay=0.001)


@pytest.fixture
def online(settings: Settings) -> Settings:
    return dataclasses.replace(settings, offline=False)


def test_a_folder_and_a_name_in_the_cache_give_the_same_counts(settings: Settings, index_folder: Path):
    shutil.copytree(index_folder, settings.indexes / "kept")
    by_folder, by_name = open_counter(str(index_folder), settings), open_counter("kept", settings)
    assert isinstance(by_folder, LocalCounter) and isinstance(by_name, LocalCounter)
    assert by_folder.index == by_name.index
    ngrams = by_folder.encode(["the cat"])
    assert by_folder.count(ngrams) == by_name.count(ngrams)
    by_folder.close()
    by_name.close()


def test_a_server_is_named_by_its_address(server, online: Settings):
    for name in (f"{server.url}#small", server.url):
        counter = open_counter(name, online, patience=ONCE)
        assert isinstance(counter, InfinigramAPI)
        assert counter.index == f"{server.url}#small"
        assert counter.count(counter.encode(["the cat"]))[0].count > 0


def test_a_server_that_is_away_is_told_plainly(online: Settings):
    with pytest.raises(CountError, match="cannot be asked for its indexes"):
        open_counter("http://127.0.0.1:9/", online, patience=ONCE)


def test_public_indexes_open_without_a_network(settings: Settings):
    counter = open_counter("v4_piletrain_llama", settings)
    assert isinstance(counter, InfinigramAPI)
    assert counter.index == "v4_piletrain_llama"
    [count] = counter.count([(1, 2, 3)])
    assert count.reason and count.count != count.count
    mini = open_counter("mini:v2_piletrain", settings)
    assert isinstance(mini, InfinigramMini)
    assert mini.index == "mini:v2_piletrain"


def test_counts_of_another_server_are_kept_apart_from_the_public_ones(settings: Settings):
    elsewhere = dataclasses.replace(settings, infinigram_url="http://lab.example/")
    assert open_counter("v4_piletrain_llama", elsewhere).index == "http://lab.example/#v4_piletrain_llama"


def test_the_cache_may_hold_the_tokenizer_of_a_public_index(settings: Settings, index_folder: Path):
    folder = settings.cache / "tokenizers" / "llama-2"
    folder.mkdir(parents=True)
    shutil.copy(index_folder / "tokenizer.json", folder)
    counter = open_counter("v4_piletrain_llama", settings)
    assert counter.encode(["the cat"]) == open_counter(str(index_folder), settings).encode(["the cat"])


@pytest.mark.parametrize("name", ["", "nonsense", "v4_nonsense"])
def test_an_unknown_name_is_told_with_what_there_is(settings: Settings, name: str):
    with pytest.raises(CountError, match=r"There is no index .*glassbox.*v4_piletrain_llama.*mini:NAME"):
        open_counter(name, settings)


def test_a_folder_that_was_never_checked_is_refused(settings: Settings, index_folder: Path, tmp_path: Path):
    copy = Path(shutil.copytree(index_folder, tmp_path / "unchecked"))
    (copy / "manifest.json").unlink()
    with pytest.raises(CountError, match="never checked"):
        open_counter(str(copy), settings)


def test_an_index_of_earlier_versions_is_not_counted_in_even_where_its_folder_is_left(index_folder, settings):
    shutil.copytree(index_folder, settings.indexes / "demo")
    for ask in (open_counter, known_key):
        with pytest.raises(CountError, match=r"earlier versions is no longer counted in\. Choose the index glassbox"):
            ask("demo", settings)
