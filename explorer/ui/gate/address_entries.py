"""One entry of the browser's way back for each thing that a reader does, however many choices it changes.

Streamlit makes an entry of every parameter that is written. Opening a word writes two, a step away from a changed text
five, and the way back would lead through addresses that nobody saw: the next instance with the words of the one before.

The script that joins them stands in the page itself, before Streamlit's own. Drawn by Streamlit, it would come after
the first answer, which completes the address, and that would be an entry or two that lead nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from pathlib import Path
from typing import Any

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

SCRIPT = f"<script>\n{Path(__file__).with_suffix('.js').read_text(encoding='utf-8')}</script>"
HEAD = b"<head>"
# The app's own pages: nothing below a folder, and no file. A downloaded figure is HTML, too, and is left as it is.
PAGE = re.compile(r"/[a-z_-]*")
# A copy that the browser kept may be of a version without the script, and one that is packed cannot be added to.
ASKED = (b"if-none-match", b"if-modified-since", b"accept-encoding", b"range")
ANSWERED = (b"etag", b"last-modified", b"accept-ranges", b"content-length")


def is_page(scope: Scope, base: str) -> bool:
    """Whether a request is for one of the app's pages."""
    path = str(scope["path"]).removeprefix(base)
    return scope["type"] == "http" and scope["method"] == "GET" and bool(PAGE.fullmatch(path))


def asking_whole(scope: Scope) -> Scope:
    """The request for a page, so that the answer is the whole page and can be added to."""
    return {**scope, "headers": _without(scope["headers"], ASKED)}


def with_script(send: Send) -> Send:
    """Sends a page on with the script at its head; what is no page goes on as it is."""
    start: MutableMapping[str, Any] = {}
    body = bytearray()

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start" and _is_whole_page(message):
            start.update(message)
        elif message["type"] == "http.response.body" and start:
            body.extend(message.get("body", b""))
            if message.get("more_body"):
                return
            page = bytes(body).replace(HEAD, HEAD + SCRIPT.encode(), 1)
            length = (b"content-length", str(len(page)).encode())
            await send({**start, "headers": [*_without(start["headers"], ANSWERED), length]})
            await send({"type": "http.response.body", "body": page})
        else:
            await send(message)

    return sending


def _is_whole_page(start: MutableMapping[str, Any]) -> bool:
    headers = {name.lower(): value for name, value in start.get("headers", ())}
    is_html = headers.get(b"content-type", b"").startswith(b"text/html")
    return start["status"] == 200 and is_html and b"content-encoding" not in headers


def _without(headers: Iterable[tuple[bytes, bytes]], names: tuple[bytes, ...]) -> Headers:
    return [(name, value) for name, value in headers if name.lower() not in names]
