"""Which attack finds texts that a model was trained on, at few false alarms, by labels from outside the model."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st

from explorer import display, prompts
from explorer.figures.low_rates import low_rates
from explorer.glassbox import starters
from explorer.popularity import indexes, verbatim
from explorer.records import Instance
from explorer.stats.true_positive_rate import RATES
from explorer.studies.memorization import membership
from explorer.studies.memorization import queries as memorization_queries
from explorer.studies.memorization.membership import JUDGED, AttackResult
from explorer.ui import corpus_mark, layout, links, resources, show, texts
from explorer.ui.columns import count_column, number_column, share_column
from explorer.ui.corpus import asking
from explorer.ui.layout import Chosen
from explorer.ui.memorization.figure_found import found_at

DOSES, CONTROL, STORED, INDEX, GROUP, SPLIT = "planted", "control", "stored", "index", "group", "split"
SOURCES = {
    DOSES: "what is planted in the glass box",
    CONTROL: "the glass box, as a control",
    STORED: "the run itself",
    INDEX: "an index of the corpus",
    GROUP: "the benchmark's groups",
    SPLIT: "the benchmark's splits",
}
DRAWN = 6  # lines of the figure
MOST = 400  # texts that are looked up in an index while a reader waits
RESAMPLES = 500


def pick_labels(run_id: str, chosen: Chosen) -> tuple[str, str]:
    """Where the labels come from, and the run that calibrates the loss; "" for none."""
    source = _pick_source(run_id, chosen)
    return source, _pick_reference(run_id, chosen) if source not in ("", DOSES, CONTROL) else ""


def draw_membership_view(run_id: str, source: str, reference: str, chosen: Chosen) -> None:
    """The attacks of one run, or of all runs on what is planted, judged by labels."""
    if not source:
        show.nothing_yet(
            "No text here is known to have been seen",
            "An attack can be judged only where it is known which texts were seen. Here that could be told by an "
            "index of the model's training corpus, and none is on this machine.",
        )
        return
    labeled = _labeled(run_id, reference, source, chosen)
    if labeled is None:
        return
    member, many = labeled["member"], labeled["member"].notna()
    if not (member == 1).any() or not (member == 0).any():
        imbalance = "no text is known to be a member" if not (member == 1).any() else "every text is a member"
        show.note(f"Nothing can be told apart: by these labels {imbalance}.")
        return
    results = [result for result in _judge_labeled(labeled) if not math.isnan(result.area.value)]
    results.sort(key=lambda result: (-_value(result.at[0].value), -_value(result.at[1].value), -result.area.value))
    show.says(*in_words(results))
    with st.container(key="lx-membership"):
        left, right = st.columns([3, 2], gap="medium")
    with left:
        curves = {
            JUDGED[result.attack].title: (result.curve.false_positive, result.curve.true_positive)
            for result in results[:DRAWN]
        }
        show.chart(
            low_rates(curves, RATES), key=f"membership:{source}", n=int(many.sum()),
            alt="Members found against false alarms, both axes logarithmic, one line per attack",
        )  # fmt: skip
    with right:
        show.chart(
            found_at(results, JUDGED), key=f"membership found:{source}", n=int(many.sum()),
            alt="Members found at 1% and 5% false alarms by each attack, with 95% intervals",
        )  # fmt: skip
    show.note(_labels_in_words(labeled, source))
    _table(results, run_id)


def in_words(results: list[AttackResult]) -> list[str]:
    """The attack that finds most members at each rate of false alarms, and the best area under the curve."""
    sentences = []
    for number, rate in enumerate(RATES):
        known = [result for result in results if not math.isnan(result.at[number].value)]
        if not known:
            reason = next((result.at[number].reason for result in results), "")
            sentences.append(f"At {rate:.0%} false alarms nothing can be told: {reason}.")
            continue
        best = max(known, key=lambda result: result.at[number].value)
        at = best.at[number]
        share = display.share(at.value, at.low, at.high)
        if math.isnan(at.low):
            many = "1 text that is a member" if at.members == 1 else f"{at.members:,} texts that are members"
            sentences.append(
                f"At {rate:.0%} false alarms {JUDGED[best.attack].title} finds most members, {share} of {many}: too "
                "few for an interval."
            )
        elif at.low <= rate:
            sentences.append(
                f"At {rate:.0%} false alarms no attack surely finds more members than chance; most {share}."
            )
        else:
            sentences.append(f"At {rate:.0%} false alarms {JUDGED[best.attack].title} finds most members: {share}.")
    area = max(results, key=lambda result: result.area.value, default=None)
    if area is not None:
        ends = (area.area.low, area.area.high)
        interval = "no interval" if math.isnan(ends[0]) else " to ".join(map(display.number, ends))
        sentences.append(
            f"{JUDGED[area.attack].title} has the largest area under the curve, {display.number(area.area.value)} "
            f"({interval})."
        )
    return sentences


def _value(value: float) -> float:
    return -1.0 if math.isnan(value) else value


# --- labels


def _pick_source(run_id: str, chosen: Chosen) -> str:
    """Where the labels come from: what can be had of these, the surest first; "" where nothing can."""
    instances = _instances(chosen.benchmark)
    offered = []
    if _is_planted(chosen):
        offered.append(DOSES)
    if len(resources.ask_store(memorization_queries.labels, run_id)):
        offered.append(STORED)
    local_indexes = corpus_mark.local_names(resources.settings())
    if any(indexes.is_pretraining_data(name, chosen.model) for name in local_indexes) or links.recall("index"):
        offered.append(INDEX)
    for name in (GROUP, SPLIT):
        labels = membership.labels_of_column([getattr(instance, name) for instance in instances])
        if np.nansum(labels == 1) and np.nansum(labels == 0):
            offered.append(name)
    if _is_planted_set(chosen.benchmark) and DOSES not in offered:
        offered.append(CONTROL)
    if not offered:
        return ""
    return links.pick(
        st.selectbox, "Labels from", "labels", offered, default=offered[0], format_func=SOURCES.__getitem__, width=280
    )


def _is_planted(chosen: Chosen) -> bool:
    planted = indexes.is_planted(indexes.training_corpus(chosen.model) or "")
    return planted and _is_planted_set(chosen.benchmark)


def _is_planted_set(benchmark: str) -> bool:
    return benchmark in starters.SETS and texts.are_here(benchmark)


def _instances(benchmark: str) -> tuple[Instance, ...]:
    return tuple(resources.instances(benchmark).instances) if texts.are_here(benchmark) else ()


def _pick_reference(run_id: str, chosen: Chosen) -> str:
    """Another model's run on the same texts, which calibrates the loss; "" for none."""
    runs = resources.ask_store(memorization_queries.runs, chosen.benchmark)
    others = runs[runs["model"] != chosen.model].drop_duplicates("model").set_index("run_id")["model"]
    if others.empty:
        return ""
    names = {"": "no model", **{str(name): layout.model_title(str(model)) for name, model in others.items()}}
    return links.pick(
        st.selectbox, "Loss calibrated by", "reference", list(names), default=str(others.index[0]),
        format_func=names.__getitem__, width=230,
    )  # fmt: skip


def _labeled(run_id: str, reference: str, source: str, chosen: Chosen) -> pd.DataFrame | None:
    """A row per text: its scores and `member`, 1, 0 or nan; none where an index may not be asked yet."""
    if source in (DOSES, CONTROL):
        return _texts_with_planted_labels(chosen)
    table = _right_texts(resources.ask_store(membership.texts, run_id, reference), chosen.benchmark)
    if source == STORED:
        stored = resources.ask_store(memorization_queries.labels, run_id)
        return table.merge(stored, on=["instance_id", "option"], how="left")
    by_id = {instance.id: instance for instance in _instances(chosen.benchmark)}
    if source in (GROUP, SPLIT):
        values = [getattr(by_id[name], source) if name in by_id else "" for name in table["instance_id"]]
        return table.assign(member=membership.labels_of_column(values))
    index = asking.pick_index(chosen.model)
    corpus_mark.draw_corpus_mark(index, chosen.model)
    table = table[table["instance_id"].isin(list(by_id))]
    if not asking.may_ask(index):
        return None
    if len(table) > MOST:
        show.note(f"The first {MOST:,} of {len(table):,} texts are looked up; a run with --set labels=index does all.")
        table = table.head(MOST)
    options_asked = zip(table["instance_id"], table["option"], strict=True)
    whole = [prompts.option_texts(by_id[name])[option] for name, option in options_asked]
    traced = [asking.traced(" ".join(text.split()), index) for text in whole]
    return table.assign(member=[traced_text.member for traced_text in traced])


def _right_texts(table: pd.DataFrame, benchmark: str) -> pd.DataFrame:
    """The right text of each instance, since a wrong one is a text of another sort, whoever saw what."""
    gold = {instance.id: instance.gold or 0 for instance in _instances(benchmark)}
    return table[table["option"] == table["instance_id"].map(gold).fillna(0)]


def _texts_with_planted_labels(chosen: Chosen) -> pd.DataFrame:
    """The model's texts of all starter sets, `member` 1 where the glass-box corpus holds the text."""
    parts = []
    for benchmark in starters.SETS:
        if benchmark in starters.LABELED or not texts.are_here(benchmark):
            continue
        runs = resources.ask_store(memorization_queries.runs, benchmark)
        runs_of_model = runs[runs["model"] == chosen.model]
        # A reference that read the texts would bring in what it knows of them: only models that did not.
        trained_on_planted = [indexes.is_planted(indexes.training_corpus(str(model)) or "") for model in runs["model"]]
        others = runs[(runs["model"] != chosen.model) & ~pd.Series(trained_on_planted, runs.index, dtype=bool)]
        if runs_of_model.empty:
            continue
        reference = str(others["run_id"].iloc[0]) if len(others) else ""
        table = _right_texts(
            resources.ask_store(membership.texts, str(runs_of_model["run_id"].iloc[0]), reference), benchmark
        )
        dose_by_id = starters.doses(_instances(benchmark))
        member = membership.labels_of_doses([dose_by_id.get(name, math.nan) for name in table["instance_id"]])
        parts.append(table.assign(member=member, set=benchmark))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame({"member": []})


# --- judging


def _judge_labeled(labeled: pd.DataFrame) -> list[AttackResult]:
    scores = {
        name: labeled[name].to_numpy(dtype=float) for name in JUDGED if name in labeled and labeled[name].notna().any()
    }
    return _judge(pd.DataFrame({**scores, "member": labeled["member"].to_numpy(dtype=float)}))


@st.cache_data(max_entries=32, show_spinner="Judging the attacks", hash_funcs={pd.DataFrame: resources.every_row})
def _judge(labeled: pd.DataFrame) -> list[AttackResult]:
    scores = {str(name): labeled[name].to_numpy() for name in labeled if name != "member"}
    return membership.judge_attacks(scores, labeled["member"].to_numpy(), resamples=RESAMPLES)


def _labels_in_words(labeled: pd.DataFrame, source: str) -> str:
    members, others = int((labeled["member"] == 1).sum()), int((labeled["member"] == 0).sum())
    unknown = len(labeled) - members - others
    sentence = f"{members:,} texts the model saw, {others:,} it did not" + (f", {unknown:,} unknown" if unknown else "")
    of = f", of {labeled['set'].nunique()} starter sets together" if "set" in labeled else ""
    rule = f" {verbatim.RULE} In part and unknown are left out." if source == INDEX else ""
    if source == CONTROL:
        sentence = f"{members:,} texts that were planted there, {others:,} that were not"
        rule = " The model never read that corpus: what an attack finds here are two sorts of texts, not what was seen."
    return (
        f"{sentence[0].upper()}{sentence[1:]}{of}; right texts alone, as a wrong one is a text of another sort.{rule}"
    )


def _table(results: list[AttackResult], run_id: str) -> None:
    rows = []
    for result in results:
        row = {
            "attack": JUDGED[result.attack].title,
            "area": result.area.value,
            "low": result.area.low,
            "high": result.area.high,
            "n": result.area.n,
            "left_out": result.area.left_out,
        }
        for at in result.at:
            name = f"{round(100 * at.rate)}"
            row |= {f"at{name}": at.value, f"low{name}": at.low, f"high{name}": at.high, f"why{name}": at.reason}
        rows.append(row)
    columns: Mapping[str, object] = {
        "attack": "Attack", "area": number_column("AUC", 3), "low": number_column("From", 3, "95% interval"),
        "high": number_column("To", 3), "at1": share_column("Found at 1%"), "low1": share_column("From, 1%"),
        "high1": share_column("To, 1%"), "at5": share_column("Found at 5%"), "low5": share_column("From, 5%"),
        "high5": share_column("To, 5%"), "n": count_column("n", "texts"), "left_out": count_column("Left out"),
    }  # fmt: skip
    show.folded_table(pd.DataFrame(rows), f"membership {run_id}", title="Every attack", columns=columns)
