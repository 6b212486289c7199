"""The figures that Ruzzetti, Zanzotto and Caselli (Lexical Popularity) print in their tables, to stand beside ours.

`published_data/lexical_popularity.csv` holds them as printed, in percent; here the slips of the tables are named, and
mended where the paper itself says by what.
"""

from __future__ import annotations

import csv
import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from explorer.scoring import catalog

DATA = Path(__file__).with_name("published_data") / "lexical_popularity.csv"

# A model's id → what the paper calls it.
MODELS: Mapping[str, str] = {
    "allenai/OLMo-1B-hf": "OLMo 1B",
    "allenai/OLMo-7B-hf": "OLMo 7B",
    "EleutherAI/pythia-2.8b": "Pythia 2.8B",
    "EleutherAI/pythia-6.9b": "Pythia 6.9B",
}
RESULTS = ("1", "2", "3", "C", "D")  # the tables of what models did; the others are about memorization or the judge

PERPLEXITY = "Table 1 prints perplexities 100 times too large; divided by 100 here"
ANAPHOR = (
    "Table 2 prints another original, which contradicts Table D and its own change; the original of Table D is shown"
)
ANAPHOR_CHANGE = "the printed change follows from neither original"
ARGUMENTS = "setting differs: the paper has 4,000 pairs of four paradigms that it does not name"
LABELS = "published, labels of OLMo-7B: the table carries its correctness whatever model it names"


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A printed number: accuracies, changes, F1, AUC and the judge's share in percent, perplexity, or IPS with its sd.

    condition   "original", the words swapped (N, V, NV), or for the tables on memorization the attack and the half
    value       the number to be shown; `printed` where the two differ is a slip that `note` tells of
    """

    table: str
    model: str
    task: str  # a key of popularity.tasks.TASKS
    condition: str
    metric: str  # accuracy, accuracy_change, perplexity, perplexity_change, ips, judged_same, f1_macro, auc
    value: float
    printed: float
    sd: float = math.nan
    note: str = ""


@cache
def figures() -> tuple[PublishedFigure, ...]:
    """Every figure, in the order of the tables."""
    with DATA.open(encoding="utf-8", newline="") as file:
        rows = [
            PublishedFigure(
                table=row["table"],
                model=row["model"],
                task=row["task"],
                condition=row["condition"],
                metric=row["metric"],
                value=float(row["value"]),
                printed=float(row["value"]),
                sd=float(row["sd"] or math.nan),
            )
            for row in csv.DictReader(file)
        ]
    originals = {
        (row.model, row.task, row.metric): row.value for row in rows if row.table == "D" and row.condition == "original"
    }
    return tuple(_mended(row, originals) for row in rows)


def beside(model: str, task: str, condition: str, metric: str) -> PublishedFigure | None:
    """What the paper prints for the model of this id on this task; none for a model or revision it does not have."""
    name = paper_name(model)
    return next(
        (
            row
            for row in figures()
            if row.table in RESULTS
            and (row.model, row.task, row.condition, row.metric) == (name, task, condition, metric)
        ),
        None,
    )


def paper_name(model: str) -> str:
    """What the paper calls a model, "" where it has none such; an intermediate revision is another model."""
    known = catalog.find(model)
    _, sign, revision = model.partition("@")
    return "" if known is None or (sign and revision != "main") else MODELS.get(known.id, "")


def _mended(row: PublishedFigure, originals: Mapping[tuple[str, str, str], float]) -> PublishedFigure:
    if row.metric == "perplexity":
        return dataclasses.replace(row, value=row.printed / 100, note=PERPLEXITY)
    if row.table == "2" and row.task == "anaphor_agreement":
        if row.condition == "original":
            return dataclasses.replace(row, value=originals[row.model, row.task, row.metric], note=ANAPHOR)
        return dataclasses.replace(row, note=ANAPHOR_CHANGE if row.metric == "accuracy_change" else "")
    if row.table in "4EFGHIJK" and row.model != "OLMo 7B":
        return dataclasses.replace(row, note=LABELS)
    if row.task == "argument_structure":
        return dataclasses.replace(row, note=ARGUMENTS)
    return row
