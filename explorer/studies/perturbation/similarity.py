"""Which texts of a perturbed instance are compared with their originals, the same in a full run and in the lab."""

from __future__ import annotations

from explorer import prompts
from explorer.records import Instance


def compared_texts(old: Instance, new: Instance) -> list[tuple[int, str, str]]:
    """(option, text before, text after) of the right option, or of every one where none is known."""
    pairs = zip(prompts.option_texts(old), prompts.option_texts(new), strict=True)
    return [(option, before, after) for option, (before, after) in enumerate(pairs) if old.gold in (None, option)]
