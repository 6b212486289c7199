"""The engine in its child process."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from explorer.errors import CountError
from explorer.popularity import brute_force, infinigram_local, measure
from explorer.popularity.count_cache import CountCache
from explorer.popularity.infinigram_local import Engine, LocalCounter, split_at_needle
from explorer.records import Instance
from tests.popularity.conftest import sentences


@pytest.fixture
def counter(index_folder: Path, cache: CountCache) -> Iterator[LocalCounter]:
    made = LocalCounter(index_folder, cache)
    yield made
    made.close()


@pytest.fixture
def damaged(index_folder: Path, tmp_path: Path) -> Path:
    """A copy of the index that a test may damage."""
    return Path(shutil.copytree(index_folder, tmp_path / "damaged"))


def test_counts_equal_brute_force(counter: LocalCounter, ngrams, truth):
    counts = counter.count(ngrams)
    assert [each.count for each in counts] == truth
    assert [each.ids for each in counts] == ngrams


def test_thousands_of_ngrams_with_shared_beginnings_are_counted_rightly_in_any_order(counter: LocalCounter):
    stream = brute_force.token_stream(counter.folder, "u16")
    random = np.random.default_rng(1)
    present = [ngram for ngram in brute_force.sample_ngrams(stream, 0xFFFF, 60, seed=8) if len(ngram) == 6]
    beginnings = [ngram[:3] for ngram in present] + [tuple(random.integers(0, 300, 3).tolist()) for _ in range(40)]
    endings = [ngram[3:] for ngram in present] + [tuple(random.integers(0, 300, 3).tolist()) for _ in range(5)]
    wanted = [(*beginning, *ending) for beginning in beginnings for ending in endings]
    truth = [brute_force.count(stream, ngram) for ngram in wanted]
    assert 0 < sum(count > 0 for count in truth) < len(truth)
    assert [each.count for each in counter.count(wanted)] == truth
    shuffled = [wanted[i] for i in random.permutation(len(wanted))]
    assert counter.engine.counts(shuffled) == [brute_force.count(stream, ngram) for ngram in shuffled]


def test_counts_are_kept_under_a_name_that_tells_this_index_from_all_others(
    counter: LocalCounter, cache: CountCache, ngrams
):
    counter.count(ngrams)
    assert counter.index.startswith("small-")
    assert len(cache.counts(counter.index, ngrams)) == len(set(ngrams))


def test_known_counts_need_no_engine(counter: LocalCounter, ngrams, truth, monkeypatch):
    counter.count(ngrams)
    counter.close()
    assert [each.count for each in counter.count(ngrams)] == truth


def test_ids_outside_the_vocabulary_have_no_count(counter: LocalCounter):
    beyond = counter.manifest.vocabulary
    counts = counter.count([(beyond,), (65535,), (), (-1, 2), (1, 2)])
    assert [math.isnan(each.count) for each in counts] == [True, True, True, True, False]
    assert all(each.reason for each in counts[:4])


def test_a_killed_child_is_started_again(counter: LocalCounter, ngrams, truth):
    counter.count(ngrams[:1])
    first = counter.engine.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert [each.count for each in counter.count(ngrams)] == truth
    assert counter.engine.pid != first


def test_a_child_killed_in_the_middle_of_a_batch_loses_nothing(counter: LocalCounter, ngrams, truth):
    counter.count(ngrams[:1])

    def kill_again_and_again() -> None:
        for _ in range(3):
            time.sleep(0.02)
            if counter.engine.pid:
                os.kill(counter.engine.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_again_and_again)
    killer.start()
    counts = []
    for ngram in ngrams:
        # Each question is tried a few times; one that meets every kill may still fail, in one sentence.
        try:
            counts += counter.count([ngram])
        except CountError as error:
            assert "died" in str(error)
            counts += counter.count([ngram])
    killer.join()
    assert [each.count for each in counts] == truth


def test_a_child_that_dies_each_time_is_told_in_one_sentence(index_folder: Path, monkeypatch):
    engine = Engine(index_folder, "u16", 400)
    engine._command = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"]
    with pytest.raises(CountError, match=r"died 3 times over .*SIGSEGV.* index check"):
        engine.counts([(1, 2)])


def test_a_child_that_hangs_is_ended(index_folder: Path, monkeypatch):
    monkeypatch.setattr(infinigram_local, "PATIENCE", 0.3)
    engine = Engine(index_folder, "u16", 400)
    engine._command = [sys.executable, "-c", "import time; time.sleep(60)"]
    with pytest.raises(CountError, match="SIGKILL"):
        engine.counts([(1, 2)])


@pytest.mark.parametrize("name", ["table.0", "tokenized.0", "offset.0"])
def test_a_truncated_file_is_refused_before_the_engine_sees_it(damaged: Path, cache: CountCache, name: str):
    with (damaged / name).open("r+b") as file:
        file.truncate((damaged / name).stat().st_size - 40)
    with pytest.raises(CountError, match=rf"{name} has .* expected .* damaged and would count wrongly"):
        LocalCounter(damaged, cache)


def test_a_missing_file_is_refused(damaged: Path, cache: CountCache):
    (damaged / "table.0").unlink()
    with pytest.raises(CountError, match=r"table.0 is missing"):
        LocalCounter(damaged, cache)


@pytest.mark.parametrize("dtype", ["u8", "u32"])
def test_the_wrong_token_width_is_refused(damaged: Path, cache: CountCache, dtype: str):
    content = json.loads((damaged / "manifest.json").read_text())
    (damaged / "manifest.json").write_text(json.dumps({**content, "dtype": dtype}))
    with pytest.raises(CountError, match="width and files disagree"):
        LocalCounter(damaged, cache)


def test_another_tokenizer_is_refused(damaged: Path, cache: CountCache):
    text = (damaged / "tokenizer.json").read_text()
    (damaged / "tokenizer.json").write_text(text + " ")
    with pytest.raises(CountError, match="other ids would be counted"):
        LocalCounter(damaged, cache)


@pytest.mark.parametrize("content", ["", "{}", '{"format": 99}', "[1]"])
def test_a_damaged_manifest_is_told_plainly(damaged: Path, cache: CountCache, content: str):
    (damaged / "manifest.json").write_text(content)
    with pytest.raises(CountError, match=r"manifest.json .* Build the index anew"):
        LocalCounter(damaged, cache)


def test_an_index_that_kills_the_engine_kills_only_the_child(damaged: Path):
    (damaged / "table.0").unlink()
    engine = Engine(damaged, "u16", 400)
    with pytest.raises(CountError, match="died 3 times"):
        engine.counts([(1, 2, 3)] * 10)


def test_the_engines_own_errors_are_passed_on(counter: LocalCounter):
    assert "error" in counter.engine.call("get_doc_by_rank", s=99, rank=0)
    with pytest.raises(CountError, match="no method"):
        counter.engine.call("__init__")
    assert counter.engine.call("get_total_doc_cnt") == 40  # and it goes on


def test_a_closed_engine_says_so(index_folder: Path):
    engine = Engine(index_folder, "u16", 400)
    engine.close()
    with pytest.raises(CountError, match="was closed"):
        engine.counts([(1,)])


def test_the_child_ends_with_its_parent(index_folder: Path):
    script = (
        "import os, sys\nfrom pathlib import Path\nfrom explorer.popularity.infinigram_local import Engine\n"
        "engine = Engine(Path(sys.argv[1]), 'u16', 400)\nengine.counts([(1,)])\n"
        "print(engine.pid, flush=True)\nos._exit(0)"
    )
    said = subprocess.run([sys.executable, "-c", script, str(index_folder)], capture_output=True, text=True, check=True)
    pid = int(said.stdout)
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        if "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2]:
            break  # ended, only nobody has asked how
        time.sleep(0.02)
    else:
        assert not Path(f"/proc/{pid}").exists()


def test_without_the_package_a_clear_message(index_folder: Path, cache: CountCache, monkeypatch):
    monkeypatch.setattr(infinigram_local, "available", lambda: False)
    with pytest.raises(CountError, match=r"pip install infini-gram.*public service"):
        LocalCounter(index_folder, cache).count([(1, 2)])


def test_documents_show_the_text_around(counter: LocalCounter):
    [ids] = counter.encode(["Zoë’s café"], bare=True)
    [document] = counter.documents(ids)
    assert document.pieces[0] == ("Zoë’s café", True)
    assert document.source == "odd.txt:4"


def test_a_haystack_is_cut_at_every_needle():
    assert split_at_needle([1, 2, 3, 1, 2, 1], [1, 2]) == [([1, 2], True), ([3], False), ([1, 2], True), ([1], False)]
    assert split_at_needle([1, 1, 1], [1, 1]) == [([1, 1], True), ([1], False)]
    assert split_at_needle([1, 2], []) == [([1, 2], False)]


@pytest.mark.parametrize("initial", ["running", "both"])
@pytest.mark.parametrize("n", [1, 3])
def test_edges_over_rows_of_ids_are_those_over_counts_asked_one_by_one(counter: LocalCounter, monkeypatch, n, initial):
    texts = [*sentences(300, seed=500), "Cat.", "", "broken \ud800 text", *sentences(20, seed=3)]
    pairs = [
        Instance(
            id=f"own/g/{number}", benchmark="own", split="", group="g", kind="pair", format="sentence",
            options=(text, "a zebra " + text), gold=0,
        )
        for number, text in enumerate(texts)
    ]  # fmt: skip
    at_once = measure.survey_edges(counter, pairs, reference="x", n=n, initial=initial)
    assert at_once.ngrams > 40 and at_once.values[-1] > 0
    monkeypatch.setattr(LocalCounter, "counts_at_once", False)
    assert measure.survey_edges(counter, pairs, reference="x", n=n, initial=initial) == at_once
