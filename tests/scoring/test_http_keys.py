"""Which key an address gets: settings in, and a server that writes down what it heard."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from explorer import settings as settings_module
from explorer.addresses import origin_of
from explorer.errors import ModelError
from explorer.records import Request
from explorer.scoring import http
from explorer.scoring.http_calls import Limits
from explorer.scoring.http_keys import key_for, variable_of
from explorer.settings import Settings

OWN, OPENAI = "sk-own-0123456789", "sk-openai-0123456789"


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch, tmp_path) -> Any:
    """Settings from an environment with these variables."""

    def read(**variables: str) -> Settings:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return settings_module.read(cache=tmp_path)

    return read


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.org/v1", "http://llm.lab.org/v1", "https://llm.lab.org:8443/v1", "https://llm.lab.org.evil.org/v1",
        "https://xllm.lab.org/v1", "https://lab.org/v1", "http://localhost:8000/v1", "https://api.openai.com/v1",
        "https://llm.lab.org@evil.org/v1", "https://llm.lab.org./v1", "http://169.254.169.254/v1",
    ],
)  # fmt: skip
def test_the_key_goes_to_the_server_in_the_settings_and_to_no_other(keys, address):
    settings = keys(EXPLORER_API_URL="https://llm.lab.org/v1", EXPLORER_API_KEY=OWN)
    assert key_for("https://LLM.lab.org:443/v1", settings).value == OWN
    found = key_for(address, settings)
    assert found.value == "" and "EXPLORER_API_KEY goes to https://llm.lab.org alone" in found.advice


def test_without_an_address_in_the_settings_the_key_is_for_openai(keys):
    settings = keys(EXPLORER_API_KEY=OWN)
    assert key_for("https://api.openai.com/v1", settings).value == OWN
    assert key_for("http://localhost:8000/v1", settings).value == ""


@pytest.mark.parametrize(
    "address", ["http://api.openai.com/v1", "https://api.openai.com:8443/v1", "https://openai.com"]
)
def test_openais_key_goes_to_openai_over_https_alone(keys, address):
    settings = keys(OPENAI_API_KEY=OPENAI, EXPLORER_API_URL="https://llm.lab.org/v1", EXPLORER_API_KEY=OWN)
    assert key_for("https://api.openai.com/v1", settings).value == OPENAI
    assert key_for(address, settings).value == ""


def test_plain_http_carries_a_key_where_the_settings_themselves_say_http(keys):
    settings = keys(EXPLORER_API_URL="http://gpu1:8000/v1", EXPLORER_API_KEY=OWN)
    assert key_for("http://gpu1:8000/v1", settings).value == OWN
    assert key_for("https://gpu1:8000/v1", settings).value == ""


def test_a_host_may_have_a_key_of_its_own(keys):
    settings = keys(
        EXPLORER_API_KEY=OWN,
        EXPLORER_API_KEY_LLM_LAB_ORG="sk-lab",
        EXPLORER_API_KEY_LLM_LAB_ORG_8443="sk-lab-8443",
        EXPLORER_API_KEY_LOCALHOST_8000="sk-here",
        EXPLORER_API_KEY_MY__LAB_ORG="sk-hyphen",
    )
    assert key_for("https://llm.lab.org/v1", settings).value == "sk-lab"
    assert key_for("https://llm.lab.org:8443/v1", settings).value == "sk-lab-8443"
    assert key_for("http://localhost:8000/v1", settings).value == "sk-here"
    assert key_for("https://my-lab.org/v1", settings).value == "sk-hyphen"
    for address in ("https://llm-lab.org/v1", "https://llm_lab.org/v1", "https://my.lab.org/v1", "https://my..lab.org"):
        assert key_for(address, settings).value == ""
    refused = key_for("http://llm.lab.org:443/v1", settings)
    assert refused.value == ""


def test_a_hosts_own_key_is_not_sent_in_plain_text(keys):
    settings = keys(EXPLORER_API_KEY_LLM_LAB_ORG="sk-lab")
    found = key_for("http://llm.lab.org/v1", settings)
    assert found.value == "" and "not sent over plain http" in found.advice


@pytest.mark.parametrize("host", ["a_b.org", "127.1", "10.0.0", "0x7f.1", "[::1]", "a..b", "-a.org", "bücher.de", ""])
def test_a_host_whose_name_could_be_anothers_has_no_variable(host):
    assert host == "0x7f.1" or variable_of(origin_of(f"https://{host}/v1")) == ""


def test_no_two_hosts_share_a_variable():
    hosts = ["a-b.c", "a.b.c", "a.b-c", "a-b-c", "a--b.c", "a.b.c:80", "a.b:8080", "a.b:808", "10.0.0.1", "10.0.0.1:1"]
    names = [variable_of(origin_of(f"https://{host}/")) for host in hosts]
    assert len(set(names)) == len(hosts) and all(names)


def test_all_keys_are_among_those_to_hide(keys):
    settings = keys(EXPLORER_API_KEY=OWN, OPENAI_API_KEY=OPENAI, EXPLORER_API_KEY_LLM_LAB_ORG="sk-lab")
    assert {OWN, OPENAI, "sk-lab"} <= set(settings.keys)
    assert "sk-" not in repr(settings)


class Listener(ThreadingHTTPServer):
    """An endpoint that wants a key, and writes down the one that it is sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.heard: list[str | None] = []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    server: Listener

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        key = self.headers.get("Authorization")
        self.server.heard.append(key)
        body = json.dumps({"choices": [{"text": "x"}], "data": []} if key else {"error": "no key"}).encode()
        self.send_response(200 if key else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.shutdown()
    made.server_close()


def ask(address: str, settings: Settings) -> None:
    endpoint = http.from_name(address, settings, limits=Limits(tries=1))
    endpoint.generate([Request("a", 0, "x", role="prompt")], max_new_tokens=1)


def test_an_address_that_somebody_typed_hears_no_key_and_the_message_says_where_the_key_goes(keys, listener, tmp_path):
    settings = keys(EXPLORER_API_KEY=OWN, OPENAI_API_KEY=OPENAI, EXPLORER_API_URL="https://llm.lab.org/v1")
    with pytest.raises(ModelError) as caught:
        ask(f"{listener.url}#m", settings)
    assert listener.heard and set(listener.heard) == {None}
    said = str(caught.value)
    assert "wants a key, and none is set for it" in said
    assert "EXPLORER_API_KEY goes to https://llm.lab.org alone" in said
    assert f"EXPLORER_API_KEY_127_0_0_1_{listener.server_port}" in said


def test_the_variable_that_the_message_names_is_the_one_that_helps(keys, listener):
    settings = keys(EXPLORER_API_KEY=OWN, **{f"EXPLORER_API_KEY_127_0_0_1_{listener.server_port}": "sk-here"})
    ask(f"{listener.url}#m", settings)
    assert set(listener.heard) == {"Bearer sk-here"}


def test_a_netrc_file_gives_an_endpoint_no_password_and_does_not_replace_its_key(keys, listener, tmp_path, monkeypatch):
    (tmp_path / ".netrc").write_text("default login me password of-netrc\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    ask(f"{listener.url}#m", keys(EXPLORER_API_URL=listener.url, EXPLORER_API_KEY=OWN))
    assert set(listener.heard) == {f"Bearer {OWN}"}
    listener.heard.clear()
    with pytest.raises(ModelError, match="wants a key"):
        ask(f"{listener.url}#m", keys(EXPLORER_API_URL="https://llm.lab.org/v1"))
    assert set(listener.heard) == {None}
