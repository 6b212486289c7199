"""Prefix perturbations: do mild changes of matched contexts weaken their effect? (Sinha et al. 2023, section 5)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from explorer.errors import RunError
from explorer.records import Factor, RunSpec
from explorer.rows.builders import Row, finding_row
from explorer.runs.folder import RunFolder
from explorer.stats.bootstrap import Bootstrapped, bootstrap_mean
from explorer.stats.overlap import token_f1
from explorer.stats.spearman import spearman
from explorer.studies.priming import declared
from explorer.studies.priming.run_settings import context_source_of
from explorer.variants import running_text
from explorer.variants.prefix_edits import PREFIX_EDITS, edit_sentence

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.studies.priming.context import ContextSource


MOST_AFFECTED = 20  # suites, as in the paper
SAMPLE = 50  # sentences of a suite whose similarity to their edited form is measured


def is_measured(item_id: str) -> bool:
    """Whether an item is of the half on which perturbations are measured; the other half chooses the suites."""
    # Suites chosen for a large effect show a smaller one when measured again (regression to the mean), so that one half
    # of the items chooses and the other is measured. By a hash of the id: two runs and two machines part them alike.
    return hashlib.blake2b(item_id.encode(), digest_size=8).digest()[0] % 2 == 1


def suites_of_run(runs: Path, run_id: str) -> list[str]:
    """The most affected suites that a finished run concluded."""
    findings = RunFolder.find(runs, run_id).read("findings", ["finding", "grp"])
    suites = findings.loc[findings["finding"] == declared.MOST_AFFECTED.name, "grp"].tolist()
    if not suites:
        raise RunError(
            f"The run {run_id} names no most affected suites, expected a finished priming run with matched contexts. "
            "Finish it first, or leave edits_from empty."
        )
    return suites


def summarize(spec: RunSpec, resources: Resources, table: pd.DataFrame) -> list[Row]:
    """Rows of `findings`: the most affected suites, each edit's curve and effect, and its relation to similarity."""
    halves, from_edits = bool(spec.settings["edit_halves"]), bool(spec.settings["edits_from"])
    measured = table["instance_id"].map(is_measured) if halves else pd.Series(True, table.index)
    affected = most_affected(table if not halves or from_edits else table[~measured])
    rows = [
        finding_row(declared.MOST_AFFECTED, str(suite), value, factors={"part": rank})
        for rank, (suite, value) in enumerate(affected.items())
    ]
    if not spec.settings["edits"] or affected.empty:
        return rows
    of_affected = table[measured & table["grp"].isin(affected.index) & (table["length"] > 0)]
    source = context_source_of(spec, resources)
    edits = [name for name in PREFIX_EDITS if name in {"none", *spec.settings["edits"]}]
    for condition in ("matched_acceptable", "matched_unacceptable"):
        of_condition = of_affected[of_affected["condition"] == condition]
        if len(of_condition):
            rows += _one_side(of_condition, condition, edits, source, spec.seed, list(affected.index))
    return rows


def most_affected(table: pd.DataFrame) -> pd.Series:
    """Suites by the largest change of accuracy, up or down, under their longest matched contexts; at most 20.

    A suite counts by the mean of |change| over the acceptable and the unacceptable contexts.
    """
    plain = table[(table["setting"] == "") & (table["length"] > 0) & table["condition"].str.startswith("matched_")]
    if plain.empty:
        return pd.Series(dtype=float)
    means = plain.groupby(["grp", "condition", "length"], sort=False)["delta"].mean().dropna().reset_index()
    longest = means.sort_values("length", kind="stable").groupby(["grp", "condition"], sort=False).tail(1)
    size = longest["delta"].abs().groupby(longest["grp"], sort=False).mean()
    return size.sort_values(ascending=False, kind="stable").head(MOST_AFFECTED)


def _one_side(
    of_condition: pd.DataFrame,
    condition: str,
    edits: Sequence[str],
    source: ContextSource,
    seed: int,
    suites: Sequence[str],
) -> list[Row]:
    rows, effects, likeness = [], [], []
    for edit in edits:
        name = "" if edit == "none" else edit
        of_edit = of_condition[of_condition["setting"] == name]
        factors = {"condition": condition, "setting": edit}
        for length, at in of_edit.groupby("length", sort=True):
            mean = bootstrap_mean(at["delta"].to_numpy(), at["grp"].to_numpy(), macro=True)
            at_length: dict[str, Factor] = {**factors, "length": int(float(str(length)))}
            rows.append(finding_row(declared.EDIT_CURVE, "overall", mean, factors=at_length))
        effect = _effect(of_edit)
        similarity = similarity_to_plain(source, edit, condition, suites, seed)
        detail = {"similarity": None if math.isnan(similarity) else similarity, "suites": effect.units}
        effects.append(effect.value)
        likeness.append(similarity)
        rows.append(finding_row(declared.EDIT_EFFECT, "overall", effect, factors=factors, detail=detail))
    correlation = spearman(likeness, effects)
    rows.append(finding_row(declared.EDIT_CORRELATION, "overall", correlation, factors={"condition": condition}))
    return rows


def _effect(of_edit: pd.DataFrame) -> Bootstrapped:
    """The mean over lengths of the change of accuracy, each suite weighing the same, with its interval over suites."""
    # Over suites: items of a suite are judged after contexts of the same pool. Lengths are averaged first, since they
    # are the same items asked again.
    by_length = of_edit.groupby(["grp", "length"], sort=False)["delta"].mean().groupby(level="grp", sort=False).mean()
    return bootstrap_mean(by_length.to_numpy())


def similarity_to_plain(source: ContextSource, edit: str, condition: str, suites: Sequence[str], seed: int) -> float:
    """Mean multiset token F1 of context sentences and their edited forms; 1 where nothing is edited."""
    side = source.pools.acceptable if condition.endswith("_acceptable") else source.pools.unacceptable
    chance = np.random.default_rng(seed)
    values = []
    for suite in suites:
        pool = side.get(suite, ())
        for place in sorted(chance.permutation(len(pool))[:SAMPLE]):
            sentence = pool[place]
            edited = edit_sentence(edit, sentence.text, key=f"{seed}|{sentence.id}", common=source.pools.common)
            values.append(token_f1(*(source.encode(running_text.as_target(text)) for text in (sentence.text, edited))))
    return float(np.mean(values)) if values else math.nan
