"""One name and one color a model, on every page and in every figure."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from explorer.figures import theme
from explorer.scoring import catalog, suites

COLORS = theme.PALETTE[:-1]  # gray stands for what is no model


def model_title(model: str) -> str:
    """What people call a model that comes along; any other goes by its id, which alone tells editions apart."""
    name, _, revision = model.partition("@")
    if suites.is_checkpoint(model) and (called := model_title(name)) != name:
        return f"{called}, {revision.replace('step', 'step ')}"
    known = catalog.find(model)
    return known.title if known and (known.embedded or known.trained_by) else model


def model_color(model: str) -> str:
    """The color of a model, given by its id or by what people call it (a remark may follow).

    Models of the catalog take the palette's colors in their order there. Any other has one that follows from its name
    alone, so that it stays when runs of further models come.
    """
    named = model.casefold()
    fitting = [
        (len(name), -place)
        for place, known in enumerate(catalog.MODELS.values())
        for name in (known.id, known.title)
        if named.startswith(name.casefold())
    ]
    # The longest name says most ("pythia-160m-deduped" before "pythia-160m"); of equal ones the first of the catalog.
    place = -max(fitting)[1] if fitting else zlib.crc32(named.encode("utf-8", "replace"))
    return COLORS[place % len(COLORS)]


def model_colors(models: Sequence[str]) -> list[str]:
    """A color a model: its own, or the next that is free where one before it in the figure has that color."""
    taken: list[str] = []
    for model in models:
        start = COLORS.index(model_color(model))
        order = [*COLORS[start:], *COLORS[:start]]
        taken.append(next((color for color in order if color not in taken), order[0]))
    return taken
