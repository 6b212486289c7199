"""What an in-context run concludes: memorization and performance over k, their correlation, transitions, agreement."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from explorer.records import Factor, RunSpec
from explorer.rows.builders import Row, finding_row
from explorer.runs import files, step_cache
from explorer.similarity.replication import KINDS
from explorer.stats.estimate import Estimate, Range
from explorer.stats.fisher import fisher
from explorer.stats.kappa import kappa
from explorer.stats.pearson import pearson
from explorer.stats.proportion import proportion
from explorer.studies.icl import declared
from explorer.studies.icl.context import REPLICATION, Skipped
from explorer.studies.icl.rows import SOURCES, verdict_table

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.folder import RunFolder

Factors = Mapping[str, Factor]
OVERALL = "overall"
PLAN = "plan.json"  # in the run's folder: what the draw left out, and which k were skipped
# Finding → the kinds of completions that count.
COUNTED = {declared.REPLICATION: ("exact", "near-exact"), declared.REPLICATION_EXACT: ("exact",)}
# ... → the finding that is its correlation with performance.
CORRELATED = {declared.REPLICATION: declared.PEARSON, declared.REPLICATION_EXACT: declared.PEARSON_EXACT}
BECAME_EXACT = "near-exact to exact"
_LABELS = ((declared.LABEL_ACCURACY, "correct"), (declared.LABEL_ACCURACY_WRITTEN, "correct_written"))


def summarize(spec: RunSpec, resources: Resources, folder: RunFolder) -> list[Row]:
    """Rows of `findings`; people's verdicts as far as they are given, so that it is called again after a review."""
    table = verdict_table(folder.read, folder.read_reviews())
    instances = folder.read("instances", ["instance_id"])
    measures = folder.read("measures", ["instance_id", "setting", "k", "part", "measure", "value"])
    labels = label_table(measures)
    performance = accuracies(labels, instances["instance_id"])
    rows = [*performance, *_sample_sizes(spec, folder, len(instances)), *_prefill(folder)]
    rows += _skipped(spec, folder, set(zip(table["setting"], table["k"], strict=True)))
    mean_accuracy = {row["k"]: row["value"] for row in performance if row.get("part") is None}
    for setting in dict.fromkeys(table["setting"]):
        of_setting = table[table["setting"] == setting]
        for source in SOURCES:
            if of_setting[source].notna().any():
                about = {"setting": setting, "condition": source}
                shares = replication(of_setting, source, about)
                rows += [*shares, *correlations(shares, mean_accuracy, about), *transitions(of_setting, source, about)]
                rows += gaps(of_setting, source, labels, about)
    return rows + agreements(table)


def replication(table: pd.DataFrame, source: str, about: Factors) -> list[Row]:
    """The share of completions that replicate, for each k, over all and for each label."""
    rows = []
    for k, at_k in table.groupby("k", sort=True):
        for finding, kinds in COUNTED.items():
            for group, members in _scopes(at_k):
                verdicts = members[source]
                outcomes = np.where(verdicts.isin(kinds), 1.0, np.where(_is_judged(verdicts), 0.0, np.nan))
                share = _because("no completion has this verdict", proportion(outcomes))
                rows.append(finding_row(finding, group, share, factors={**about, "k": int(str(k))}))
    return rows


def label_table(measures: pd.DataFrame) -> pd.DataFrame:
    """A row per item, k and part: `correct` of scored and `correct_written` of written labels, nan where not asked."""
    of_labels = measures[measures["setting"].isna() & measures["measure"].isin(["correct", "correct_written"])]
    if of_labels.empty:
        return pd.DataFrame(columns=["instance_id", "k", "part", "correct", "correct_written"])
    wide = of_labels.astype({"k": int, "part": int}).pivot_table(
        index=["instance_id", "k", "part"], columns="measure", values="value", aggfunc="first", dropna=False, sort=False
    )
    return wide.reindex(columns=["correct", "correct_written"]).reset_index()


def accuracies(labels: pd.DataFrame, instance_ids: Sequence[str]) -> list[Row]:
    """Accuracy for each k in each order (or repeat), and its mean with the least and the greatest."""
    rows = []
    for finding, column in _LABELS:
        known = labels[labels[column].notna()]
        for k, at_k in known.groupby("k", sort=True):
            shares = []
            for part, members in at_k.groupby("part", sort=True):
                share = proportion(members[column].to_numpy())
                share = replace(share, left_out=len(instance_ids) - share.n)
                shares.append(share.value)
                rows.append(finding_row(finding, OVERALL, share, factors={"k": int(str(k)), "part": int(str(part))}))
            noun = "orders" if finding is declared.LABEL_ACCURACY else "repeats"
            mean = Range(float(np.mean(shares)), min(shares), max(shares), len(shares), of=f"{len(shares)} {noun}")
            spread = {"sd": float(np.std(shares, ddof=1)) if shares[1:] else None}
            rows.append(finding_row(finding, OVERALL, mean, factors={"k": int(str(k))}, detail=spread))
    return rows


def correlations(shares: Sequence[Row], accuracy: Mapping[int, float], about: Factors) -> list[Row]:
    """Pearson's r over k of memorization and performance; undefined under four k, or where one does not vary."""
    rows = []
    for finding, correlation in CORRELATED.items():
        memorized = {
            row["k"]: row["value"] for row in shares if row["finding"] == finding.name and row["grp"] == OVERALL
        }
        ks = [k for k in memorized if k in accuracy]
        line = pearson([memorized[k] for k in ks], [accuracy[k] for k in ks])
        line = line if accuracy else replace(line, reason="no performance was measured")
        rows.append(finding_row(correlation, OVERALL, line, factors=about, detail={"k": ks}))
    return rows


def transitions(table: pd.DataFrame, source: str, about: Factors) -> list[Row]:
    """Of the near-exact completions with one k, the share that is exact with the next."""
    kinds = table.pivot(index="instance_id", columns="k", values=source)
    rows = []
    for before, now in pairwise(sorted(kinds.columns)):
        # Only items that both k have judged: a change of the items is no change of the model.
        both = kinds[_is_judged(kinds[before]) & _is_judged(kinds[now])]
        counts = Counter(zip(both[before], both[now], strict=True))
        near = both[both[before] == "near-exact"]
        exact = proportion((near[now] == "exact").astype(float).to_numpy())
        share = _because(f"nothing was near-exact with k = {before}", exact)
        share = replace(share, left_out=len(kinds) - len(both))
        detail = {
            "from": int(before),
            "counts": {f"{kind_before} → {kind_after}": n for (kind_before, kind_after), n in counts.items()},
        }
        rows.append(
            finding_row(declared.TRANSITION, BECAME_EXACT, share, factors={**about, "k": int(now)}, detail=detail)
        )
    return rows


def gaps(table: pd.DataFrame, source: str, labels: pd.DataFrame, about: Factors) -> list[Row]:
    """Accuracy, in the order that replication was asked in, of memorized items and of the others, with their gap."""
    rows = []
    column = "correct" if labels["correct"].notna().any() else "correct_written"
    first = labels[labels["part"] == 0]
    for k, at_k in table.groupby("k", sort=True):
        right = first[first["k"] == k].set_index("instance_id")[column].reindex(at_k["instance_id"]).to_numpy(float)
        if np.isnan(right).all():
            continue
        judged, memorized = (
            _is_judged(at_k[source]).to_numpy(),
            at_k[source].isin(COUNTED[declared.REPLICATION]).to_numpy(),
        )
        groups = right[judged & memorized], right[judged & ~memorized]
        factors = {**about, "k": int(str(k))}
        for finding, values in zip((declared.ACCURACY_MEMORIZED, declared.ACCURACY_OTHER), groups, strict=True):
            share = _because("no such item", proportion(values))
            rows.append(finding_row(finding, OVERALL, share, factors=factors))
        gap = _because("no memorized item, or no other", fisher(*groups))
        gap = replace(gap, left_out=gap.left_out + int((~judged).sum()))
        rows.append(finding_row(declared.ACCURACY_GAP, OVERALL, gap, factors=factors))
    return rows


def agreements(table: pd.DataFrame) -> list[Row]:
    """Cohen's kappa of each two of rule, judge and people, over completions that are not equal to the reference."""
    rows = []
    # What equals the original is exact by definition: counting it would make any two judges agree.
    differing = table[table["rule"].notna() & (table["rule"] != "exact") & (table["completion"] != "")]
    for first, second in combinations(("rule", "judge", "people"), 2):
        kinds = [[_readable(kind) for kind in differing[source]] for source in (first, second)]
        if not all(any(side) for side in kinds):
            continue
        agreement = kappa(*kinds)
        rows.append(
            finding_row(
                declared.KAPPA, f"{first}, {second}", agreement, detail={"agreed": _none_for_nan(agreement.agreed)}
            )
        )
    return rows


def _because(reason: str, estimate: Estimate) -> Estimate:
    """The estimate with the study's own reason where it could not be had."""
    return replace(estimate, reason=estimate.reason and reason)


def _readable(kind: Any) -> str | None:
    return kind if kind in KINDS else None  # an answer that could not be parsed is no verdict


def _is_judged(verdicts: pd.Series) -> pd.Series:
    return verdicts.isin(KINDS)


def _scopes(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    yield OVERALL, table
    for group in dict.fromkeys(table["grp"]):
        yield str(group), table[table["grp"] == group]


def _sample_sizes(spec: RunSpec, folder: RunFolder, instances: int) -> list[Row]:
    reason = "; ".join(files.read_json(folder.path / PLAN).get("remarks") or [])
    items_wanted = (
        int(spec.settings["instances"]) if spec.limit is None else min(spec.limit, int(spec.settings["instances"]))
    )
    demonstrations = int((folder.read("variants", ["condition"])["condition"] == "demonstration").sum())
    most = max(map(int, spec.settings["k"]))
    counts = (("instances", instances, items_wanted), ("demonstrations", demonstrations, most))
    return [
        finding_row(
            declared.DRAWN, name, Estimate.point(have, have, left_out=max(0, items_wanted - have), reason=reason)
        )
        for name, have, items_wanted in counts
    ]


def _skipped(spec: RunSpec, folder: RunFolder, done_settings: set[tuple[str, int]]) -> list[Row]:
    """Each k that was not asked, with the largest that could be; `asked` are the settings and k that were."""
    path = folder.path / PLAN
    if path.exists():
        skipped = [Skipped(**fields) for fields in files.read_json(path).get("skipped") or []]
    else:  # the parts were made elsewhere, and came alone
        skipped = [
            Skipped(REPLICATION, setting, k, -1, "it was not asked")
            for setting in spec.settings["settings"]
            for k in map(int, spec.settings["k"])
            if (setting, k) not in done_settings
        ]
    rows = []
    for step in skipped:
        factors: Factors = {"k": step.k, "setting": step.setting} if step.setting else {"k": step.k}
        largest = Estimate.point(float(step.largest) if step.largest >= 0 else math.nan, reason=step.reason)
        rows.append(finding_row(declared.SKIPPED_K, step.part, largest, factors=factors))
    return rows


def _prefill(folder: RunFolder) -> list[Row]:
    """Tokens read for each k, beside what prompts read one by one would have taken."""
    steps: dict[str, list[Row]] = {}
    for remark in step_cache.remarks(folder.path):
        if "read_tokens" in remark:
            steps.setdefault(json.dumps([remark["group"], remark["factors"]]), []).append(remark)
    rows = []
    for shares in steps.values():
        total = {
            name: sum(share[name] for share in shares)
            for name in ("read_tokens", "prompt_tokens", "new_tokens", "seconds")
        }
        read_tokens = total.pop("read_tokens")
        group, factors = shares[0]["group"], shares[0]["factors"]
        rows.append(finding_row(declared.PREFILL, group, read_tokens, factors=factors, detail=total))
    return rows


def _none_for_nan(value: float) -> float | None:
    return None if math.isnan(value) else value
