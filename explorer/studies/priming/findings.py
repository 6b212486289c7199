"""What a priming run concludes: accuracy and margins along the curves, and what else the paper asks of them."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from explorer.finding import Finding
from explorer.records import Factor, RunSpec
from explorer.rows.builders import Row, finding_row
from explorer.stats.bootstrap import bootstrap_mean
from explorer.stats.estimate import Estimate
from explorer.stats.pearson import pearson
from explorer.stats.proportion import proportion
from explorer.studies.priming import declared, edits, matrices, regression
from explorer.studies.priming.requests import BASELINE
from explorer.studies.priming.run_settings import context_source_of
from explorer.variants.context_pools import PAPER_SUITES_INFERRED

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.folder import RunFolder


# Measure → the finding that is its mean along the curves.
MEANS = {
    "delta": declared.PRIMING_DELTA,
    "margin": declared.PRIMING_MARGIN,
    "perplexity_margin": declared.PRIMING_PERPLEXITY_MARGIN,
}
OVERALL = "overall"
MEAN = "mean over suites"
REACHING = "suites that reach every length"
PAPER = "the paper's suites, inferred"
# Conditions taken together, as in the paper's figure 3: an item counts by its mean over the two.
COLLAPSED = {
    "acceptable": ("matched_acceptable", "mismatched_acceptable"),
    "unacceptable": ("matched_unacceptable", "mismatched_unacceptable"),
}


def summarize(spec: RunSpec, resources: Resources, folder: RunFolder) -> list[Row]:
    """Rows of `findings`: curves, how far contexts reach, regression, perturbations, matrices, suites ranked."""
    table = read_table(folder)
    if table.empty:
        return []
    plain = along_curves(table)
    rows = [*reaches(folder, table), *curves(plain)]
    rows += ranked_suites(plain)
    rows += baseline_against_longest(plain)
    rows += regression.summarize(plain, items=bool(spec.settings["item_intercept"]))
    rows += edits.summarize(spec, resources, table)
    rows += matrices.summarize(spec, resources, folder, table)
    return rows + _remarks(spec, resources)


def read_table(folder: RunFolder) -> pd.DataFrame:
    """A row per item and context: grp, phenomenon, condition, setting (the edit or ""), length, and its measures.

    `delta` is correctness less that without a context.
    """
    instances = folder.read("instances", ["instance_id", "grp", "phenomenon"])
    columns = ["instance_id", "option", "condition", "setting", "length", "part", "measure", "value"]
    measures = folder.read("measures", columns)
    measures = measures[(measures["option"] == -1) & measures["part"].isna()]
    if measures.empty:
        return pd.DataFrame()
    # A context of the suite-by-suite matrix has no length of its own; -1 keeps its row in the pivot.
    measures = measures.assign(setting=measures["setting"].fillna(""), length=measures["length"].fillna(-1).astype(int))
    keys = ["instance_id", "condition", "setting", "length"]
    table = measures.set_index([*keys, "measure"])["value"].unstack("measure").reset_index()
    table.columns.name = None
    table = table.merge(instances, on="instance_id")
    baseline = table[table["condition"] == BASELINE].set_index("instance_id")["correct"]
    table["baseline"] = table["instance_id"].map(baseline)
    table["delta"] = table["correct"] - table["baseline"]
    return table


def along_curves(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of unperturbed contexts, each condition with the item without a context as its length 0."""
    plain = table[(table["setting"] == "") & ~table["condition"].str.startswith("suite:")]
    start = plain[plain["condition"] == BASELINE]
    conditions = [name for name in dict.fromkeys(plain["condition"]) if name != BASELINE]
    starts = [start.assign(condition=name) for name in conditions]
    return pd.concat([*starts, plain[plain["condition"] != BASELINE]], ignore_index=True)


def reaches(folder: RunFolder, table: pd.DataFrame) -> list[Row]:
    """How far the contexts of each suite and condition reach: the longest length that all of its items have."""
    variants = folder.read("variants", ["instance_id", "condition", "setting", "reason"])
    variants = variants[variants["setting"].isna() & ~variants["condition"].str.startswith("suite:")]
    groups = table.drop_duplicates("instance_id").set_index("instance_id")["grp"]
    longest = table[table["setting"] == ""].groupby(["instance_id", "condition"])["length"].max()
    keys = pd.MultiIndex.from_frame(variants[["instance_id", "condition"]])
    variants = variants.assign(
        grp=variants["instance_id"].map(groups), longest=longest.reindex(keys).fillna(0).to_numpy()
    )
    rows = []
    for (condition, group), contexts in variants.groupby(["condition", "grp"], sort=False):
        why = [str(reason) for reason in contexts["reason"] if reason]
        commonest = Counter(why).most_common(1)[0][0] if why else ""
        reach = Estimate.point(float(contexts["longest"].min()), len(contexts), left_out=len(why), reason=commonest)
        rows.append(finding_row(declared.PRIMING_REACH, str(group), reach, factors={"condition": str(condition)}))
    return rows


def curves(plain: pd.DataFrame) -> list[Row]:
    """Accuracy, its change, and the margins of each condition at each length, for suites, phenomena and over all."""
    rows = []
    complete = complete_suites(plain)
    whole = Cell.of(plain)
    in_order = plain.reset_index(drop=True)
    for (condition, length), rows_of_cell in in_order.groupby(["condition", "length"], sort=False):
        factors = {"condition": str(condition), "length": int(float(str(length)))}
        for scope in _scopes(whole.take(rows_of_cell.index.to_numpy()), complete):
            rows += _at_one_length(scope, factors)
    for name, parts in COLLAPSED.items():
        rows += _collapsed(name, plain[plain["condition"].isin(parts)], len(parts))
    if complete:
        rows.append(finding_row(declared.COMPLETE_SUITES, REACHING, len(complete), detail={"suites": complete}))
    return rows


def complete_suites(plain: pd.DataFrame) -> list[str]:
    """The suites all of whose items have every length of the run in every condition."""
    counts = plain.groupby(["grp", "condition", "length"], sort=False).size().unstack(["condition", "length"])
    items = plain.groupby("grp", sort=False)["instance_id"].nunique()
    whole = counts.fillna(0).eq(items, axis=0).all(axis=1)
    return [str(suite) for suite in items.index if whole[suite]]


# There are thousands of scopes in a run: to cut arrays takes a tenth of the time in which pandas cuts its tables.
@dataclass(frozen=True, slots=True)
class Cell:
    """Judgments as columns: each one's suite and phenomenon by their numbers, and its measures."""

    suites: np.ndarray
    phenomena: np.ndarray
    suite_names: Sequence[str]
    phenomenon_names: Sequence[str]
    measures: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, table: pd.DataFrame) -> Cell:
        """The rows of a table, in their order."""
        suite_names, suites = np.unique(table["grp"].to_numpy(dtype=str), return_inverse=True)
        phenomenon_names, phenomena = np.unique(table["phenomenon"].fillna("").to_numpy(dtype=str), return_inverse=True)
        columns = [name for name in ("correct", "context_tokens", *MEANS) if name in table]
        measures = {name: table[name].to_numpy(dtype=float) for name in columns}
        return cls(suites, phenomena, suite_names.tolist(), phenomenon_names.tolist(), measures)

    def take(self, places: np.ndarray) -> Cell:
        """These rows: their places, or a flag for each."""
        measures = {name: column[places] for name, column in self.measures.items()}
        return dataclasses.replace(
            self, suites=self.suites[places], phenomena=self.phenomena[places], measures=measures
        )


@dataclass(frozen=True, slots=True)
class Scope:
    """What a mean is taken over: the group's name, its rows, whether suites weigh alike, whether it is a phenomenon."""

    group: str
    cell: Cell
    over_suites: bool = False
    is_phenomenon: bool = False

    def finding(self, curve: Finding) -> Finding:
        """The finding that this mean of a curve is stored as."""
        return declared.BY_PHENOMENON[curve] if self.is_phenomenon else curve


def _scopes(cell: Cell, complete: Sequence[str]) -> Iterator[Scope]:
    """Everything a mean is taken over: all items, suites alike, each suite, each phenomenon."""
    yield Scope(OVERALL, cell)
    # Items of a suite are made by one template: a mean that is to hold for other suites has its interval over suites.
    yield Scope(MEAN, cell, over_suites=True)
    suites = _in_order(cell.suites)
    numbers = {name: number for number, name in enumerate(cell.suite_names)}
    if 0 < len(complete) < len(suites):
        yield Scope(REACHING, cell.take(np.isin(cell.suites, [numbers[name] for name in complete])), over_suites=True)
    of_paper = np.isin(cell.suites, [numbers[name] for name in PAPER_SUITES_INFERRED if name in numbers])
    if 0 < of_paper.sum() < len(of_paper):
        yield Scope(PAPER, cell.take(of_paper), over_suites=True)
    for suite in suites:
        yield Scope(cell.suite_names[suite], cell.take(cell.suites == suite))
    phenomena = _in_order(cell.phenomena)
    names = [cell.phenomenon_names[number] for number in phenomena]
    if any(
        name != cell.suite_names[suite]
        for number, name in zip(phenomena, names, strict=True)
        for suite in set(cell.suites[cell.phenomena == number].tolist())
    ):
        for number, name in zip(phenomena, names, strict=True):
            if name:
                yield Scope(name, cell.take(cell.phenomena == number), is_phenomenon=True)


def _in_order(numbers: np.ndarray) -> list[int]:
    """Each number once, in the order in which they first come."""
    return list(dict.fromkeys(numbers.tolist()))


def _at_one_length(scope: Scope, factors: Mapping[str, Any]) -> list[Row]:
    measures = scope.cell.measures
    # Items of a suite are made by one template and judged after contexts of one pool: an interval over items would be
    # for these templates alone. Within one suite there is nothing else to draw.
    count = len(np.unique(scope.cell.suites))
    suites = scope.cell.suites if count > 1 or scope.over_suites else None
    tokens = measures["context_tokens"][np.isfinite(measures["context_tokens"])]
    detail = {"tokens": float(tokens.mean()) if tokens.size else math.nan, "suites": count}
    accuracy: Estimate
    if scope.over_suites:
        accuracy = bootstrap_mean(measures["correct"], suites, macro=True)
    else:
        accuracy = share = proportion(measures["correct"], suites)
        detail |= {"ties": share.ties} if share.ties else {}
    finding = scope.finding(declared.PRIMING_ACCURACY)
    rows = [finding_row(finding, scope.group, accuracy, factors=factors, detail=detail)]
    for column, curve in MEANS.items():
        if column in measures and not np.isnan(measures[column]).all():
            # There are thousands of these means in a run, so that fewer resamples are drawn for each.
            mean = bootstrap_mean(measures[column], suites, macro=scope.over_suites, resamples=1_000)
            rows.append(finding_row(scope.finding(curve), scope.group, mean, factors=factors))
    return rows


def _collapsed(name: str, cell: pd.DataFrame, members: int) -> list[Row]:
    """Accuracy and its change over several conditions together, where the run has them all."""
    if cell["condition"].nunique() < members:
        return []
    by_instance = cell.groupby(["length", "grp", "instance_id"], sort=False)[["correct", "delta"]]
    # The paper collapses matched and mismatched contexts; an item then counts once, by its mean over both.
    # An item without a verdict after one of the conditions is left out, not judged by the others alone.
    means = by_instance.mean().where(by_instance.count().eq(by_instance.size(), axis=0)).reset_index()
    rows = []
    for length, at in means.groupby("length", sort=False):
        factors: dict[str, Factor] = {"condition": name, "length": int(float(str(length)))}
        for column, finding in (("correct", declared.PRIMING_ACCURACY), ("delta", declared.PRIMING_DELTA)):
            suites = at["grp"].to_numpy()
            for group in (OVERALL, MEAN):
                mean = bootstrap_mean(at[column].to_numpy(), suites, macro=group == MEAN)
                rows.append(finding_row(finding, group, mean, factors=factors))
    return rows


def suite_curves(plain: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Mean change of accuracy, a row per suite and a column per length above 0."""
    of_condition = plain[(plain["condition"] == condition) & (plain["length"] > 0)]
    return of_condition.pivot_table(index="grp", columns="length", values="delta", aggfunc="mean", sort=False)


def ranked_suites(plain: pd.DataFrame) -> list[Row]:
    """Each suite's change of accuracy as the mean over lengths, with its standard deviation over lengths."""
    rows = []
    for condition in dict.fromkeys(plain["condition"]):
        for suite, line in suite_curves(plain, str(condition)).iterrows():
            values = line.dropna()
            if len(values):
                mean = Estimate.point(float(values.mean()), len(values))
            else:
                mean = Estimate.point(math.nan, reason="no context")
            detail = {
                "sd": float(values.std(ddof=1)) if len(values) > 1 else None,
                "longest": float(values.iloc[-1]) if len(values) else None,
            }
            rows.append(
                finding_row(
                    declared.SUITE_DELTA, str(suite), mean, factors={"condition": str(condition)}, detail=detail
                )
            )
    return rows


def baseline_against_longest(plain: pd.DataFrame) -> list[Row]:
    """Pearson's r over suites of the accuracy without a context and after each suite's longest context."""
    rows = []
    for condition, of_condition in plain.groupby("condition", sort=False):
        pairs = []
        for _, of_suite in of_condition.groupby("grp", sort=False):
            by_length = of_suite.groupby("length")["correct"].mean()
            if by_length.index.max() > 0:
                pairs.append((by_length.loc[0], by_length.iloc[-1]))
        before, after = np.array(pairs).T if pairs else (np.array([]), np.array([]))
        correlation = pearson(before, after)
        factors = {"condition": str(condition)}
        rows.append(finding_row(declared.BASELINE_AGAINST_LONGEST, OVERALL, correlation, factors=factors))
    return rows


def _remarks(spec: RunSpec, resources: Resources) -> list[Row]:
    """Where unrelated sentences came from, and whether items shared contexts."""
    rows = []
    if "unrelated" in spec.settings["conditions"]:
        source = context_source_of(spec, resources)
        sentences = Estimate.point(len(source.pools.unrelated) or math.nan, reason=source.why_not)
        rows.append(
            finding_row(declared.UNRELATED_SOURCE, OVERALL, sentences, factors={"setting": source.unrelated or "none"})
        )
    chains = int(spec.settings["chains"])
    if chains:
        why = f"fast preview: the items of a suite share {chains} contexts, so intervals over items are too narrow"
        rows.append(finding_row(declared.SHARED_CONTEXTS, OVERALL, Estimate.point(chains, reason=why)))
    return rows
