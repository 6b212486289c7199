"""What a process with little memory says of a file."""

from __future__ import annotations

import resource
from pathlib import Path

from tests.forked import Forked

MORE = 2 << 30  # bytes of address space beyond what the program itself has taken; a file that asks for more fails


def read(what: str, path: Path) -> str:
    """What is said of the file where it is read as a table, a run, a log or an ontology of this format."""
    said = path.with_name(f"said of {path.name}.txt")
    process = Forked(_read, what, path, log=said)
    code = process.wait(120)
    text = said.read_text()
    said.unlink()
    assert code == 0, text[-2000:]
    return text


def _read(what: str, path: Path) -> None:
    from explorer.errors import ExplorerError

    taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MORE, taken + MORE))
    try:
        if what == "table":
            from explorer.benchmarks.tables import table

            table.guess_reading(path)
        elif what == "run":
            from explorer import settings
            from explorer.results import archive

            archive.unpack_archive(path, settings.read(cache=path.parent / "no-cache"))
        elif what == "log":
            from explorer import logs

            logs.read(path)
        else:
            from explorer.ontologies import load

            load.READERS[what](load.read_text(path), path.name)
        print("read")
    except ExplorerError as error:
        print(error)
