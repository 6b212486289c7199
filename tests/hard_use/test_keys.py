"""A key is planted wherever one may come from, and looked for wherever something is written."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from explorer import settings as settings_module
from explorer.__main__ import main
from explorer.errors import ExplorerError
from explorer.records import Request
from explorer.resources import Resources
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from explorer.scoring.http_calls import Limits
from tests import forked

PLANTED = {
    "EXPLORER_API_KEY": "sk-planted-explorer-0123456789",
    "OPENAI_API_KEY": "sk-planted-openai-0123456789",
    "EXPLORER_API_KEY_LLM_LAB_ORG": "sk-planted-llm-lab-0123456789",
    "EXPLORER_GOOGLE_KEY": "AIza-planted-google-0123456789",
    "HF_TOKEN": "hf_plantedplantedplanted0123456789",
    "AWS_SECRET_ACCESS_KEY": "planted/aws/0123456789",
}
ONTOLOGY = "format-version: 1.2\nontology: go\n\n" + "".join(
    f"[Term]\nid: GO:{number:07d}\nname: process {number}\n\n" for number in range(1, 13)
)


class Server(ThreadingHTTPServer):
    """An endpoint that repeats the key it was sent in whatever it answers."""

    daemon_threads = True
    answer = "good"

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.heard: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.reply(200, {"data": [{"id": "m"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers.get("Authorization", "")
        self.server.heard.append(key)
        said = {"error": {"message": f"The key {key} and {key.removeprefix('Bearer ')} is not welcome."}}
        kind = self.server.answer
        if kind == "some 400":
            kind = "400" if len(self.server.heard) % 2 else "good"
        if kind in ("401", "400", "500"):
            self.reply(int(kind), said)
        elif kind == "garbled":
            self.reply(200, said)
        elif kind == "page":
            self.reply(503, f"<html>{key}</html>")
        elif "messages" in asked:
            choice = {"message": {"role": "assistant", "content": "GO:0000001"}, "finish_reason": "stop"}
            self.reply(200, {"model": "served", "choices": [choice], "usage": {"completion_tokens": 3}})
        else:
            tokens = [asked["prompt"][i : i + 5] for i in range(0, len(asked["prompt"]), 5)]
            offsets = [5 * i for i in range(len(tokens))]
            logprobs = {"tokens": tokens, "token_logprobs": [None, *[-1.0] * (len(tokens) - 1)], "text_offset": offsets}
            choice = {"text": asked["prompt"], "finish_reason": "length", "logprobs": logprobs}
            self.reply(200, {"model": "served", "choices": [choice]})

    def reply(self, status: int, body: Any) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture
def keyed(server, monkeypatch, tmp_path):
    """Settings from an environment full of keys, the explorer's own for the server."""
    monkeypatch.setenv("EXPLORER_API_URL", server.url)
    for name, key in PLANTED.items():
        monkeypatch.setenv(name, key)
    quick = Limits(concurrency=2, tries=2, delay=0.01, longest_wait=0.1)
    monkeypatch.setattr("explorer.scoring.http.Limits", lambda: quick)
    return settings_module.read(cache=tmp_path / "cache")


def leaks(*places: Path | str) -> list[str]:
    """Where a planted key, or most of one, stands."""
    found = []
    for place in places:
        texts = {"what was said": place.encode()} if isinstance(place, str) else {
            str(path): path.read_bytes() for path in place.rglob("*") if path.is_file()
        }  # fmt: skip
        found += [
            f"{name} in {where}"
            for name, key in PLANTED.items()
            for where, text in texts.items()
            if key[4:].encode() in text
        ]
    return found


@pytest.mark.parametrize("answer", ["good", "some 400", "401", "400", "500", "garbled", "page"])
def test_a_run_against_an_endpoint_leaves_no_key_anywhere(server, keyed, tmp_path, answer):
    server.answer = answer
    (tmp_path / "small.obo").write_text(ONTOLOGY)
    spec = make_spec(
        Resources(keyed), study="ontology", model=f"{server.url}#m", benchmark=str(tmp_path / "small.obo"), limit=6
    )
    folder = RunFolder.create(keyed.runs, spec)
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        status = work(folder, Resources(keyed), lambda text: print(text, file=said), wait=False)
    assert server.heard and set(server.heard) == {f"Bearer {PLANTED['EXPLORER_API_KEY']}"}
    assert status == ("complete" if answer in ("good", "some 400") else "failed"), folder.progress().message
    if answer == "some 400":
        assert folder.read("generations")["reason"].str.contains("[key]", regex=False).any()
    out = tmp_path / "out"
    out.mkdir()
    for form in ("csv", "jsonl", "parquet"):  # the first two in plain text, what Parquet and DuckDB compress
        asked = ["export", folder.run_id, "--table", "all", "--format", form, "--out", str(out / form)]
        assert main([*asked, "--cache", str(keyed.cache)]) == 0
    assert not leaks(keyed.cache, out, said.getvalue(), json.dumps(folder.environment), folder.progress().message)


@pytest.mark.parametrize("answer", ["401", "400", "500", "garbled", "page"])
def test_scoring_at_an_endpoint_tells_no_key(server, keyed, answer):
    server.answer = answer
    scorer = Resources(keyed).scorer(f"{server.url}#m")
    try:
        told = repr(scorer.score([Request("a", 0, "The cat", " sleeps")]))
    except ExplorerError as error:
        told = "".join(traceback.format_exception(error))
    assert server.heard
    assert not leaks(told, repr(scorer), json.dumps(scorer.record()))


def test_a_worker_of_its_own_and_the_command_line_leave_no_key_either(server, keyed, tmp_path):
    server.answer = "401"
    (tmp_path / "small.obo").write_text(ONTOLOGY)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    asked = [sys.executable, "-m", "explorer", "run", "ontology", "--model", f"{server.url}#m", "--benchmark"]
    asked += [str(tmp_path / "small.obo"), "--limit", "2", "--debug", "--cache", str(keyed.cache)]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 1 and "refused the key" in done.stderr
    assert not leaks(keyed.cache, done.stdout, done.stderr)

    for command in (["doctor"], ["runs", "--json"], ["models", "--json"], ["index", "check", "--counts"]):
        said = tmp_path / "said"
        forked.explorer(*command, "--cache", str(keyed.cache), env=environment, log=said).wait(120)
        assert said.stat().st_size and not leaks(said.read_text())
        said.unlink()
    assert not leaks(keyed.cache)


def test_a_key_in_streamlits_secrets_reaches_the_settings_and_no_file(tmp_path, monkeypatch):
    from streamlit import config
    from streamlit.runtime.secrets import Secrets

    monkeypatch.setenv("EXPLORER_API_KEY", "")
    path = tmp_path / "secrets.toml"
    path.write_text(f'EXPLORER_API_KEY = "{PLANTED["EXPLORER_API_KEY"]}"\n')
    known = config.get_option
    monkeypatch.setattr(config, "get_option", lambda name: [str(path)] if name == "secrets.files" else known(name))
    # What the server does when it starts.
    assert Secrets().load_if_toml_exists()
    settings = settings_module.read(cache=tmp_path / "cache")
    assert settings.api_key == PLANTED["EXPLORER_API_KEY"]
    assert not leaks(repr(settings), str(settings))


def test_an_unforeseen_fault_with_a_key_in_its_settings_shows_none(keyed, capsys, monkeypatch):
    def broken(args: Any, settings: Any) -> int:
        raise RuntimeError(f"broken with {settings}")

    monkeypatch.setattr("explorer.commands.runs.list_all", broken)
    assert main(["runs", "--debug", "--cache", str(keyed.cache)]) == 1
    captured = capsys.readouterr()
    assert "RuntimeError" in captured.err
    assert not leaks(captured.err, captured.out)
