"""Which names visitors from elsewhere may use."""

from __future__ import annotations

import dataclasses
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from explorer import admission
from explorer.errors import ExplorerError, ModelError
from explorer.records import Request
from explorer.resources import Resources
from explorer.runs import queue, worker
from explorer.runs.compute_target import ComputeTarget, save_target
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec

FILES = [
    "/etc/passwd", "/tmp", ".", "..", "./x", "../x", "~", "~/models/x", "~root", "a/../../etc/passwd",
    "\\\\host\\share", "C:\\Windows", "a\\b", "infill:/etc", "infill:../x", "/no/such/folder", "x\0y",
]  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_visitor_names_no_file_of_the_server_whether_it_is_there_or_not(settings, name):
    settings.indexes.mkdir(parents=True)
    admit = admission.for_visitors(settings)
    for ask in (
        admit,
        Resources(settings, admit=admit).model,
        Resources(settings, admit=admit).generator,
        Resources(settings, admit=admit).encoder,
        Resources(settings, admit=admit).proposer,
        Resources(settings, admit=admit).bertscore,
        Resources(settings, admit=admit).counter,
    ):
        with pytest.raises(ModelError, match="file or a folder of the machine"):
            ask(name)


def test_a_folder_that_lies_where_the_app_was_started_is_one_too(settings, tmp_path, monkeypatch):
    (tmp_path / "org" / "name").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "terms.csv").touch()
    for name in ("org", "org/name", "terms.csv", "terms.csv#HP"):
        with pytest.raises(ModelError, match="file or a folder"):
            admission.for_visitors(settings)(name)


def test_a_visitor_names_no_benchmark_by_its_file(settings, tmp_path):
    path = tmp_path / "secret.obo"
    path.write_text("format-version: 1.2\n\n[Term]\nid: GO:0000001\nname: secret\n")
    assert Resources(settings).instances(str(path)).instances
    with pytest.raises(ModelError, match="file or a folder"):
        Resources(settings, admit=admission.for_visitors(settings)).instances(str(path))


@pytest.mark.parametrize(
    "name",
    ["gemma-3-270m", "EleutherAI/pythia-160m@step1000", "gpt2", "all-minilm-l6-v2", "demo", "auto", "mini:x", ""],
)
def test_what_is_no_file_and_no_server_is_free(settings, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert admission.for_visitors(settings)(name) is False


def test_a_server_that_the_owner_named_is_free_and_any_other_must_be_public(settings):
    named = dataclasses.replace(
        settings, api_url="http://10.0.0.5:8000/v1", host_keys=(("EXPLORER_API_KEY_LOCALHOST_9000", "sk"),)
    )
    admit = admission.for_visitors(named)
    assert admit("openai:m") is False and admit("http://10.0.0.5:8000/v1#m") is False
    assert admit("http://localhost:9000/v1#m") is False
    assert admit("http://10.0.0.5:8001/v1#m") is True and admit("https://10.0.0.5:8000/v1#m") is True
    assert admit("http://localhost/v1#m") is True
    with pytest.raises(ModelError, match="only the owner of the app may name"):
        admit("http://10.0.0.6:9000#an-index".replace("#an-index", ""))
    with pytest.raises(ModelError, match="only the owner"):
        admit("ftp://10.0.0.6/x#y")


@pytest.fixture
def inner():
    """A server inside the network, which writes down who knocked."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(self.path)
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps({"choices": [{"text": "x"}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            heard.append(self.path)
            self.send_error(404)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server.server_port, heard
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "127.1", "0x7f000001", "0177.0.0.1"])
def test_a_visitors_endpoint_inside_the_network_is_not_asked_however_its_address_is_written(settings, inner, host):
    port, heard = inner
    online = dataclasses.replace(settings, offline=False)
    name = f"http://{host}:{port}/v1#m"
    asked = [Request("a", 0, "x", role="prompt")]
    with pytest.raises(ExplorerError, match="lies inside the network"):
        Resources(online, admit=admission.for_visitors(online)).generator(name).generate(asked, max_new_tokens=1)
    assert heard == []
    # The owner's own question goes there, by the same resources too.
    shared = Resources(online, admit=admission.for_visitors(online))
    shared.admit = admission.anything
    assert shared.generator(name).generate(asked, max_new_tokens=1)[0].text == "x" and heard


def test_a_visitors_run_stays_a_visitors_run_in_the_worker_and_when_it_is_resumed(
    settings, inner, monkeypatch, tmp_path
):
    port, heard = inner
    online = dataclasses.replace(settings, offline=False)
    spec = make_spec(
        Resources(online), study="accuracy", model=f"http://127.0.0.1:{port}/v1#m", benchmark="starter_pairs", limit=2
    )
    monkeypatch.setattr(queue, "start_worker", lambda settings, folder: None)
    run_id = queue.submit(online, spec, confined=True)
    folder = RunFolder.find(online.runs, run_id)
    assert folder.is_confined
    for _ in range(2):
        assert worker.work(folder, Resources(online), lambda text: None, wait=False) == "failed"
        assert "lies inside the network" in folder.progress().message
    assert heard == []
    # Asked for by the owner, it is his.
    queue.submit(online, spec)
    assert not folder.is_confined
    # And a visitor who asks for it then changes nothing of that.
    queue.submit(online, spec, confined=True)
    assert not folder.is_confined


def test_a_visitors_run_is_done_on_no_cluster(settings, monkeypatch):
    pytest.importorskip("ray")
    spec = make_spec(
        Resources(settings), study="accuracy", model="http://10.0.0.5/v1#m", benchmark="starter_pairs", limit=2
    )
    monkeypatch.setattr(queue, "start_worker", lambda settings, folder: None)
    folder = RunFolder.find(settings.runs, queue.submit(settings, spec, confined=True))
    save_target(folder, ComputeTarget("auto"))
    assert worker.work(folder, Resources(settings), lambda text: None, wait=False) == "failed"
    assert "this machine alone" in folder.progress().message
