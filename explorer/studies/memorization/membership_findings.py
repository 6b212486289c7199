"""What a memorization run finds of membership, where something other than the model says which texts were seen.

Labels come from an index (`labels=index`), else from the schedule that planted half of the starter sets in the corpus
of the glass box. A model that did not read that corpus is judged by the same labels: it is the control, where an attack
that finds members has told two sorts of texts apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from explorer.finding import Finding
from explorer.glassbox import starters
from explorer.popularity import indexes
from explorer.records import RunSpec
from explorer.rows.builders import Row, finding_row
from explorer.stats.estimate import Estimate
from explorer.studies.memorization import declared
from explorer.studies.memorization.membership import INDEX, JUDGED, AttackResult, judge_attacks, labels_of_doses

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.folder import RunFolder

PLANTED, CONTROL = "planted", "control"  # whose labels: of the corpus that the model read, or did not
RESAMPLES = 500


def summarize(spec: RunSpec, resources: Resources, folder: RunFolder) -> list[Row]:
    """Rows of `findings`: of all labeled texts, and by how often they stand in the corpus."""
    texts = _right_texts(folder)
    if texts.empty:
        return []
    labeled, source = _labeled(spec, resources, folder, texts)
    return [
        row
        for group, member in labeled
        if (member == 1).any() and (member == 0).any()
        for result in judge_attacks(_scores(texts), member, resamples=RESAMPLES)
        for row in _rows(group, source, result)
    ]


def group_of_seen(times: int) -> str:
    """The group of texts that stand in the corpus so often, each beside all that do not stand there."""
    return "seen once" if times == 1 else f"seen {times} times"


def _rows(group: str, source: str, result: AttackResult) -> Iterator[Row]:
    about = {"setting": result.attack, "condition": source}
    estimates: list[tuple[Finding, Estimate]] = [(declared.MEMBERSHIP_AUC, result.area)]
    estimates += zip(declared.MEMBERS_FOUND, result.at, strict=True)
    for finding, estimate in estimates:
        detail = {"members": result.at[0].members, "others": result.at[0].others}
        yield finding_row(finding, group, estimate, factors=about, detail=detail)


def _labeled(
    spec: RunSpec, resources: Resources, folder: RunFolder, texts: pd.DataFrame
) -> tuple[list[tuple[str, pd.Series]], str]:
    """Groups with 1, 0 or nan for each text, and where that comes from; no group where nothing tells."""
    if str(spec.settings.get("labels", "none")) == INDEX:
        return [("overall", texts.get("member", pd.Series(math.nan, texts.index)))], INDEX
    if spec.benchmark not in starters.SETS or spec.benchmark in starters.LABELED:
        return [], ""
    dealt = starters.doses(resources.instances(spec.benchmark).instances)
    doses = texts["instance_id"].map(dealt).astype(float)
    known = pd.Series(labels_of_doses(doses.tolist()), texts.index)
    groups = [("overall", known)]
    for times in starters.DOSES:
        groups.append((group_of_seen(times), known.where((doses == times) | (doses == 0))))
    is_planted = indexes.is_planted(indexes.training_corpus(spec.model) or "")
    return groups, PLANTED if is_planted else CONTROL


def _right_texts(folder: RunFolder) -> pd.DataFrame:
    """A row per instance: each attack's score of its right text, and `member` where the run asked an index.

    A wrong text is left out: it is a text of another sort, whoever saw what.
    """
    instances = folder.read("instances", ["instance_id", "gold"])
    measures = folder.read("measures", ["instance_id", "option", "measure", "value", "part", "setting"])
    gold = measures["instance_id"].map(instances.set_index("instance_id")["gold"]).fillna(0)
    whole = measures["part"].isna() & measures["setting"].isna() & (measures["option"] == gold)
    right_text_measures = measures[whole & measures["measure"].isin([*JUDGED, "member"])]
    wide = right_text_measures.pivot_table(index="instance_id", columns="measure", values="value", aggfunc="first")
    return wide.rename_axis(columns=None).reset_index()


def _scores(texts: pd.DataFrame) -> dict[str, pd.Series]:
    return {name: texts[name] for name in JUDGED if name in texts and texts[name].notna().any()}
