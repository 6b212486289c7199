"""A thousand counts of WikiText, through the library, the command line and HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.__main__ import main
from explorer.popularity import brute_force
from explorer.popularity.count_cache import CountCache
from explorer.popularity.infinigram_api import InfinigramAPI
from explorer.popularity.infinigram_local import LocalCounter
from explorer.popularity.service import Service


@pytest.fixture(scope="module")
def wiki(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wiki") / "wiki"
    assert main(["index", "build", "--in", str(data_folder / "wikitext" / "wiki.test.raw"), "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def thousand(wiki: Path) -> tuple[list[tuple[int, ...]], list[float]]:
    """Random n-grams of 1 to 10 tokens and how often they really occur."""
    stream = brute_force.token_stream(wiki, "u16")
    ngrams = brute_force.sample_ngrams(stream, 0xFFFF, 1000, seed=2024)
    return ngrams, [float(brute_force.count(stream, ngram)) for ngram in ngrams]


def test_the_sample_has_all_lengths_and_both_zeros_and_large_counts(thousand):
    ngrams, truth = thousand
    assert {len(ngram) for ngram in ngrams} == set(range(1, 11))
    assert min(truth) == 0 and max(truth) > 1000 and sum(count == 1 for count in truth) > 100


def test_the_library_counts_as_brute_force(wiki: Path, cache: CountCache, thousand):
    ngrams, truth = thousand
    counter = LocalCounter(wiki, cache)
    assert [each.count for each in counter.count(ngrams)] == truth
    counter.close()


def test_the_command_line_counts_as_brute_force(wiki: Path, thousand, tmp_path: Path):
    ngrams, truth = thousand
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps({"ids": list(ngram)}) + "\n" for ngram in ngrams))
    command = ["index", "count", "--index", str(wiki), "--in", str(source), "--cache", str(tmp_path / "cache")]
    done = subprocess.run([sys.executable, "-m", "explorer", *command], capture_output=True, text=True, check=True)
    assert [json.loads(line)["count"] for line in done.stdout.splitlines()] == truth


def test_a_server_started_on_the_command_line_counts_as_brute_force(wiki: Path, cache: CountCache, thousand):
    ngrams, truth = thousand
    command = [sys.executable, "-m", "explorer", "index", "serve", "--in", str(wiki), "--port", "0"]
    serving = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    try:
        assert serving.stderr is not None
        url, _, name = serving.stderr.readline().strip().partition("#")
        counts = InfinigramAPI(Service(url, name), cache).count(ngrams)
        assert [each.count for each in counts] == truth
    finally:
        serving.terminate()
        serving.wait()
