"""Damage that leaves sizes alone, texts that are no text, edges that are no edges: refused."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from explorer.__main__ import main
from explorer.errors import CountError, UsageError
from explorer.popularity import manifest
from explorer.popularity.infinigram_local import LocalCounter
from explorer.popularity.infinigram_server import open_index
from explorer.popularity.ips import DecileEdges


def test_an_index_whose_bytes_changed_is_refused_and_the_intact_one_is_not(index_folder, tmp_path, cache):
    copy = shutil.copytree(index_folder, tmp_path / "copy")
    table = copy / "table.0"
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 0xFF
    table.write_bytes(content)
    for opened in (lambda: LocalCounter(copy, cache), lambda: open_index(copy)):
        with pytest.raises(CountError, match="its content has changed"):
            opened()
    assert LocalCounter(index_folder, cache).index == manifest.read(index_folder).key


def test_the_content_is_read_through_once_until_a_file_changes(index_folder, tmp_path, monkeypatch):
    copy = shutil.copytree(index_folder, tmp_path / "copy")
    (copy / manifest.CHECKED).unlink(missing_ok=True)
    looked: list[str] = []
    whole = manifest.check_hashes
    monkeypatch.setattr(manifest, "check_hashes", lambda *given: (looked.append("x"), whole(*given)))
    made = manifest.read(copy)
    manifest.check_content(copy, made)
    manifest.check_content(copy, made)
    assert len(looked) == 1
    os.utime(copy / "table.0", ns=(1, 1))
    manifest.check_content(copy, made)
    assert len(looked) == 2


def test_half_a_surrogate_pair_costs_only_its_own_text(index_folder, tmp_path, settings, capsys):
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"text": "\\ud800 the film"}\n{"text": "the cat", "x": NaN}\n')
    out.write_text("old")
    asked = ["popularity", "--index", str(index_folder), "--n", "1", "--in", str(source), "--out", str(out)]
    assert main([*asked, "--cache", str(settings.cache)]) == 0
    odd, good = (json.loads(line) for line in out.read_text("utf-8").splitlines())
    assert odd["ips"] is None and odd["text"] == "\ud800 the film"
    assert good["ips"] is not None and good["x"] is None


@pytest.mark.parametrize("change", [{"values": [float("nan"), *range(1, 9)]}, {"ngrams": "many"}, {"initial": "none"}])
def test_edges_that_are_none_are_refused(change):
    good = {
        "values": list(range(9)),
        "reference": "a set",
        "index": "i",
        "n": 7,
        "initial": "running",
        "ngrams": 9,
        "left_out": 0,
    }
    assert DecileEdges.from_json(json.dumps(good)).n == 7
    with pytest.raises(UsageError, match=r"no decile edges|rising order"):
        DecileEdges.from_json(json.dumps({**good, **change}))
