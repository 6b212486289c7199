"""The script of the way back stands first in each page of the app, and in nothing else that is sent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from explorer.ui.gate import address_entries

PAGE = b"<!DOCTYPE html><html><head><script src='streamlit.js'></script></head><body></body></html>"
HTML = (b"content-type", b"text/html; charset=utf-8")


def sent(pieces: list[bytes], *headers: tuple[bytes, bytes], status: int = 200) -> tuple[dict[bytes, bytes], bytes]:
    """What a browser gets of an answer in pieces: its headers and its body."""
    got: list[Any] = []

    async def send(message: Any) -> None:
        got.append(message)

    async def answer() -> None:
        sending = address_entries.with_script(send)
        await sending({"type": "http.response.start", "status": status, "headers": list(headers)})
        for number, piece in enumerate(pieces):
            more = number + 1 < len(pieces)
            await sending({"type": "http.response.body", "body": piece, "more_body": more})

    asyncio.run(answer())
    return dict(got[0]["headers"]), b"".join(message["body"] for message in got[1:])


@pytest.mark.parametrize("cut", [0, 3, 20, 25, len(PAGE)])
def test_the_script_comes_before_streamlits_own_and_the_length_is_right(cut):
    length = (b"content-length", str(len(PAGE)).encode())
    headers, body = sent([PAGE[:cut], PAGE[cut:]], HTML, length, (b"etag", b"1"))
    script = address_entries.SCRIPT.encode()
    assert 0 < body.index(script) < body.index(b"streamlit.js")
    assert body.replace(script, b"") == PAGE
    assert headers[b"content-length"] == str(len(body)).encode()
    assert b"etag" not in headers  # which says that another page of this address is the same


@pytest.mark.parametrize(
    ("headers", "status"),
    [([(b"content-type", b"image/png")], 200), ([HTML], 404), ([HTML, (b"content-encoding", b"gzip")], 200), ([], 200)],
)
def test_what_is_no_page_goes_on_as_it_is(headers, status):
    assert sent([PAGE], *headers, status=status) == (dict(headers), PAGE)


@pytest.mark.parametrize(
    ("path", "base", "method", "is_page"),
    [
        ("/", "", "GET", True),
        ("/in_context", "", "GET", True),
        ("/lab/instance", "/lab", "GET", True),
        ("/instance", "", "HEAD", False),
        ("/media/0a1b2c.html", "", "GET", False),
        ("/_stcore/health", "", "GET", False),
        ("/index.html", "", "GET", False),
    ],
)
def test_pages_are_what_the_reader_opens_by_name(path, base, method, is_page):
    assert address_entries.is_page({"type": "http", "path": path, "method": method}, base) == is_page


def test_a_page_is_asked_for_whole():
    kept = [(b"host", b"here"), (b"cookie", b"a=b")]
    asked = [*kept, (b"If-None-Match", b"1"), (b"accept-encoding", b"gzip"), (b"if-modified-since", b"then")]
    assert address_entries.asking_whole({"path": "/", "headers": asked}) == {"path": "/", "headers": kept}
