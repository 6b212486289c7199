"""The measures that may say why an item is answered rightly: what each is, and what it is computed from.

A measure that is computed from the very number that decides the verdict explains nothing: on a minimal pair the loss of
the right sentence less that of the wrong one is the verdict, by another name. Such measures are marked. Of memorization
the level is left, the mean over an item's options: how well the model knows such texts, whichever of them it prefers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from explorer.results.measures import COUNTED, MEASURES, SCORED, mean_of_all

TWO_SIDED = ("pair", "choice", "labelled")
MEMORIZED = ("memorization",)


@dataclass(frozen=True, slots=True)
class Predictor:
    """A measure of an item, and why it may say something of the verdict.

    studies        whose runs hold it, the one that is wanted most first; () where it follows from the item itself
    query          asks a run, whose id is $1, for instance_id and value
    computed_from  in words
    shares         kinds of items on which it is computed from the numbers that decide the verdict
    of_text        whether a run of any model can tell it
    kinds          kinds of items that have it
    """

    title: str
    unit: str
    studies: tuple[str, ...]
    query: str
    computed_from: str
    shares: tuple[str, ...] = ()
    of_text: bool = False
    kinds: tuple[str, ...] = (*TWO_SIDED, "cloze", "regions")


def _length(value: str) -> str:
    """Characters of the right option, or how many more than the others' mean."""
    gold = "scores.option = coalesce(instances.gold, 0)"
    right = f"max(scores.chars) FILTER ({gold})"
    others = mean_of_all("scores.chars", f"NOT ({gold})")
    expression = {"right": right, "difference": f"{right} - {others}"}[value]
    return f"""
        SELECT scores.instance_id, {expression} AS value
        FROM scores
        JOIN instances USING (run_id, instance_id)
        WHERE scores.run_id = $1
            AND scores.role IN ('option', 'target', 'label')
            AND scores.condition IS NULL
            AND scores.part IS NULL
        GROUP BY scores.instance_id
    """


def _level(name: str) -> str:
    """The mean of a measure over an item's options; a gap where one of them has none."""
    return f"""
        SELECT instance_id, {mean_of_all("value", "TRUE")} AS value
        FROM measures
        WHERE run_id = $1
            AND measure = '{name}'
            AND option >= 0
            AND setting IS NULL
            AND part IS NULL
        GROUP BY instance_id
    """


_SAME_SCORE = "the log-probabilities that the verdict compares"
_SAME_WORD = "the log-probabilities of the passage, the deciding last word's among them"

PREDICTORS: Mapping[str, Predictor] = {
    "ips_difference": Predictor(
        "Popularity difference", "share", COUNTED, MEASURES["relative_difference"].query, "counts of n-grams",
        of_text=True, kinds=TWO_SIDED,
    ),
    "ips": Predictor("Popularity (IPS)", "1 to 10", COUNTED, MEASURES["ips"].query, "counts of n-grams", of_text=True),
    "dose": Predictor(
        "Planted dose", "log2 of 1 + times", (), "", "what was planted in the corpus", of_text=True,
    ),
    "length": Predictor(
        "Length", "characters of the right option", SCORED, _length("right"), "the text", of_text=True,
    ),
    "length_difference": Predictor(
        "Length difference", "characters, right less others", SCORED, _length("difference"), "the text", of_text=True,
        kinds=TWO_SIDED,
    ),
    "unigrams": Predictor(
        "Unigram frequency", "log10 of 1 + count, right less others", (), "", "counts of single tokens", of_text=True,
    ),
    "swaps": Predictor(
        "Swapped words", "words", ("perturbation",), MEASURES["swaps"].query, "the text", of_text=True,
    ),
    "loss_level": Predictor(
        "MIA loss, level", "nats a token, mean over options", MEMORIZED, _level("mia_loss"),
        "the log-probabilities of all options together", shares=("cloze",),
    ),
    "min_k_level": Predictor(
        "Min-k %, level", "nats a token, mean over options", MEMORIZED, _level("min_k"),
        "the least likely tokens of all options together", shares=("cloze",),
    ),
    "neighbors_level": Predictor(
        "MIA neighbors, level", "nats a token, mean over options", MEMORIZED, _level("mia_neighbours"),
        "the log-probabilities of all options and of their neighbors", shares=("cloze",),
    ),
    "extracted_level": Predictor(
        "TDE accuracy, level", "share of options", MEMORIZED, _level("tde_accuracy"),
        "the likeliest tokens of all options", shares=("cloze",),
    ),
    "loss_difference": Predictor(
        "MIA loss", "nats a token, right less wrong", MEMORIZED, MEASURES["mia_loss"].query, _SAME_SCORE,
        shares=TWO_SIDED, kinds=TWO_SIDED,
    ),
    "min_k_difference": Predictor(
        "Min-k %", "nats a token, right less wrong", MEMORIZED, MEASURES["min_k"].query, _SAME_SCORE,
        shares=TWO_SIDED, kinds=TWO_SIDED,
    ),
    "neighbors_difference": Predictor(
        "MIA neighbors", "nats a token, right less wrong", MEMORIZED, MEASURES["mia_neighbours"].query, _SAME_SCORE,
        shares=TWO_SIDED, kinds=TWO_SIDED,
    ),
    "extraction_difference": Predictor(
        "TDE likelihood", "nats, right less wrong", MEMORIZED, MEASURES["tde_likelihood"].query, _SAME_SCORE,
        shares=TWO_SIDED, kinds=TWO_SIDED,
    ),
    "extraction": Predictor(
        "TDE likelihood", "nats", MEMORIZED, MEASURES["tde_likelihood"].query, _SAME_WORD, shares=("cloze",),
        kinds=("cloze",),
    ),
}  # fmt: skip
# In the model unless a reader takes them out, as far as they are stored and share nothing with the verdict.
DEFAULT = (
    "ips_difference", "ips", "dose", "length", "length_difference", "unigrams", "swaps", "min_k_level",
    "extracted_level",
)  # fmt: skip


def shares_verdict(name: str, kind: str) -> bool:
    """Whether a measure of items of this kind is computed from the numbers that decide the verdict."""
    return kind in PREDICTORS[name].shares


def of_kind(kind: str) -> tuple[str, ...]:
    """The measures that items of a kind can have; of two-sided ones the IPS itself is left to its difference."""
    names = [name for name, predictor in PREDICTORS.items() if kind in predictor.kinds]
    return tuple(name for name in names if not (name == "ips" and kind in TWO_SIDED))
