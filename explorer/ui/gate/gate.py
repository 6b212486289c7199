"""Who may see the app: its owner on this machine, and whoever has shown the password or the token.

A server that listens on this machine alone needs no secret: who reaches it there is its owner, unless EXPLORER_PASSWORD
asks everybody. Any other server has a secret: that password, or a token made at the start.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Literal

from explorer.addresses import is_loopback, split_address

Role = Literal["owner", "visitor", ""]  # "" for somebody who has shown nothing

PASSWORD = "EXPLORER_PASSWORD"
STAMP = "x-lexiscope-visitor"  # the header by which the gate tells the pages who is there
# Headers of a proxy: what comes through one comes from elsewhere, though its connection is made on this machine.
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via", "cf-ray")
COOKIE_DAYS = 30


@dataclass(slots=True)
class SlowDown:
    """How long somebody must wait after wrong secrets, by the address they come from; shared by all sessions."""

    free: int = 3  # wrong tries before there is a wait
    longest: float = 60.0  # seconds
    forget: float = 900.0  # seconds without a try after which all is forgotten
    most: int = 10_000  # addresses remembered
    clock: Callable[[], float] = time.monotonic
    _failed: OrderedDict[str, tuple[int, float]] = field(default_factory=OrderedDict)  # how often, when last

    def wait(self, remote: str) -> float:
        """Seconds until the next try may be made; 0 for now."""
        count, last = self._failed.get(_network(remote), (0, 0.0))
        since = self.clock() - last
        if count <= self.free or since > self.forget:
            return 0.0
        return max(0.0, min(2.0 ** min(count - self.free - 1, 30), self.longest) - since)

    def failed(self, remote: str) -> None:
        """A wrong try was made."""
        count, last = self._failed.pop(_network(remote), (0, 0.0))
        now = self.clock()
        self._failed[_network(remote)] = ((count if now - last <= self.forget else 0) + 1, now)
        while len(self._failed) > self.most:
            self._failed.popitem(last=False)

    def passed(self, remote: str) -> None:
        """The right secret was shown."""
        self._failed.pop(_network(remote), None)


def _network(remote: str) -> str:
    """The address, or an IPv6 address's network: one person has billions of those. "" for all that is no address."""
    try:
        address = ip_address(remote.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return str(address.ipv4_mapped)  # so a server that listens at :: sees everybody who comes by IPv4
    return str(ip_network(f"{address}/64", strict=False)) if isinstance(address, IPv6Address) else str(address)


class Gate:
    """The secret of a server and the cookies of those who have shown it; `secret` is "" where there is none."""

    def __init__(self, secret: str, *, is_password: bool = False, is_open_here: bool = False) -> None:
        self.secret = secret
        self.is_open_here = is_open_here and not secret  # who comes from this machine is let in without more ado
        self.is_password = is_password
        self.slow_down = SlowDown()
        # A proxy on this machine tells whose request it brings, and anybody here can say that he is one: whoever names
        # another address each time waits with all who come so. There are more of them, so it begins later.
        self.told = SlowDown(free=30, longest=10.0)
        self._key = secrets.token_bytes(32)

    def __repr__(self) -> str:
        return f"Gate({'password' if self.is_password else 'token' if self.secret else 'no secret'})"

    def wait(self, remote: str, is_told: bool) -> float:
        """Seconds until the next secret may be tried; `is_told`: a header says that it comes from this address."""
        return max(self.slow_down.wait(remote), self.told.wait("") if is_told else 0.0)

    def tried(self, remote: str, is_told: bool, secret: str) -> bool:
        """Whether this is the secret; a wrong one is remembered."""
        if self.opens(secret):
            self.slow_down.passed(remote)
            return True
        self.slow_down.failed(remote)
        if is_told:
            self.told.failed("")
        return False

    def opens(self, secret: str) -> bool:
        """Whether this is the secret, found in the same time whatever was given."""
        return bool(self.secret) and hmac.compare_digest(_digest(secret), _digest(self.secret))

    def cookie(self) -> str:
        """The value of a new cookie; it ends with this process."""
        issued = str(int(time.time()))
        return f"{issued}.{self._sign(f'cookie {issued}')}"

    def knows(self, cookie: str) -> bool:
        """Whether this gate gave the cookie, and not too long ago."""
        issued, _, signature = cookie.partition(".")
        if not hmac.compare_digest(_digest(signature), _digest(self._sign(f"cookie {issued}"))):
            return False
        return issued.isdecimal() and time.time() - int(issued) < COOKIE_DAYS * 86400

    def stamp(self, role: Role) -> str:
        """What the gate writes on a connection for the pages to read."""
        return f"{role}.{self._sign(f'stamp {role}')}"

    def role_of(self, stamp: str) -> Role:
        """Whom the gate let in under this stamp."""
        role, _, signature = stamp.partition(".")
        if role in ("owner", "visitor") and hmac.compare_digest(
            _digest(signature), _digest(self._sign(f"stamp {role}"))
        ):
            return role  # type: ignore[return-value]
        return ""

    def _sign(self, text: str) -> str:
        return hmac.new(self._key, text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def make_gate(
    address: str, environment: Mapping[str, str] = os.environ, *, has_login: bool = False, is_named: bool = False
) -> Gate:
    """The gate of a server that listens at this address.

    has_login  people log in elsewhere, so it needs no token
    is_named   its owner says that it is reached under the name of another place: through a proxy, whose visitors seem
               to come from this machine
    """
    if password := environment.get(PASSWORD) or "":
        return Gate(password, is_password=True)
    if is_loopback(address) and not is_named:
        return Gate("", is_open_here=True)
    return Gate("" if has_login else secrets.token_urlsafe(32))


def comes_from_here(remote: str, headers: Mapping[str, str]) -> bool:
    """Whether a request was made on this machine for this machine: no proxy on the way, no other name in the address.

    A page elsewhere may let a name of its own stand for 127.0.0.1; the Host header tells.
    """
    if not is_loopback(remote) or any(name in headers for name in FORWARDED):
        return False
    return is_loopback(split_address(f"//{headers.get('host', '')}").hostname or "")


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()
