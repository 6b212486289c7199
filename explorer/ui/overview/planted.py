"""What the glass box shows, where its runs are stored: verdicts and membership by how often its corpus holds a text."""

from __future__ import annotations

from collections.abc import Sequence

from explorer import benchmarks
from explorer.glassbox import starters
from explorer.scoring import catalog
from explorer.studies.calibration import doses, words
from explorer.studies.calibration import queries as calibration_queries
from explorer.studies.calibration.doses import Response
from explorer.studies.memorization.rows import ATTACKS
from explorer.ui import layout, resources
from explorer.ui.overview.cards import Card, dose_card

PAIRS = "glassbox_pairs"
FINAL = "@"  # stands in the id of a checkpoint


def cards() -> list[Card]:
    """A figure of verdicts and one of membership; none of what has no run."""
    return [card for card in (_pairs(), _membership()) if card]


def _pairs() -> Card | None:
    verdicts = resources.ask(calibration_queries.verdicts, PAIRS)
    verdicts = verdicts[~verdicts["model"].str.contains(FINAL)] if len(verdicts) else verdicts
    if verdicts.empty:
        return None
    responses = doses.accuracy(verdicts.assign(dose=verdicts["phenomenon"].str.removeprefix("dose ").astype(int)))
    lines = [(layout.model_title(model), _of(responses, model)) for model in _in_order(list(verdicts["model"]))]
    title, largest = lines[-1]
    return dose_card(
        "Known doses", words.accuracy_in_words(title, largest), lines, tick=".0%",
        note="Models of the glass box on pairs planted in their corpus; bands are 95% intervals, "
        f"n = {min(one.n for one in largest):,} pairs or more a dose.",
    )  # fmt: skip


def _membership() -> Card | None:
    scores = resources.ask(calibration_queries.attacks)
    scores = scores[scores["attack"].isin(list(ATTACKS))] if len(scores) else scores
    if scores.empty:
        return None
    dealt: dict[str, int] = {}
    for name in sorted(scores["benchmark"].unique()):
        dealt |= starters.doses(benchmarks.load(str(name), resources.settings()).instances)
    model = _in_order(list(scores["model"]))[-1]
    of_model = scores[scores["model"] == model].assign(dose=lambda rows: rows["instance_id"].map(dealt))
    high = {name: attack.seen == "high" for name, attack in ATTACKS.items()}
    responses = doses.detection(of_model.dropna(subset=["dose"]), high)
    lines = [(attack.title, own) for name, attack in ATTACKS.items() if (own := _of(responses, name))]
    if not lines:
        return None
    title, best = max(lines, key=lambda line: line[1][-1].value)
    return dose_card(
        "Membership", words.detection_in_words(title, best), lines, tick=".2f",
        note=f"AUC of each attack on {layout.model_title(model)}, texts of a dose against those its corpus lacks; "
        "bands are 95% intervals.",
    )  # fmt: skip


def _of(responses: Sequence[Response], name: str) -> list[Response]:
    return [one for one in responses if one.name == name]


def _in_order(models: Sequence[str]) -> list[str]:
    """Models of the glass box, the largest last."""
    known = {name: model.parameters for name, model in catalog.MODELS.items()}
    return sorted(set(models), key=lambda name: known.get(name, 0))
