"""Where the app is to listen: names, addresses and ports."""

from __future__ import annotations

import socket

import pytest

from explorer.commands import app as command
from explorer.errors import UsageError


@pytest.mark.parametrize("host", ["", " ", "no-such-host.invalid", "999.1.1.1", "1.2.3.4:80", "x y"])
def test_an_address_that_is_none_is_one_sentence(host):
    with pytest.raises(UsageError, match="is no address of this machine"):
        command.ip_address(host)


def test_an_address_of_another_machine_is_one_sentence():
    with pytest.raises(UsageError, match="is no address of this machine"):
        command.free_port("192.0.2.1", 8501)


@pytest.mark.parametrize(
    ("host", "address"),
    [("localhost", "127.0.0.1"), ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("[::]", "::")],
)
def test_a_name_becomes_the_address_it_means(host, address):
    assert command.ip_address(host) in (address, "::1" if host == "localhost" else address)


def test_a_taken_port_gives_the_next_free_one():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert port < command.free_port("127.0.0.1", port) <= port + command.MAX_PORTS_TRIED
    assert command.free_port("127.0.0.1", port) == port
