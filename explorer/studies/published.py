"""The figures that Ruzzetti, Zanzotto and Caselli (Lexical Popularity) print in their tables, to stand beside ours."""

from __future__ import annotations

from functools import cache

from explorer.scoring import catalog
from explorer.studies import published_figures
from explorer.studies.published_figures import Printed

PAPER = "popularity"
RESULTS = ("1", "2", "3", "C", "D")  # the tables of what models did; the others are about memorization or the judge
JUDGED_PAIRS = "judged_pairs"  # tells of the setting of Table B


@cache
def figures() -> tuple[Printed, ...]:
    """Every figure, in the order of the tables.

    The condition is "original", the words swapped (N, V, NV), or for the tables on memorization the attack and the
    half; the metric is accuracy, accuracy_change, perplexity, perplexity_change, ips, judged_same, f1_macro or auc.
    """
    return tuple(row for row in published_figures.figures_of_paper(PAPER) if row.metric != JUDGED_PAIRS)


def printed_for(model: str, task: str, condition: str, metric: str) -> Printed | None:
    """What the paper prints for the model of this id on this task; none for a model or revision it does not have."""
    name = paper_name(model)
    return next(
        (
            row
            for row in figures()
            if row.number in RESULTS
            and (row.model, row.subject, row.condition, row.metric) == (name, task, condition, metric)
        ),
        None,
    )


def paper_name(model: str) -> str:
    """What the paper calls a model, "" where it has none such; an intermediate revision is another model."""
    known = catalog.find(model)
    _, sign, revision = model.partition("@")
    return "" if known is None or (sign and revision != "main") else _models().get(known.id, "")


@cache
def _models() -> dict[str, str]:
    return {row.model_id: row.model for row in figures() if row.model_id}


def judged_pairs() -> Printed:
    """How many pairs of a subtask the paper's judge was shown, and which model it was."""
    return published_figures.figure(PAPER, metric=JUDGED_PAIRS)
