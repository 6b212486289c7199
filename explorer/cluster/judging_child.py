"""The process that judges completions for another one, by the names and vectors that they share with the reference.

    argv: the number of an open socket
    in:   ("load", settings, ROUGE-L to reach, cosine to reach, whether names are compared)    once, first; then
          ("judge", number, references, completions)
    out:  ("judged", number, matches) or ("failed", number, kind of error, text)    number 0: it could not be loaded

It ends when the other end of the socket is closed, however the process there ended.
"""

from __future__ import annotations

import contextlib
import sys
from multiprocessing.connection import Connection
from typing import Any

from explorer.scoring.child_process import describe_failure


def main(socket: int) -> None:
    """Loads what completions are judged by, then judges them in the order in which they arrive."""
    connection = Connection(socket)
    with contextlib.suppress(Exception):  # what is wrong shows when a rule is loaded
        import explorer.scoring.encoder  # noqa: F401, imported before anybody has said what is to be judged
        from explorer.variants import tagging

        tagging.load_tagger()
    number = 0
    rule: Any = None
    with contextlib.suppress(EOFError, OSError):  # nobody is left who could want anything
        while True:
            _, *content = connection.recv()
            try:
                if rule is None:
                    rule = _load(*content)
                    continue
                number, references, completions = content
                connection.send(("judged", number, rule.judge(references, completions)))
            except OSError:
                raise
            except Exception as error:
                connection.send(("failed", number, *describe_failure(error)))
                if rule is None:
                    return


def _load(settings: Any, rouge: float, cosine: float, names: bool) -> Any:
    from explorer.resources import Resources  # behind the packages that take longest
    from explorer.studies.icl import judging

    rule = judging.rule_of(Resources(settings), rouge, cosine, names=names)
    judging.load(rule)
    return rule


if __name__ == "__main__":
    main(int(sys.argv[1]))
