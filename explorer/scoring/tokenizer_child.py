"""The process that tells another how a model reads texts, in the time that importing PyTorch alone would take.

    argv: the number of an open socket
    in:   Source            once
    out:  ("reading", Reading) or ("unreadable", kind of error, text); then it ends

transformers look for PyTorch where it is installed, and import it and much that builds on it although nothing of that
reads a tokenizer. Here it is hidden from them; where they cannot do without, it is shown, and all is done again.
"""

from __future__ import annotations

import contextlib
import os
import sys
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, cast

from explorer.scoring.child import describe_failure

if TYPE_CHECKING:
    from explorer.scoring.encode import Reading
    from explorer.scoring.hf_source import Source

HIDDEN = "torch"
BUILT_ON_IT = ("transformers", "explorer.scoring.hf_reading")


def main(socket: int) -> None:
    """Imports, waits for a model's files, reads them and tells."""
    connection = Connection(socket)
    _hide()
    with contextlib.suppress(Exception):  # what is wrong shows when a tokenizer is read
        from explorer.scoring import hf_reading

        hf_reading.import_ahead()
    with contextlib.suppress(EOFError, OSError):  # nobody is left who could want anything
        source = connection.recv()
        try:
            connection.send(("reading", _read(source)))
        except Exception as error:
            connection.send(("unreadable", *describe_failure(error)))


def _read(source: Source) -> Reading:
    try:
        from explorer.scoring import hf_reading

        return hf_reading.read(source)
    except Exception:
        if not _show():
            raise
    from explorer.scoring import hf_reading as read_again

    return read_again.read(source)


def _hide() -> None:
    if HIDDEN not in sys.modules:  # as of now, an import of it fails
        sys.modules[HIDDEN] = cast(Any, None)
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # else they say that PyTorch was not found


def _show() -> bool:
    """Forgets what was imported without PyTorch; whether it was hidden."""
    if sys.modules.get(HIDDEN, 0) is not None:
        return False
    for name in list(sys.modules):
        if name == HIDDEN or name.startswith(BUILT_ON_IT):
            del sys.modules[name]
    import explorer.scoring

    vars(explorer.scoring).pop("hf_reading", None)
    return True


if __name__ == "__main__":
    main(int(sys.argv[1]))
