"""Measures across studies as a table: a row per instance of a benchmark, a column per measure, each from one run."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from explorer import prompts
from explorer.popularity import indexes, manifest, ngrams
from explorer.results import queries_findings
from explorer.results.measures import MEASURES
from explorer.results.store import Store
from explorer.runs import imported
from explorer.settings import Settings
from explorer.studies.declared import COMPUTED_FROM
from explorer.ui import bos_note, corpus_mark, instance_list, layout, resources, texts
from explorer.ui.layout import Chosen
from explorer.writing import pieces

ABOUT = ["instance_id", "grp", "phenomenon", "field"]


@dataclass(frozen=True, slots=True)
class Gathered:
    """What is stored about a benchmark's instances and one model.

    table    instance_id, grp, phenomenon, field, and a column for each measure that varies or not
    sources  measure → the run that it is from
    other    instances that a run saw with another text than the first run did; they are left out of that run's column
    """

    table: pd.DataFrame
    sources: Mapping[str, Mapping[str, Any]]
    other: int

    @property
    def measures(self) -> list[str]:
        """The measures that are there, in the order of the registry."""
        return list(self.sources)

    def name(self, measure: str) -> str:
        """What a measure is called, with the mark of counts from an index that is not the model's data."""
        return f"{MEASURES[measure].title} {mark_of(self, measure)}".rstrip()

    def title(self, measure: str) -> str:
        """The same with its unit."""
        return f"{self.name(measure)} ({MEASURES[measure].unit})"


def gather(chosen: Chosen) -> Gathered:
    """The measures of the chosen model on its benchmark; what is about texts alone may be from another's run."""
    return resources.ask_shared(_gather, chosen.model, chosen.benchmark)


def _gather(store: Store, model: str, benchmark: str) -> Gathered:
    runs = queries_findings.runs(store, benchmark)
    sources: dict[str, Mapping[str, Any]] = {}
    for name, measure in MEASURES.items():
        for source in _candidates(runs, measure.studies, model, of_text=measure.of_text):
            if int(queries_findings.size(store, name, source["run_id"])["n"].iloc[0]):
                sources[name] = source
                break
    if not sources:
        return Gathered(pd.DataFrame(columns=ABOUT), sources, 0)
    runs_of_measures = tuple((name, str(source["run_id"])) for name, source in sources.items())
    table = queries_findings.table(store, runs_of_measures)
    return Gathered(table.drop(columns="other_text"), sources, int(table["other_text"].sum()))


def lengths(chosen: Chosen) -> pd.Series | None:
    """The words of each instance's right text, of its first where none is right, in the order of what is gathered.

    None where the texts are not here, or all are as long.
    """
    if not texts.are_here(chosen.benchmark):
        return None
    return resources.ask_shared(_lengths, chosen.model, chosen.benchmark)


def _lengths(_: Store, model: str, benchmark: str) -> pd.Series | None:
    table = gather(Chosen(model, benchmark)).table
    known = instance_list.listing(benchmark).by_id
    words = [
        len(list(pieces(prompts.option_texts(instance)[instance.gold or 0])))
        if instance is not None and instance.options
        else math.nan
        for instance in (known.get(str(name)) for name in table["instance_id"])
    ]
    return pd.Series(words, index=table.index, dtype=float) if pd.Series(words).nunique() > 1 else None


def mark_of(gathered: Gathered, name: str) -> str:
    """The mark of a measure whose counts come from an index that is not the model's data."""
    source = gathered.sources.get(name)
    if source is None or name not in ("ips", "relative_difference"):
        return ""
    index = str(json.loads(str(source["spec"]))["settings"].get("index") or "")
    return corpus_mark.mark_of_index(index, str(source["model"])) if index else ""


def unigrams(ids: Sequence[str], chosen: Chosen) -> pd.Series | None:
    """The mean log10 of 1 + count of the single tokens of each instance's right text, by instance; none where an index
    or the texts are not here.

    A right text of common words has more popular n-grams and a lower loss, whatever the model knows of it.
    """
    index = index_of(chosen)
    return _unigrams(tuple(ids), chosen.benchmark, index, resources.settings()) if index else None


def index_of(chosen: Chosen) -> str:
    """The index that single tokens are counted in; "" where it or the texts are not here."""
    index = indexes.suggest_index(chosen.model) or indexes.GLASSBOX
    return index if texts.are_here(chosen.benchmark) and _is_here(index) else ""


def _is_here(index: str) -> bool:
    return (resources.settings().indexes / index / manifest.FILE).is_file()


@st.cache_data(max_entries=8, show_spinner="Counting single tokens")
def _unigrams(ids: tuple[str, ...], benchmark: str, index: str, _settings: Settings) -> pd.Series:
    known = instance_list.listing(benchmark).by_id
    right = {
        name: prompts.option_texts(rated)[rated.gold or 0]
        for name in ids
        if (rated := known.get(name)) is not None and rated.options
    }
    if not right:
        return pd.Series(dtype=float)
    counter = resources.resources().counter(index)
    of_text = ngrams.of_texts(counter, list(right.values()), 1)
    counts = ngrams.count_ngrams(counter, of_text)
    means = [
        sum(math.log10(1 + counts[gram].count) for gram in each.ngrams) / len(each.ngrams) if each.ngrams else math.nan
        for each in of_text
    ]
    return pd.Series(means, index=list(right), dtype=float)


def sources_table(gathered: Gathered) -> pd.DataFrame:
    """A row per measure: where it is from, what more of it means, and how many instances have it."""
    return pd.DataFrame(
        [
            {
                "measure": gathered.name(name),
                "unit": MEASURES[name].unit,
                "computed_from": " and ".join(COMPUTED_FROM.get(name, ())) or "the file",
                "bos": bos_note.policy_of_run(source),
                "direction": MEASURES[name].direction,
                "n": int(gathered.table[name].notna().sum()),
                "study": source["study"],
                "model": imported.marked_name(layout.model_title(str(source["model"])), str(source["spec"])),
                "status": source["status"],
                "run_id": source["run_id"],
                "look": layout.address_of("Runs", shown=str(source["run_id"])),
            }
            for name, source in gathered.sources.items()
        ]
    )


def warn_of_other_texts(gathered: Gathered) -> None:
    """A warning where runs saw different texts under the same ids."""
    if gathered.other:
        st.warning(
            f"{gathered.other:,} values are left out: their run saw another text under the same id than the others did."
        )


def _candidates(runs: pd.DataFrame, studies: tuple[str, ...], model: str, *, of_text: bool) -> list[Mapping[str, Any]]:
    """The runs that may hold a measure, the one wanted most first: the model's own, by study, complete and large."""
    usable = runs[runs["study"].isin(studies) & ((runs["model"] == model) | of_text)]
    ranked = usable.assign(own=usable["model"] == model, place=usable["study"].map(studies.index))
    ranked = ranked.sort_values(["own", "place"], ascending=[False, True], kind="stable")
    return [{str(name): value for name, value in row.items()} for row in ranked.to_dict("records")]
