"""One name and one color per model, on every page and in every figure."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from explorer.figures import theme
from explorer.figures.model_names import model_title
from explorer.scoring import catalog

COLORS = theme.PALETTE[:-1]  # gray stands for what is no model
IMPORTED = "imported"  # the remark of a model whose runs were made elsewhere
# Models of the glass box that stand on a page with others that have their color in the catalog's order.
OWN = {"glassbox-xs": theme.ORANGE, "glassbox-s": theme.BROWN, "glassbox-m": theme.CRIMSON}


def model_color(model: str) -> str:
    """The color of a model, given by its id or by what people call it (a remark may follow).

    Models of the catalog take the palette's colors in their order there. Any other has one that follows from its name
    alone, so that it stays when runs of further models come.
    """
    named = _without_remark(model_title(model)).casefold()
    fitting = [
        (len(known), -place)
        for place, known in enumerate(model_title(name).casefold() for name in catalog.MODELS)
        if named.startswith(known.removesuffix(")"))  # a remark may follow in the same parentheses
    ]
    if not fitting:
        return COLORS[zlib.crc32(named.encode("utf-8", "replace")) % len(COLORS)]
    # The longest name says most ("Pythia 160M (deduped)" before "Pythia 160M"); of equal ones the first of the catalog.
    place = -max(fitting)[1]
    return OWN.get(list(catalog.MODELS)[place], COLORS[place % len(COLORS)])


def _without_remark(title: str) -> str:
    """The title of a model whose runs were made elsewhere, as it is of those made here."""
    return title.removesuffix(f" ({IMPORTED})").replace(f", {IMPORTED})", ")")


def model_colors(models: Sequence[str]) -> list[str]:
    """A color per model: its own, or the next that is free where one before it in the figure has that color."""
    colors_taken: list[str] = []
    for model in models:
        color = model_color(model)
        start = COLORS.index(color) if color in COLORS else 0
        order = [color, *COLORS[start:], *COLORS[:start]]
        colors_taken.append(next((color for color in order if color not in colors_taken), order[0]))
    return colors_taken
