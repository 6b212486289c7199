"""Commands that kill themselves at their Nth change of the file system; Python's audit events tell of each."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from pathlib import Path

from tests.forked import Forked

CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.link", "os.symlink"}


def killed_at(steps: list[tuple[int, list[str]]]) -> list[str]:
    """Runs each command in turn until its step; what those said that came through."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "said")
        done = Forked(_run_each, steps, log=log).wait(900)
        said = log.read_text()
    assert done == 0, said[-3000:]
    return said.splitlines()


def _run_each(given: list[tuple[int, list[str]]]) -> None:
    # What the commands import on their way: each of them begins at the same place.
    import explorer.commands.data
    import explorer.commands.export
    import explorer.commands.logs
    import explorer.commands.runs  # noqa: F401
    from explorer.__main__ import main
    from explorer.benchmarks.tables import table  # noqa: F401
    from explorer.resources import Resources  # noqa: F401
    from explorer.results import broken_off, export, packed_run, queries  # noqa: F401
    from explorer.studies.imported import log  # noqa: F401
    from explorer.variants import inflect

    inflect.is_listed("it")  # reads its list of words
    # The bytecode that a first process writes would be steps that the next ones do not take.
    sys.dont_write_bytecode = True
    for at, arguments in given:
        child = os.fork()
        if child == 0:
            steps = _watch(at)
            sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
            code = main(arguments)
            os.write(1, f"through {steps[0]}\n".encode())
            os._exit(code)
        os.waitpid(child, 0)


def _watch(at: int) -> list[int]:
    """Kills this process at its step of this number, if it comes so far; how many there were, counted up."""
    steps = [0]

    def hook(event: str, args: tuple) -> None:
        writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if event in CHANGES or writes:
            steps[0] += 1
            if steps[0] == at:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    return steps
