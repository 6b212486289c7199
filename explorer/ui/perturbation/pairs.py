"""Pairs of an original and its perturbed version, with the swaps marked."""

from __future__ import annotations

import dataclasses
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from explorer import display, prompts
from explorer.records import Instance
from explorer.rows.builders import instance_of
from explorer.studies.perturbation import queries as perturbation_queries
from explorer.ui import layout, links, resources, show, texts
from explorer.ui import scored_options as answers
from explorer.ui.instance import ngram_strip
from explorer.ui.layout import Chosen

PAGE = 5


@dataclass(frozen=True, slots=True)
class StoredSwap:
    """A swap as a variant's edit tells it; a run that keeps no texts has neither the word's form nor its definition."""

    original: str
    lemma: str
    synset: str
    definition: str
    substitute: str

    @property
    def word(self) -> str:
        """The word that was swapped: as it stood, else its lemma."""
        return self.original or self.lemma


def draw_perturbation_pairs(run_id: str, pos: str, chosen: Chosen, picked: Sequence[str] = ()) -> None:
    """The pairs that were picked, else a few of the fate that is asked for."""
    st.subheader(f"{len(picked):,} picked pairs" if picked else "Pairs", anchor=False)
    if picked:
        _page(
            resources.ask_store(perturbation_queries.pairs_of, run_id, pos, tuple(picked)),
            f"{run_id}:{pos}:picked",
            chosen,
        )
        return
    fates = resources.ask_store(perturbation_queries.fates, run_id, pos).set_index("fate")["n"]
    some = [fate for fate in perturbation_queries.FATES if fates[fate]]
    if not some:
        return
    fate = links.pick(
        st.selectbox, "Show", "fate", some, default=some[0], format_func=lambda name: f"{name}: {fates[name]:,}"
    )
    _page(resources.ask_store(perturbation_queries.pairs, run_id, pos, fate), f"{run_id}:{pos}:{fate}", chosen)


def _page(swapped_pairs: pd.DataFrame, key: str, chosen: Chosen) -> None:
    """A few of the pairs, and a way to the others."""
    pages = -(-len(swapped_pairs) // PAGE)
    page = st.pagination(pages, key=f"pairs:{key}") if pages > 1 else 1
    st.html(f"<style>{ngram_strip.style()}</style>")
    shown = texts.filled(swapped_pairs.iloc[(page - 1) * PAGE : page * PAGE], chosen.benchmark)
    if shown["payload"].isna().any():
        texts.offer(chosen.benchmark)
    for row in shown.to_dict("records"):
        _pair(row, chosen)


def pair_html(original: str, changed: str, swaps: Sequence[StoredSwap]) -> str:
    """The two texts over each other, what differs marked in both; a hover tells the sense."""
    senses = {swap.substitute.lower(): _sense(swap) for swap in swaps}
    before, after = prompts.differing_spans(original, changed)
    return (
        '<div class="lx-pair">'
        f'<p class="lx-sentence">{_marked_html(original, before, {})}</p>'
        f'<p class="lx-sentence">{_marked_html(changed, after, senses)}</p></div>'
    )


def swaps_of(edit: Any) -> list[StoredSwap]:
    """The swaps that a variant's edit tells of."""
    if not isinstance(edit, str):
        return []
    names = [field.name for field in dataclasses.fields(StoredSwap)]
    return [
        StoredSwap(**{name: str(swap.get(name) or "") for name in names}) for swap in json.loads(edit).get("swaps", [])
    ]


def _sense(swap: StoredSwap) -> str:
    """The swapped word with its sense; a run that keeps no text names the synset alone."""
    return f"{swap.word}: {swap.definition or swap.synset}"


def right_text(instance: Instance) -> str:
    """The text that stands for an instance: of its right option, of its first text where none is right."""
    return prompts.option_texts(instance)[instance.gold or 0]


def _pair(row: Mapping[Any, Any], chosen: Chosen) -> None:
    rejected = not row["accepted"]
    if not isinstance(row["payload"], str):
        st.html(f'<p class="lx-where">{html.escape(display.instance(row["instance_id"]))}</p>')
    elif not isinstance(row["variant"], str):
        old = instance_of(row["payload"])
        st.html(f'<p class="lx-sentence">{html.escape(right_text(old))}</p>')
    else:
        old = instance_of(row["payload"])
        st.html(pair_html(right_text(old), right_text(instance_of(row["variant"])), swaps_of(row["edit"])))
    about = {"model": chosen.model, "benchmark": chosen.benchmark, "instance": str(row["instance_id"])}
    with st.container(horizontal=True, vertical_alignment="center"):
        show.note(f"Rejected: {row['reason']}." if rejected else _describe(row))
        layout.link_to("Perturbation", "Open in the lab", **about, facet="Live lab")


def _describe(row: Mapping[Any, Any]) -> str:
    outcome = f"{answers.verdict_of(row['correct_before'])}, then {answers.verdict_of(row['correct_after'])}"
    numbers = [
        f"{name} {display.number(row[before])} → {display.number(row[after])}"
        for name, before, after in (("margin", "margin_before", "margin_after"), ("IPS", "ips_before", "ips_after"))
        if pd.notna(row[before]) and pd.notna(row[after])
    ]
    flags = [row["reason"]] if row["reason"] else []
    return "; ".join([outcome, *numbers, *flags])


def _marked_html(text: str, spans: Sequence[tuple[int, int]], senses: Mapping[str, str]) -> str:
    html_pieces, last = [], 0
    for start, end in spans:
        title = senses.get(text[start:end].lower(), "")
        hint = f' title="{html.escape(title, quote=True)}"' if title else ""
        html_pieces += [html.escape(text[last:start]), f"<mark{hint}>{html.escape(text[start:end])}</mark>"]
        last = end
    return "".join([*html_pieces, html.escape(text[last:])])
