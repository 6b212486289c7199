"""Scores of the attacks on texts whose dose is known, and how well each tells what the corpus holds."""

from __future__ import annotations

import pandas as pd

from explorer import benchmarks
from explorer.glassbox import starters
from explorer.results.store import Store
from explorer.settings import Settings
from explorer.stats.auc import RocCurve
from explorer.studies.calibration import doses, queries
from explorer.studies.calibration.doses import Response
from explorer.studies.memorization.membership import CALIBRATED, JUDGED

ATTACKS = {name: attack for name, attack in JUDGED.items() if name != CALIBRATED}  # of one run by itself
HIGH = {name: attack.seen == "high" for name, attack in ATTACKS.items()}


def scores(store: Store, model: str, settings: Settings) -> pd.DataFrame:
    """A model's scores of the texts of the starter sets with how often each stands in the corpus."""
    attack_scores = queries.attacks(store)
    attack_scores = attack_scores[(attack_scores["model"] == model) & attack_scores["attack"].isin(list(ATTACKS))]
    dealt: dict[str, int] = {}
    for name in sorted(attack_scores["benchmark"].unique()):
        dealt |= starters.doses(benchmarks.load(str(name), settings).instances)
    return (
        attack_scores.assign(dose=attack_scores["instance_id"].map(dealt)).dropna(subset=["dose"])
        if len(attack_scores)
        else attack_scores
    )


def detection(store: Store, model: str, settings: Settings) -> list[Response] | None:
    """Of each attack and dose the AUC against all texts that the corpus lacks; none where no run asked."""
    attack_scores = scores(store, model, settings)
    return doses.detection(attack_scores, HIGH) if len(attack_scores) else None


def roc(store: Store, model: str, attack: str, settings: Settings) -> dict[int, RocCurve]:
    """Dose → the ROC curve of an attack against all texts that the corpus lacks."""
    attack_scores = scores(store, model, settings)
    return doses.roc_curves(attack_scores[attack_scores["attack"] == attack], is_high=HIGH[attack])
