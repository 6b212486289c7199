"""The app as a process: whoever ends the command ends the server."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time

import pytest

# The parts to prepare have tests of their own; here none is made.
START = (
    "import sys; from explorer import prepare; prepare.PARTS.clear(); "
    "from explorer.__main__ import main; sys.exit(main())"
)


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a process is replaced by another on POSIX systems only")
def test_ending_the_command_ends_the_server(settings):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", START, "app", "--port", str(port), "--cache", str(settings.cache)]
    app = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while not answers(port) and app.poll() is None and time.monotonic() < deadline:
            time.sleep(0.2)
        assert answers(port)
    finally:
        app.terminate()
        app.wait(30)
    deadline = time.monotonic() + 30
    while answers(port) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not answers(port)
