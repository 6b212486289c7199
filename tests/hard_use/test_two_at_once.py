"""Two apps, two command lines, readers and writers on one cache at the same time."""

from __future__ import annotations

import dataclasses
import io
import subprocess
import sys
import tarfile
import threading
from concurrent.futures import ThreadPoolExecutor

from explorer.benchmarks.tables import table
from explorer.results import store as stores
from explorer.runs.folder import RunFolder
from explorer.variants import wordnet_files

INGEST = """
import sys
from explorer import settings
from explorer.results import store
from explorer.runs.folder import RunFolder

found = settings.read(cache=sys.argv[1])
for run_id in sys.argv[2:]:
    store.ingest_runs(found, [RunFolder.find(found.runs, run_id)])
"""


def process(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_two_processes_ingest_while_a_third_reads_and_no_run_is_lost(run):
    settings, folder = run
    stored = []
    for seed in range(1, 9):
        copy = RunFolder.create(settings.runs, dataclasses.replace(folder.spec, seed=seed))
        for first, last in folder.finished():
            tables = {name: folder.read(name).iloc[first : last + 1].to_dict("records") for name in ("measures",)}
            copy.write_part(first, last, tables)
        copy.write_progress(status="complete", total=folder.progress().total)
        stored.append(copy.run_id)
    writers = [process(INGEST, str(settings.cache), *part) for part in (stored[:4], stored[4:])]
    counts = []
    while any(writer.poll() is None for writer in writers):
        opened = stores.open_store(settings)
        counts.append(int(opened.frame("SELECT count(DISTINCT run_id) AS n FROM measures")["n"][0]))
        opened.close()
    for writer in writers:
        assert writer.wait() == 0, writer.stderr.read()
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
            with folder.lock().acquire(timeout=10):
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


PREPARE = """
import sys
from explorer import settings
from explorer.variants import wordnet, wordnet_files

wordnet_files.SIZES = {}
import nltk
nltk.data.path = []
found = settings.read(cache=sys.argv[1])
made = []
wordnet.WordNet = lambda folder: folder
wordnet_files.irregular_forms = lambda: {part: [("went", "go")] for part in wordnet_files.PARTS}
laid = wordnet_files.unpack_into
wordnet_files.unpack_into = lambda *given: (made.append(1), laid(*given))
print(wordnet.open_lexicon(found), len(made))
"""


def test_wordnet_prepared_by_two_processes_at_once_is_laid_out_once(settings):
    names = {f"{kind}.{part}" for kind in ("data", "index") for part in wordnet_files.PARTS} - {"data.noun"}
    contents = dict.fromkeys(names | {"data.noun1", "data.noun2", "LICENSE.txt"}, b"x\n" * 100_000)
    contents |= {"lexnames": b"00  adj.all   3\n", "index.sense": b"a%1:01:00:: 1 1 7\n"}
    settings.downloads.mkdir(parents=True)
    with tarfile.open(settings.downloads / wordnet_files.ARCHIVE, "w:gz") as tar:
        for name, content in contents.items():
            entry = tarfile.TarInfo(wordnet_files.INSIDE + name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    both = [process(PREPARE, str(settings.cache)) for _ in range(2)]
    answers = [each.communicate(timeout=120) for each in both]
    assert all(each.returncode == 0 for each in both), answers
    folder = settings.nltk_data / "corpora" / "wordnet"
    assert sorted(out.split() for out, _ in answers) == [[str(folder), "0"], [str(folder), "1"]]
    assert not list(folder.parent.glob(".wordnet-*"))
