"""Suites compared with suites: shared tokens, shared dependency labels, and how one primes another (appendix D)."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from explorer import prompts
from explorer.finding import Finding
from explorer.records import Instance, RunSpec
from explorer.rows.builders import Row, finding_row
from explorer.stats.estimate import Estimate
from explorer.stats.mantel import mantel
from explorer.stats.overlap import OverlapMatrix, overlap_matrix, token_f1
from explorer.stats.point_biserial import point_biserial
from explorer.studies import selection
from explorer.studies.priming import declared
from explorer.studies.priming.run_settings import context_source_of
from explorer.studies.selection import splits_of
from explorer.variants import language, running_text

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.folder import RunFolder
    from explorer.studies.priming.context import ContextSource

Labels = Mapping[str, Sequence[Hashable]]  # by text: its tokens, or the dependency labels of its words

KINDS = {"token": declared.TOKEN_F1, "dependency": declared.DEPENDENCY_F1}
TAGGED = ("dependency",)  # kinds that ask the tagger, which knows English only
# Which matrix of `suite_by_suite` → its finding.
PRIMED = {"accuracy": declared.MATRIX_ACCURACY, "delta": declared.MATRIX_DELTA}
PAIRS = 2_000  # pairs of sentences a cell
ITEMS, SENTENCES = 500, 10  # judgments, and sentences of each one's context, whose overlap is measured


def summarize(spec: RunSpec, resources: Resources, folder: RunFolder, table: pd.DataFrame) -> list[Row]:
    """Rows of `findings`: overlap matrices, the suite-by-suite matrix, and how the two and judgments go together."""
    suites = sorted(set(table["grp"]))
    rows, matrices = [], {}
    primed, judged = suite_by_suite(table, suites)
    for name, matrix in primed.items():
        rows += _cells(PRIMED[name], suites, matrix, judged)
    if spec.settings["overlap"]:
        source = context_source_of(spec, resources)
        foreign = _why_not_english(spec, resources)
        for kind, finding in KINDS.items():
            if foreign and kind in TAGGED:
                nothing = np.full((len(suites), len(suites)), math.nan)
                rows += _cells(finding, suites, nothing, np.zeros_like(nothing), foreign)
                continue
            overlaps = _overlaps(kind, spec, resources, source, suites)
            shared = matrices[finding.name] = np.array(overlaps.values)
            rows += _cells(finding, suites, shared, np.full(shared.shape, overlaps.pairs))
        rows += _judgments(spec, resources, folder, table, source, foreign)
    for first, of_texts in matrices.items():
        for second, of_judgments in primed.items():
            rows.append(_agreement(f"{first} and {second}", of_texts, of_judgments, spec.seed))
    return rows


def make_ahead(spec: RunSpec, resources: Resources) -> None:
    """The overlap matrices, which follow from the benchmark alone, before there is a judgment."""
    if spec.settings["overlap"]:
        chosen = selection.select(spec, resources)
        source = context_source_of(spec, resources)
        for kind in KINDS:
            if not (kind in TAGGED and _why_not_english(spec, resources)):
                _overlaps(kind, spec, resources, source, sorted({item.group for item in chosen}))


def _overlaps(
    kind: str, spec: RunSpec, resources: Resources, source: ContextSource, suites: Sequence[str]
) -> OverlapMatrix:
    def make() -> OverlapMatrix:
        sample = sample_sentences(source, suites, int(spec.settings["overlap"]), spec.seed)
        labels = label(kind, [text for texts in sample.values() for text in texts], source, resources)
        return overlap(labels, sample, spec.seed)

    kept: OverlapMatrix = resources.once(("overlaps", kind, repr(spec), tuple(suites)), make)
    return kept


def _why_not_english(spec: RunSpec, resources: Resources) -> str:
    """Why no grammatical relations are told in this benchmark, "" where it is English."""
    loaded = resources.instances(spec.benchmark, splits_of(spec.settings))
    why = language.other_language(loaded.instances, loaded.language)
    return f"the tagger knows English only: {why}" if why else ""


def suite_by_suite(table: pd.DataFrame, suites: Sequence[str]) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Each suite's (row) accuracy and its change after sentences of each suite (column), and the items judged.

    No matrices where none was asked.
    """
    after_suites = table[table["condition"].str.startswith("suite:")]
    if after_suites.empty:
        return {}, np.zeros((len(suites), len(suites)))
    after_suites = after_suites.assign(prefix=after_suites["condition"].str.removeprefix("suite:"))
    by_cell = after_suites.groupby(["grp", "prefix"])[["correct", "delta"]]
    # All pairs of suites in the same order as the other matrices, since they are compared cell by cell. A pair that was
    # not asked is nan, with 0 items.
    every = pd.MultiIndex.from_product([suites, suites])
    means, counts = by_cell.mean().reindex(every), by_cell.count().reindex(every)
    shape = (len(suites), len(suites))
    matrices = {
        name: means[column].to_numpy(dtype=float).reshape(shape)
        for name, column in (("accuracy", "correct"), ("delta", "delta"))
    }
    return matrices, counts["delta"].fillna(0).to_numpy(dtype=float).reshape(shape)


def sample_sentences(source: ContextSource, suites: Sequence[str], size: int, seed: int) -> dict[str, list[str]]:
    """At most `size` acceptable sentences of each suite, drawn with the seed."""
    sample = {}
    for suite in suites:
        pool = source.pools.acceptable.get(suite, ())
        # A generator for each suite, so that its sample does not depend on the others.
        chance = np.random.default_rng([seed, *suite.encode()])
        sample[suite] = [pool[place].text for place in sorted(chance.permutation(len(pool))[:size])]
    return sample


def label(kind: str, texts: Sequence[str], source: ContextSource, resources: Resources) -> Labels:
    """For each text the model's tokens, or the grammatical relations of its words."""
    distinct_texts = list(dict.fromkeys(texts))
    if kind == "token":
        return {text: source.encode(running_text.as_target(text)) for text in distinct_texts}
    tagged = resources.tagger().tag(distinct_texts)
    return {text: tuple(token.dep for token in tokens) for text, tokens in zip(distinct_texts, tagged, strict=True)}


def overlap(labels: Labels, sample: Mapping[str, Sequence[str]], seed: int) -> OverlapMatrix:
    """Mean multiset F1 of the sentences of every pair of suites."""
    return overlap_matrix(
        {suite: [labels[text] for text in texts] for suite, texts in sample.items()}, pairs=PAIRS, seed=seed
    )


def _judgments(
    spec: RunSpec, resources: Resources, folder: RunFolder, table: pd.DataFrame, source: ContextSource, foreign: str
) -> list[Row]:
    """Does a judgment after acceptable sentences go with how much they share with the target?"""
    variants = folder.read("variants", ["instance_id", "condition", "setting", "edit"])
    variants = variants[variants["setting"].isna() & variants["edit"].notna()]
    instances = {item.id: item for item in resources.instances(spec.benchmark, splits_of(spec.settings)).instances}
    rows: list[Row] = []
    for condition in ("matched_acceptable", "mismatched_acceptable", "unrelated"):
        of_condition = variants[variants["condition"] == condition]
        chosen = (
            of_condition.sample(min(ITEMS, len(of_condition)), random_state=spec.seed).sort_index()
            if len(of_condition)
            else of_condition
        )
        pairs = _targets_and_contexts(chosen, instances, source)
        if not pairs:
            continue
        correct = _after_longest(table, condition).reindex(list(pairs)).to_numpy(dtype=float)
        texts = [text for target, context in pairs.values() for text in (target, *context)]
        for kind, finding in KINDS.items():
            if foreign and kind in TAGGED:
                continue
            labels = label(kind, texts, source, resources)
            shared = [
                float(np.mean([token_f1(labels[target], labels[text]) for text in context]))
                for target, context in pairs.values()
            ]
            correlation = point_biserial(correct, shared)
            factors, detail = {"condition": condition, "setting": finding.name}, {"sentences": SENTENCES}
            rows.append(
                finding_row(declared.OVERLAP_AND_JUDGMENT, "overall", correlation, factors=factors, detail=detail)
            )
    return rows


def _targets_and_contexts(
    chosen: pd.DataFrame, instances: Mapping[str, Instance], source: ContextSource
) -> dict[str, tuple[str, list[str]]]:
    """By item: its acceptable text, and the first sentences of its context."""
    by_item = {}
    for name, stored in zip(chosen["instance_id"], chosen["edit"], strict=True):
        ids = json.loads(stored)["ids"][:SENTENCES]
        if ids:
            item = instances[name]
            target = prompts.option_texts(item)[item.gold or 0]
            by_item[name] = (target, [source.pools.by_id[sentence_id].text for sentence_id in ids])
    return by_item


def _after_longest(table: pd.DataFrame, condition: str) -> pd.Series:
    of_condition = table[(table["condition"] == condition) & (table["setting"] == "")]
    return of_condition.sort_values("length", kind="stable").groupby("instance_id")["correct"].last()


def _cells(
    finding: Finding, suites: Sequence[str], matrix: np.ndarray, counts: np.ndarray, why: str = "too few sentences"
) -> list[Row]:
    rows = []
    for i, j in np.ndindex(matrix.shape):
        reason = why if math.isnan(matrix[i, j]) else ""
        cell = Estimate.point(float(matrix[i, j]), int(counts[i, j]), reason=reason)
        rows.append(finding_row(finding, suites[i], cell, factors={"setting": suites[j]}))
    return rows


def _agreement(name: str, first: np.ndarray, second: np.ndarray, seed: int) -> Row:
    # Cells of a row share a suite, so that they are no independent pairs: whole suites are permuted.
    correlation = mantel(first, second, seed=seed)
    factors, detail = {"setting": name}, {"cells": correlation.cells}
    return finding_row(declared.MATRIX_CORRELATION, "overall", correlation, factors=factors, detail=detail)
