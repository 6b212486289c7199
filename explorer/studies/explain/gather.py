"""The verdicts of a model on a benchmark and every measure that may explain them, a row per item, from stored runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
import pandas as pd

from explorer import prompts
from explorer.popularity import ngrams
from explorer.popularity.counter import Counter
from explorer.records import Instance
from explorer.results import queries_findings
from explorer.results.measures import MEASURES, SCORED
from explorer.results.store import Store
from explorer.studies.explain.predictors import PREDICTORS, of_kind

_DOSE = re.compile(r"dose (\d+)")


@dataclass(frozen=True, slots=True)
class Gathered:
    """What is stored: `table` has instance_id, grp, kind, correct and a column for each measure; `runs` where from."""

    table: pd.DataFrame
    kind: str
    runs: Mapping[str, tuple[str, ...]]

    @property
    def measures(self) -> tuple[str, ...]:
        """Those that are stored of these items, in the order of the registry."""
        return tuple(name for name in PREDICTORS if name in self.table)


def gather(store: Store, model: str, benchmark: str) -> Gathered:
    """The verdicts of the largest runs that judged items as they stand, and what else is stored of the same items.

    A measure that several runs hold (the tasks of BLiMP are runs of their own) is joined from all of them, the largest
    first; a value of another text under the same id is left out.
    """
    runs = queries_findings.runs(store, benchmark)
    runs_of_model = runs[runs["model"] == model]
    items, verdict_runs = _first_value_per_item(
        store, runs_of_model[runs_of_model["study"].isin(SCORED)], MEASURES["correct"].query, SCORED
    )
    if items.empty:
        return Gathered(pd.DataFrame(columns=["instance_id", "grp", "correct"]), "", {})
    table = items.rename(columns={"value": "correct"}).reset_index(drop=True)
    kind = str(table["kind"].iloc[0])
    sources: dict[str, tuple[str, ...]] = {"correct": verdict_runs}
    for name in of_kind(kind):
        predictor = PREDICTORS[name]
        if not predictor.studies:
            continue
        pool = runs if predictor.of_text else runs_of_model
        candidates = pool[pool["study"].isin(predictor.studies)]
        ordered = candidates.assign(other=candidates["model"] != model).sort_values("other", kind="stable")
        values, used = _first_value_per_item(
            store, ordered, predictor.query, predictor.studies, set(table["instance_id"])
        )
        if values.empty:
            continue
        matched = table[["instance_id", "text_hash"]].merge(
            values[["instance_id", "text_hash", "value"]], on=["instance_id", "text_hash"], how="left"
        )["value"]
        if matched.notna().any():
            table[name] = matched.to_numpy(dtype=float)
            sources[name] = used
    doses = table["phenomenon"].fillna("").map(_dose)
    if doses.notna().any():
        table["dose"] = np.log2(1 + doses.to_numpy(dtype=float))
    return Gathered(table, kind, sources)


def _first_value_per_item(
    store: Store, runs: pd.DataFrame, query: str, studies: Sequence[str], wanted: Set[str] = frozenset()
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """A row per item with its value, from the first of these runs that has one, and which runs that were.

    Once all `wanted` items have one no further run is asked.
    """
    frames: list[pd.DataFrame] = []
    used: list[str] = []
    seen: set[str] = set()
    place = runs["study"].map({study: number for number, study in enumerate(studies)})
    for run_id in runs.assign(place=place).sort_values("place", kind="stable")["run_id"].astype(str):
        values = store.frame(
            f"""
            WITH asked AS ({query})
            SELECT asked.instance_id, asked.value, seen.grp, seen.phenomenon, seen.kind, seen.text_hash, seen.benchmark
            FROM asked
            JOIN instances AS seen
                ON seen.run_id = $1
                AND seen.instance_id = asked.instance_id
            WHERE asked.value IS NOT NULL
                AND NOT isnan(asked.value)
            """,
            [run_id],
        )
        values = values[~values["instance_id"].isin(seen)]
        if len(values):
            frames.append(values)
            used.append(run_id)
            seen |= set(values["instance_id"])
        if wanted and wanted <= seen:
            break
    return (pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()), tuple(used)


def _dose(phenomenon: str) -> float:
    match = _DOSE.fullmatch(phenomenon)
    return float(match[1]) if match else np.nan


def with_unigrams(gathered: Gathered, counter: Counter, instances: Mapping[str, Instance]) -> Gathered:
    """The same with the mean frequency of the right option's single tokens, less that of the others, in an index.

    log10 of 1 + count, mean over a text's distinct tokens; items whose text is not here have a gap.
    """
    named_texts = [
        (name, prompts.option_texts(instances[name])) for name in gathered.table["instance_id"] if name in instances
    ]
    flat = [text for _, texts in named_texts for text in texts]
    if not flat:
        return gathered
    of_text = ngrams.of_texts(counter, flat, 1)
    counts = ngrams.count_ngrams(counter, of_text)
    means = iter(
        float(np.mean([np.log10(1 + counts[ngram].count) for ngram in gram.ngrams])) if gram.ngrams else np.nan
        for gram in of_text
    )
    values: dict[str, float] = {}
    for name, texts in named_texts:
        text_means = [next(means) for _ in texts]
        gold = instances[name].gold or 0
        others = [value for option, value in enumerate(text_means) if option != gold]
        values[name] = text_means[gold] - float(np.mean(others)) if others else text_means[gold]
    table = gathered.table.assign(unigrams=gathered.table["instance_id"].map(values))
    return Gathered(table, gathered.kind, {**gathered.runs, "unigrams": (counter.index,)})
