"""The door to the web, against a real HTTP server on the loopback interface."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from explorer import fetch
from explorer.fetch import Patience, WebError

CONTENT = bytes(range(256)) * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server:
    """Answers with the handlers it was given, one a request, the last one for ever; remembers what it was asked."""

    def __init__(self) -> None:
        self.handlers: list[Callable[[BaseHTTPRequestHandler], None]] = []
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                number = len(server.asked)
                server.asked.append((self.command, self.path, dict(self.headers.items()), body))
                server.handlers[min(number, len(server.handlers) - 1)](self)

            do_GET = do_POST = answer

            def log_message(self, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.http.shutdown()
    server.http.server_close()


@pytest.fixture
def naps() -> list[float]:
    return []


@pytest.fixture
def patience(naps: list[float]) -> Patience:
    return Patience(read=5, tries=4, delay=1, longest_delay=30, sleep=naps.append)


def says(body: bytes, status: int = 200, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(body)

    return answer


def drops_after(count: int, content: bytes = CONTENT, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(content[:count])
        request.wfile.flush()
        request.close_connection = True

    return answer


def serves_ranges(content: bytes = CONTENT, tag: str = '"one"') -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(request: BaseHTTPRequestHandler) -> None:
        asked = request.headers.get("Range", "")
        same = request.headers.get("If-Range", tag) == tag
        begin = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and same else 0
        if begin >= len(content):
            says(b"", 416, Content_Range=f"bytes */{len(content)}")(request)
        elif asked and same:
            where = f"bytes {begin}-{len(content) - 1}/{len(content)}"
            says(content[begin:], 206, Content_Range=where, ETag=tag)(request)
        else:
            says(content, ETag=tag)(request)

    return answer


def closes(request: BaseHTTPRequestHandler) -> None:
    request.close_connection = True


def is_silent(seconds: float) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(request: BaseHTTPRequestHandler) -> None:
        time.sleep(seconds)
        request.close_connection = True

    return answer


# --- calls


def test_get_gives_status_headers_and_body(server: Server) -> None:
    server.handlers = [says("größe".encode(), X_Kind="test")]
    response = fetch.get(server.url + "/a?b=c")
    assert (response.status, response.text, response.headers["x-kind"]) == (200, "größe", "test")
    assert server.asked[0][:2] == ("GET", "/a?b=c")


def test_post_json_sends_json_and_the_callers_headers(server: Server) -> None:
    server.handlers = [says(b'{"count": 3}')]
    response = fetch.post_json(server.url, {"query": "naïve"}, headers={"Authorization": "Bearer k"})
    method, _, headers, body = server.asked[0]
    assert response.json() == {"count": 3}
    assert (method, json.loads(body), headers["Authorization"]) == ("POST", {"query": "naïve"}, "Bearer k")
    assert headers["Content-Type"] == "application/json"


def test_a_body_that_is_no_json_is_told_as_such(server: Server) -> None:
    server.handlers = [says(b"<html>no</html>")]
    with pytest.raises(WebError, match="not JSON") as caught:
        fetch.get(server.url).json()
    assert caught.value.kind == "body"
    assert caught.value.response and caught.value.response.body == b"<html>no</html>"


@pytest.mark.parametrize("status", [403, 408, 429, 500, 502, 503, 504])
def test_passing_troubles_are_tried_again_with_doubled_delays(
    server: Server, patience: Patience, naps: list[float], status: int
) -> None:
    server.handlers = [says(b"busy", status)] * 3 + [says(b"well")]
    assert fetch.get(server.url, patience=patience).body == b"well"
    assert naps == [1, 2, 4]


@pytest.mark.parametrize("status", [400, 401, 404, 410, 422])
def test_lasting_troubles_are_not_tried_again(
    server: Server, patience: Patience, naps: list[float], status: int
) -> None:
    server.handlers = [says(b'{"error": "no such index"}', status)]
    with pytest.raises(WebError, match="no such index") as caught:
        fetch.get(server.url, patience=patience)
    assert (caught.value.kind, caught.value.status, naps) == ("status", status, [])
    assert caught.value.response and caught.value.response.json() == {"error": "no such index"}


def test_after_the_last_try_the_last_answer_is_told(server: Server, patience: Patience, naps: list[float]) -> None:
    server.handlers = [says(b"down for repair", 503)]
    with pytest.raises(WebError, match="503: down for repair") as caught:
        fetch.get(server.url, patience=patience)
    assert caught.value.status == 503
    assert len(server.asked) == 4
    assert naps == [1, 2, 4]


def test_tries_are_the_callers_choice(server: Server) -> None:
    server.handlers = [says(b"", 503)]
    with pytest.raises(WebError):
        fetch.get(server.url, patience=fetch.ONCE)
    assert len(server.asked) == 1


def test_retry_after_in_seconds_is_obeyed(server: Server, patience: Patience, naps: list[float]) -> None:
    server.handlers = [says(b"", 429, Retry_After="7"), says(b"well")]
    assert fetch.get(server.url, patience=patience).body == b"well"
    assert naps == [7]


def test_retry_after_as_a_date_is_obeyed(server: Server, patience: Patience, naps: list[float]) -> None:
    server.handlers = [says(b"", 503, Retry_After=formatdate(time.time() + 20, usegmt=True)), says(b"well")]
    assert fetch.get(server.url, patience=patience).body == b"well"
    assert len(naps) == 1 and 0 < naps[0] <= 20


def test_a_server_that_asks_for_too_long_a_wait_is_not_asked_again(
    server: Server, patience: Patience, naps: list[float]
) -> None:
    server.handlers = [says(b"", 429, Retry_After="3600")]
    with pytest.raises(WebError, match="3600 s"):
        fetch.get(server.url, patience=patience)
    assert (len(server.asked), naps) == (1, [])


def test_a_nonsense_retry_after_falls_back_to_the_usual_delay(
    server: Server, patience: Patience, naps: list[float]
) -> None:
    server.handlers = [says(b"", 429, Retry_After="soon"), says(b"well")]
    assert fetch.get(server.url, patience=patience).body == b"well"
    assert naps == [1]


def test_a_dropped_connection_is_tried_again(server: Server, patience: Patience, naps: list[float]) -> None:
    server.handlers = [closes, drops_after(10), says(b"well")]
    assert fetch.get(server.url, patience=patience).body == b"well"
    assert naps == [1, 2]


def test_half_a_body_is_never_taken_for_a_whole_one(server: Server) -> None:
    server.handlers = [drops_after(10)]
    with pytest.raises(WebError) as caught:
        fetch.get(server.url, patience=fetch.ONCE)
    assert caught.value.kind == "connection"


def test_silence_is_a_timeout(server: Server) -> None:
    server.handlers = [is_silent(2)]
    with pytest.raises(WebError, match=r"silent for 0\.2 s") as caught:
        fetch.get(server.url, patience=Patience(read=0.2, tries=1))
    assert caught.value.kind == "timeout"
    assert caught.value.status is None


def test_a_host_that_refuses_is_given_up_at_once(
    patience: Patience, naps: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "_answered", set())  # the server of an earlier test may have had this port
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening
        with pytest.raises(WebError, match="cannot be reached") as caught:
            fetch.get(f"http://127.0.0.1:{taken.getsockname()[1]}/", patience=patience)
    assert (caught.value.kind, naps) == ("unreachable", [])


def test_a_host_that_never_answers_is_given_up_after_the_connect_time_out(naps: list[float]) -> None:
    with socket.socket() as full, contextlib.ExitStack() as stack:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(8):  # with its queue full, the listener is deaf to whoever comes next
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        with pytest.raises(WebError, match=r"no answer within 0\.3 s") as caught:
            fetch.get(f"http://127.0.0.1:{full.getsockname()[1]}/", patience=Patience(connect=0.3, sleep=naps.append))
    assert (caught.value.kind, naps) == ("unreachable", [])


def test_an_unreachable_host_is_tried_as_often_as_the_caller_wants(naps: list[float]) -> None:
    stubborn = Patience(tries=1, unreachable_tries=3, sleep=naps.append)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(WebError):
            fetch.get(f"http://127.0.0.1:{taken.getsockname()[1]}/", patience=stubborn)
    assert naps == [1, 2]


def test_a_host_that_does_not_exist_is_unreachable() -> None:
    with pytest.raises(WebError, match=r"no-such-host\.invalid cannot be reached") as caught:
        fetch.get("http://no-such-host.invalid/x", patience=Patience(connect=2))
    assert caught.value.kind == "unreachable"


@pytest.mark.parametrize("url", ["", "ftp://a/b", "http://", "http://a:port/", "file:///etc/passwd", "http://[::1/"])
def test_what_is_no_web_address_is_refused(url: str) -> None:
    with pytest.raises(WebError) as caught:
        fetch.get(url)
    assert caught.value.kind == "address"


def test_offline_nothing_is_asked(server: Server, tmp_path: Path) -> None:
    server.handlers = [says(b"well")]
    with pytest.raises(WebError, match="offline") as caught:
        fetch.get(server.url, offline=True)
    with pytest.raises(WebError, match="offline"):
        fetch.download(server.url, tmp_path / "x", offline=True)
    assert caught.value.kind == "offline"
    assert server.asked == []


def test_no_secret_is_in_a_message(server: Server) -> None:
    server.handlers = [says(b"", 404)]
    port = server.http.server_port
    with pytest.raises(WebError) as caught:
        fetch.get(f"http://me:hidden@127.0.0.1:{port}/a?key=hidden", headers={"Authorization": "Bearer hidden"})
    assert "hidden" not in str(caught.value)
    with pytest.raises(WebError) as caught:
        fetch.get(server.url, headers={"Authorization": "Bearer hidden\nkey"})
    assert "hidden" not in str(caught.value)
    with pytest.raises(WebError) as caught:
        fetch.get(server.url, headers={"Authorization": "Bearer hidden”"})
    assert "hidden" not in str(caught.value)


# --- cache


def test_an_answer_once_had_is_given_again_without_asking(server: Server, tmp_path: Path) -> None:
    server.handlers = [says(b"1"), says(b"2")]
    first = fetch.get(server.url + "/a", cache=tmp_path)
    again = fetch.get(server.url + "/a", cache=tmp_path, offline=True)
    other = fetch.get(server.url + "/b", cache=tmp_path)
    assert (first.body, again.body, other.body) == (b"1", b"1", b"2")


def test_cached_posts_differ_by_what_was_posted(server: Server, tmp_path: Path) -> None:
    server.handlers = [says(b"1"), says(b"2")]
    assert fetch.post_json(server.url, {"a": 1, "b": 2}, cache=tmp_path).body == b"1"
    assert fetch.post_json(server.url, {"b": 2, "a": 1}, cache=tmp_path).body == b"1"
    assert fetch.post_json(server.url, {"a": 2}, cache=tmp_path).body == b"2"


def test_a_failure_is_not_kept(server: Server, tmp_path: Path) -> None:
    server.handlers = [says(b"no", 404), says(b"yes")]
    with pytest.raises(WebError):
        fetch.get(server.url, cache=tmp_path)
    assert fetch.get(server.url, cache=tmp_path).body == b"yes"


# --- downloads


def test_a_download_is_whole_checked_and_tells_its_progress(server: Server, tmp_path: Path) -> None:
    server.handlers = [serves_ranges()]
    seen: list[tuple[int, int]] = []
    path = fetch.download(
        server.url, tmp_path / "deep" / "file", sha256=SHA256, progress=lambda done, total: seen.append((done, total))
    )
    assert path.read_bytes() == CONTENT
    assert seen == sorted(seen) and seen[-1] == (len(CONTENT), len(CONTENT))
    assert [p.name for p in path.parent.iterdir() if not p.name.startswith(".")] == ["file"]


def test_a_file_already_there_is_not_downloaded_again(server: Server, tmp_path: Path) -> None:
    server.handlers = [serves_ranges()]
    (tmp_path / "file").write_bytes(CONTENT)
    fetch.download(server.url, tmp_path / "file", sha256=SHA256)
    assert server.asked == []


def test_a_damaged_file_already_there_is_replaced(server: Server, tmp_path: Path) -> None:
    server.handlers = [serves_ranges()]
    (tmp_path / "file").write_bytes(CONTENT[:-1])
    fetch.download(server.url, tmp_path / "file", sha256=SHA256)
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_broken_download_goes_on_where_it_broke(
    server: Server, tmp_path: Path, patience: Patience, naps: list[float]
) -> None:
    server.handlers = [drops_after(100_000), serves_ranges()]
    path = fetch.download(server.url, tmp_path / "file", sha256=SHA256, patience=patience)
    assert path.read_bytes() == CONTENT
    begin = int(server.asked[1][2]["Range"].removeprefix("bytes=").removesuffix("-"))
    assert 0 < begin <= 100_000
    assert naps == [1]


def test_a_later_call_goes_on_with_what_an_earlier_one_left(server: Server, tmp_path: Path) -> None:
    server.handlers = [drops_after(200_000, ETag='"one"'), serves_ranges()]
    with pytest.raises(WebError):
        fetch.download(server.url, tmp_path / "file", patience=fetch.ONCE)
    assert not (tmp_path / "file").exists()
    assert fetch.download(server.url, tmp_path / "file").read_bytes() == CONTENT
    assert "Range" in server.asked[1][2]


def test_a_file_changed_meanwhile_is_fetched_from_the_start(server: Server, tmp_path: Path) -> None:
    server.handlers = [drops_after(200_000, ETag='"one"'), serves_ranges(CONTENT[::-1], tag='"two"')]
    with pytest.raises(WebError):
        fetch.download(server.url, tmp_path / "file", patience=fetch.ONCE)
    assert fetch.download(server.url, tmp_path / "file").read_bytes() == CONTENT[::-1]


def test_without_anything_that_tells_editions_apart_a_download_starts_afresh(server: Server, tmp_path: Path) -> None:
    server.handlers = [drops_after(200_000, ETag='W/"weak"'), serves_ranges(CONTENT[::-1])]
    with pytest.raises(WebError):
        fetch.download(server.url, tmp_path / "file", patience=fetch.ONCE)
    assert fetch.download(server.url, tmp_path / "file").read_bytes() == CONTENT[::-1]
    assert "Range" not in server.asked[1][2]


def test_a_server_without_ranges_is_asked_for_the_whole(server: Server, tmp_path: Path, patience: Patience) -> None:
    server.handlers = [drops_after(100_000), says(CONTENT)]
    path = fetch.download(server.url, tmp_path / "file", sha256=SHA256, patience=patience)
    assert path.read_bytes() == CONTENT


def test_a_download_that_was_whole_but_not_yet_renamed_is_taken(server: Server, tmp_path: Path) -> None:
    server.handlers = [serves_ranges()]
    (tmp_path / "file.part").write_bytes(CONTENT)
    assert fetch.download(server.url, tmp_path / "file", sha256=SHA256).read_bytes() == CONTENT
    assert len(server.asked) == 1


def test_a_piece_longer_than_the_file_is_dropped(server: Server, tmp_path: Path, patience: Patience) -> None:
    server.handlers = [serves_ranges()]
    (tmp_path / "file.part").write_bytes(CONTENT + b"more")
    path = fetch.download(server.url, tmp_path / "file", sha256=SHA256, patience=patience)
    assert path.read_bytes() == CONTENT


def test_a_piece_of_another_file_is_found_out_and_fetched_again(server: Server, tmp_path: Path) -> None:
    server.handlers = [serves_ranges()]
    (tmp_path / "file.part").write_bytes(b"something else")
    assert fetch.download(server.url, tmp_path / "file", sha256=SHA256).read_bytes() == CONTENT


def test_another_piece_than_asked_for_is_not_glued_on(server: Server, tmp_path: Path, patience: Patience) -> None:
    wrong = says(CONTENT[5:], 206, Content_Range=f"bytes 5-{len(CONTENT) - 1}/{len(CONTENT)}")
    server.handlers = [drops_after(100_000), wrong, serves_ranges()]
    path = fetch.download(server.url, tmp_path / "file", sha256=SHA256, patience=patience)
    assert path.read_bytes() == CONTENT


def test_a_wrong_checksum_leaves_no_file(server: Server, tmp_path: Path) -> None:
    server.handlers = [says(b"something else")]
    with pytest.raises(WebError, match="expected " + SHA256[:12]) as caught:
        fetch.download(server.url, tmp_path / "file", sha256=SHA256)
    assert caught.value.kind == "checksum"
    assert [p.name for p in tmp_path.iterdir() if not p.name.startswith(".")] == []


def test_an_empty_file_can_be_downloaded(server: Server, tmp_path: Path) -> None:
    server.handlers = [says(b"")]
    assert fetch.download(server.url, tmp_path / "file").read_bytes() == b""


def test_a_place_that_cannot_be_written_is_told(server: Server, tmp_path: Path) -> None:
    server.handlers = [says(b"x")]
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(WebError, match="cannot be written") as caught:
        fetch.download(server.url, tmp_path / "file" / "below")
    assert caught.value.kind == "disk"


def test_two_downloads_at_once_give_one_whole_file(server: Server, tmp_path: Path) -> None:
    server.handlers = [serves_ranges()]
    results: list[bytes] = []

    def work() -> None:
        results.append(fetch.download(server.url, tmp_path / "file", sha256=SHA256).read_bytes())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [CONTENT] * 4
    assert len(server.asked) == 1


# --- rate limit


def test_a_rate_limit_spaces_calls_evenly() -> None:
    now = [100.0]
    naps: list[float] = []
    limit = fetch.RateLimit(4, clock=lambda: now[0], sleep=naps.append)
    for _ in range(4):
        limit()
    # a quarter of a second each, from the first call on, if no time passes meanwhile
    assert naps == [0.25, 0.5, 0.75]
    now[0] += 10
    limit()
    assert len(naps) == 3


def test_the_limit_holds_for_retries_too(server: Server, patience: Patience) -> None:
    server.handlers = [says(b"", 503), says(b"", 503), says(b"well")]
    calls: list[None] = []
    fetch.get(server.url, patience=patience, limit=lambda: calls.append(None))
    assert len(calls) == 3


# --- credentials and redirects


def goes_to(target: str, status: int = 302) -> Callable[[BaseHTTPRequestHandler], None]:
    return says(b"", status, Location=target)


@pytest.fixture
def other() -> Iterator[Server]:
    """Another server: the same machine, another port."""
    server = Server()
    server.handlers = [says(b"there")]
    yield server
    server.http.shutdown()
    server.http.server_close()


@pytest.fixture
def netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home with a .netrc that has a password for every server there is."""
    (tmp_path / ".netrc").write_text(
        "machine 127.0.0.1 login me password of-netrc\ndefault login me password of-netrc\n"
    )
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))


def authorizations(server: Server) -> list[str | None]:
    return [headers.get("Authorization") for _, _, headers, _ in server.asked]


def test_a_netrc_file_adds_no_password_and_replaces_no_key(server: Server, netrc: None, tmp_path: Path) -> None:
    server.handlers = [says(b"yes")]
    fetch.get(server.url)
    fetch.get(server.url, headers={"Authorization": "Bearer k"})
    fetch.post_json(server.url, {})
    fetch.download(server.url, tmp_path / "file")
    assert authorizations(server) == [None, "Bearer k", None, None]


def test_a_netrc_file_has_no_say_after_a_redirect_either(server: Server, other: Server, netrc: None, tmp_path) -> None:
    server.handlers = [goes_to("/here"), says(b"here"), goes_to(other.url)]
    assert fetch.get(server.url, headers={"Authorization": "Bearer k"}).body == b"here"
    fetch.download(server.url, tmp_path / "file", headers={"Authorization": "Bearer k"})
    assert authorizations(server) == ["Bearer k"] * 3
    assert authorizations(other) == [None]


def test_a_password_in_the_address_itself_is_sent_to_that_server_alone(server: Server, other: Server, tmp_path) -> None:
    server.handlers = [goes_to(f"http://a:b@127.0.0.1:{other.http.server_port}/")]
    fetch.download(server.url.replace("//", "//me:mine@"), tmp_path / "file")
    assert (authorizations(server)[0] or "").startswith("Basic ") and authorizations(other) == [None]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("place", ["http://localhost:{port}/x", "http://127.0.0.1:{port}/x", "//127.0.0.1:{port}"])
def test_a_redirect_to_another_server_is_refused_with_both_names(server: Server, other: Server, status, place) -> None:
    server.handlers = [goes_to(place.format(port=other.http.server_port), status)]
    for ask in (
        lambda: fetch.get(server.url, headers={"Authorization": "Bearer k"}, patience=fetch.ONCE),
        lambda: fetch.post_json(server.url, {"secret": 1}, patience=fetch.ONCE),
    ):
        with pytest.raises(WebError, match="is another server: nothing was sent there") as caught:
            ask()
        assert server.url in str(caught.value) and str(other.http.server_port) in str(caught.value)
    assert not other.asked


@pytest.mark.parametrize("place", ["http://[", "http://[::1/x", "//[x"])
def test_a_redirect_to_what_is_no_address_is_refused_in_a_sentence(server: Server, place) -> None:
    server.handlers = [goes_to(place, 302)]
    with pytest.raises(WebError, match="no address of the form"):
        fetch.get(server.url, patience=fetch.ONCE)


def test_a_redirect_within_a_server_keeps_the_key_and_a_moved_post_is_posted_again(server: Server) -> None:
    server.handlers = [goes_to("/v1/x", 308), says(b"{}")]
    fetch.post_json(server.url, {"a": 1}, headers={"Authorization": "Bearer k"})
    assert [(method, path, body) for method, path, _, body in server.asked] == [
        ("POST", "/", b'{"a": 1}'),
        ("POST", "/v1/x", b'{"a": 1}'),
    ]
    assert authorizations(server) == ["Bearer k"] * 2


def test_a_download_follows_its_hub_to_another_server_without_what_belongs_to_the_hub(
    server: Server, other: Server, tmp_path: Path
) -> None:
    server.handlers = [goes_to(other.url + "/blob")]
    other.handlers = [serves_ranges()]
    headers = {"Authorization": "Bearer k", "Cookie": "a=b", "X-Key": "k"}
    path = fetch.download(server.url, tmp_path / "file", sha256=SHA256, headers=headers)
    assert path.read_bytes() == CONTENT
    (_, _, sent, _) = other.asked[0]
    assert not {"authorization", "cookie", "x-key"} & {name.lower() for name in sent}
    assert sent["Accept-Encoding"] == "identity"


def test_redirects_without_end_are_one_sentence(server: Server) -> None:
    server.handlers = [goes_to("/again")]
    with pytest.raises(WebError, match="redirects more than 10 times"):
        fetch.get(server.url, patience=fetch.ONCE)


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://host/x", "gopher://host"])
def test_a_redirect_to_what_is_no_web_address_is_refused(server: Server, target: str, tmp_path: Path) -> None:
    server.handlers = [goes_to(target)]
    with pytest.raises(WebError, match="is no address of the form"):
        fetch.download(server.url, tmp_path / "file", patience=fetch.ONCE)


def test_no_cookie_is_kept(server: Server) -> None:
    server.handlers = [says(b"", Set_Cookie="session=1; Path=/")]
    fetch.get(server.url)
    fetch.get(server.url)
    assert "Cookie" not in server.asked[1][2]


def test_a_proxy_of_the_environment_is_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.handlers = [says(b"by proxy")]
    monkeypatch.setenv("http_proxy", server.url.replace("//", "//user:word@"))
    monkeypatch.setenv("no_proxy", "")
    assert fetch.get("http://elsewhere.invalid/x").body == b"by proxy"
    assert server.asked[0][1] == "http://elsewhere.invalid/x"
    assert server.asked[0][2]["Proxy-Authorization"].startswith("Basic ")


# --- out of the network alone

INSIDE = ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]"]


@pytest.mark.parametrize("host", INSIDE)
def test_an_address_inside_is_neither_knocked_at_nor_asked(server: Server, host: str) -> None:
    server.handlers = [says(b"inside")]
    with socket.socket() as counter:  # a listener that nobody may connect to
        counter.bind(("127.0.0.1", 0))
        counter.listen()
        counter.settimeout(0.3)
        with pytest.raises(WebError, match=r"lies inside the network|cannot be reached") as caught:
            fetch.get(f"http://{host}:{counter.getsockname()[1]}/", public_only=True, patience=fetch.ONCE)
        assert caught.value.kind in ("address", "unreachable")
        with pytest.raises(TimeoutError):
            counter.accept()


def test_a_name_that_changes_its_address_after_the_check_reaches_nothing(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 127.0.0.1 stands in for an outside address, 127.0.0.2 for one inside: the network of a test has no outside.
    inner = ThreadingHTTPServer(("127.0.0.2", server.http.server_port), server.http.RequestHandlerClass)
    threading.Thread(target=inner.serve_forever, args=(0.02,), daemon=True).start()
    server.handlers = [says(b"asked")]
    looked_up: list[str] = []
    known = socket.getaddrinfo

    def rebinding(host: str, *rest: object, **named: object) -> object:
        if host != "rebinding.test":
            return known(host, *rest, **named)  # type: ignore[arg-type]
        looked_up.append(host)
        return known("127.0.0.1" if len(looked_up) < 2 else "127.0.0.2", *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    for room in ("explorer.fetch", "explorer.fetch_public"):
        monkeypatch.setattr(f"{room}.is_public", lambda address: address == "127.0.0.1")
    try:
        with pytest.raises(WebError, match="lies inside the network"):
            fetch.get(
                f"http://rebinding.test:{server.http.server_port}/",
                public_only=True,
                patience=Patience(connect=2, tries=1),
            )
        assert len(looked_up) == 2 and not server.asked
    finally:
        inner.shutdown()
        inner.server_close()


def test_what_is_outside_is_asked_at_the_address_that_was_checked(server: Server, monkeypatch) -> None:
    server.handlers = [says(b"outside")]
    for room in ("explorer.fetch", "explorer.fetch_public"):
        monkeypatch.setattr(f"{room}.is_public", lambda address: address == "127.0.0.1")
    url = server.url.replace("127.0.0.1", "localhost")
    assert fetch.get(url, public_only=True, patience=fetch.ONCE).body == b"outside"
    assert server.asked[0][2]["Host"] == f"localhost:{server.http.server_port}"


def packed(data: bytes, encoding: str = "gzip", status: int = 200) -> Callable[[BaseHTTPRequestHandler], None]:
    def handle(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Encoding", encoding)
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        with contextlib.suppress(OSError):
            request.wfile.write(data)

    return handle


BOMB = gzip.compress(bytes(fetch.MOST_BODY + 2**20), 1)


def test_an_answer_that_unpacks_to_more_than_any_is_refused(server, patience):
    server.handlers = [packed(BOMB)]
    for call in (lambda: fetch.get(server.url, patience=patience), lambda: fetch.post_json(server.url, {})):
        with pytest.raises(WebError, match="more than 64 MiB, expected less"):
            call()
    assert len(server.asked) == 2, "it was asked again"


def test_an_answer_of_values_without_end_is_refused_before_they_are_made(server, patience):
    server.handlers = [packed(gzip.compress(b"[" + b"[]," * 4_100_000 + b"[]]", 1))]
    with pytest.raises(WebError, match="more than 4,000,000 values"):
        fetch.get(server.url, patience=patience).json()


def test_of_an_error_that_unpacks_without_end_the_beginning_is_read(server, patience):
    server.handlers = [packed(BOMB, status=400)]
    with pytest.raises(WebError) as caught:
        fetch.get(server.url, patience=patience)
    assert caught.value.status == 400 and len(caught.value.response.body) == fetch.MOST_SAID


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "zstd", "GZIP,deflate"])
def test_an_answer_packed_twice_or_in_an_unknown_way_is_refused(server, patience, encoding):
    server.handlers = [packed(gzip.compress(gzip.compress(b"{}")), encoding)]
    with pytest.raises(WebError, match="expected gzip or none"):
        fetch.get(server.url, patience=patience)


def test_a_packed_answer_is_unpacked(server, patience):
    server.handlers = [packed(gzip.compress(b'{"a": 1}'))]
    assert fetch.get(server.url, patience=patience).json() == {"a": 1}
    assert server.asked[0][2]["Accept-Encoding"] == "gzip, deflate"
