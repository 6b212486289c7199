"""The one door to the web: time-outs, retries with backoff, checksums, resumed downloads, a cache on disk.

    get(url)                          → Response
    post_json(url, payload)           → Response
    download(url, target, sha256=...) → the file, whole and checked

Each takes `patience` (time-outs and retries), `limit` (called before every try, see `RateLimit`) and `offline`; with
`public_only`, a host inside of this machine's own network is refused. Credentials are those in the headers and the
address that were given, never those of a `.netrc` file or a cookie; a redirect to another server is followed by
`download` alone, and without them.
What goes wrong is a `WebError`, which tells of which kind it was and keeps the last response, if there was one.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urljoin, urlunsplit

from explorer import numbers, sharing, stopping
from explorer.addresses import is_public, origin_of, split_address
from explorer.fetch_answer import Response, Trouble, WebError, bare, inside

if TYPE_CHECKING:
    import requests

    from explorer.fetch_line import Line

try:
    import fcntl
except (
    ImportError
):  # Windows: two processes may then download the same file twice; the rename at the end is still whole
    fcntl = None  # type: ignore[assignment]

Progress = Callable[[int, int], None]  # bytes so far, bytes in all (0 where the server does not say)
T = TypeVar("T")
Lines = dict[bool, "Line"]  # a thread's sessions, by whether they leave this machine's network alone

USER_AGENT = "lexiscope"
CHUNK = 1 << 16
MOST_REDIRECTS = 10
MOST_BODY = 64 << 20  # bytes of an answer, unpacked
MOST_SAID = 1 << 16  # of what a server says of an error
PACKED = ("", "identity", "gzip", "x-gzip", "deflate")
# What goes along to another server than the one that was asked.
HARMLESS = frozenset({"accept", "accept-encoding", "range", "if-range"})
SLOWEST = 1 << 13  # bytes a second that a download must bring on the whole


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call may take, in seconds, and how often it is tried.

    A host that cannot be reached at all is given up after `connect` seconds, `unreachable_tries` times; without a
    network this is what a user waits for.
    """

    connect: float = 5.0
    read: float = 60.0  # the longest silence
    whole: float = 300.0  # a try as a whole; a download gets more as it grows, see SLOWEST
    tries: int = 5
    unreachable_tries: int = 1
    delay: float = 1.0  # before the second try, doubled each time
    longest_delay: float = 60.0
    retry_on: frozenset[int] = frozenset({403, 408, 429, 500, 502, 503, 504})
    sleep: Callable[[float], None] = field(default=stopping.pause, repr=False, compare=False)


PATIENCE = Patience()
ONCE = Patience(tries=1)


class RateLimit:
    """At most so many calls a second from all threads together; call it before each request."""

    def __init__(
        self,
        per_second: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = stopping.pause,
    ) -> None:
        self._gap = 1.0 / per_second if per_second > 0 else 0.0
        self._clock, self._sleep = clock, sleep
        self._next = float("-inf")
        self._lock = threading.Lock()

    def __call__(self) -> None:
        with self._lock:
            now = self._clock()
            mine = max(now, self._next)
            self._next = mine + self._gap
        if mine > now:
            self._sleep(mine - now)


def get(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    patience: Patience = PATIENCE,
    limit: Callable[[], None] | None = None,
    cache: Path | None = None,
    offline: bool = False,
    public_only: bool = False,
) -> Response:
    """The answer to a GET; with `cache`, a folder, an answer once had is kept there and given again."""
    return _call("GET", url, None, headers, patience, limit, cache, offline, public_only)


def post_json(
    url: str,
    payload: Any,
    *,
    headers: Mapping[str, str] | None = None,
    patience: Patience = PATIENCE,
    limit: Callable[[], None] | None = None,
    cache: Path | None = None,
    offline: bool = False,
    public_only: bool = False,
) -> Response:
    """The answer to a POST of `payload` as JSON; `cache` as in `get`."""
    body = json.dumps(payload, sort_keys=True).encode("ascii")
    return _call("POST", url, body, headers, patience, limit, cache, offline, public_only)


def download(
    url: str,
    target: Path,
    *,
    sha256: str = "",
    headers: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    patience: Patience = PATIENCE,
    limit: Callable[[], None] | None = None,
    offline: bool = False,
) -> Path:
    """`target`, downloaded unless it is already there with this checksum.

    What arrives is kept in `target.part`; a broken download goes on from there. The file appears under its own name
    only when it is whole and its checksum is right.
    """
    part = target.with_name(target.name + ".part")
    if why := sharing.kept_from_us(target) or sharing.kept_from_us(part, writing=True):
        raise WebError(why, kind="disk")

    def fetch_rest(lines: Lines, pace: Pace) -> None:
        _append_rest(lines, url, part, bool(sha256), headers or {}, progress, patience, pace)

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.parent / ".lock"):
            if target.exists() and (not sha256 or file_hash(target) == sha256):
                return target
            resumed = part.exists()
            _with_retries(url, fetch_rest, patience, limit, offline)
            if sha256 and resumed and file_hash(part) != sha256:
                # The piece that lay here may have been of another edition: once more from the start.
                part.unlink()
                _with_retries(url, fetch_rest, patience, limit, offline)
            digest = file_hash(part) if sha256 else ""
            if digest != sha256:
                part.unlink()
                raise WebError(
                    f"{bare(url)} gave a file with SHA-256 {digest[:12]}…, expected {sha256[:12]}…: "
                    "the published file may have changed, or something on the way altered it. What came was deleted.",
                    kind="checksum",
                )
            part.replace(target)
            _validator(part).unlink(missing_ok=True)
    except OSError as error:
        raise WebError(f"{target} cannot be written ({error.strerror or error}).", kind="disk") from error
    return target


def file_hash(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _call(
    method: str,
    url: str,
    body: bytes | None,
    headers: Mapping[str, str] | None,
    patience: Patience,
    limit: Callable[[], None] | None,
    cache: Path | None,
    offline: bool,
    public_only: bool,
) -> Response:
    cached = (
        cache / hashlib.sha256(b"\n".join([method.encode(), url.encode(), body or b""])).hexdigest() if cache else None
    )
    if cached and cached.exists():
        return Response(url, 200, {}, cached.read_bytes())

    as_json = {"Content-Type": "application/json", "Accept": "application/json"} if body is not None else {}

    def once(lines: Lines, _: Pace) -> Response:
        with _answer(
            lines, method, url, body, {**as_json, **(headers or {})}, patience, public_only=public_only
        ) as answer:
            return Response(url, answer.status_code, _lower(answer.headers), _body(answer, MOST_BODY))

    response = _with_retries(url, once, patience, limit, offline)
    if cached:
        _store_in_cache(cached, response.body)
    return response


def _store_in_cache(path: Path, body: bytes) -> None:
    fresh = sharing.beside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(body)
        fresh.replace(path)
    except OSError as error:
        raise WebError(f"{path} cannot be written ({error.strerror or error}).", kind="disk") from error


def _append_rest(
    lines: Lines,
    url: str,
    part: Path,
    checked: bool,
    headers: Mapping[str, str],
    progress: Progress | None,
    patience: Patience,
    pace: Pace,
) -> None:
    """Append to `part` what it still lacks; one try."""
    have = part.stat().st_size if part.exists() else 0
    # Compressed on the way, byte positions would not be those of the file.
    wanted = {"Accept-Encoding": "identity", **headers}
    validator = _validator(part)
    if have and (checked or validator.exists()):
        wanted["Range"] = f"bytes={have}-"
        if validator.exists():
            wanted["If-Range"] = validator.read_text("utf-8")
    try:
        with _answer(lines, "GET", url, None, wanted, patience, anywhere=True) as answer:
            if answer.status_code == 206 and _range_start(answer.headers.get("Content-Range", "")) != have:
                part.unlink(missing_ok=True)
                raise WebError(f"{bare(url)} sent another piece than was asked for.", kind="connection")
            _remember_validator(validator, answer.headers)
            done = have if answer.status_code == 206 else 0
            length = answer.headers.get("Content-Length", "")
            total = done + (numbers.whole(length) or 0)
            with part.open("ab" if done else "wb") as file:
                for chunk in answer.iter_content(CHUNK):
                    stopping.look()  # nobody waits any more: another may be writing here
                    file.write(chunk)
                    done += len(chunk)
                    pace.bytes += len(chunk)
                    if progress:
                        progress(done, total)
    except WebError as error:
        if error.status != 416 or not error.response:
            raise
        # Nothing lies beyond what we have: it was whole already, or it is longer than the file has become.
        if error.response.headers.get("content-range", "").rpartition("/")[2] != str(have):
            part.unlink(missing_ok=True)
            raise WebError(f"{bare(url)} has become shorter than the piece we had.", kind="connection") from error


@dataclass(slots=True)
class Pace:
    """How many bytes of a download came in this try; each gives it more time."""

    bytes: int = 0


def _with_retries(
    url: str, once: Callable[[Lines, Pace], T], patience: Patience, limit: Callable[[], None] | None, offline: bool
) -> T:
    """What `once` gives, tried again as `patience` says; it ends when this thread is told to stop."""
    _check_address(url)
    if offline:
        raise WebError(
            f"{bare(url)} is needed, but the explorer was told to stay offline. Unset EXPLORER_OFFLINE to let it "
            "use the network.",
            kind="offline",
        )
    for tried in itertools.count(1):
        if limit:
            limit()
        try:
            return _try(url, once, patience)
        except WebError as error:
            pause = _pause(error, tried, patience)
            if pause is None:
                raise
        patience.sleep(pause)
    raise AssertionError("unreachable")


def _try(url: str, once: Callable[[Lines, Pace], T], patience: Patience) -> T:
    """One try, hung up when it takes too long as a whole or nobody waits for it any more."""
    lines, pace = _lines(), Pace()
    try:
        return stopping.call(lambda: once(lines, pace), lambda: patience.whole + pace.bytes / SLOWEST)
    except TimeoutError as error:
        _hang_up(lines)
        raise WebError(
            f"{bare(url)} did not finish its answer in {patience.whole + pace.bytes / SLOWEST:.0f} s.",
            kind="slow",
        ) from error
    except WebError:
        raise
    except BaseException:
        _hang_up(lines)
        raise


def _pause(error: WebError, tried: int, patience: Patience) -> float | None:
    """Seconds to wait before the next try, or none if there is to be none."""
    tries = patience.unreachable_tries if error.kind == "unreachable" else patience.tries
    again = error.kind in ("unreachable", "connection", "timeout") or (
        error.kind == "status" and error.status in patience.retry_on
    )
    if not again or tried >= tries:
        return None
    retry_after = _retry_after(error.response)
    if retry_after is not None:
        # A server that asks for more than we are willing to wait is not asked again.
        return retry_after if retry_after <= patience.longest_delay else None
    return min(patience.delay * 2 ** (tried - 1), patience.longest_delay)


def _retry_after(response: Response | None) -> float | None:
    value = response.headers.get("retry-after", "") if response else ""
    if value.isascii() and value.isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


@contextlib.contextmanager
def _answer(
    lines: Lines,
    method: str,
    url: str,
    body: bytes | None,
    headers: Mapping[str, str],
    patience: Patience,
    *,
    anywhere: bool = False,
    public_only: bool = False,
) -> Iterator[requests.Response]:
    """An open answer of status 2xx; all that can go wrong until it is read becomes a `WebError`."""
    import requests

    try:
        _knock(url, patience.connect, public_only)
        with _follow(lines, method, url, body, headers, patience, anywhere, public_only) as answer:
            if not answer.ok:
                response = Response(url, answer.status_code, _lower(answer.headers), _body(answer, MOST_SAID, cut=True))
                said = " ".join(response.text.split())[:200]
                wait = _retry_after(response)
                raise WebError(
                    f"{bare(url)} answered with status {answer.status_code}{': ' + said if said else ''}"
                    f"{f' (it asks to wait {wait:.0f} s)' if wait else ''}.",
                    kind="status",
                    response=response,
                )
            yield answer
    except requests.exceptions.ConnectTimeout as error:
        # A host that has answered before is only silent for a while.
        trouble: Trouble = "timeout" if _place(url) in _answered else "unreachable"
        raise WebError(_unreachable(url, f"no answer within {patience.connect:g} s"), kind=trouble) from error
    except requests.exceptions.Timeout as error:
        raise WebError(f"{bare(url)} was silent for {patience.read:g} s.", kind="timeout") from error
    except (requests.exceptions.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
        if "Read timed out" in str(error):  # so requests calls a time-out in the middle of a body
            raise WebError(f"{bare(url)} was silent for {patience.read:g} s.", kind="timeout") from error
        raise WebError(f"The connection to {bare(url)} broke ({_reason(error)}).", kind="connection") from error
    except (requests.exceptions.InvalidHeader, UnicodeError) as error:
        # The value is not repeated: it may be a key.
        raise WebError("A header holds characters that cannot be sent. Check the key.", kind="address") from error
    except requests.exceptions.RequestException as error:
        raise WebError(f"{bare(url)} cannot be asked ({_reason(error)}). Check the address.", kind="address") from error


def _body(answer: requests.Response, most: int, *, cut: bool = False) -> bytes:
    """The answer's bytes, unpacked; more than `most` are an error or, with `cut`, left unread."""
    packed = answer.headers.get("Content-Encoding", "").strip().lower()
    if packed not in PACKED:
        raise WebError(
            f"{bare(answer.url)} answered in the encoding {packed[:40]!r}, expected gzip or none. Check that the "
            "address is right.",
            kind="body",
        )
    pieces, size = [], 0
    # Piece by piece: a few megabytes of gzip may stand for more than there is memory.
    for piece in answer.iter_content(CHUNK):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            if cut:
                break
            raise WebError(
                f"{bare(answer.url)} answered with more than {most >> 20} MiB, expected less. Check that the address "
                "is right.",
                kind="body",
            )
    return b"".join(pieces)[:most]


def _follow(
    lines: Lines,
    method: str,
    url: str,
    body: bytes | None,
    headers: Mapping[str, str],
    patience: Patience,
    anywhere: bool,
    public_only: bool,
) -> requests.Response:
    """The answer at the end of the redirects; credentials stay with the server that they were given for."""
    from requests import RequestException
    from requests.auth import HTTPBasicAuth
    from requests.utils import get_auth_from_url, requote_uri

    session = _line(lines, public_only)
    user = get_auth_from_url(url)
    auth = HTTPBasicAuth(*user) if any(user) else _add_nothing
    for _ in range(MOST_REDIRECTS):
        try:
            answer = session.request(
                method,
                url,
                data=body,
                headers=headers,
                auth=auth,
                timeout=(patience.connect, patience.read),
                stream=True,
                allow_redirects=False,
            )
        except ValueError as error:  # requests looks where a redirect leads, also where it does not follow it
            if isinstance(error, RequestException):
                raise
            raise WebError(
                f"{bare(url)} leads to what is no address of the form http://host/path or https://host/path.",
                kind="address",
            ) from error
        location = session.get_redirect_target(answer)
        if location is None:
            return answer
        answer.close()
        target = _without_user(_joined(url, requote_uri(location)))
        _check_address(target)
        if origin_of(target) != origin_of(url):
            _check_redirect(url, target, anywhere, bool(any(user)) or "authorization" in _lower(headers))
            headers = {name: value for name, value in headers.items() if name.lower() in HARMLESS}
            auth = _add_nothing
        # As browsers do: only 307 and 308 send a body again.
        if answer.status_code == 303 or (answer.status_code in (301, 302) and method == "POST"):
            method, body = "GET", None
            headers = {name: value for name, value in headers.items() if name.lower() != "content-type"}
        url = target
    raise WebError(f"{bare(url)} redirects more than {MOST_REDIRECTS} times. Check the address.", kind="address")


def _check_redirect(url: str, target: str, anywhere: bool, has_credentials: bool) -> None:
    """An error unless a redirect from one server to another may be followed."""
    here, there = origin_of(url), origin_of(target)
    is_upgrade = (here.scheme, there.scheme) == ("http", "https") and here.host == there.host
    if anywhere and not (here.scheme == "https" and there.scheme == "http"):
        return
    if is_upgrade and there.has_usual_port and not has_credentials:
        return
    raise WebError(
        f"{here} redirects to {there}, which is another server: nothing was sent there. If it is the right one, give "
        "its address instead.",
        kind="address",
    )


def _joined(url: str, location: str) -> str:
    """Where a redirect leads; what is no address as it is, to be refused as one."""
    try:
        return urljoin(url, location)
    except ValueError:
        return location


def _without_user(url: str) -> str:
    """The address without a user and a password, which only who gives an address may put there."""
    parts = split_address(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, parts.query, ""))


def _add_nothing(request: Any) -> Any:
    """An authorization that adds none: without any, requests would look one up in a .netrc file."""
    return request


_answered: set[tuple[str, int]] = set()  # hosts that took a connection in this process


def _knock(url: str, seconds: float, public_only: bool = False) -> None:
    """Raise unless the host takes a connection within `seconds`, name look-up and all its addresses included.

    Neither requests nor the resolver bounds that as a whole: a dead name server or a host with four silent addresses
    would keep a user without a network waiting for minutes.
    """
    from requests.utils import get_environ_proxies, select_proxy

    place = _place(url)
    if place in _answered and not public_only:
        return
    if not public_only and select_proxy(url, get_environ_proxies(url, no_proxy=None)):
        return
    outcomes: queue.SimpleQueue[OSError | WebError | None] = queue.SimpleQueue()

    def connect(address: tuple[Any, ...], family: int) -> None:
        try:
            with socket.socket(family, socket.SOCK_STREAM) as door:
                door.settimeout(seconds)
                door.connect(address)
            outcomes.put(None)
        except TimeoutError:
            return  # the deadline below says so, in the same words on every machine
        except OSError as error:
            outcomes.put(error)

    def look_up() -> None:
        try:
            addresses = socket.getaddrinfo(*place, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            outcomes.put(error if isinstance(error, OSError) else OSError(str(error)))
            return
        if public_only and not all(is_public(str(address[0])) for *_, address in addresses):
            outcomes.put(WebError(inside(place[0]), kind="address"))
            return
        waiting.extend(addresses[1:])
        for family, _, _, _, address in addresses:
            threading.Thread(target=connect, args=(address, family), daemon=True).start()

    waiting: list[Any] = []  # addresses that may still answer, beside the first
    threading.Thread(target=look_up, daemon=True).start()
    deadline = time.monotonic() + seconds
    while True:
        try:
            outcome = outcomes.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise WebError(_unreachable(url, f"no answer within {seconds:g} s"), kind="unreachable") from None
        if outcome is None:
            _answered.add(place)
            return
        if isinstance(outcome, WebError):
            raise outcome
        if not waiting:
            raise WebError(_unreachable(url, outcome.strerror or str(outcome)), kind="unreachable") from outcome
        waiting.pop()


_local = threading.local()


def _lines() -> Lines:
    """One thread's: connections are kept open between calls, and a session is not safe to share."""
    if not hasattr(_local, "lines"):
        _local.lines = {}
    return _local.lines


def _line(lines: Lines, public_only: bool) -> Line:
    from explorer.fetch_line import Line

    if public_only not in lines:
        lines[public_only] = Line(public_only)
        lines[public_only].headers.update({"User-Agent": USER_AGENT, "Accept-Encoding": "gzip, deflate"})
    return lines[public_only]


def _hang_up(lines: Lines) -> None:
    del _local.lines
    for line in lines.values():
        line.hang_up()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time."""
    sharing.new_lock(path)
    with path.open("ab") as file:
        while fcntl:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                stopping.pause(stopping.SLICE)
        yield


def _validator(part: Path) -> Path:
    return part.with_name(part.name + ".validator")


def _remember_validator(path: Path, headers: Mapping[str, str]) -> None:
    """Keep what says that the rest, fetched later, is of the same edition (a weak ETag does not)."""
    tag = headers.get("ETag") or ""
    value = tag if tag and not tag.startswith("W/") else headers.get("Last-Modified") or ""
    if value:
        path.write_text(value, "utf-8")
    else:
        path.unlink(missing_ok=True)


def _range_start(content_range: str) -> int:
    digits = content_range.removeprefix("bytes ").partition("-")[0].strip()
    start = numbers.whole(digits)
    return -1 if start is None else start


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _check_address(url: str) -> None:
    try:
        parts = split_address(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good:
        raise WebError(
            f"{url[:200]!r} is no address of the form http://host/path or https://host/path.", kind="address"
        )


def _place(url: str) -> tuple[str, int]:
    parts = split_address(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def _unreachable(url: str, why: str) -> str:
    host = split_address(url).hostname
    return f"{host} cannot be reached ({why}). Check the network, or work with what is on this machine."


def _reason(error: Exception) -> str:
    inner = error.args[0] if error.args and isinstance(error.args[0], Exception) else error
    reason = getattr(inner, "reason", None) or inner
    return str(reason).rpartition(": ")[2][:200] or type(inner).__name__
