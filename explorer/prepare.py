"""What an offline visit needs, made ready once: the embedded model, WordNet and the n-gram index."""

from __future__ import annotations

from collections.abc import Callable

from explorer.errors import ExplorerError
from explorer.resources import Resources
from explorer.settings import Settings

Say = Callable[[str], None]

# What is made ready → how to ask the resources for it.
PARTS: dict[str, Callable[[Resources], object]] = {
    "the embedded model Gemma-3-270M": lambda resources: resources.embedded("gemma-3-270m"),
    "WordNet": lambda resources: resources.lexicon(),
    "the n-gram index of the glass box": lambda resources: resources.counter("glassbox"),
}


def everything(settings: Settings, say: Say, line: Callable[[str], Callable[[int, int], None]]) -> list[str]:
    """Makes each part ready; the faults as sentences, one a part that could not be had."""
    lines: dict[str, Callable[[int, int], None]] = {}

    def tell(what: str, done: int, total: int) -> None:
        lines.setdefault(what, line(what))(done, total)

    resources = Resources(settings, tell)
    faults = []
    for what, make in PARTS.items():
        say(f"preparing {what}")
        try:
            make(resources)
        except ExplorerError as error:
            faults.append(f"{what}: {error}")
    return faults
