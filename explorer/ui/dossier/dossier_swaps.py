"""What became of an instance whose words were swapped: the swaps, verdict, margin and popularity before and after."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import streamlit as st

from explorer import display
from explorer.rows.builders import instance_of
from explorer.ui import layout, show, texts
from explorer.ui.columns import link_column, number_column, text_column
from explorer.ui.dossier.dossier_rows import DossierRows, DossierRun, run_columns
from explorer.ui.instance import ngram_strip
from explorer.ui.layout import Chosen
from explorer.ui.perturbation import pairs as perturbation_pairs
from explorer.ui.scored_options import verdict_of

POS = {"N": "nouns", "V": "verbs", "NV": "nouns and verbs"}
SHOWN = 3  # pairs of texts


def draw_dossier_swaps(dossier: DossierRows, chosen: Chosen) -> None:
    """A row per run and part of speech; below, the texts of the chosen model with the swaps marked."""
    gold = dossier.runs["gold"].iloc[0]
    option = 0 if gold != gold or gold is None else int(gold)
    runs = {run.run_id: run for run in dossier.run_list()}
    rows = [_row(dossier, runs[row["run_id"]], row, option) for row in dossier.swaps.to_dict("records")]
    if not rows:
        show.note("These runs stored no swaps of the instance.")
        return
    show.table(
        pd.DataFrame(rows),
        "swaps",
        columns={
            "model": text_column("Model", width=120),
            "words": text_column("Words", width=125),
            "swaps": text_column("Swaps", width="medium"),
            "verdict": text_column("Verdict", width=115),
            "margin": text_column("Margin", "nats, before → after", width=120),
            "ips": text_column("IPS", "of the right option, before → after", width=105),
            "bertscore": number_column("BERTScore", 3, width="small"),
            "run": link_column("Run"),
        },
    )
    _texts(dossier, chosen)
    layout.link_to(
        "Perturbation", "Swap other words of it in the lab", facet="Live lab", model=chosen.model,
        benchmark=chosen.benchmark, instance=dossier.instance_id,
    )  # fmt: skip


def describe(edit: Any) -> str:
    """The swaps of a variant in words: a → b, c → d."""
    swaps = perturbation_pairs.swaps_of(edit)
    pairs = [f"{swap.word} → {swap.substitute}" for swap in swaps]
    return ", ".join(dict.fromkeys(pairs))


def _row(dossier: DossierRows, run: DossierRun, row: Any, option: int) -> dict[str, Any]:
    setting, run_id = row["setting"], run.run_id
    before: dict[str, Any] = {"condition": "original", "setting": None, "part": None}
    after: dict[str, Any] = {"condition": "perturbed", "setting": setting, "part": None}
    verdicts = [verdict_of(dossier.value(run_id, "correct", **side)) for side in (before, after)]
    swaps = describe(row["edit"]) or ("nothing to swap" if row["accepted"] else f"rejected: {row['reason']}")
    flag = f" ({row['reason']})" if row["accepted"] and row["reason"] not in ("", "unchanged") else ""
    numbers = {
        "before": dossier.value(run_id, "margin", "logprob", option=-1, **before),
        "after": dossier.value(run_id, "margin", "logprob", option=-1, **after),
        "ips_before": dossier.value(run_id, "ips", option=option, **before),
        "ips_after": dossier.value(run_id, "ips", option=option, **after),
    }
    return {
        **run_columns(run),
        **numbers,
        "words": POS.get(setting, setting),
        "swaps": swaps + flag,
        "verdict": " → ".join(name.replace("none", display.MISSING) for name in verdicts),
        "margin": _arrow(numbers["before"], numbers["after"]),
        "ips": _arrow(numbers["ips_before"], numbers["ips_after"]),
        "bertscore": dossier.value(run_id, "bertscore", setting=setting),
        "run_id": run_id,
    }


def _arrow(before: float, after: float) -> str:
    if math.isnan(before) and math.isnan(after):
        return ""
    return f"{display.number(before)} → {display.number(after)}"


def _texts(dossier: DossierRows, chosen: Chosen) -> None:
    """The right option before and after, where the run kept the texts."""
    st.html(f"<style>{ngram_strip.style()}</style>")
    seen = dossier.runs.set_index("run_id")["payload"]
    accepted = dossier.swaps[dossier.swaps["accepted"]].rename(columns={"payload": "variant"})
    accepted = accepted.assign(instance_id=dossier.instance_id, payload=accepted["run_id"].map(seen))
    shown: set[str] = set()
    for row in texts.filled(accepted, chosen.benchmark).to_dict("records"):
        if not isinstance(row["payload"], str) or not isinstance(row["variant"], str) or not describe(row["edit"]):
            continue
        original, variant = instance_of(row["payload"]), instance_of(row["variant"])
        pair = perturbation_pairs.pair_html(
            perturbation_pairs.right_text(original),
            perturbation_pairs.right_text(variant),
            perturbation_pairs.swaps_of(row["edit"]),
        )
        if pair not in shown and len(shown) < SHOWN:
            shown.add(pair)
            st.html(pair)
