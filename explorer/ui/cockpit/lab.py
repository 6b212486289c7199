"""The cockpit as a study's page has it: the line that finds an instance, and the cockpit on the study's lens."""

from __future__ import annotations

from explorer.ui import instance_list, layout, show, texts
from explorer.ui.cockpit import cockpit, context_line
from explorer.ui.instance import finder
from explorer.ui.layout import Chosen


def draw_swap_lab(chosen: Chosen) -> None:
    """Swapped words of an instance: what a full run of the perturbation study would swap can be drawn."""
    _draw_cockpit_lab(chosen, draws=True)


def draw_context_lab(chosen: Chosen) -> None:
    """A pair after a growing context; benchmarks without pairs are told so."""
    _draw_cockpit_lab(chosen, pairs=True)


def _draw_cockpit_lab(chosen: Chosen, *, draws: bool = False, pairs: bool = False) -> None:
    if not texts.are_here(chosen.benchmark):
        texts.offer(chosen.benchmark)
        return
    picked = finder.find(chosen, instance_list.listing(chosen.benchmark))
    if picked.instance is None:
        return
    if pairs and not context_line.takes_context(picked.instance):
        show.nothing_yet(
            "This benchmark has no pairs",
            "Choose BLiMP, SyntaxGym, CrowS-Pairs, the starter pairs or pairs of your own in the bar at the top.",
        )
        return
    cockpit.draw_cockpit(
        picked.instance, chosen, run_id=picked.run_id, unit=picked.unit, shape=picked.shape, draws=draws
    )
    layout.link_to("Instance", "All that is stored about it", model=chosen.model, benchmark=chosen.benchmark,
                   instance=picked.instance.id)  # fmt: skip
