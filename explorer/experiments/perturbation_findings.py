"""What a perturbation run concludes: accuracies before and after, tests, popularity of flips, similarity."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from explorer.experiments.popularity_groups import groups_of
from explorer.records import RunSpec
from explorer.results.rows import finding_row
from explorer.stats.bootstrap import bootstrap_mean
from explorer.stats.mcnemar import mcnemar
from explorer.stats.multiple import correct as adjust
from explorer.stats.proportion import proportion
from explorer.stats.wilcoxon import wilcoxon

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.folder import RunFolder

Row = dict[str, Any]


def conclude(spec: RunSpec, resources: Resources, folder: RunFolder) -> list[Row]:
    """Rows of `findings` for each group of instances and each part-of-speech setting."""
    from explorer.experiments.popularity import edges_of

    instances = folder.read("instances", ["instance_id", "benchmark", "grp", "phenomenon", "field", "kind", "gold"])
    if instances.empty:
        return []
    measures = folder.read("measures", ["instance_id", "option", "condition", "setting", "measure", "value", "part"])
    measures = measures[measures["part"].isna()]
    rows: list[Row] = []
    for pos in spec.settings["pos"]:
        frame = _paired(instances, measures, pos)
        for group, members in groups_of(instances):
            rows += _compare(group, frame[members], {"setting": pos})
        rows += _rejections(folder, instances, pos)
    rows += _similarity(instances, measures)
    rows += _frequencies(folder, instances)
    _adjust(rows, "change")
    _adjust(rows, "ips_of_lost")
    return [*rows, *edges_of(spec, resources).to_rows()]


def _paired(instances: pd.DataFrame, measures: pd.DataFrame, pos: str) -> pd.DataFrame:
    """A row an instance: correct, log-probability and the correct option's IPS, before and after."""
    frame = instances.copy()
    sides = {
        "before": measures[measures["condition"] == "original"],
        "after": measures[(measures["condition"] == "perturbed") & (measures["setting"] == pos)],
    }
    for side, rows in sides.items():
        frame[f"correct_{side}"] = _column(frame, rows[rows["option"] == -1], "correct")
        frame[f"logprob_{side}"] = _column(frame, rows[rows["option"] == -1], "logprob")
        gold = frame.set_index("instance_id")["gold"].fillna(0)
        of_gold = rows[(rows["measure"] == "ips") & (rows["option"] == rows["instance_id"].map(gold))]
        frame[f"ips_{side}"] = _column(frame, of_gold, "ips")
    frame["swaps"] = _column(frame, sides["after"], "swaps")
    return frame


def _compare(group: str, frame: pd.DataFrame, factors: dict[str, Any]) -> list[Row]:
    both = frame[frame["correct_before"].notna() & frame["correct_after"].notna()]
    everything, before, after = (
        proportion(column.to_numpy())
        for column in (frame["correct_before"], both["correct_before"], both["correct_after"])
    )
    rows = [
        finding_row(
            name, group, share.value, low=share.low, high=share.high, n=share.n, left_out=share.left_out,
            reason=share.reason, factors=factors,
        )
        for name, share in (
            ("accuracy_original_all", everything), ("accuracy_original", before), ("accuracy_perturbed", after),
        )
    ]  # fmt: skip
    test = mcnemar(both["correct_before"].to_numpy(), both["correct_after"].to_numpy())
    change = 100 * (after.value - before.value) / before.value if before.value else math.nan
    rows.append(
        finding_row(
            "change", group, change, p=test.p, n=test.n, left_out=len(frame) - len(both),
            reason=test.reason or ("" if before.value else "the original accuracy is 0"), factors=factors,
            detail={"unit": "percent of the original", "lost": test.lost, "gained": test.gained,
                    "unchanged": int((both["swaps"] == 0).sum())},
        )
    )  # fmt: skip
    if (frame["kind"] == "cloze").all():
        rows += _perplexities(group, both, factors)
    rows += _flips(group, both, factors)
    return rows


def _perplexities(group: str, frame: pd.DataFrame, factors: dict[str, Any]) -> list[Row]:
    rows, values = [], []
    for side in ("before", "after"):
        mean = bootstrap_mean(frame[f"logprob_{side}"].to_numpy())
        values.append(math.exp(-mean.value) if not math.isnan(mean.value) else math.nan)
        rows.append(
            finding_row(
                f"perplexity_{'original' if side == 'before' else 'perturbed'}", group, values[-1],
                low=math.exp(-mean.high) if values[-1] == values[-1] else math.nan,
                high=math.exp(-mean.low) if values[-1] == values[-1] else math.nan,
                n=mean.n, left_out=mean.left_out, reason=mean.reason, factors=factors,
            )
        )  # fmt: skip
    ratio = 100 * (values[1] - values[0]) / values[0]
    rows.append(finding_row("perplexity_change", group, ratio, n=len(frame), factors=factors))
    return rows


def _flips(group: str, frame: pd.DataFrame, factors: dict[str, Any]) -> list[Row]:
    """The correct option's IPS of instances that were right before and wrong after, before and after."""
    lost = frame[(frame["correct_before"] == 1) & (frame["correct_after"] < 1)]
    shift = wilcoxon(lost["ips_before"].to_numpy(), lost["ips_after"].to_numpy())
    known = lost[lost["ips_before"].notna() & lost["ips_after"].notna()]
    detail = {
        "before": float(known["ips_before"].mean()) if len(known) else None,
        "after": float(known["ips_after"].mean()) if len(known) else None,
        "zeros": shift.zeros,
    }
    return [
        finding_row(
            "ips_of_lost", group, shift.median, low=shift.low, high=shift.high, p=shift.p, n=shift.n,
            left_out=shift.left_out, reason=shift.reason, factors=factors, detail=detail,
        )
    ]  # fmt: skip


def _rejections(folder: RunFolder, instances: pd.DataFrame, pos: str) -> list[Row]:
    variants = folder.read("variants", ["instance_id", "setting", "accepted", "reason"])
    variants = variants[variants["setting"] == pos]
    rows = []
    for group, members in groups_of(instances):
        own = variants[variants["instance_id"].isin(instances[members]["instance_id"])]
        rejected = own[~own["accepted"].astype(bool)]
        share = proportion(own["accepted"].astype(float).to_numpy())
        reasons = rejected["reason"].value_counts().to_dict()
        rows.append(
            finding_row(
                "accepted", group, share.value, low=share.low, high=share.high, n=share.n,
                factors={"setting": pos}, detail={"rejected": reasons} if reasons else None,
            )
        )  # fmt: skip
    return rows


def _similarity(instances: pd.DataFrame, measures: pd.DataFrame) -> list[Row]:
    rows = []
    for name in ("bertscore", "rouge_l"):
        values = measures[measures["measure"] == name]
        for pos, of_pos in values.groupby("setting", sort=False):
            for group, members in groups_of(instances):
                own = of_pos[of_pos["instance_id"].isin(instances[members]["instance_id"])]["value"].to_numpy()
                if not len(own):
                    continue
                mean = bootstrap_mean(own)
                quartiles = np.nanquantile(own, [0.05, 0.25, 0.5, 0.75, 0.95]).tolist()
                rows.append(
                    finding_row(
                        name, group, mean.value, low=mean.low, high=mean.high, n=mean.n, left_out=mean.left_out,
                        reason=mean.reason, factors={"setting": str(pos)}, detail={"quantiles": quartiles},
                    )
                )  # fmt: skip
    return rows


def _frequencies(folder: RunFolder, instances: pd.DataFrame) -> list[Row]:
    counts = folder.read("counts", ["instance_id", "condition", "setting", "part", "count"])
    swaps = counts[counts["condition"] == "swap"]
    rows = []
    for (pos, part), own in swaps.groupby(["setting", "part"], sort=False):
        known = own["count"].dropna()
        name = "frequency_original" if int(float(str(part))) == 0 else "frequency_synonym"
        detail = {"quantiles": np.quantile(known, [0.05, 0.25, 0.5, 0.75, 0.95]).tolist()} if len(known) else None
        median = float(known.median()) if len(known) else math.nan
        rows.append(
            finding_row(
                name, "overall", median, n=len(known), left_out=len(own) - len(known),
                reason="" if len(known) else "no count could be had", factors={"setting": str(pos)}, detail=detail,
            )
        )  # fmt: skip
    return rows


def _adjust(rows: list[Row], finding: str) -> None:
    """Adds Holm's p over the table's tests to each row's detail."""
    import json

    tested = [row for row in rows if row["finding"] == finding]
    for row, p in zip(tested, adjust([row["p"] for row in tested], "holm").p):
        detail = json.loads(row["detail"]) if row["detail"] else {}
        row["detail"] = json.dumps({**detail, "p_holm": None if math.isnan(p) else p})


def _column(frame: pd.DataFrame, measures: pd.DataFrame, name: str) -> np.ndarray:
    values = measures[measures["measure"] == name].drop_duplicates("instance_id").set_index("instance_id")["value"]
    return values.reindex(frame["instance_id"]).to_numpy(dtype=float)
