"""Addresses of servers: which server one means, and whether it lies inside of the network this machine stands in."""

from __future__ import annotations

import contextlib
import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

USUAL_PORTS = {"http": 80, "https": 443}
LOCAL_NAMES = ("localhost", "localhost.localdomain", "ip6-localhost")
# IPv6 addresses that hold an IPv4 address in their last bits, which a router may unpack.
_NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"), IPv6Network("::/96"))

_NOT_OPEN = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"), IPv4Network("240.0.0.0/4"))


@dataclass(frozen=True, slots=True)
class Origin:
    """A server: scheme, host and port; a key belongs to one of these."""

    scheme: str
    host: str
    port: int

    @property
    def has_usual_port(self) -> bool:
        """Whether the port is the scheme's own, which addresses leave out."""
        return self.port == USUAL_PORTS.get(self.scheme)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.has_usual_port else f":{self.port}")


def split_address(address: str) -> SplitResult:
    """The parts of an address, all of them empty where it is none, as with a bracket that is not closed."""
    try:
        return urlsplit(address)
    except ValueError:
        return SplitResult("", "", "", "", "")


def origin_of(address: str) -> Origin:
    """The server that an address means; its host is "" where it means none."""
    try:
        parts = split_address(address)
        port = parts.port or USUAL_PORTS.get(parts.scheme, 0)
    except ValueError:
        return Origin("", "", 0)
    return Origin(parts.scheme, (parts.hostname or "").lower(), port)


def is_loopback(host: str) -> bool:
    """Whether a host, a name or an IP address, is this machine by itself, as localhost and 127.0.0.1 are."""
    if host.lower() in LOCAL_NAMES:
        return True
    try:
        ip = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    inner = _inner(ip)
    return ip.is_loopback or (inner is not None and inner.is_loopback)


def is_public(address: str) -> bool:
    """Whether an IP address lies in the open internet: not this machine, its networks, or a cloud's own services."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped:
        ip = ip.ipv4_mapped
    inner = _inner(ip)
    return _is_open(ip) and (inner is None or _is_open(inner)) and not _is_ours(inner or ip)


def _is_open(ip: IPv4Address | IPv6Address) -> bool:
    odd = ip.is_private or ip.is_link_local or ip.is_multicast or ip.is_unspecified or ip.is_loopback
    if isinstance(ip, IPv6Address):
        odd = odd or ip.is_site_local
    return ip.is_global and not odd and not any(ip in network for network in _NOT_OPEN if network.version == ip.version)


def _is_ours(ip: IPv4Address | IPv6Address) -> bool:
    """Whether it lies in a network that this machine stands in: a laboratory's addresses are often public ones."""
    import psutil

    for addresses in psutil.net_if_addrs().values():
        for each in addresses:
            if each.family in (socket.AF_INET, socket.AF_INET6) and each.address:
                local_address = each.address.partition("%")[0]
                with contextlib.suppress(ValueError):
                    if ip in ip_network(f"{local_address}/{_bits(each.netmask, local_address)}", strict=False):
                        return True
    return False


def _bits(netmask: str | None, address: str) -> int:
    """The length of a network's prefix; that of the one address where the system tells none."""
    longest = ip_address(address).max_prefixlen
    return bin(int(ip_address(netmask))).count("1") if netmask else longest


def addresses_of(host: str, port: int) -> list[tuple[int, str]]:
    """Every address that a host stands for at this moment, with its family; OSError where there is none."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys((int(family), str(address[0])) for family, _, _, _, address in entries))


def _inner(ip: IPv4Address | IPv6Address) -> IPv4Address | None:
    """The IPv4 address inside of an IPv6 one that only wraps it."""
    if not isinstance(ip, IPv6Address):
        return None
    if ip.ipv4_mapped:
        return ip.ipv4_mapped
    if ip.sixtofour:
        return ip.sixtofour
    if ip.teredo:
        return ip.teredo[1]
    if any(ip in network for network in _NAT64):
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return None
