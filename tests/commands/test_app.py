"""The app as a process: where it listens, whom it lets in, and that whoever ends the command ends the server."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from explorer.settings import ROOT
from tests.forked import Forked

# The parts to prepare have tests of their own; here none is made.
START = (
    "import sys; from explorer import prepare; prepare.PARTS.clear(); "
    "from explorer.__main__ import main; sys.exit(main())"
)


def start_with_imports_done(arguments: list[str]) -> int:
    """What START does, and in the same process what the server does whose program would take its place.

    What it loads for a first swap, which none of these visitors makes, has tests of its own, too.
    """
    from streamlit.web import cli

    from explorer import prepare
    from explorer.__main__ import main
    from explorer.ui.cockpit import preloading

    def take_the_place(program: str, command: list[str], environment: dict[str, str]) -> None:
        assert (program, command[1:3]) == (sys.executable, ["-m", "streamlit"])
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = command[2:]
        cli.main()

    prepare.PARTS.clear()
    preloading.load = lambda: []
    os.execve = take_the_place  # type: ignore[assignment]
    return main(arguments)


@dataclass
class App:
    """A started app: its process and what it said."""

    process: subprocess.Popen[bytes] | Forked
    log: Path

    @property
    def said(self) -> str:
        return self.log.read_text("utf-8", "replace")

    @property
    def port(self) -> int:
        return int(re.findall(r"Lexiscope is at \S+?:(\d+)", self.said)[0])

    @property
    def token(self) -> str:
        return re.findall(r"token=(\S+)", self.said)[0]

    def listening(self) -> set[str]:
        """The addresses that the process listens at, as `ss -ltn` shows them."""
        found = psutil.Process(self.process.pid).net_connections(kind="tcp")
        return {f"{each.laddr.ip}:{each.laddr.port}" for each in found if each.status == psutil.CONN_LISTEN}

    def ask(self, path: str, method: str = "GET", body: str = "", **headers: str) -> tuple[int, dict[str, str], str]:
        """Status, headers and body of an answer; nothing is followed."""
        door = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            sent = {"Accept": "text/html", **{name.replace("_", "-"): value for name, value in headers.items()}}
            door.request(method, path, body or None, sent)
            answer = door.getresponse()
            said = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, said, answer.read().decode("utf-8", "replace")
        finally:
            door.close()

    def knocks_at_the_websocket(self, **headers: str) -> int:
        """The status of the answer to a websocket's opening; 101 where it is let in."""
        opening = {
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            **headers,
        }
        door = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            door.request("GET", "/_stcore/stream", headers=opening)
            return door.getresponse().status
        finally:
            door.close()


@contextlib.contextmanager
def started(cache: Path, log: Path, *flags: str, from_nothing: bool = False, **environment: str) -> Iterator[App]:
    """An app that the command starts: one whose imports are done, or one that begins `from_nothing`."""
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("EXPLORER_", "DISPLAY", "BROWSER"))
    }
    arguments = ["app", "--cache", str(cache), *flags]
    own = {**clean, "EXPLORER_OFFLINE": "1", **environment}
    log.touch()
    process: subprocess.Popen[bytes] | Forked
    if from_nothing:
        with log.open("wb") as out:
            process = subprocess.Popen([sys.executable, "-c", START, *arguments], stdout=out, stderr=out, env=own)
    else:
        process = Forked(start_with_imports_done, arguments, env=own, log=log)
    app = App(process, log)
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and process.poll() is None:
            if "Lexiscope is at" in app.said and answers(app.port):
                break
            time.sleep(0.05)
        yield app
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


pytestmark = pytest.mark.slow

CLOSED = [
    "/", "/instance", "/overview?run=x", "/pages/instance", "/no-such-page", "/_stcore/health", "/_stcore/host-config",
    "/_stcore/stream", "/_stcore/upload_file/a/b", "/_stcore/metrics", "/_stcore/agent/mcp", "/media/abc.csv",
    "/component/a/index.html", "/_stcore/bidi-components/a/b", "/static/index.html", "/app/static/x", "/auth/login",
    "/oauth2callback", "/favicon.png", "/..%2f..%2fetc/passwd", "/_enter/x",
]  # fmt: skip


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Iterator[App]:
    """The app as it starts by default, at a port that was taken."""
    place = tmp_path_factory.mktemp("alone")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        opened = place / "opened"
        browser = place / "browser"
        browser.write_text(f"#!/bin/sh\necho \"$@\" > '{opened}'\n")
        browser.chmod(0o755)
        with started(place / "cache", place / "log", "--port", str(port), BROWSER=f"{browser} %s") as app:
            app.taken, app.opened = port, opened  # type: ignore[attr-defined]
            yield app


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[App]:
    """The app open to others, with its token."""
    place = tmp_path_factory.mktemp("shared")
    with started(place / "cache", place / "log", "--host", "0.0.0.0", "--port", "0", "--no-browser") as app:
        yield app


def test_it_listens_at_this_machine_alone_and_names_the_port_that_was_taken(alone: Any):
    assert alone.listening() == {f"127.0.0.1:{alone.port}"}
    assert alone.port > alone.taken
    assert f"port {alone.taken} is taken; the app is at port {alone.port}" in alone.said


def test_it_opens_the_browser_and_asks_its_owner_for_nothing(alone: Any):
    deadline = time.monotonic() + 30
    while not alone.opened.exists() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert alone.opened.read_text().strip() == f"http://127.0.0.1:{alone.port}"
    assert "token" not in alone.said
    status, _, body = alone.ask("/")
    assert status == 200 and '<div id="root">' in body
    assert alone.knocks_at_the_websocket() == 101


def test_another_name_for_this_machine_and_a_proxys_visitor_see_nothing(alone: Any):
    for headers in ({"Host": "evil.org"}, {"X_Forwarded_For": "8.8.8.8"}, {"Via": "1.1 proxy"}):
        status, _, body = alone.ask("/", **headers)
        assert status == 403 and "listens to its own machine alone" in body and 'id="root"' not in body
        sentences, _, below = body.partition("<summary>Do this from the command line</summary>")
        assert "python -m" not in sentences and "<pre>python -m explorer app --host" in below
    assert alone.knocks_at_the_websocket(Host="evil.org") == 403
    assert alone.knocks_at_the_websocket(**{"X-Forwarded-For": "8.8.8.8"}) == 403


@pytest.mark.parametrize("origin", ["http://evil.org", "http://localhost:3000", "http://127.0.0.1", "null", ""])
def test_a_page_of_another_site_gets_no_answer(alone: Any, origin):
    assert alone.ask("/_stcore/health", Origin=origin)[0] == 403
    assert alone.knocks_at_the_websocket(Origin=origin) == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("kind", ["image", "script", "iframe", "empty"])
def test_nor_does_a_picture_or_frame_in_one_which_tells_no_origin(alone: Any, site, kind):
    told = {"Sec_Fetch_Site": site, "Sec_Fetch_Dest": kind}
    assert alone.ask("/?token=wrong", **told)[0] == alone.ask("/_stcore/health", **told)[0] == 403
    assert alone.ask("/", Sec_Fetch_Site=site, Sec_Fetch_Dest="document")[0] == 200  # a link that somebody follows


def test_its_own_pages_do(alone: Any):
    own = f"http://127.0.0.1:{alone.port}"
    assert alone.ask("/_stcore/health", Origin=own)[0] == 200
    assert alone.knocks_at_the_websocket(Origin=own) == 101


def test_every_answer_says_that_it_may_not_be_framed_and_is_what_it_says(alone: Any):
    for path in ("/", "/_stcore/health", "/no-such-page"):
        _, headers, _ = alone.ask(path)
        assert headers["x-frame-options"] == "SAMEORIGIN"
        assert "frame-ancestors 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
    assert "access-control-allow-origin" not in alone.ask("/_stcore/health")[1]


def test_it_listens_where_it_was_told_to_and_prints_the_token(shared: App):
    assert shared.listening() == {f"0.0.0.0:{shared.port}"}
    assert len(shared.token) >= 40


@pytest.mark.parametrize("path", CLOSED)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
def test_without_the_token_nothing_is_shown_whatever_the_address(shared: App, path, method):
    status, headers, body = shared.ask(path, method)
    assert status == 401
    assert headers["x-frame-options"] == "SAMEORIGIN" and "no-store" in headers["cache-control"]
    assert "streamlit" not in body.lower() and "<script" not in body and shared.token not in body


def test_without_the_token_the_websocket_is_refused(shared: App):
    assert shared.knocks_at_the_websocket() == 403
    for cookie in ("1.2", "9999999999.00", "x"):
        assert shared.knocks_at_the_websocket(Cookie=f"lexiscope_{shared.port}={cookie}") == 403


def test_a_stamp_that_a_stranger_writes_opens_nothing(shared: App):
    assert shared.knocks_at_the_websocket(**{"X-Lexiscope-Visitor": "owner.00"}) == 403


@pytest.mark.parametrize("bad", ["[", "[::1", "http://[", "a\u00ad:b"])
def test_a_name_that_is_none_is_answered_like_any_other(shared: App, bad):
    assert shared.ask("/", Host=bad)[0] == 401 and shared.ask("/", Origin=bad)[0] == 403
    assert shared.knocks_at_the_websocket(Host=bad) == shared.knocks_at_the_websocket(Origin=bad) == 403
    assert "Traceback" not in shared.said


def test_the_token_becomes_a_cookie_and_leaves_the_address(shared: App):
    status, headers, _ = shared.ask(f"/instance?model=a&token={shared.token}&unit=bits")
    assert status == 303 and headers["location"] == "/instance?model=a&unit=bits"
    cookie, *marks = headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Lax"} <= set(marks) and shared.token not in cookie
    assert shared.ask("/instance", Cookie=cookie)[0] == 200
    assert shared.knocks_at_the_websocket(Cookie=cookie) == 101
    assert shared.knocks_at_the_websocket(Cookie=cookie, Origin="http://evil.org") == 403


def test_the_form_takes_the_token_and_leads_nowhere_else(shared: App):
    form = f"secret={shared.token}&next=//evil.org"
    status, headers, _ = shared.ask("/_enter", "POST", form, Content_Type="application/x-www-form-urlencoded")
    assert status == 303 and headers["location"] == "/" and "set-cookie" in headers
    assert shared.ask("/_enter", "POST", form, Origin="http://evil.org")[0] == 403
    assert shared.ask("/_enter", "POST", "secret=" + "x" * 100_000)[0] == 413


def test_wrong_tokens_are_slowed_down_whatever_the_session(shared: App):
    seen = [shared.ask("/?token=wrong")[0], shared.ask("/_enter", "POST", "secret=wrong")[0]]
    seen += [shared.ask(f"/?token=wrong{number}")[0] for number in range(4)]
    assert seen[:3] == [401, 401, 401] and 429 in seen
    status, headers, body = shared.ask(f"/?token={shared.token}")
    assert status == 429 and int(headers["retry-after"]) >= 1 and "Too many wrong tries" in body
    time.sleep(int(headers["retry-after"]) + 0.1)
    assert shared.ask(f"/?token={shared.token}")[0] == 303


def test_who_names_another_address_with_each_wrong_try_waits_too(shared: App):
    seen = []
    for number in range(60):
        seen.append(shared.ask("/_enter", "POST", "secret=wrong", X_Forwarded_For=f"203.0.113.{number}")[0])
    assert seen[:30] == [401] * 30 and 429 in seen[30:]


def test_no_outside_address_is_looked_up(tmp_path):
    # Streamlit asks a service for it where it prints its welcome, and where it meets an Origin that it does not know.
    with socket.socket() as proxy:  # through which all that leaves this machine would go
        proxy.bind(("127.0.0.1", 0))
        proxy.listen()
        proxy.settimeout(3)
        address = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        proxies = {name: address for name in ("http_proxy", "https_proxy", "all_proxy")} | {"no_proxy": ""}
        flags = ("--host", "0.0.0.0", "--port", "0", "--no-browser")
        with started(tmp_path / "cache", tmp_path / "log", *flags, **proxies) as app:
            cookie = app.ask(f"/?token={app.token}")[1]["set-cookie"].split(";")[0]
            own = f"http://127.0.0.1:{app.port}"
            assert app.ask("/", Cookie=cookie)[0] == 200
            assert app.knocks_at_the_websocket(Cookie=cookie, Origin=own) == 101
            assert app.knocks_at_the_websocket(Cookie=cookie, Origin="http://elsewhere.test") == 403
            with pytest.raises(TimeoutError):
                proxy.accept()


def test_the_browser_is_led_to_a_token_through_a_file_of_ones_own_that_does_not_stay(tmp_path):
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\necho \"$@\" > '{opened}.new'; mv '{opened}.new' '{opened}'\n")
    browser.chmod(0o755)
    more = {"BROWSER": f"{browser} %s", "TMPDIR": str(tmp_path)}
    with started(tmp_path / "cache", tmp_path / "log", "--host", "0.0.0.0", "--port", "0", **more) as app:
        deadline = time.monotonic() + 60
        while not opened.exists() and time.monotonic() < deadline:
            time.sleep(0.2)
        lead = Path(opened.read_text().strip().removeprefix("file://"))
        assert app.token not in opened.read_text() and app.token in lead.read_text()
        assert lead.stat().st_mode & 0o077 == 0
    assert not lead.exists()


@pytest.mark.parametrize("name", ["server.corsAllowedOrigins", "browser.serverAddress"])
def test_the_name_that_the_owner_gives_the_app_is_its_own_and_needs_no_look_up(tmp_path, name):
    variable = "STREAMLIT_" + re.sub(r"(?<=[a-z])(?=[A-Z])|\.", "_", name).upper()
    with socket.socket() as proxy:
        proxy.bind(("127.0.0.1", 0))
        proxy.listen()
        proxy.settimeout(3)
        more = {"http_proxy": f"http://127.0.0.1:{proxy.getsockname()[1]}", "no_proxy": "", variable: "lab.test"}
        with started(tmp_path / "cache", tmp_path / "log", "--port", "0", "--no-browser", **more) as app:
            cookie = app.ask(f"/?token={app.token}")[1]["set-cookie"].split(";")[0]
            assert app.knocks_at_the_websocket(Cookie=cookie, Origin="https://lab.test") == 101
            assert app.knocks_at_the_websocket(Cookie=cookie, Origin="https://lab.test.evil.org") == 403
            # A proxy that adds no header brings its visitors as if they sat here.
            assert app.ask("/")[0] == 401
            assert app.knocks_at_the_websocket(Origin="https://lab.test") == 403
            with pytest.raises(TimeoutError):
                proxy.accept()


def test_a_password_is_asked_here_too_and_stands_in_no_address(tmp_path):
    flags = ("--port", "0", "--no-browser")
    with started(tmp_path / "cache", tmp_path / "log", *flags, EXPLORER_PASSWORD="opensesame") as app:
        assert app.listening() == {f"127.0.0.1:{app.port}"}
        assert "opensesame" not in app.said and "token=" not in app.said
        assert app.ask("/")[0] == 401
        assert (
            app.ask("/?token=opensesame")[:2][0] == 303 and app.ask("/?token=opensesame")[1].get("set-cookie") is None
        )
        status, headers, _ = app.ask("/_enter", "POST", "secret=opensesame&next=/runs")
        assert status == 303 and headers["location"] == "/runs"
        assert app.ask("/", Cookie=headers["set-cookie"].split(";")[0])[0] == 200


def streamlit_run(arguments: list[str], folder: Path) -> None:
    """What `python -m` does with these arguments in the folder."""
    from streamlit.web.cli import main

    os.chdir(folder)
    sys.argv = arguments
    main()


def test_streamlits_own_command_starts_the_same_closed_app(tmp_path):
    port = free_port()
    line = ["streamlit", "run", str(ROOT / "app.py"), "--server.port", str(port)]
    environment = {**os.environ, "EXPLORER_CACHE": str(tmp_path / "cache"), "EXPLORER_OFFLINE": "1"}
    for more, listens in (([], "127.0.0.1"), (["--server.address", "0.0.0.0"], "0.0.0.0")):
        log = tmp_path / f"log{listens}"
        process: subprocess.Popen[bytes] | Forked
        with log.open("wb") as out:
            if more:
                process = Forked(streamlit_run, [*line, *more], tmp_path, env=environment, log=log)
            else:
                process = subprocess.Popen(
                    [sys.executable, "-m", *line], stdout=out, stderr=out, env=environment, cwd=tmp_path
                )
        app = App(process, log)
        try:
            deadline = time.monotonic() + 120
            while "Lexiscope is at" not in app.said and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            assert app.listening() == {f"{listens}:{port}"}
            assert app.ask("/")[0] == (200 if listens == "127.0.0.1" else 401)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def test_a_login_elsewhere_is_offered_and_its_own_steps_alone_are_open(tmp_path):
    from streamlit.auth_util import is_authlib_installed
    from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

    secret = "a-secret-for-cookies-of-thirty-two-letters"
    provider = 'client_id = "c"\nclient_secret = "s"\nserver_metadata_url = "https://id.invalid/.well-known/x"\n'
    secrets = tmp_path / "secrets.toml"
    secrets.write_text(
        f'[auth]\nredirect_uri = "http://lab.test/oauth2callback"\ncookie_secret = "{secret}"\n[auth.lab]\n{provider}'
    )
    flags = ("--host", "0.0.0.0", "--port", "0", "--no-browser")
    more = {"STREAMLIT_SECRETS_FILES": str(secrets), "EXPLORER_LOGINS": "@lab.org"}
    with started(tmp_path / "cache", tmp_path / "log", *flags, **more) as app:
        assert "token=" not in app.said
        status, _, body = app.ask("/instance")
        way = "/auth/login?provider=" if is_authlib_installed() else "its owner has to install Authlib"
        assert status == 401 and way in body and "<script" not in body
        assert app.ask("/_stcore/health")[0] == 401 and app.ask("/oauth2callback")[0] == 302

        def cookie(key: str, **user: Any) -> str:
            said = json.dumps({"origin": "http://lab.test", "is_logged_in": True, **user})
            return f"_streamlit_user={create_signed_value(key, '_streamlit_user', said).decode()}"

        assert app.knocks_at_the_websocket(Cookie=cookie(secret, email="a@lab.org")) == 101
        assert app.knocks_at_the_websocket(Cookie=cookie(secret, email="a@evil.org")) == 403
        assert app.knocks_at_the_websocket(Cookie=cookie(secret, email="a@lab.org", is_logged_in=False)) == 403
        assert app.knocks_at_the_websocket(Cookie=cookie("another", email="a@lab.org")) == 403


@pytest.mark.skipif(os.name != "posix", reason="a process is replaced by another on POSIX systems only")
def test_ending_the_command_ends_the_server(settings, tmp_path):
    flags = ("--port", "0", "--no-browser")
    with started(settings.cache, tmp_path / "log", *flags, from_nothing=True) as app:
        assert app.listening() == {f"127.0.0.1:{app.port}"} and app.ask("/")[0] == 200
        port = app.port
        assert answers(port)
    deadline = time.monotonic() + 30
    while answers(port) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not answers(port)
