"""How a run's concepts were drawn, and what its shares are once that is allowed for."""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from explorer import display
from explorer.records import RunSpec
from explorer.settings import Settings
from explorer.stats.estimate import Estimate
from explorer.stats.weighted import Strata, weighted_mean
from explorer.studies.ontology import queries as ontology_queries
from explorer.studies.ontology.context import ontology_of_run
from explorer.studies.ontology.declared import GOLD_PREFERRED
from explorer.studies.ontology.study import STUDY
from explorer.ui import resources, texts

HALF = 0.5
RESAMPLES = 500


def in_words(run_id: str, findings: pd.DataFrame, benchmark: str, per_bucket: int) -> str:
    """What a sample that was drawn bucket by bucket says of the whole ontology; "" where it was not drawn so.

    `findings` are those over all concepts. Runs that were concluded before shares were reweighted are reweighted here,
    where the ontology is on this machine.
    """
    if not per_bucket:
        return ""
    sentence = f"Concepts were drawn bucket by bucket, at most {per_bucket} each; other shares are of this sample."
    preferred = findings[(findings["finding"] == GOLD_PREFERRED.name) & (findings["grp"] == "overall")]
    if preferred.empty:
        return sentence
    row = preferred.iloc[0]
    if isinstance(row["detail"], str) and "sample" in json.loads(row["detail"]):
        whole = Estimate(row["value"], row["low"], row["high"], int(row["n"]))
    elif texts.are_here(benchmark):
        whole = _reweighted(resources.ask_store(ontology_queries.preferred, run_id), benchmark, resources.settings())
    else:
        return sentence
    if whole.value != whole.value:
        return sentence
    better = "better than chance" if whole.low > HALF else "no evidence that it does better than chance (50%)"
    return (
        f"Weighted back to the whole ontology, the right ID is likelier than "
        f"{display.share(whole.value, whole.low, whole.high)} of other IDs: {better}. {sentence}"
    )


@st.cache_data(max_entries=16, show_spinner="Reading the ontology", hash_funcs={pd.DataFrame: resources.every_row})
def _reweighted(values: pd.DataFrame, benchmark: str, chosen: Settings) -> Estimate:
    """The mean as of the whole ontology. `values` has the columns bucket, value."""
    spec = RunSpec("ontology", STUDY.version, "", benchmark, settings=STUDY.resolve({}))
    sizes = {
        bucket_range.number: len(bucket_range.rows)
        for bucket_range in ontology_of_run(spec, resources.resources()).ranges
    }
    strata = Strata.of(values["bucket"].astype(int).tolist(), sizes)
    return weighted_mean(values["value"].to_numpy(dtype=float), strata, resamples=RESAMPLES)
