"""Two people at a shared app in real browsers: one has the token, the other has not."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest

from explorer.settings import ROOT

pytestmark = pytest.mark.browser

START = (
    "import sys; from explorer import prepare; prepare.PARTS.clear(); "
    "from explorer.__main__ import main; sys.exit(main())"
)
PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))


@pytest.fixture(scope="module")
def invited(tmp_path_factory) -> Iterator[str]:
    """The printed address, token included."""
    place = tmp_path_factory.mktemp("shared")
    line = [sys.executable, "-c", START, "app", "--cache", str(place / "cache"), "--host", "0.0.0.0", "--port", "0"]
    log = place / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*line, "--no-browser"], stdout=out, stderr=out, env={**os.environ, "EXPLORER_OFFLINE": ""}, cwd=ROOT
        )
    try:
        deadline = time.monotonic() + 120
        while "Lexiscope is at" not in log.read_text() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.2)
        yield re.findall(r"http://127\S+", log.read_text())[0]
    finally:
        process.terminate()
        process.wait(30)


def test_who_has_the_token_sees_the_app_and_who_has_not_sees_no_page_of_it(invited, people):
    address, _, token = invited.partition("/?token=")
    guest, stranger = people(), people()
    guest.set_default_timeout(60_000)

    # The guest first, so that there is something to see.
    asked: list[str] = []
    guest.on("request", lambda request: asked.append(f"{request.url} {request.headers.get('referer', '')}"))
    guest.goto(invited)
    guest.get_by_role("heading", name="Overview", level=1).wait_for()
    assert guest.url.startswith(address) and "token" not in guest.url
    assert not [each for each in asked[1:] if token in each]
    assert token not in guest.content() and token not in guest.evaluate("document.cookie")
    assert token not in guest.evaluate("document.referrer")

    sockets: list[str] = []
    stranger.on("websocket", lambda socket: sockets.append(socket.url))
    for path in ["", *PAGES, "home", "pages/overview"]:
        answer = stranger.goto(f"{address}/{path}?model=gemma-3-270m")
        assert answer is not None and answer.status == 401
        assert stranger.locator("h1").inner_text() == "Lexiscope"
        assert stranger.locator("input[name=secret]").is_visible()
        assert stranger.locator("[data-testid]").count() == 0 and stranger.locator("script").count() == 0
    assert sockets == []

    # A wrong token is told, the right one leads to the page that was asked for.
    stranger.goto(f"{address}/data")
    stranger.fill("input[name=secret]", "wrong")
    stranger.get_by_role("button", name="Open").click()
    assert "not the token" in stranger.locator("[role=alert]").inner_text()
    stranger.goto(f"{address}/data")
    stranger.fill("input[name=secret]", token)
    stranger.get_by_role("button", name="Open").click()
    stranger.get_by_role("heading", name="Data and models", level=1).wait_for(timeout=60_000)
    assert stranger.url.startswith(f"{address}/data")


def test_another_site_can_neither_frame_the_app_nor_open_its_websocket(invited, people, tmp_path):
    address = invited.partition("/?")[0]
    guest = people()
    guest.goto(invited)
    guest.get_by_role("heading", name="Overview", level=1).wait_for(timeout=60_000)
    # The same browser, cookie and all, on a page that is not the app's.
    elsewhere = Path(tmp_path / "elsewhere.html")
    elsewhere.write_text(f'<iframe id="framed" src="{address}/overview"></iframe>')
    guest.goto(elsewhere.as_uri())
    guest.wait_for_timeout(2000)
    assert "Overview" not in "".join(frame.content() for frame in guest.frames)
    opened = guest.evaluate(
        """address => new Promise(done => {
            const socket = new WebSocket(address.replace('http', 'ws') + '/_stcore/stream', ['streamlit']);
            socket.onopen = () => done('open'); socket.onerror = () => done('refused');
        })""",
        address,
    )
    assert opened == "refused"


def test_a_visitor_from_elsewhere_reaches_no_file_and_no_server_inside_and_its_owner_does(invited, people):
    port = re.findall(r":(\d+)/", invited)[0]
    token = invited.partition("token=")[2]
    outward = _own_address()
    if outward is None:
        pytest.skip("This machine has no network card beside the loopback one")
    heard: list[str] = []
    with _endpoint(heard) as inner:
        visitor = people()
        visitor.set_default_timeout(60_000)
        visitor.goto(f"http://{outward}:{port}/?token={token}")
        visitor.get_by_role("heading", name="Overview", level=1).wait_for()
        # A folder of the server.
        visitor.goto(f"http://{outward}:{port}/instance?model=/etc&benchmark=starter_pairs")
        visitor.get_by_text("names a file or a folder of the machine").first.wait_for()
        # A server beside it: asked about, and after a yes still not reached.
        visitor.goto(f"http://{outward}:{port}/instance?model={inner.replace('#', '%23')}&benchmark=starter_pairs")
        visitor.get_by_role("button", name=re.compile("^Ask http")).first.click()
        visitor.get_by_role("button", name=re.compile("^Score")).first.click()
        visitor.get_by_text("lies inside the network of the machine").first.wait_for()
        assert heard == []
        # The owner's browser, on the machine itself.
        owner = people()
        owner.set_default_timeout(60_000)
        owner.goto(invited)
        owner.get_by_role("heading", name="Overview", level=1).wait_for()
        owner.goto(f"http://127.0.0.1:{port}/instance?model={inner.replace('#', '%23')}&benchmark=starter_pairs")
        assert heard == []
        owner.get_by_role("button", name=re.compile("^Ask http")).first.click()
        owner.get_by_role("button", name=re.compile("^Score")).first.click()
        deadline = time.monotonic() + 60
        while not heard and time.monotonic() < deadline:
            owner.wait_for_timeout(200)
        assert heard


def _own_address() -> str | None:
    """An address of this machine that is not the loopback one."""
    for addresses in psutil.net_if_addrs().values():
        for each in addresses:
            if each.family == socket.AF_INET and not each.address.startswith("127."):
                return each.address
    return None


@contextlib.contextmanager
def _endpoint(heard: list[str]) -> Iterator[str]:
    """A server on this machine, by its model's name, which writes down what it is asked."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            heard.append(self.path)
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_error(404)

        do_GET = do_POST = answer

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1#m"
    server.shutdown()
    server.server_close()
