"""Which server an address means, and which addresses lie in the open internet."""

from __future__ import annotations

import re
import socket

import psutil
import pytest

from explorer.addresses import Origin, is_loopback, is_public, origin_of, split_address
from explorer.settings import ROOT

INSIDE = [
    "127.0.0.1", "127.8.9.10", "0.0.0.0", "10.0.0.1", "172.16.5.5", "172.31.255.255", "192.168.1.1", "169.254.169.254",
    "100.64.0.1", "100.100.100.200", "192.0.0.192", "224.0.0.1", "240.0.0.1", "255.255.255.255", "198.18.0.1",
    "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "::ffff:127.0.0.1",
    "::ffff:169.254.169.254", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::7f00:1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:4136:e378:8000:63bf:80ff:fffe",
    "not an address", "", "1.2.3", "2130706433",
]  # fmt: skip
OUTSIDE = ["8.8.8.8", "1.1.1.1", "172.32.0.1", "172.15.0.1", "2606:4700::1111", "2001:4860:4860::8888"]


@pytest.mark.parametrize("address", ["http://[", "http://[::1", "http://]", "http://a\u2100b/v1", "//[x"])
def test_what_cannot_be_parted_has_no_parts(address):
    assert split_address(address).geturl() == "" and origin_of(address).host == ""


def test_no_other_module_parts_an_address():
    # urlsplit raises where a bracket is not closed, and what somebody typed or sent may be anything.
    parting = re.compile(r"\burl(split|parse)\(|\bimport urlparse|\bimport .*\burlsplit")
    found = [path.name for path in (ROOT / "explorer").rglob("*.py") if parting.search(path.read_text("utf-8"))]
    assert found == ["addresses.py"]


@pytest.mark.parametrize("address", INSIDE)
def test_an_address_inside_is_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", OUTSIDE)
def test_an_address_outside_is_public(address):
    assert is_public(address)


def test_the_addresses_of_this_machine_and_their_networks_are_inside_however_public_they_look(monkeypatch):
    family, mask = socket.AF_INET, "255.255.255.0"
    card = [type("Card", (), {"family": family, "address": "8.8.8.8", "netmask": mask})]
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: {"eth0": card})
    assert not is_public("8.8.8.8") and not is_public("8.8.8.200")
    assert is_public("8.8.9.8")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_this_machine_by_itself_is_told(host):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "10.0.0.1", "localhost.evil.org", "127.0.0.1.nip.io", "gpu1"])
def test_other_hosts_are_not_taken_for_this_machine(host):
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("https://API.openai.com/v1", Origin("https", "api.openai.com", 443)),
        ("https://api.openai.com:443/v1#m", Origin("https", "api.openai.com", 443)),
        ("http://api.openai.com/v1", Origin("http", "api.openai.com", 80)),
        ("https://api.openai.com@evil.org/v1", Origin("https", "evil.org", 443)),
        ("http://[::1]:8000/v1", Origin("http", "::1", 8000)),
        ("https://evil.org:no/v1", Origin("", "", 0)),
    ],
)
def test_scheme_host_and_port_make_a_server(address, origin):
    assert origin_of(address) == origin
