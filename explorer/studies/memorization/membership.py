"""Which texts an attack finds: labels of membership, and how many members are found at few false alarms.

An attack is judged against labels that do not come from the model: a column of the benchmark, an index of the corpus
that the model was trained on (a text that stands there verbatim), or the doses planted in the glass box's corpus.
Without any of these there is no judgment: an area under the curve over texts of two sorts tells the sorts apart, too,
even where no model was trained on either.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from explorer.popularity import ngrams
from explorer.popularity.counter import Counter
from explorer.results.store import Store
from explorer.stats.auc import RocCurve, auc, roc_curve
from explorer.stats.bootstrap import Bootstrapped
from explorer.stats.true_positive_rate import RATES, TruePositives, true_positives
from explorer.studies.memorization.rows import ATTACKS, Attack

MIN_K_PLUS, RECALL, CALIBRATED = "min_k_plus", "recall", "calibrated_loss"
INDEX = "index"  # labels of a run that come from an index
MORE = (MIN_K_PLUS, RECALL)  # of texts alone, where a run asks for them
# Every attack that can be judged: those of each run, those that a run may ask for, and the one against a reference.
JUDGED: Mapping[str, Attack] = {
    **ATTACKS,
    MIN_K_PLUS: Attack("Min-K%++", "standard deviations", "high"),
    RECALL: Attack("ReCaLL", "ratio of losses", "high"),
    CALIBRATED: Attack("Calibrated loss", "nats a token", "low"),
}
# Sentences of our own, written for this: no corpus that was gathered before holds them.
UNSEEN = (
    "Seventeen blue ladders leaned against the clinic while the gardener argued with a visiting accordion teacher. "
    "Nobody at the ferry office remembers why the third lamp is painted green on Thursdays. "
    "The baker's niece keeps her spare violin strings in a tin that once held ginger from another valley. "
    "After the meeting about gutters, two surveyors shared a plum and measured the shadow of the water tower. "
    "Her grandfather repaired clocks for the lighthouse until the lighthouse was sold to a school of cartography."
)


@dataclass(frozen=True, slots=True)
class AttackResult:
    """How well one attack tells members from others: the whole curve, its area, and the members found at low rates."""

    attack: str
    area: Bootstrapped
    at: tuple[TruePositives, ...]  # one a rate
    curve: RocCurve


def judge_attacks(
    scores: Mapping[str, ArrayLike], member: ArrayLike, *, rates: Sequence[float] = RATES, resamples: int = 1_000
) -> list[AttackResult]:
    """Each attack's scores (a key of JUDGED, one a text) against the labels of the texts: 1, 0, nan for unknown."""
    results = []
    labels = np.asarray(member, dtype=float)
    for name, values in scores.items():
        # Of some attacks a low score speaks for a seen text (a loss), of others a high one. Turned round where need be,
        # every area above 0.5 means that the attack finds members, and one below 0.5 that it points the wrong way.
        sign = 1.0 if JUDGED[name].seen == "high" else -1.0
        turned = sign * np.asarray(values, dtype=float)
        results.append(
            AttackResult(
                name,
                auc(labels, turned, resamples=resamples),
                tuple(true_positives(labels, turned, rate, resamples=resamples) for rate in rates),
                roc_curve(labels, turned),
            )
        )
    return results


def labels_of_doses(doses: Sequence[float]) -> np.ndarray:
    """1 for a text that is planted in the corpus at all, 0 for one that is not, nan where the dose is not known."""
    values = np.asarray(doses, dtype=float)
    return np.where(np.isnan(values), np.nan, (values > 0).astype(float))


def labels_of_column(values: Sequence[object]) -> np.ndarray:
    """1 and 0 of a column that says of each text whether it was seen; nan where it says something else."""
    words = {"1": 1.0, "true": 1.0, "yes": 1.0, "member": 1.0, "seen": 1.0,
             "0": 0.0, "false": 0.0, "no": 0.0, "nonmember": 0.0, "non-member": 0.0, "unseen": 0.0}  # fmt: skip
    return np.array([words.get(str(value).strip().lower().removesuffix(".0"), math.nan) for value in values])


def labels_of_index(counter: Counter, texts: Sequence[str], *, longest: int = 500) -> np.ndarray:
    """1 for a text that stands in the index verbatim, 0 for one that does not, nan where that could not be had.

    The whole text is looked up as one n-gram; one of more than `longest` tokens is not.
    """
    ngrams_of_texts = ngrams.of_texts(counter, texts, 1)
    texts_to_count = [text.ids for text in ngrams_of_texts if 0 < len(text.ids) <= longest]
    counts = dict(zip(texts_to_count, counter.count(texts_to_count), strict=True))
    labels = []
    for text in ngrams_of_texts:
        count = counts.get(text.ids)
        labels.append(math.nan if count is None or math.isnan(count.count) else float(count.count > 0))
    return np.array(labels)


def texts(store: Store, run_id: str, reference: str = "") -> pd.DataFrame:
    """A row per text of a run: instance_id, option, and a column for each attack that it has a score of.

    `reference` is another model's memorization run on the same texts, which gives the calibrated loss.
    """
    table = _wide(store, run_id)
    if not reference or "mia_loss" not in table:
        return table
    other = _wide(store, reference)[["instance_id", "option", "mia_loss"]].rename(columns={"mia_loss": "_other"})
    table = table.merge(other, on=["instance_id", "option"], how="left")
    return table.assign(**{CALIBRATED: table["mia_loss"] - table["_other"]}).drop(columns="_other")


def _wide(store: Store, run_id: str) -> pd.DataFrame:
    stored = store.frame(
        """
        SELECT instance_id, option, measure, value
        FROM measures
        WHERE run_id = ?
            AND option >= 0
            AND list_contains(?, measure)
            AND setting IS NULL
            AND part IS NULL
        """,
        [run_id, list(JUDGED)],
    )
    wide = stored.pivot_table(index=["instance_id", "option"], columns="measure", values="value", aggfunc="first")
    return wide.rename_axis(columns=None).reset_index()
