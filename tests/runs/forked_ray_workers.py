"""Ray's workers forked from a process that has PyTorch imported: each would import it anew, six seconds of processor.

Ray starts each worker by a command, of which it lets us name the interpreter. Here that is this file, which asks the
process of the tests to fork one with these arguments and this environment, and ends when it has ended. The worker is
Ray's own program in a process of its own, to be killed by its number.
"""

import contextlib
import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

SOCKET = "FORKED_RAY_WORKERS"  # the variable that names the socket of the process that has workers forked


@contextlib.contextmanager
def forked_workers(folder: Path) -> Iterator[dict[str, object]]:
    """The runtime environment with which workers are forked; the socket for asking is in the folder."""
    address = str(folder / "ray")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        threading.Thread(target=_accept, args=(listener,), daemon=True).start()
        # -I -S: what only asks has no use for the packages that are installed.
        command = f"env {SOCKET}={address} {sys.executable} -I -S {Path(__file__)}"
        yield {"py_executable": command}
        listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            asking, _ = listener.accept()
            threading.Thread(target=_fork, args=(asking,), daemon=True).start()


def _fork(asking: socket.socket) -> None:
    from tests.forked import Forked

    with asking, asking.makefile("rw") as lines:
        arguments, environment = json.loads(lines.readline())
        Forked(_work, arguments, env=environment).wait()


def _work(arguments: list[str]) -> None:
    """What `python ARGUMENTS` does."""
    import runpy

    sys.argv = arguments
    sys.path[0] = os.path.dirname(arguments[0])
    runpy.run_path(arguments[0], run_name="__main__")


def _ask() -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(os.environ.pop(SOCKET))
        server.sendall(json.dumps([sys.argv[1:], dict(os.environ)]).encode() + b"\n")
        server.recv(1)  # nothing comes: the other side closes when the worker has ended


if __name__ == "__main__":
    _ask()
