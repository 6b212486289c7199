"""Two apps, two command lines, readers and writers on one cache at the same time."""

from __future__ import annotations

import dataclasses
import io
import tarfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from explorer import settings as settings_module
from explorer.benchmarks.tables import table
from explorer.results import store as stores
from explorer.runs.folder import RunFolder
from explorer.variants import wordnet, wordnet_files
from tests.forked import Forked


def ingest(cache: Path, run_ids: list[str]) -> None:
    found = settings_module.read(cache=cache)
    for run_id in run_ids:
        stores.ingest_runs(found, [RunFolder.find(found.runs, run_id)])


def test_two_processes_ingest_while_a_third_reads_and_no_run_is_lost(run, tmp_path):
    settings, folder = run
    stored = []
    for seed in range(1, 9):
        copy = RunFolder.create(settings.runs, dataclasses.replace(folder.spec, seed=seed))
        for first, last in folder.finished():
            tables = {name: folder.read(name).iloc[first : last + 1].to_dict("records") for name in ("measures",)}
            copy.write_part(first, last, tables)
        copy.write_progress(status="complete", total=folder.progress().total)
        stored.append(copy.run_id)
    log = tmp_path / "log"
    writers = [Forked(ingest, settings.cache, part, log=log) for part in (stored[:4], stored[4:])]
    counts = []
    while any(writer.poll() is None for writer in writers):
        opened = stores.open_store(settings)
        counts.append(int(opened.frame("SELECT count(DISTINCT run_id) AS n FROM measures")["n"][0]))
        opened.close()
    for writer in writers:
        assert writer.wait() == 0, log.read_text()
    assert counts == sorted(counts), "a reader saw a run that was gone a moment later"
    opened = stores.open_store(settings)
    assert set(opened.frame("SELECT run_id FROM runs")["run_id"]) == {folder.run_id, *stored}
    counted = opened.frame("SELECT count(*) AS n FROM measures WHERE run_id <> ? GROUP BY run_id", [folder.run_id])
    assert counted["n"].tolist() == [folder.progress().total] * len(stored)


def test_many_that_look_at_a_run_at_once_never_take_each_other_for_its_worker(run):
    _, folder = run
    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(lambda _: any(folder.is_being_worked() for _ in range(100)), range(8)))
    assert not any(seen)
    held = folder.lock()
    with held, ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda _: all(folder.is_being_worked() for _ in range(100)), range(8)))


def test_a_worker_gets_its_lock_although_others_keep_looking(run):
    _, folder = run
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            folder.is_being_worked()

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            with folder.lock().acquire(timeout=10, poll_interval=0.001):
                pass
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_two_imports_under_one_name_leave_one_whole_benchmark(settings, tmp_path):
    files = []
    for number in range(2):
        path = tmp_path / f"{number}.csv"
        path.write_text("good,bad\n" + f"It is {number}.,It are {number}.\n" * 20)
        files.append(path)

    def keep(path) -> None:
        for _ in range(15):
            table.store_import(path, "mine", settings, table.guess_reading(path))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(keep, files))
    kept = table.imported_benchmark("mine", settings)
    assert (kept.folder / kept.files[0].path).read_text() in {path.read_text() for path in files}
    assert [path.name for path in settings.imports.iterdir()] == ["mine"]


def prepare(cache: Path, number: int, ready: Path) -> None:
    """Says where WordNet was found, and how often this process laid it out; two of them begin together."""
    import nltk

    made = []
    wordnet_files.SIZES = {}
    nltk.data.path = []
    wordnet.WordNet = lambda folder: folder
    wordnet_files.irregular_forms = lambda: {part: [("went", "go")] for part in wordnet_files.PARTS}
    lay_out = wordnet_files.unpack_into
    wordnet_files.unpack_into = lambda *given: (made.append(1), lay_out(*given))
    (ready / str(number)).touch()
    while len(list(ready.iterdir())) < 2:
        time.sleep(0.001)
    print(wordnet.open_lexicon(settings_module.read(cache=cache)), len(made))


def test_wordnet_prepared_by_two_processes_at_once_is_laid_out_once(settings, tmp_path):
    names = {f"{kind}.{part}" for kind in ("data", "index") for part in wordnet_files.PARTS} - {"data.noun"}
    contents = dict.fromkeys(names | {"data.noun1", "data.noun2", "LICENSE.txt"}, b"x\n" * 100_000)
    contents |= {"lexnames": b"00  adj.all   3\n", "index.sense": b"a%1:01:00:: 1 1 7\n"}
    settings.downloads.mkdir(parents=True)
    with tarfile.open(settings.downloads / wordnet_files.ARCHIVE, "w:gz") as tar:
        for name, content in contents.items():
            entry = tarfile.TarInfo(wordnet_files.INSIDE + name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    logs = [tmp_path / f"log-{number}" for number in range(2)]
    ready = tmp_path / "ready"
    ready.mkdir()
    both = [Forked(prepare, settings.cache, number, ready, log=log) for number, log in enumerate(logs)]
    assert [each.wait(120) for each in both] == [0, 0], [log.read_text() for log in logs]
    folder = settings.nltk_data / "corpora" / "wordnet"
    assert sorted(log.read_text().split() for log in logs) == [[str(folder), "0"], [str(folder), "1"]]
    assert not list(folder.parent.glob(".wordnet-*"))
