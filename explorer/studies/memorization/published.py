"""The printed figures on memorization (Lexical Popularity, Tables 4 and E to K), beside the findings they answer.

Whatever model these tables name, they carry OLMo-7B's correctness: the baselines are p / (1 + p) of its accuracies and
the halves have its accuracies as their mean. So only OLMo-7B's figures stand beside a run, of that model; all others
are marked as slips. The printed coefficients are no data here: neither their scale nor their
sign can be known, and the neighbor features of minimal pairs are the same for both options.
"""

from __future__ import annotations

from explorer.studies import published
from explorer.studies.published_figures import Printed

OWN_LABELS = "OLMo 7B"
LOGISTIC, SVM, HALVES = ("E", "F", "G", "H"), ("I", "J"), ("4", "K")
KINDS = {"logistic": LOGISTIC, "svm": SVM}
# What a table calls an attack → ours; the others have no printed figure.
PRINTED = ("tde_accuracy", "tde_likelihood", "mia_neighbours", "mia_perplexity")
BASELINE = "baseline"


def figures(task: str = "") -> tuple[Printed, ...]:
    """Every printed figure on memorization, of one task or of all; `remark` says whose labels it carries."""
    tables = (*LOGISTIC, *SVM, *HALVES)
    return tuple(row for row in published.figures() if row.number in tables and task in ("", row.subject))


def printed_classifier(model: str, task: str, attack: str, kind: str, metric: str) -> Printed | None:
    """What is printed for a model's classifier (metric f1_macro or auc, attack "baseline" for the majority).

    None for any model but OLMo-7B, whose labels all of these tables carry.
    """
    return _find(model, task, attack, metric, KINDS[kind])


def printed_half(model: str, task: str, attack: str, half: str) -> Printed | None:
    """The printed accuracy of a model's low or high half; none for any model but OLMo-7B."""
    return _find(model, task, f"{attack} {half}", "accuracy", HALVES)


def _find(model: str, task: str, condition: str, metric: str, tables: tuple[str, ...]) -> Printed | None:
    if published.paper_name(model) != OWN_LABELS:
        return None
    return next(
        (
            row
            for row in figures(task)
            if row.number in tables and (row.model, row.condition, row.metric) == (OWN_LABELS, condition, metric)
        ),
        None,
    )
