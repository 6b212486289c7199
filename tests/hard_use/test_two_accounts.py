"""Two accounts of one machine on one cache: two real user ids with a common group, a folder with the set-group-ID bit.

The children are forked, so that they need no right to read the checkout; only root can become other accounts.
"""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import shutil
import socketserver
import stat
import tempfile
import threading
import traceback
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer import doctor, fetch, fetch_line, sharing
from explorer import settings as settings_module
from explorer.benchmarks.tables import table
from explorer.errors import ExplorerError
from explorer.popularity.count_cache import CountCache
from explorer.records import RunSpec
from explorer.results import archive, packed_run
from explorer.results import store as stores
from explorer.runs import queue
from explorer.runs.folder import RunFolder
from explorer.runs.response_cache import CachedAnswers
from explorer.scoring import hf_source
from explorer.settings import Settings
from explorer.variants.gloss_store import VectorStore

# What a child would import later it could not read where Python itself lies in a closed folder.
assert fetch_line and "".encode("cp437") == b""  # in which a zip file has its names

GROUP, OWNER, COLLEAGUE = 54_300, 54_301, 54_302
SPEC = RunSpec("accuracy", 1, "made up", "starter_pairs", settings={})
GENEROUS, CAREFUL, CLOSED = 0o002, 0o022, 0o077

pytestmark = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become two accounts"
)


@pytest.fixture
def settings() -> Iterator[Settings]:
    """Of a cache in a folder of the group, as a lab would make it."""
    base = Path(tempfile.mkdtemp())
    base.chmod(0o755)
    cache = base / "cache"
    cache.mkdir()
    os.chown(cache, 0, GROUP)
    cache.chmod(0o2775)
    yield settings_module.read(cache=cache)
    shutil.rmtree(base)


def as_account(uid: int, umask: int, do: Callable[[], Any]) -> Any:
    """What `do` gives when that account does it; an ExplorerError comes as its sentence."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([GROUP])
            os.setgid(uid)
            os.setuid(uid)
            os.umask(umask)
            try:
                said = {"given": do()}
            except ExplorerError as error:
                said = {"refused": str(error)}
            except BaseException:
                said = {"fault": traceback.format_exc()}
            os.write(writing, json.dumps(said).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        said = json.loads(pipe.read())
    os.waitpid(child, 0)
    assert "fault" not in said, said.get("fault")
    return said.get("refused", said.get("given"))


def everything(folder: Path) -> dict[str, tuple[int, str]]:
    """Owner and hash of every file below."""
    return {
        str(path): (path.stat().st_uid, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in folder.rglob("*")
        if path.is_file()
    }


def finish(settings: Settings) -> str:
    """A finished run, stored."""
    folder = RunFolder.create(settings.runs, SPEC)
    for place in range(3):
        row = {"instance_id": f"i{place}", "request": 0, "option": 0, "logprob": -1.0}
        folder.write_part(place, place, {"scores": [row]})
    folder.write_findings([])
    folder.write_progress(status="complete", total=3)
    folder.add_review({"kind": "verdict"})
    stores.ingest_runs(settings, [folder])
    return folder.run_id


def seen(settings: Settings) -> list[str]:
    return [f"{run.status}: {run.message}" for run in queue.list_runs(settings)]


def test_files_have_the_rights_of_the_umask_and_the_group_of_the_folder(settings):
    as_account(OWNER, GENEROUS, lambda: finish(settings))
    for path in settings.cache.rglob("*"):
        found = path.stat()
        assert found.st_gid == GROUP, path
        assert stat.S_IMODE(found.st_mode) == (0o2775 if path.is_dir() else 0o664), path


def test_a_colleague_sees_a_shared_run_as_finished_and_goes_on_with_it(settings):
    run_id = as_account(OWNER, GENEROUS, lambda: finish(settings))

    def look() -> list[Any]:
        folder = RunFolder.find(settings.runs, run_id)
        opened = stores.open_store(settings)
        rows = len(opened.frame("SELECT * FROM scores WHERE run_id = ?", [run_id]))
        return [seen(settings), folder.damaged(), len(folder.read("scores")), rows, folder.is_being_worked()]

    assert as_account(COLLEAGUE, GENEROUS, look) == [["complete: "], [], 3, 3, False]

    def go_on() -> list[Any]:
        folder = RunFolder.find(settings.runs, run_id)
        with folder.lock().acquire(timeout=1):
            folder.write_part(3, 3, {"scores": []})
            folder.add_review({"kind": "another"})
        stores.ingest_runs(settings, [folder])
        count, faults = stores.rebuild_database(settings)
        folder.delete()
        stores.remove_runs(settings, [run_id])
        return [count, faults, seen(settings)]

    assert as_account(COLLEAGUE, GENEROUS, go_on) == [1, [], []]


@pytest.mark.parametrize("umask", [CAREFUL, CLOSED], ids=["others may read", "nobody may read"])
def test_what_was_not_shared_is_named_with_its_owner_and_never_replaced(settings, umask):
    for folder in (settings.runs, settings.store):
        folder.mkdir()
        os.chown(folder, OWNER, GROUP)
        folder.chmod(0o2775)
    run_id = as_account(OWNER, umask, lambda: finish(settings))
    before = everything(settings.runs)

    def attempts() -> dict[str, Any]:
        tried: dict[str, Callable[[], Any]] = {
            "the same run": lambda: RunFolder.create(settings.runs, SPEC),
            "resume": lambda: queue.resume(settings, run_id),
            "submit": lambda: queue.submit(settings, SPEC),
            "delete": lambda: RunFolder.find(settings.runs, run_id).delete(),
            "review": lambda: packed_run.find_own(settings, run_id).add_review({"kind": "mine"}),
            "part": lambda: RunFolder.find(settings.runs, run_id).write_part(0, 0, {"scores": []}),
        }
        said = {}
        for name, do in tried.items():
            try:
                said[name] = f"done: {do()}"
            except ExplorerError as error:
                said[name] = str(error)
        return said

    if umask == CLOSED:
        [line] = as_account(COLLEAGUE, GENEROUS, lambda: seen(settings))
        assert line.startswith("unreadable: ") and f"belongs to the account {OWNER}" in line and "damaged" not in line
        rebuilt = as_account(COLLEAGUE, GENEROUS, lambda: stores.rebuild_database(settings))
        assert "left as it is" in rebuilt and str(OWNER) in rebuilt
    else:
        assert as_account(COLLEAGUE, GENEROUS, lambda: seen(settings)) == ["complete: "]
        assert as_account(COLLEAGUE, GENEROUS, lambda: RunFolder.find(settings.runs, run_id).damaged()) == []
    for name, sentence in as_account(COLLEAGUE, GENEROUS, attempts).items():
        assert f"belongs to the account {OWNER}" in sentence and "ask for the rights" in sentence, name
        assert "damaged" not in sentence and "again" not in sentence, name
    assert everything(settings.runs) == before


def test_importing_a_run_that_another_account_keeps_names_its_owner_and_the_doctor_does_not_resume_it(settings):
    settings.runs.mkdir()
    os.chown(settings.runs, OWNER, GROUP)
    settings.runs.chmod(0o2775)
    run_id = as_account(OWNER, GENEROUS, lambda: finish(settings))
    theirs = RunFolder(settings.runs / run_id)
    path = settings.cache.parent / "run.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("spec.json", (theirs.path / "spec.json").read_bytes())
    path.chmod(0o644)
    for each in (theirs.path / "spec.json", theirs.path / "progress.json", *theirs.parts.glob("*.done")):
        each.chmod(0o600)
    before = everything(settings.runs)
    said = as_account(COLLEAGUE, GENEROUS, lambda: str(archive.unpack_archive(path, settings)))
    assert f"{run_id} is here already" in said and f"belongs to the account {OWNER}" in said
    assert "ask for the rights" in said and "elete" not in said and "esume" not in said
    status, message = as_account(COLLEAGUE, GENEROUS, lambda: list(doctor._runs(settings)))
    assert status == "note" and run_id in message and f"belongs to the account {OWNER}" in message
    assert "resume" not in message
    assert everything(settings.runs) == before


def test_a_single_part_that_is_kept_is_not_called_damaged(settings):
    run_id = as_account(OWNER, GENEROUS, lambda: finish(settings))
    parts = settings.runs / run_id / "parts" / "scores"
    (parts / "000000001-000000001.parquet").chmod(0o600)
    before = everything(settings.runs)
    assert as_account(COLLEAGUE, GENEROUS, lambda: RunFolder.find(settings.runs, run_id).drop_damaged()) == []
    said = as_account(COLLEAGUE, GENEROUS, lambda: len(RunFolder.find(settings.runs, run_id).read("scores")))
    assert f"belongs to the account {OWNER}" in said and "damaged" not in said
    said = as_account(COLLEAGUE, GENEROUS, lambda: queue.resume(settings, run_id))
    assert f"belongs to the account {OWNER}" in said
    assert everything(settings.runs) == before


class Encoder:
    name = "made-up"

    def encode(self, texts):
        return np.ones((len(texts), 2), np.float32)


def test_counts_and_vectors_are_written_by_both(settings):
    def count(number: int) -> list[int]:
        cache = CountCache(settings.counts)
        cache.store_counts("i", {(number,): (number, False)})
        vectors = VectorStore(Encoder(), settings.cache / "vectors")
        vectors.vectors([f"text {number}"])
        known = cache.counts("i", [(1,), (2,)])
        cache.close()
        return sorted(count for count, _ in known.values())

    assert as_account(OWNER, GENEROUS, lambda: count(1)) == [1]
    assert as_account(COLLEAGUE, GENEROUS, lambda: count(2)) == [1, 2]


def test_a_store_of_counts_that_is_kept_is_neither_damaged_nor_set_aside(settings):
    from explorer.popularity import count_cache

    as_account(OWNER, CLOSED, lambda: CountCache(settings.counts).close())
    settings.counts.chmod(0o2775)
    before = everything(settings.counts)
    for attempt in (lambda: CountCache(settings.counts).path, lambda: str(count_cache.rebuild_file(settings.counts))):
        assert f"belongs to the account {OWNER}" in as_account(COLLEAGUE, GENEROUS, attempt)
    assert as_account(COLLEAGUE, GENEROUS, lambda: count_cache.find_damage(settings.counts)) == ""
    assert everything(settings.counts) == before


def test_hashes_of_models_are_shared_and_no_account_needs_them(settings):
    model = settings.cache / "own-model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    (model / "model.safetensors").write_bytes(b"weights")
    for path in (model, *model.iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)

    first = as_account(OWNER, GENEROUS, lambda: hf_source.folder_hash(model, settings))
    assert first.startswith("sha256:")
    assert as_account(COLLEAGUE, GENEROUS, lambda: hf_source.folder_hash(model, settings)) == first
    [kept] = (settings.models / ".hashes").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o664
    shutil.rmtree(settings.models)
    assert as_account(OWNER, CLOSED, lambda: hf_source.folder_hash(model, settings)) == first
    assert as_account(COLLEAGUE, GENEROUS, lambda: hf_source.folder_hash(model, settings)) == first


def test_a_model_that_is_kept_is_not_called_damaged(settings):
    model = settings.cache / "own-model"

    def make() -> None:
        model.mkdir()
        (model / "config.json").write_text("{}")
        (model / "model.safetensors").write_bytes(b"weights")

    as_account(OWNER, GENEROUS, make)
    (model / "model.safetensors").chmod(0o600)
    said = as_account(COLLEAGUE, GENEROUS, lambda: str(hf_source.locate(str(model), settings)))
    assert f"{model / 'model.safetensors'} belongs to the account {OWNER}" in said and "damaged" not in said


def test_weights_that_were_made_into_safetensors_are_read_by_both(settings, tiny_gpt2):
    """Forked children can read no checkout, so that the first account's umask is taken here."""
    import torch
    from safetensors.torch import load_file

    from explorer.scoring import hf_weights

    model = settings.cache / "pickled"
    shutil.copytree(tiny_gpt2, model)
    torch.save(load_file(model / "model.safetensors"), model / "pytorch_model.bin")
    (model / "model.safetensors").unlink()
    before = os.umask(GENEROUS)
    try:
        made = hf_weights.as_safetensors(model, "sha256:0123456789abcdef", settings, None)
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in made.iterdir()} == {0o664}
    assert not list(made.parent.glob(".making-*"))
    assert as_account(COLLEAGUE, GENEROUS, lambda: len((made / "model.safetensors").read_bytes())) > 0
    made.chmod(0o700)
    ours = as_account(
        COLLEAGUE, GENEROUS, lambda: str(hf_weights.as_safetensors(model, "0123456789abcdef", settings, None))
    )
    assert "cannot be read by this account" in ours


def test_an_import_of_another_account_is_not_replaced(settings):
    source = settings.cache.parent / "pairs.csv"
    source.write_text("good,bad\nThe cat sleeps.,The cat sleep.\n")
    source.chmod(0o644)
    reading = table.guess_reading(source)

    def store() -> str:
        return table.store_import(source, "pairs", settings, reading).name

    assert as_account(OWNER, CAREFUL, store) == "imported_pairs"
    settings.imports.chmod(0o2775)
    before = everything(settings.imports)
    assert f"belongs to the account {OWNER}" in as_account(COLLEAGUE, GENEROUS, store)
    assert as_account(COLLEAGUE, GENEROUS, lambda: table.imported_benchmark("pairs", settings).name) == "imported_pairs"
    assert everything(settings.imports) == before


def test_locks_are_held_in_turn_by_both(settings):
    path = settings.cache / ".some.lock"

    def hold() -> str:
        with sharing.hold(path):
            return "held"

    for umask in (GENEROUS, CAREFUL, CLOSED):
        path.unlink(missing_ok=True)
        assert as_account(OWNER, umask, hold) == "held"
        assert as_account(COLLEAGUE, umask, hold) == "held"


def test_downloads_are_shared(settings):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "4")
            self.end_headers()
            self.wfile.write(b"data")

        def log_message(self, *given: object) -> None:
            pass

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        digest = hashlib.sha256(b"data").hexdigest()

        def get() -> str:
            return fetch.download(url, settings.downloads / "file", sha256=digest).read_text()

        assert as_account(OWNER, GENEROUS, get) == "data"
        assert as_account(COLLEAGUE, GENEROUS, get) == "data"
        assert stat.S_IMODE((settings.downloads / "file").stat().st_mode) == 0o664
        (settings.downloads / "file").chmod(0o600)
        assert f"belongs to the account {OWNER}" in as_account(COLLEAGUE, GENEROUS, get)
        server.shutdown()


def test_a_kept_answer_file_is_written_by_both(settings):
    class Endpoint:
        name = "made-up"

        def generate(self, requests, *, on_answer, **more):
            return []

    folder = settings.cache / "answers"

    def ask() -> str:
        folder.mkdir(exist_ok=True)
        CachedAnswers(Endpoint(), folder).generate([], max_new_tokens=1)
        return "asked"

    assert as_account(OWNER, GENEROUS, ask) == "asked"
    assert as_account(COLLEAGUE, GENEROUS, ask) == "asked"
