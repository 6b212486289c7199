"""The index that a command counts in: that of the glass box is built where there is none."""

from __future__ import annotations

import argparse

from explorer.commands import common
from explorer.popularity.counter import DocumentCounter
from explorer.settings import Settings, path_of


def open_index(args: argparse.Namespace, settings: Settings) -> DocumentCounter:
    """The counter over `--index`, with `--tokenizer` where that is given."""
    from explorer.popularity.counters import open_counter
    from explorer.popularity.indexes import GLASSBOX

    if args.index == GLASSBOX:
        from explorer.glassbox.index import ensure_own

        ensure_own(settings, common.ProgressLine("building the index of the glass box"))
    return open_counter(args.index, settings, tokenizer=path_of(args.tokenizer) if args.tokenizer else None)
