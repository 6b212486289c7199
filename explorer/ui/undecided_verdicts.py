"""Verdicts that lie within the precision of a run's number format, told wherever accuracies are shown."""

from __future__ import annotations

from collections.abc import Sequence

from explorer import display
from explorer.results import queries_findings
from explorer.ui import resources, show


def draw_undecided_note(run_ids: Sequence[str]) -> None:
    """A note with the share of undecided verdicts of these runs together; nothing where there are none."""
    counts = resources.ask_store(queries_findings.undecided)
    of_runs = counts[counts["run_id"].isin(list(run_ids))]
    if text := sentence(int(of_runs["undecided"].sum()), int(of_runs["n"].sum())):
        show.note(text)


def sentence(undecided: int, n: int) -> str:
    """How many verdicts are undecided, in words; "" where none is."""
    if not undecided:
        return ""
    share = display.share(undecided / n) if undecided / n >= 0.001 else "less than 0.1%"
    return (
        f"{undecided:,} of {n:,} verdicts ({share}) are undecided at the precision of the model's number format: the "
        "option with the higher sum is kept, and could as well be the other."
    )
