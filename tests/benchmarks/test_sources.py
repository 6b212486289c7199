"""Where files come from: the user's folder, then the cache, then the web (a real local server)."""

import dataclasses
import functools
import hashlib
import json
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from explorer import benchmarks
from explorer.benchmarks import BENCHMARKS, SourceFile, piqa, sources
from explorer.benchmarks.published import CHECKSUMS
from explorer.errors import BenchmarkError, UsageError

ROWS = "".join(json.dumps({"goal": f"Goal {n}", "sol1": "One.", "sol2": "Two."}) + "\n" for n in range(3))
LABELS = "0\n1\n0\n"


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def site(tmp_path):
    """A folder that a web server shows, and its address."""
    folder = tmp_path / "site"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def online(bare):
    return dataclasses.replace(bare, offline=False)


@pytest.fixture
def published(site, monkeypatch):
    """PIQA as three rows of our own, published by the local server."""
    folder, address = site
    files = []
    for path, text in ((piqa.ROWS, ROWS), (piqa.LABELS, LABELS)):
        name = path.rpartition("/")[2]
        (folder / name).write_text(text, "utf-8")
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        files.append(SourceFile(path, urls=(f"{address}/{name}",), sha256=sha256, size=len(text)))
    benchmark = dataclasses.replace(BENCHMARKS["piqa"], files=tuple(files))
    monkeypatch.setitem(BENCHMARKS, "piqa", benchmark)
    return folder


def put(folder, rows=ROWS, labels=LABELS):
    (folder / "piqa").mkdir(parents=True, exist_ok=True)
    (folder / piqa.ROWS).write_text(rows, "utf-8")
    (folder / piqa.LABELS).write_text(labels, "utf-8")


def test_files_are_downloaded_kept_and_told_with_progress(published, online):
    seen = []
    loaded = benchmarks.load("piqa", online, progress=lambda done, total: seen.append((done, total)))
    assert [instance.gold for instance in loaded.instances] == [0, 1, 0]
    assert loaded.source == "2 files: 2 downloaded"
    assert seen[-1] == (len(ROWS) + len(LABELS),) * 2 and seen == sorted(seen)
    again = benchmarks.load("piqa", dataclasses.replace(online, offline=True))
    assert again.source == "2 files: 2 from the cache"
    assert (again.instances, again.data_hash) == (loaded.instances, loaded.data_hash)


def test_the_users_folder_comes_first(published, online, tmp_path):
    benchmarks.load("piqa", online)
    put(tmp_path / "mine", rows=ROWS.replace("Goal", "Aim"))
    loaded = benchmarks.load("piqa", dataclasses.replace(online, data=tmp_path / "mine"))
    assert loaded.instances[0].context == "Aim 0"
    assert loaded.source.startswith(f"2 files: 2 from {tmp_path / 'mine'}")
    assert f"1 not as published ({piqa.ROWS})" in loaded.source


def test_what_the_folder_lacks_comes_from_elsewhere(published, online, tmp_path):
    put(tmp_path / "mine")
    (tmp_path / "mine" / piqa.LABELS).unlink()
    loaded = benchmarks.load("piqa", dataclasses.replace(online, data=tmp_path / "mine"))
    assert loaded.source == f"2 files: 1 from {tmp_path / 'mine'}, 1 downloaded"


def test_files_keep_the_benchmarks_order_wherever_each_came_from(published, online, tmp_path):
    put(tmp_path / "mine")
    (tmp_path / "mine" / piqa.ROWS).unlink()  # the first file is downloaded, the second is here
    found = sources.find_or_download(
        BENCHMARKS["piqa"], dataclasses.replace(online, data=tmp_path / "mine"), ["validation"]
    )
    assert list(found.paths) == [piqa.ROWS, piqa.LABELS]


def test_the_same_files_have_the_same_hash_wherever_they_lie(published, online, tmp_path):
    put(tmp_path / "mine")
    mine = benchmarks.load("piqa", dataclasses.replace(online, data=tmp_path / "mine"))
    assert mine.data_hash == benchmarks.load("piqa", online).data_hash
    put(tmp_path / "mine", labels="1\n1\n0\n")
    changed = benchmarks.load("piqa", dataclasses.replace(online, data=tmp_path / "mine"))
    assert changed.data_hash != mine.data_hash


def test_a_damaged_file_in_the_cache_is_downloaded_again(published, online):
    put(online.datasets, labels="1\n")
    assert benchmarks.load("piqa", online).source == "2 files: 1 from the cache, 1 downloaded"


def test_a_changed_published_file_is_refused(published, online):
    (published / "valid.jsonl").write_text(ROWS + ROWS, "utf-8")
    with pytest.raises(BenchmarkError, match="SHA-256") as caught:
        benchmarks.load("piqa", online)
    assert f"put them into the folder that --data or EXPLORER_DATA names or {online.datasets}" in str(caught.value)
    assert not (online.datasets / piqa.ROWS).exists()


def test_a_published_file_that_is_gone_is_told_with_what_to_do(published, online):
    (published / "valid-labels.lst").unlink()
    with pytest.raises(BenchmarkError, match=r"404.*put it into") as caught:
        benchmarks.load("piqa", online)
    assert "piqa/valid-labels.lst" in str(caught.value)


@pytest.mark.parametrize("name", [name for name in BENCHMARKS if not name.startswith(("starter_", "glassbox_"))])
def test_offline_every_benchmark_says_which_file_to_put_where(bare, name):
    with pytest.raises(BenchmarkError) as caught:
        benchmarks.load(name, bare)
    message = str(caught.value)
    assert BENCHMARKS[name].files[0].path in message
    assert str(bare.datasets) in message and "docs/DATA.md" in message


def test_a_file_published_in_pieces_is_put_together_and_checked(site, online):
    folder, address = site
    (folder / "a").write_text("one\n")
    (folder / "b").write_text("two\n")
    file = SourceFile(
        "set/whole.txt",
        urls=(f"{address}/a", f"{address}/b"),
        sha256=hashlib.sha256(b"one\ntwo\n").hexdigest(),
        join=lambda pieces: b"".join(piece.read_bytes() for piece in pieces),
    )
    path = sources.find_file("A set", file, online)
    assert path.read_bytes() == b"one\ntwo\n"
    assert [p.name for p in path.parent.iterdir() if not p.name.startswith(".")] == ["whole.txt"]
    path.unlink()
    (folder / "b").write_text("changed\n")
    with pytest.raises(BenchmarkError, match="do not make up the expected file"):
        sources.find_file("A set", file, online)
    assert not path.exists()


def test_every_published_file_has_a_checksum_and_nearly_every_one_an_address():
    files = [file for benchmark in BENCHMARKS.values() if not benchmark.folder for file in benchmark.files]
    assert all(len(file.sha256) == 64 and file.size for file in files)
    # DBpedia's sample was drawn by its publisher's user and is not published as such.
    assert {file.path.partition("/")[0] for file in files if not file.urls} == {"dbpedia14"}
    assert all(url.startswith("https://raw.githubusercontent.com/") for file in files for url in file.urls)


def test_checksums_are_those_of_the_real_files(data_folder):
    for path, (sha256, size) in CHECKSUMS.items():
        data = (data_folder / path).read_bytes()
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (sha256, size), path


def test_names_of_what_does_not_exist_are_told(settings):
    with pytest.raises(UsageError, match="Did you mean blimp"):
        benchmarks.find("blmp", settings)
    with pytest.raises(UsageError, match="wnli has no split test; it has train, dev"):
        benchmarks.load("wnli", settings, splits=["test"])


def test_available_names_what_is_here(published, online):
    assert "piqa" not in benchmarks.available_names(online)
    put(online.datasets)
    assert "piqa" in benchmarks.available_names(online)
