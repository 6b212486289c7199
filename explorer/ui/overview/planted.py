"""What the glass box shows, where its runs are stored: verdicts and membership by how often its corpus holds a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

import pandas as pd

from explorer import benchmarks
from explorer.glassbox import starters
from explorer.results.store import Store
from explorer.scoring import catalog, suites
from explorer.studies.calibration import doses, words
from explorer.studies.calibration import queries as calibration_queries
from explorer.studies.calibration.doses import Response
from explorer.studies.memorization.rows import ATTACKS
from explorer.ui import layout, resources
from explorer.ui.overview.cards import Card, dose_card

PAIRS = "glassbox_pairs"
# Attacks, of which a small figure holds few → what they are called at the end of a curve, and in a sentence.
SHOWN = {
    "mia_loss": ("loss", "The loss of a text"),
    "min_k": ("rarest tokens", "The loss of a text's rarest tokens"),
    "tde_likelihood": ("second half", "The likelihood of a text's second half after its first"),
}
MODEL = "of"  # the column that says whose membership scores these are


def cards() -> list[Card]:
    """A figure of verdicts and one of membership; none of what has no run."""
    return [card for card in (_pairs(), _membership()) if card]


def pairs(store: Store) -> pd.DataFrame:
    """Accuracy on planted pairs, a row per model and dose; for `resources.ask`, which remembers it."""
    verdicts = calibration_queries.verdicts(store, PAIRS)
    verdicts = verdicts[~verdicts["model"].map(suites.is_checkpoint).astype(bool)] if len(verdicts) else verdicts
    if verdicts.empty:
        return pd.DataFrame()
    dosed = verdicts.assign(dose=verdicts["phenomenon"].str.removeprefix("dose ").astype(int))
    return pd.DataFrame([asdict(response) for response in doses.accuracy(dosed)])


def membership(store: Store) -> pd.DataFrame:
    """How well attacks tell texts of a dose from texts that the corpus lacks, of the model with most texts."""
    scores = calibration_queries.attacks(store)
    if len(scores):
        scores = scores[scores["attack"].isin(list(SHOWN)) & ~scores["model"].map(suites.is_checkpoint).astype(bool)]
    if scores.empty:
        return pd.DataFrame()
    dealt: dict[str, int] = {}
    for name in sorted(scores["benchmark"].unique()):
        dealt |= starters.doses(benchmarks.load(str(name), resources.settings()).instances)
    texts = scores.groupby("model")["instance_id"].nunique()
    model = _in_order(texts[texts == texts.max()].index)[-1]
    of_model = scores[scores["model"] == model].assign(dose=lambda rows: rows["instance_id"].map(dealt))
    high = {name: ATTACKS[name].seen == "high" for name in SHOWN}
    responses = doses.detection(of_model.dropna(subset=["dose"]), high)
    return pd.DataFrame([{**asdict(response), MODEL: model} for response in responses])


def _pairs() -> Card | None:
    responses = _responses(resources.ask_store(pairs))
    if not responses:
        return None
    lines = [
        (layout.model_title(model), _responses_of(responses, model))
        for model in _in_order(response.name for response in responses)
    ]
    title, largest = lines[-1]
    return dose_card(
        "Known doses", words.accuracy_in_words(title, largest), lines, tick=".0%",
        note="The glass box on pairs planted in its corpus; bands are 95% intervals, n = "
        f"{min(response.n for response in largest):,} pairs or more a dose.",
    )  # fmt: skip


def _membership() -> Card | None:
    frame = resources.ask_store(membership)
    responses = _responses(frame)
    attacks = [(name, of_attack) for name in SHOWN if (of_attack := _responses_of(responses, name))]
    if not attacks:
        return None
    name, best = max(attacks, key=lambda attack: sum(response.value for response in attack[1]))
    lines = [(SHOWN[attack][0], of_attack) for attack, of_attack in attacks]
    model = layout.model_title(str(frame[MODEL].iloc[0]))
    return dose_card(
        "Membership", words.detection_in_words(SHOWN[name][1], best), lines, tick=".2f", of_models=False,
        note=f"AUC of attacks on {model}: texts of a dose against those its corpus lacks; bands are 95% intervals, n = "
        f"{min(response.n for response in best):,} texts or more a dose.",
    )  # fmt: skip


def _responses(frame: pd.DataFrame) -> list[Response]:
    rows = frame.drop(columns=MODEL, errors="ignore").to_dict("records")
    return [Response(**{str(name): value for name, value in row.items()}) for row in rows]


def _responses_of(responses: Sequence[Response], name: str) -> list[Response]:
    return [response for response in responses if response.name == name]


def _in_order(models: Iterable[str]) -> list[str]:
    """Models of the glass box, the largest last."""
    known = {name: model.parameters for name, model in catalog.MODELS.items()}
    return sorted(set(models), key=lambda name: known.get(name, 0))
