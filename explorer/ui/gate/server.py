"""The gate in front of Streamlit's server: pages, the websocket, media, uploads and all else pass here first.

app.py gives it to Streamlit, so it stands there however the app is started.
"""

from __future__ import annotations

import contextlib
import html
import math
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from functools import cache
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode

from starlette.middleware import Middleware
from starlette.requests import cookie_parser
from streamlit import config

from explorer.addresses import is_loopback, split_address
from explorer.ui.gate import address_entries, login
from explorer.ui.gate.gate import FORWARDED, STAMP, Gate, Role, comes_from_here, make_gate

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

OPEN_BROWSER = "EXPLORER_OPEN_BROWSER"  # set by `python -m explorer app`
TOKEN = "token"  # the query's name for the secret in the printed address
ENTER = "/_enter"
LONGEST_FORM = 8192
KEPT = 60.0  # seconds for a browser to read the file that leads to the app
PAGE = Path(__file__).with_name("gate.html")
HEADERS = {
    "x-frame-options": "SAMEORIGIN",
    "content-security-policy": "frame-ancestors 'self'; object-src 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
# explorer/ui/show.py has the same words, and this page none of Streamlit.
COMMAND = (
    "<details><summary>Do this from the command line</summary>"
    "<pre>python -m explorer app --host ADDRESS</pre>"
    "<p>With EXPLORER_PASSWORD set, it asks for that password.</p></details>"
)
STRICT = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
          "frame-ancestors 'none'; base-uri 'none'", "cache-control": "no-store"}  # fmt: skip


@cache
def gate() -> Gate:
    """The gate of this process's server; the secrets are read first, since a password may stand there."""
    has_login = login.is_configured()
    return make_gate(str(config.get_option("server.address") or ""), has_login=has_login, is_named=is_named())


def middleware() -> list[Middleware]:
    """What app.py hands to Streamlit's server."""
    return [Middleware(GateServer)]


class GateServer:
    """Lets through whom the gate knows, asks others for the secret, and marks every answer with the safe headers."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        visit = Visit(scope)
        if not visit.is_of_this_app():
            await refuse(scope, send, 403, "This request comes from another site, and this app answers its own alone.")
        elif scope["type"] == "http" and visit.path == visit.base + ENTER:
            await enter(visit, receive, send)
        elif scope["type"] == "http" and TOKEN in visit.query:
            await answer_token(visit, send)
        elif (role := visit.role()) or visit.is_login():
            request, answer = visit.stamped(role), with_headers(send)
            if address_entries.is_page(request, visit.base):
                request, answer = address_entries.asking_whole(request), address_entries.with_script(answer)
            await self.app(request, receive, answer)
        else:
            await ask_for_secret(visit, send)


class Visit:
    """A request: who makes it, from where, and for what."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            # Of a header that is there twice, the first counts, as it does for Streamlit's own checks.
            self.headers.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
        self.remote = str((scope.get("client") or ("",))[0])
        self.path = str(scope["path"])
        self.query = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True))
        self.base = str(config.get_option("server.baseUrlPath") or "").strip("/")
        self.base = f"/{self.base}" if self.base else ""

    @property
    def is_told(self) -> bool:
        """Whether a header may be what says where the request comes from."""
        return any(name in self.headers for name in FORWARDED)

    @property
    def is_secure(self) -> bool:
        return self.scope.get("scheme") in ("https", "wss")

    @property
    def cookie_name(self) -> str:
        """One for each port: a browser sends a host's cookies to all of its ports."""
        return f"lexiscope_{(self.scope.get('server') or ('', 0))[1]}"

    @property
    def cookies(self) -> dict[str, str]:
        return cookie_parser(self.headers.get("cookie", ""))

    def is_of_this_app(self) -> bool:
        """False where a page of another site makes the request: the browser says so."""
        origin = self.headers.get("origin")
        if origin is None:
            # Pictures, frames and the like of another page send none, and the browser tells whose they are.
            is_foreign = self.headers.get("sec-fetch-site", "") in ("cross-site", "same-site")
            return not is_foreign or self.headers.get("sec-fetch-dest", "document") == "document"
        place = netloc(origin)
        return bool(place) and (place == self.headers.get("host", "").lower() or place in own_places())

    def role(self) -> Role:
        """Whom the request is from: the owner, a visitor who was let in, or "" for anybody else."""
        is_local = comes_from_here(self.remote, self.headers) and not is_named()
        is_in = (
            (is_local and gate().is_open_here)
            or gate().knows(self.cookies.get(self.cookie_name, ""))
            or (login.is_configured() and login.has_logged_in(self.cookies))
        )
        return ("owner" if is_local else "visitor") if is_in else ""

    def is_login(self) -> bool:
        """Whether this is a step of Streamlit's own login."""
        is_step = self.scope["type"] == "http" and login.is_configured()
        return is_step and self.path in login.paths(self.base)

    def stamped(self, role: Role) -> Scope:
        """The request as Streamlit sees it: with the gate's stamp, and with no stamp that a stranger wrote."""
        headers = [(name, value) for name, value in self.scope["headers"] if name.lower() != STAMP.encode()]
        if role:
            headers.append((STAMP.encode(), gate().stamp(role).encode()))
        if "origin" in self.headers and self.scope["type"] == "websocket":
            # Streamlit compares Origin with Host, and looks this machine's outside address up where they differ. That
            # they belong together was found above.
            place = netloc(self.headers["origin"])
            headers = [(name, place.encode() if name.lower() == b"host" else value) for name, value in headers]
        return {**self.scope, "headers": headers}

    def rest(self) -> str:
        """The path that was asked for and its query without the token."""
        query = urlencode([(name, value) for name, value in self._pairs() if name != TOKEN])
        return path_within_app(self.path + (f"?{query}" if query else ""))

    def _pairs(self) -> list[tuple[str, str]]:
        return parse_qsl(self.scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)


def own_places() -> set[str]:
    """The other names, host:port, under which the owner says that this app is reached."""
    named = [str(origin) for origin in config.get_option("server.corsAllowedOrigins") or []]
    if config.is_manually_set("browser.serverAddress"):
        named.append(str(config.get_option("browser.serverAddress")))
    netlocs = {netloc(origin if "//" in origin else f"//{origin}") for origin in named}
    port = config.get_option("browser.serverPort")
    return {place for netloc_found in netlocs if netloc_found for place in (netloc_found, f"{netloc_found}:{port}")}


def is_named() -> bool:
    """Whether one of these names is of another place than this machine: then a proxy may stand before the app."""
    return any(not is_loopback(split_address(f"//{place}").hostname or "") for place in own_places())


def netloc(address: str) -> str:
    """An address's host:port in small letters; "" where it cannot be read."""
    return split_address(address).netloc.lower()


def path_within_app(place: str) -> str:
    """A path of this app, "/" for anything that could lead a browser elsewhere."""
    is_plain = place.startswith("/") and not place.startswith("//") and "\\" not in place and place.isprintable()
    return place if is_plain and place.isascii() else "/"


async def answer_token(visit: Visit, send: Send) -> None:
    """A right token becomes a cookie, and the address goes on without it."""
    if visit.role() or gate().is_password:
        await redirect(send, visit.rest())  # an old link, or in the hand of somebody who is in
    elif await is_right(visit, send, visit.query[TOKEN]):
        await redirect(send, visit.rest(), new_cookie(visit))


async def enter(visit: Visit, receive: Receive, send: Send) -> None:
    """What the form of the page below sends."""
    if visit.scope["method"] != "POST":
        await redirect(send, visit.base + "/")
        return
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if message["type"] == "http.disconnect" or len(body) > LONGEST_FORM:
            return await refuse(visit.scope, send, 413, "This form is too long.")
        if not message.get("more_body"):
            break
    form = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    if await is_right(visit, send, form.get("secret", [""])[0]):
        await redirect(send, path_within_app(form.get("next", ["/"])[0]), new_cookie(visit))


async def is_right(visit: Visit, send: Send, secret: str) -> bool:
    """Whether the secret was given; an answer is sent where it was not, and where too many were tried."""
    if wait := gate().wait(visit.remote, visit.is_told):
        seconds = math.ceil(wait)
        refusal = f"Too many wrong tries from your address. Try again in {seconds} s."
        await page(visit, send, 429, refusal, {"retry-after": str(seconds)})
        return False
    if gate().tried(visit.remote, visit.is_told, secret):
        return True
    await page(visit, send, 401, f"This is not the {'password' if gate().is_password else 'token'} of this app.")
    return False


async def ask_for_secret(visit: Visit, send: Send) -> None:
    """Asks a person for the secret, and tells a program that it is needed."""
    is_person = visit.scope["type"] == "http" and "text/html" in visit.headers.get("accept", "")
    if is_person and visit.scope["method"] == "GET":
        await page(visit, send, 401)
    else:
        await refuse(visit.scope, send, 401, "This app asks for its password, its token or a login first.")


async def page(
    visit: Visit, send: Send, status: int, fault: str = "", headers: Mapping[str, str] | None = None
) -> None:
    """The page that asks for the secret; it shows nothing of the app and runs no script."""
    words = {
        "intro": "This app listens to its own machine alone. Its owner can open it to others.",
        "form": "",
        "links": "",
        "command": "" if gate().secret or login.is_configured() else COMMAND,
    }
    place = html.escape(path_within_app(visit.rest() if visit.path != visit.base + ENTER else "/"), quote=True)
    if gate().secret:
        secret_name = "password" if gate().is_password else "token"
        where = "" if gate().is_password else " It is in the address that was printed when the app was started."
        words["intro"] = f"This app asks for its {secret_name}.{where}"
        words["form"] = (
            f'<form method="post" action="{visit.base}{ENTER}"><input type="hidden" name="next" value="{place}">'
            f'<label for="secret">{secret_name.capitalize()}</label>'
            '<input id="secret" name="secret" type="password" autocomplete="current-password" autofocus required>'
            "<button>Open</button></form>"
        )
    if login.is_configured():
        words["intro"] = words["intro"] if gate().secret else "This app asks you to log in."
        words["links"] = "<p>To let people log in, its owner has to install Authlib.</p>"
    if login.is_configured() and (links := login.links(visit.base)):
        words["links"] = "".join(
            f'<p><a href="{html.escape(address, quote=True)}">Log in'
            f"{'' if name == 'default' else f' with {html.escape(name)}'}</a></p>"
            for name, address in links
        )
    alert = f'<p role="alert">{html.escape(fault)}</p>' if fault else ""
    body = Template(PAGE.read_text("utf-8")).substitute(words, fault=alert)
    status = 403 if status == 401 and not gate().secret and not words["links"] else status
    await respond(send, status, body, "text/html; charset=utf-8", headers)


async def refuse(scope: Scope, send: Send, status: int, why: str) -> None:
    """No, in one sentence; a websocket is not even accepted."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
    else:
        await respond(send, status, why + "\n", "text/plain; charset=utf-8")


async def redirect(send: Send, place: str, cookie: str = "") -> None:
    await respond(send, 303, "", "text/plain", {"location": place, **({"set-cookie": cookie} if cookie else {})})


async def respond(send: Send, status: int, body: str, kind: str, headers: Mapping[str, str] | None = None) -> None:
    all_headers = {
        **HEADERS,
        **STRICT,
        "content-type": kind,
        "content-length": str(len(body.encode())),
        **(headers or {}),
    }
    listed = [(name.encode(), value.encode("latin-1")) for name, value in all_headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": body.encode()})


def new_cookie(visit: Visit) -> str:
    secure = "; Secure" if visit.is_secure else ""
    return f"{visit.cookie_name}={gate().cookie()}; Path={visit.base or '/'}; HttpOnly; SameSite=Lax{secure}"


def with_headers(send: Send) -> Send:
    """Answers of Streamlit get the safe headers, unless they have some of their own."""

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            header_names = {name.decode("latin-1").lower() for name, _ in message.get("headers", ())}
            added_headers = [
                (name.encode(), value.encode()) for name, value in HEADERS.items() if name not in header_names
            ]
            message = {**message, "headers": [*message.get("headers", ()), *added_headers]}
        await send(message)

    return sending


# --- the start

_LEADS: list[Path] = []  # files that lead a browser here, removed at the end if not before


@contextlib.asynccontextmanager
async def announce(app: Any) -> AsyncIterator[None]:
    """Says where the app is, with the token where one is needed, and opens the browser if that was asked for."""
    for line in lines():
        print(line, flush=True)
    if os.environ.pop(OPEN_BROWSER, "") and has_browser():
        threading.Thread(target=open_browser, args=(addresses()[0] + tokened(),), daemon=True).start()
    try:
        yield
    finally:
        while _LEADS:
            _LEADS.pop().unlink(missing_ok=True)


def open_browser(address: str) -> None:
    """Shows the app. A token goes through a file: what a browser is started with stands in the list of processes."""
    if TOKEN not in address:
        webbrowser.open(address)
        return
    handle, name = tempfile.mkstemp(suffix=".html", prefix="lexiscope-")  # for this account's eyes alone
    _LEADS.append(Path(name))
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f'<meta http-equiv="refresh" content="0; url={html.escape(address, quote=True)}">')
        webbrowser.open(Path(name).as_uri())
        time.sleep(KEPT)
    finally:
        Path(name).unlink(missing_ok=True)


def tokened() -> str:
    """The end of an address that lets somebody in; "" where no token is asked for."""
    return f"/?{TOKEN}={gate().secret}" if gate().secret and not gate().is_password else ""


def lines() -> list[str]:
    """What is printed at the start."""
    token = tokened()
    lines_shown = [f"Lexiscope is at {address}{token}" for address in addresses()]
    if gate().is_password:
        lines_shown.append("It asks for the password in EXPLORER_PASSWORD.")
    elif token:
        lines_shown.append("Who has this address with its token may see and start everything here.")
    if not is_loopback(listens_at()) and not config.get_option("server.sslCertFile"):
        lines_shown.append("Its pages travel unencrypted: use it in a network you trust, or behind a proxy with https.")
    return lines_shown


def listens_at() -> str:
    return str(config.get_option("server.address") or "0.0.0.0")


def addresses() -> list[str]:
    """The addresses to open, one on this machine first where the server listens there."""
    where, port = listens_at(), int(config.get_option("server.port"))
    base = str(config.get_option("server.baseUrlPath") or "").strip("/")
    scheme = "https" if config.get_option("server.sslCertFile") else "http"
    hosts = ["127.0.0.1", socket.gethostname()] if where in ("0.0.0.0", "::", "") else [where]
    if config.is_manually_set("browser.serverAddress"):
        hosts.append(str(config.get_option("browser.serverAddress")))
    shown = [f"[{host}]" if ":" in host else host for host in dict.fromkeys(hosts)]
    return [f"{scheme}://{host}:{port}" + (f"/{base}" if base else "") for host in shown]


def has_browser() -> bool:
    """Whether a browser with a window can be opened: without a display, a text browser would take the terminal."""
    if os.environ.get("BROWSER") or sys.platform in ("darwin", "win32"):
        return True
    has_display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(has_display) and bool(shutil.which("xdg-open") or shutil.which("x-www-browser"))
