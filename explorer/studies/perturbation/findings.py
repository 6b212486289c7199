"""What a perturbation run concludes: accuracies before and after, tests, popularity of flips, similarity, the judge."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from explorer.finding import Finding
from explorer.records import RunSpec
from explorer.rows.builders import Row, finding_row
from explorer.stats.bootstrap import bootstrap, bootstrap_mean
from explorer.stats.clustered import clustered_mean
from explorer.stats.estimate import Estimate
from explorer.stats.mcnemar import mcnemar
from explorer.stats.multiple_tests import correct_p_values as adjust
from explorer.stats.over_draws import change_over_draws
from explorer.stats.proportion import proportion
from explorer.stats.wilcoxon import wilcoxon
from explorer.studies.accuracy.findings import perplexity
from explorer.studies.families import families_of
from explorer.studies.perturbation import declared
from explorer.studies.perturbation.judge import ROLE
from explorer.studies.popularity.deciles import edges_of
from explorer.studies.popularity.findings import require_one_index
from explorer.studies.popularity.groups import groups_of, kind_of

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.folder import RunFolder

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
# A swapped verb may take other arguments, so the label of such a pair may have changed: told apart.
ARGUMENTS = "argument_structure"
FLAG = "verb swapped in an argument-structure pair"
MEASURE_COLUMNS = ["instance_id", "option", "condition", "setting", "measure", "value", "reason", "part"]
SIMILARITIES = tuple(finding.name for finding in declared.SIMILARITIES)  # measures of an instance have the same names


def summarize(spec: RunSpec, resources: Resources, folder: RunFolder) -> list[Row]:
    """Rows of `findings` for each group of instances and each part-of-speech setting."""
    instances = folder.read("instances", ["instance_id", "benchmark", "grp", "phenomenon", "field", "kind", "gold"])
    if instances.empty:
        return []
    edges = edges_of(spec, resources)
    require_one_index(folder, edges.index)
    measures = folder.read("measures", MEASURE_COLUMNS)
    measures = measures[measures["part"].isna()]
    variants = folder.read("variants", ["instance_id", "setting", "accepted", "reason"])
    answers = folder.read("generations", ["instance_id", "role", "setting", "verdict"])
    rows: list[Row] = []
    for pos in spec.settings["pos"]:
        frame = paired(instances, measures, variants[variants["setting"] == pos], pos)
        judged = answers[(answers["role"] == ROLE) & (answers["setting"] == pos)]
        frame["judged"] = _by_instance(frame, judged, "verdict")
        for group, members in _groups(frame):
            rows += compare(group, frame[members], {"setting": pos})
    rows += over_draws(spec, folder, instances)
    rows += _frequencies(folder)
    for finding in (declared.CHANGE, declared.IPS_OF_LOST):
        adjust_tables(rows, finding)
    return [*rows, *edges.to_rows()]


def over_draws(spec: RunSpec, folder: RunFolder, instances: pd.DataFrame) -> list[Row]:
    """The change of accuracy over all draws of a run with several: mean, interval over items and draws, sd, range."""
    if int(spec.settings.get("draws", 1)) < 2:
        return []
    measures = folder.read("measures", MEASURE_COLUMNS)
    correct = measures[(measures["measure"] == "correct") & (measures["option"] == -1)]
    before = _by_instance(instances, correct[correct["condition"] == "original"], "value").to_numpy(dtype=float)
    rows: list[Row] = []
    for pos in spec.settings["pos"]:
        after = correct[(correct["condition"] == "perturbed") & (correct["setting"] == pos)]
        table = np.column_stack(
            [
                _by_instance(instances, after[after["part"].fillna(0) == draw], "value").to_numpy(dtype=float)
                for draw in range(int(spec.settings["draws"]))
            ]
        )
        for group, members in groups_of(instances):
            rows.append(_over_draws(group, instances[members], before[members], table[members], {"setting": pos}, spec))
    return rows


def _over_draws(
    group: str,
    frame: pd.DataFrame,
    before: np.ndarray,
    after: np.ndarray,
    factors: Mapping[str, Any],
    spec: RunSpec,
) -> Row:
    known = np.isfinite(before) & np.isfinite(after).all(axis=1)
    families = families_of(frame[known]) if known.any() else None
    change = change_over_draws(before[known], after[known], families, seed=spec.seed)
    detail = {
        "unit": "percent of the original", "draws": change.draws, "sd_over_draws": change.sd,
        "least": change.least, "greatest": change.greatest,
    }  # fmt: skip
    estimate = replace(change.change, left_out=int((~known).sum()))
    return finding_row(declared.CHANGE_OVER_DRAWS, group, estimate, factors=factors, detail=detail)


def paired(instances: pd.DataFrame, measures: pd.DataFrame, variants: pd.DataFrame, pos: str) -> pd.DataFrame:
    """A row per instance: correct, log-probability and the right option's IPS before and after, what was swapped."""
    frame = instances.copy()
    sides = {
        "before": measures[measures["condition"] == "original"],
        "after": measures[(measures["condition"] == "perturbed") & (measures["setting"] == pos)],
    }
    gold = frame.set_index("instance_id")["gold"].fillna(0)
    for side, rows in sides.items():
        whole = rows[rows["option"] == -1]
        for name in ("correct", "logprob"):
            frame[f"{name}_{side}"] = _measure(frame, whole, name)
        of_gold = rows[(rows["measure"] == "ips") & (rows["option"] == rows["instance_id"].map(gold))]
        frame[f"ips_{side}"] = _measure(frame, of_gold, "ips")
    for name in ("swaps", *SIMILARITIES):
        frame[name] = _measure(frame, sides["after"], name)
    after = sides["after"]
    units = _by_instance(frame, after[after["measure"] == declared.ROUGE_L.name], "reason")
    frame["by_characters"] = (units == "by characters").to_numpy(dtype=bool)
    frame["accepted"] = _by_instance(frame, variants, "accepted").astype(bool)
    frame["reason"] = _by_instance(frame, variants, "reason").fillna("")
    return frame


def compare(group: str, frame: pd.DataFrame, factors: Mapping[str, Any]) -> list[Row]:
    """Findings about one group; changes and tests use the instances that have an outcome before and after."""
    both = frame[frame["correct_before"].notna() & frame["correct_after"].notna()]
    rows = _accuracies(group, frame, both, factors)
    if (frame["kind"] == "cloze").all():
        rows += _perplexities(group, both, factors)
    rows += [*_flips(group, both, factors), _accepted(group, frame, factors)]
    rows += [
        _similarity(group, frame, finding, factors)
        for finding in declared.SIMILARITIES
        if frame[finding.name].notna().any()
    ]
    if frame["judged"].notna().any():
        rows.append(_share_same(group, frame["judged"].dropna(), factors))
    return rows


def adjust_tables(rows: list[Row], finding: Finding) -> None:
    """Adds Holm's p to each row's detail: over the groups of one kind, nouns and verbs apart from both (Tables 1 and 2
    against C and D)."""
    # A family is a printed table: correcting over tables that nobody reads together would hide effects, correcting
    # within parts of one would find too many.
    tables: dict[tuple[str, bool], list[Row]] = {}
    for row in rows:
        if row["finding"] == finding.name:
            tables.setdefault((kind_of(row["grp"]), row["setting"] == "NV"), []).append(row)
    for tested in tables.values():
        for row, p in zip(tested, adjust([row["p"] for row in tested], "holm").p, strict=True):
            detail = json.loads(row["detail"]) if row["detail"] else {}
            row["detail"] = json.dumps({**detail, "p_holm": None if math.isnan(p) else p, "tests": len(tested)})


def _groups(frame: pd.DataFrame) -> Iterator[tuple[str, np.ndarray]]:
    yield from groups_of(frame)
    arguments = frame["phenomenon"] == ARGUMENTS
    flagged = (arguments & frame["reason"].str.contains(FLAG, regex=False)).to_numpy()
    if flagged.any():
        yield f"{ARGUMENTS}: verb swapped", flagged
        yield f"{ARGUMENTS}: verb kept", arguments.to_numpy() & ~flagged


def _accuracies(group: str, frame: pd.DataFrame, both: pd.DataFrame, factors: Mapping[str, Any]) -> list[Row]:
    sides = {
        declared.ACCURACY_ORIGINAL_ALL: frame["correct_before"],
        declared.ACCURACY_ORIGINAL: both["correct_before"],
        declared.ACCURACY_PERTURBED: both["correct_after"],
    }
    families, all_families = families_of(both), families_of(frame)
    shares = {
        finding: proportion(column.to_numpy(), all_families if len(column) == len(frame) else families)
        for finding, column in sides.items()
    }
    rows = [finding_row(finding, group, share, factors=factors) for finding, share in shares.items()]
    before, after = shares[declared.ACCURACY_ORIGINAL].value, shares[declared.ACCURACY_PERTURBED].value
    test = mcnemar(both["correct_before"].to_numpy(), both["correct_after"].to_numpy())
    detail = {
        "unit": "percent of the original",
        "lost": test.lost,
        "gained": test.gained,
        "unchanged": int((both["swaps"] == 0).sum()),
    }
    change = Estimate.point(
        100 * (after - before) / before if before else math.nan,
        test.n,
        p=test.p,
        left_out=len(frame) - len(both),
        reason=test.reason or ("" if before else "the original accuracy is 0"),
    )
    if families is not None and before:
        # Swaps of a paradigm's items meet the same template, so that McNemar's test takes them for more than they are.
        over = clustered_mean((both["correct_after"] - both["correct_before"]).to_numpy(), families)
        low, high = 100 * over.low / before, 100 * over.high / before
        detail |= {"mcnemar_p": None if math.isnan(test.p) else test.p}
        change = replace(over, value=change.value, low=low, high=high, left_out=change.left_out)
    elif before:
        over_items = bootstrap_mean((both["correct_after"] - both["correct_before"]).to_numpy())
        change = replace(change, low=100 * over_items.low / before, high=100 * over_items.high / before)
    return [*rows, finding_row(declared.CHANGE, group, change, factors=factors, detail=detail)]


def _perplexities(group: str, frame: pd.DataFrame, factors: Mapping[str, Any]) -> list[Row]:
    """exp(-mean log P of the last word), before and after, and the change in percent of the original."""
    before, after = (perplexity(frame[f"logprob_{side}"].to_numpy()) for side in ("before", "after"))
    change = Estimate.point(
        100 * (after.value - before.value) / before.value, len(frame), reason="" if len(frame) else before.reason
    )
    return [
        finding_row(declared.PERPLEXITY_ORIGINAL, group, before, factors=factors),
        finding_row(declared.PERPLEXITY_PERTURBED, group, after, factors=factors),
        finding_row(declared.PERPLEXITY_CHANGE, group, change, factors=factors),
    ]


def _flips(group: str, frame: pd.DataFrame, factors: Mapping[str, Any]) -> list[Row]:
    """The right option's IPS, before and after, of instances that were lost and of those that stayed right."""
    # Items that flip are chosen by their outcome, and any swap makes a text rarer: on LAMBADA those that flipped lose
    # .200 of IPS and those that did not .210. So what did not flip, of the same items, stands beside as the control.
    right = frame[frame["correct_before"] == 1]
    lost, stayed = right[right["correct_after"] < 1], right[right["correct_after"] == 1]
    changed = right.assign(shift=right["ips_after"] - right["ips_before"], lost=right["correct_after"] < 1)
    changed = changed[changed["shift"].notna() & changed["correct_after"].notna()]
    gap = bootstrap(
        _lost_less_kept, changed["shift"].to_numpy(), changed["lost"].to_numpy(dtype=float),
        groups=families_of(changed) if len(changed) else None,
    )  # fmt: skip
    if len(changed) and not 0 < changed["lost"].sum() < len(changed):
        gap = replace(gap, reason="no item was lost, or none was kept")
    return [
        _shift(declared.IPS_OF_LOST, group, lost, factors),
        _shift(declared.IPS_OF_KEPT, group, stayed, factors),
        finding_row(declared.IPS_LOST_LESS_KEPT, group, gap, factors=factors),
    ]


def _lost_less_kept(shift: np.ndarray, lost: np.ndarray) -> float:
    inside = lost == 1
    return float(shift[inside].mean() - shift[~inside].mean()) if 0 < inside.sum() < inside.size else math.nan


def _shift(finding: Finding, group: str, items: pd.DataFrame, factors: Mapping[str, Any]) -> Row:
    # Pairs: the same item before and after, so that a signed-rank test, not one of two samples.
    known = items[items["ips_before"].notna() & items["ips_after"].notna()]
    shift = wilcoxon(items["ips_before"].to_numpy(), items["ips_after"].to_numpy())
    detail: dict[str, Any] = {"zeros": shift.zeros}
    if len(known):
        for side in ("before", "after"):
            values = known[f"ips_{side}"]
            detail |= {side: float(values.mean()), f"sd_{side}": float(values.std(ddof=1)) if len(known) > 1 else None}
    return finding_row(finding, group, shift, factors=factors, detail=detail)


def _accepted(group: str, frame: pd.DataFrame, factors: Mapping[str, Any]) -> Row:
    share = proportion(frame["accepted"].astype(float).to_numpy())
    reasons = frame.loc[~frame["accepted"], "reason"].value_counts().to_dict()
    detail = {"rejected": reasons, "unchanged": int((frame["accepted"] & (frame["swaps"] == 0)).sum())}
    share = replace(share, reason=share.reason and "no instance is in this group")
    return finding_row(declared.ACCEPTED, group, share, factors=factors, detail=detail)


def _similarity(group: str, frame: pd.DataFrame, finding: Finding, factors: Mapping[str, Any]) -> Row:
    """Mean and quantiles over the instances that were changed."""
    name = finding.name
    known = frame[frame[name].notna()]
    paradigms = known["grp"].to_numpy() if known["grp"].nunique() > 1 else None
    mean = bootstrap_mean(known[name].to_numpy(), paradigms)
    detail: dict[str, Any] = {"quantiles": np.quantile(known[name].to_numpy(), QUANTILES).tolist()}
    if finding == declared.ROUGE_L and known["by_characters"].any():
        detail["by characters"] = int(known["by_characters"].sum())
    mean = replace(mean, left_out=len(frame) - len(known))
    return finding_row(finding, group, mean, factors=factors, detail=detail)


def _share_same(group: str, answers: pd.Series, factors: Mapping[str, Any]) -> Row:
    """The share of "same" among the parsed answers; what could not be parsed is left out and counted."""
    parsed = answers[~answers.isin(["unparsed", ""])]  # "" of a judge that gave none, as it thought beyond its limit
    share, unparsed = proportion((parsed == "same").astype(float).to_numpy()), len(answers) - len(parsed)
    share = replace(share, left_out=unparsed, reason=share.reason and "no answer could be parsed")
    detail = {"unparsed": int((answers == "unparsed").sum()), "asked": len(answers)}
    return finding_row(declared.JUDGED_SAME, group, share, factors=factors, detail=detail)


def _frequencies(folder: RunFolder) -> list[Row]:
    """The median count of swapped words and of their substitutes, with quantiles."""
    counts = folder.read("counts", ["condition", "setting", "part", "count"])
    swaps = counts[counts["condition"] == "swap"]
    rows = []
    for pos in dict.fromkeys(swaps["setting"]):
        for side, finding in ((0, declared.FREQUENCY_ORIGINAL), (1, declared.FREQUENCY_SYNONYM)):
            of_side = swaps.loc[(swaps["setting"] == pos) & (swaps["part"] == side), "count"]
            known = of_side.dropna().to_numpy()
            detail = {"quantiles": np.quantile(known, QUANTILES).tolist(), "zeros": int((known == 0).sum())}
            median = Estimate.point(
                float(np.median(known)) if known.size else math.nan,
                known.size,
                left_out=len(of_side) - known.size,
                reason="" if known.size else "no count could be had",
            )
            factors = {"setting": pos}
            rows.append(finding_row(finding, "overall", median, factors=factors, detail=detail if known.size else None))
    return rows


def _measure(frame: pd.DataFrame, measures: pd.DataFrame, name: str) -> np.ndarray:
    return _by_instance(frame, measures[measures["measure"] == name], "value").to_numpy(dtype=float)


def _by_instance(frame: pd.DataFrame, rows: pd.DataFrame, column: str) -> pd.Series:
    """A column of `rows` in the order of the frame's instances, gaps where an instance has none."""
    values = rows.drop_duplicates("instance_id").set_index("instance_id")[column]
    return values.reindex(frame["instance_id"]).set_axis(frame.index)
