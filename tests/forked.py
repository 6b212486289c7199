"""Processes that begin where imports are done: forked from one that has done them, five seconds of processor each.

They are real processes, to be killed and waited for as those of `subprocess`; that a program begins from nothing is
tested where that is what the test is about.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import types
from collections.abc import Callable, Mapping
from multiprocessing import spawn
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from explorer.settings import ROOT

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.imports_ahead"])
_plain_preparation = spawn.get_preparation_data


def _preparation_without_main(name: str) -> dict[str, Any]:
    """What a new process is told of this one, without its main program, which multiprocessing would run there again.

    An AppTest leaves the page that it has run as `__main__`: two seconds of processor before each process began.
    """
    told: dict[str, Any] = _plain_preparation(name)
    return {key: value for key, value in told.items() if not key.startswith("init_main")}


spawn.get_preparation_data = _preparation_without_main


class Forked:
    """`main(*given)` in a process of its own, with the methods of a Popen that tests use."""

    def __init__(
        self, main: Callable[..., Any], *given: Any, env: Mapping[str, str] | None = None, log: Path | None = None
    ) -> None:
        _start_server()
        self.returncode: int | None = None
        self.log = log
        self._looking = threading.Lock()
        environment = dict(os.environ if env is None else env)
        self._process = _context.Process(target=_run, args=(main, given, environment, log), daemon=True)
        self._process.start()
        self.pid = self._process.pid

    def poll(self) -> int | None:
        with self._looking:
            if self.returncode is None:
                self._process.join(0)
                self.returncode = self._process.exitcode
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        end = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired("a forked process", timeout or 0)
            time.sleep(0.01)
        return code

    def kill(self) -> None:
        if self.poll() is None:
            self._process.kill()

    def send_signal(self, number: int) -> None:
        if self.poll() is None and self.pid is not None:
            os.kill(self.pid, number)


def explorer(
    *arguments: str, env: Mapping[str, str] | None = None, log: Path | None = None, longest_file: int | None = None
) -> Forked:
    """`python -m explorer` with these arguments; what it says goes into the log, or nowhere.

    It can make no file longer than `longest_file` bytes.
    """
    return Forked(_explorer, arguments, longest_file, env=env, log=log)


def _explorer(arguments: tuple[str, ...], longest_file: int | None) -> int:
    from explorer.__main__ import main

    if longest_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (longest_file, longest_file))
    return main(list(arguments))


def _start_server() -> None:
    from multiprocessing import forkserver

    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), before)))
    try:
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def _run(main: Callable[..., Any], given: tuple[Any, ...], env: dict[str, str], log: Path | None) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(env)
    tempfile.tempdir = None  # else it stays where the other environment had it
    out = os.open(log or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number in (1, 2):
        os.dup2(out, number)
    sys.exit(main(*given))


def serve(module: str, connection: Connection) -> None:
    """What `python -m MODULE` does with this connection."""
    importlib.import_module(module).main(connection.fileno())


def forked_child(command: list[str], *, pass_fds: list[int], env: dict[str, str], **named: object) -> Forked:
    """The process of `command`, which runs a module with the number of a socket, forked."""
    (number,) = pass_fds
    _, _, module, told = command
    assert told == str(number)
    with Connection(os.dup(number)) as theirs:  # sent along, it arrives under another number
        return Forked(serve, module, theirs, env=env)


# In place of `subprocess` where `explorer.scoring.child_process` starts a process.
FORKED = types.SimpleNamespace(Popen=forked_child, DEVNULL=None, TimeoutExpired=subprocess.TimeoutExpired)
