"""Every printed figure that a stored run can answer, from the four papers and from reference evaluations.

The numbers are those of `published_data/`; a `BoardFigure` adds the findings of ours that mean the same, and `beside`
looks them up.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from explorer.popularity import indexes
from explorer.scoring import catalog
from explorer.studies.accuracy.declared import ACCURACY
from explorer.studies.replication.figures import SOURCES, BoardFigure, ComparableFinding, figures, figures_of_source
from explorer.studies.replication.method import RunMethod, differences

__all__ = [
    "SOURCES",
    "BoardFigure",
    "ComparableFinding",
    "figures",
    "figures_of_source",
    "index",
    "is_same_model",
    "keys_of",
    "matching_run",
    "verdict",
]


Key = tuple[str, str, str, str, str, str, int]  # study, benchmark, finding, group, setting, condition, k


@dataclass(frozen=True, slots=True)
class Ours:
    """What a stored run found for a printed figure, in the figure's unit.

    `differs` says in words what of its method is another than the figure's, "" where nothing is; `foreign` is the index
    it was counted in, where the figure is about counts and the index is not, or not known to be, the model's data.
    """

    value: float
    low: float
    high: float
    n: int
    run_id: str
    study: str
    setting: str
    differs: str
    foreign: str = ""

    @property
    def same_setting(self) -> bool:
        """Whether all that matters to the figure agrees."""
        return not self.differs


@dataclass(frozen=True, slots=True)
class Stored:
    """A finding of a stored run as the board reads it; "" and -1 (k) stand for what does not vary."""

    run_id: str
    model: str
    study: str
    benchmark: str
    preset: str
    finding: str
    group: str
    setting: str
    condition: str
    k: int
    value: float
    low: float
    high: float
    n: int
    detail: str  # JSON, read where it is asked for
    spec: str = ""  # JSON, read where it is asked for
    status: str = "complete"
    done: int = 0
    total: int = 0

    @property
    def run_method(self) -> RunMethod:
        """How its run was made."""
        spec = json.loads(self.spec) if self.spec else {}
        return RunMethod(
            spec.get("settings") or {}, spec.get("limit"), tuple(spec.get("suites") or ()), self.status, self.done,
            self.total,
        )  # fmt: skip

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Self:
        """From a row of `queries_replication.findings`."""
        return cls(
            run_id=str(row["run_id"]),
            model=str(row["model"]),
            study=str(row["study"]),
            benchmark=str(row["benchmark"]),
            preset=str(row["preset"] or ""),
            finding=str(row["finding"]),
            group=str(row["grp"]),
            setting=str(row["setting"]),
            condition=str(row["condition"]),
            k=int(row["k"]),
            value=float(row["value"]),
            low=float(row["low"]),
            high=float(row["high"]),
            n=int(row["n"] or 0),
            detail=str(row["detail"] or ""),
            spec=str(row.get("spec") or ""),
            status=str(row.get("status") or "complete"),
            done=int(row.get("done") or 0),
            total=int(row.get("total") or 0),
        )

    @property
    def key(self) -> Key:
        """What it is about."""
        return self.study, self.benchmark, self.finding, self.group, self.setting, self.condition, self.k


def canonical(model: str) -> str:
    """The catalog's id of a model, also for its last checkpoint by name; another revision stays another model."""
    name, sign, revision = model.partition("@")
    known = catalog.find(name)
    if known is None or (sign and revision not in ("main", "step143000")):
        return model
    return known.id


def is_same_model(printed: BoardFigure, model: str) -> bool:
    """Whether a run's model is the printed one; names given to imported predictions count by letters and digits."""
    if not printed.model_id:
        return False
    if canonical(model) == printed.model_id:
        return True
    return _letters(model.partition("#")[2] or model.removeprefix("openai:")) in ALIASES.get(printed.model_id, ())


def keys_of(figures: Iterable[BoardFigure]) -> set[Key]:
    """What findings are about that stand beside one of these figures."""
    return {_key(answer) for figure in figures for answer in figure.answers}


def index(findings: Iterable[Mapping[str, Any]]) -> dict[Key, list[Stored]]:
    """Findings by what they are about, in the order given, in which runs are preferred."""
    stored: dict[Key, list[Stored]] = {}
    for row in findings:
        entry = Stored.of_row(row)
        stored.setdefault(entry.key, []).append(entry)
    return stored


def matching_run(printed: BoardFigure, stored: Mapping[Key, Sequence[Stored]], model: str = "") -> Ours | None:
    """What a run of the same model found, or of `model` where one is named; none where no run did.

    A run in the printed setting goes before one in another.
    """
    candidates = [
        ours
        for answer in printed.answers
        for entry in stored.get(_key(answer), ())
        if (entry.model == model if model else is_same_model(printed, entry.model))
        and (ours := _ours(printed, answer, entry)) is not None
    ]
    return next((ours for ours in candidates if ours.same_setting), candidates[0] if candidates else None)


def verdict(printed: BoardFigure, ours: Ours | None) -> str:
    """How ours stands to the printed figure, in one or two words."""
    if ours is None:
        return "not computed"
    if not printed.is_target:
        return "no target"
    if not ours.same_setting:
        return "not comparable"
    if not math.isnan(ours.low):
        return "within" if ours.low <= printed.target <= ours.high else "outside"
    return "equal" if round(ours.value, printed.digits) == round(printed.target, printed.digits) else "differs"


def _key(answer: ComparableFinding) -> Key:
    return (
        answer.study, answer.benchmark, answer.finding.name, answer.group, answer.setting, answer.condition, answer.k
    )  # fmt: skip


def _ours(printed: BoardFigure, answer: ComparableFinding, stored: Stored) -> Ours | None:
    value, low, high = stored.value, stored.low, stored.high
    if answer.detail:
        detail = json.loads(stored.detail) if stored.detail else {}
        value, low, high = float(detail.get(answer.detail) or math.nan), math.nan, math.nan
    if math.isnan(value):
        return None
    value, low, high = (answer.offset + answer.scale * number for number in (value, low, high))
    if low > high:  # counted from the other side
        low, high = high, low
    of_all = stored.n if answer.finding.name == ACCURACY.name and answer.group == "overall" else 0
    differs = differences(
        printed.method, answer.presets, stored.preset, stored.run_method, benchmark=answer.benchmark, items=of_all
    )
    index = str(stored.run_method.settings.get("index") or "")
    is_counted = any(requirement.setting == "index" for requirement in printed.method)
    foreign = index if index and is_counted and not indexes.is_pretraining_data(index, stored.model) else ""
    return Ours(value, low, high, stored.n, stored.run_id, answer.study, stored.preset, differs, foreign)


# Names under which people import predictions or ask an endpoint for a paper's model.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "EleutherAI/pythia-12b-deduped": ("pythia12b", "pythia12bdeduped", "pythia12bdedupedstep143000"),
    "openai:gpt-3.5-turbo": ("gpt35", "gpt35turbo", "gpt35turbo0613", "gpt35turbo16k"),
    "openai:gpt-4-0613": ("gpt4", "gpt40613"),
    "openai:gpt-4-0613-32k": ("gpt40613", "gpt4061332k", "gpt432k0613", "gpt432k"),
}


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower().rpartition("/")[2])
