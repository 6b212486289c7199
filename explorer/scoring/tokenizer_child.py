"""The process that reads a model's tokenizer for another one, faster than PyTorch alone could be imported.

    argv: the number of an open socket
    in:   Source            once
    out:  ("tokenizer", TokenizerSetup) or ("unreadable", kind of error, text); then it ends

transformers imports PyTorch, where it is installed, and much that builds on it, although reading a tokenizer needs none
of that. So PyTorch is hidden here. If a tokenizer cannot be read without it, it is made visible, and all is done again.
"""

from __future__ import annotations

import contextlib
import os
import sys
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, cast

from explorer.scoring.child_process import describe_failure

if TYPE_CHECKING:
    from explorer.scoring.encode import TokenizerSetup
    from explorer.scoring.hf_source import Source

HIDDEN_PACKAGE = "torch"
DEPENDENTS = ("transformers", "explorer.scoring.hf_tokenizer")


def main(socket: int) -> None:
    """Imports, waits for a model's files, reads the tokenizer and sends it."""
    connection = Connection(socket)
    _hide_torch()
    with contextlib.suppress(Exception):  # what is wrong shows when a tokenizer is read
        from explorer.scoring import hf_tokenizer

        hf_tokenizer.import_ahead()
    with contextlib.suppress(EOFError, OSError):  # nobody is left who could want anything
        source = connection.recv()
        try:
            connection.send(("tokenizer", _read(source)))
        except Exception as error:
            connection.send(("unreadable", *describe_failure(error)))


def _read(source: Source) -> TokenizerSetup:
    try:
        from explorer.scoring import hf_tokenizer

        return hf_tokenizer.read_setup(source)
    except Exception:
        if not _unhide_torch():
            raise
    from explorer.scoring import hf_tokenizer as read_again

    return read_again.read_setup(source)


def _hide_torch() -> None:
    if HIDDEN_PACKAGE not in sys.modules:  # as of now, an import of it fails
        sys.modules[HIDDEN_PACKAGE] = cast(Any, None)
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # else they say that PyTorch was not found


def _unhide_torch() -> bool:
    """Makes PyTorch importable again and drops what was imported without it; whether it was hidden."""
    if sys.modules.get(HIDDEN_PACKAGE, 0) is not None:
        return False
    # Python keeps modules that it imported: transformers without torch must be forgotten before it can be imported with
    # it.
    for name in list(sys.modules):
        if name == HIDDEN_PACKAGE or name.startswith(DEPENDENTS):
            del sys.modules[name]
    import explorer.scoring

    vars(explorer.scoring).pop("hf_tokenizer", None)
    return True


if __name__ == "__main__":
    main(int(sys.argv[1]))
