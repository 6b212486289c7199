"""One perturbation run: each instance before and after, pairs with their swaps marked, flips and distributions."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pandas as pd
import streamlit as st

from explorer import display
from explorer.figures import theme
from explorer.stats.bootstrap import bootstrap_mean
from explorer.stats.two_estimates import difference_of
from explorer.studies.perturbation import queries as perturbation_queries
from explorer.studies.popularity.groups import title_of
from explorer.ui import (
    conclusions,
    corpus_mark,
    instances_behind,
    layout,
    links,
    resources,
    run_names,
    show,
    slices,
    texts,
    undecided_verdicts,
)
from explorer.ui.columns import count_column, number_column, share_column, text_column
from explorer.ui.layout import Chosen
from explorer.ui.perturbation import likeness, pairs, tables
from explorer.ui.perturbation.figure_distributions import distributions
from explorer.ui.perturbation.figure_margins import COLORS, before_and_after

POS = tables.POS
WIDTH = 0.25
DOTS = theme.FEW_DOTS  # more would be drawn by the graphics card, which takes a page change over its time


def draw_perturbation_run(chosen: Chosen) -> None:
    """The chosen model's run, then the changes of all runs."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pos = links.pick(
            st.segmented_control, "Words swapped", "pos", list(POS), default="NV", required=True, format_func=POS.get
        )
        with show.options("perturbation:options"):
            run_id = pick(chosen)
            slice_picked = slices.pick(chosen.benchmark)
    if run_id:
        layout.about_run(run_id)
        settings = settings_of(run_id)
        if pos in (settings.get("pos") or POS):
            _run(run_id, pos, slice_picked, settings, chosen)
        else:
            show.note(f"This run did not swap {POS[pos].lower()}.")
    likeness.draw_likeness(chosen.model, pos)
    tables.draw_perturbation_tables(pos)


def _run(run_id: str, pos: str, slice_picked: slices.Slice | None, settings: dict[str, Any], chosen: Chosen) -> None:
    index = str(settings.get("index") or "")
    if index:
        corpus_mark.draw_corpus_mark(index, chosen.model)
    items = slices.rows_of_slice(resources.ask_store(perturbation_queries.outcomes, run_id, pos), slice_picked)
    items = items.assign(fate=fates_of(items))
    is_whole = pos == "NV" and slice_picked is None
    show.says(*(conclusions.of_run(run_id) if is_whole else []) or filter(None, [fates_in_words(items)]))
    picked = _figure(run_id, pos, items, chosen)
    undecided_verdicts.draw_undecided_note([run_id])
    pairs.draw_perturbation_pairs(run_id, pos, chosen, picked)
    if picked:
        slices.offer(picked, chosen.benchmark, f"picked {pos}", f"pairs:{pos}")
    _flips(items, of_conclusion=pos == "NV" and slice_picked is None)
    _list(items, pos, chosen)
    _rejections(run_id, pos)

    def draw() -> None:
        _popularity(run_id, pos)
        _frequencies(run_id, pos, index)
        _similarities(run_id, pos, str(settings.get("encoder") or "the encoder of the run"))

    show.folded("Popularity, frequency and likeness, before and after", "distributions", draw)


def fates_of(items: pd.DataFrame) -> list[str]:
    """What became of each instance: lost, gained, right or wrong both times, else why it was not compared."""
    fates = []
    for row in items.to_dict("records"):
        before, after = row["correct_before"], row["correct_after"]
        if not row["accepted"]:
            fates.append("rejected")
        elif not row["swaps"]:
            fates.append("nothing to swap")
        elif pd.isna(before) or pd.isna(after):
            fates.append("no verdict")
        elif before == 1:
            fates.append("right both times" if after == 1 else "lost")
        else:
            fates.append("gained" if after == 1 else "wrong both times")
    return fates


def fates_in_words(items: pd.DataFrame) -> str:
    """How many verdicts the swaps turned, and to which side; "" where none was given before and after."""
    counts = {fate: int((items["fate"] == fate).sum()) for fate in COLORS}
    judged = sum(counts.values())
    if not judged:
        return ""
    return (
        f"Of {judged:,} instances judged before and after their words were swapped, {counts['lost']:,} turned from "
        f"right to wrong and {counts['gained']:,} from wrong to right."
    )


def _figure(run_id: str, pos: str, items: pd.DataFrame, chosen: Chosen) -> list[str]:
    """A dot per instance before and after; the instances that were picked in it."""
    with_margins = items[items["fate"].isin(list(COLORS))].dropna(subset=["margin_before", "margin_after"])
    if with_margins.empty:
        show.note("No instance was swapped and judged before and after.")
        return []
    shown = with_margins if len(with_margins) <= DOTS else _sample(with_margins)
    known = texts.sentences(chosen.benchmark, list(shown["instance_id"]))
    shown = shown.assign(
        text=shown["instance_id"].map(known).fillna(""), changed=[_swaps(edit) for edit in shown["edit"]]
    )
    of_one_text = (with_margins["margin_before"] <= 0).all()
    answer = show.chart(
        before_and_after(shown, "log P" if of_one_text else "Margin", Counter(with_margins["fate"])),
        key=f"before_and_after:{run_id}:{pos}",
        alt="The margin of each instance before and after the swaps",
        n=len(with_margins),
        on_select="rerun",
    )
    idle = items["fate"].value_counts()
    rest = "; ".join(
        f"{idle[name]:,} {fate if idle[name] == 1 else more} {meaning}"
        for name, fate, more, meaning in (
            ("nothing to swap", "has", "have", "no such word to swap"),
            ("rejected", "had", "had", "no swap that keeps the label"),
            ("no verdict", "has", "have", "no verdict"),
        )
        if idle.get(name)
    )
    show.note(
        "Click a dot, or draw a box around some, to see the pairs."
        + (f" Not drawn: {rest}." if rest else "")
        + (
            f" All that were lost or gained and a sample of the others, {len(shown):,} dots."
            if len(shown) < len(with_margins)
            else ""
        )
    )
    return instances_behind.picked(answer)


def _sample(with_margins: pd.DataFrame) -> pd.DataFrame:
    """All that flipped, and others by chance up to the most that are drawn."""
    flipped = with_margins[with_margins["fate"].isin(["lost", "gained"])]
    others = with_margins.drop(flipped.index)
    return pd.concat([flipped, others.sample(max(0, min(len(others), DOTS - len(flipped))), random_state=0)])


def _swaps(edit: Any) -> str:
    """The swaps of a variant in a few words: "finishing → completing"."""
    swaps = pairs.swaps_of(edit)
    return ", ".join(f"{swap.word} → {swap.substitute}" for swap in swaps)


def _list(items: pd.DataFrame, pos: str, chosen: Chosen) -> None:
    drawer = st.expander("Every instance", key=f"outcomes:{pos}", on_change="rerun")
    if not drawer.open:
        return
    with drawer:
        rows = items.assign(
            words=[_swaps(edit) for edit in items["edit"]], moved=items["margin_after"] - items["margin_before"]
        ).sort_values("moved")
        columns = {
            "words": text_column("Swaps", width="medium"),
            "fate": "What became of it",
            "margin_before": number_column("Before", 2, "margin in nats"),
            "margin_after": number_column("After", 2),
            "moved": number_column("Moved", 2, "after less before", signed=True),
        }
        instances_behind.draw_instances(
            rows.drop(columns=["edit"]), chosen, f"outcomes {pos}", columns, key=f"outcomes:{pos}",
            suggestion=f"swapped {pos}",
        )  # fmt: skip


def flips_in_words(items: pd.DataFrame) -> str:
    """Whether what was lost changed in popularity more than what stayed right; "" where either has too few."""
    known = items.dropna(subset=["ips_before", "ips_after"])
    changes = known["ips_after"] - known["ips_before"]
    lost, stayed = changes[known["fate"] == "lost"], changes[known["fate"] == "right both times"]
    if min(len(lost), len(stayed)) < FEWEST:
        return ""
    of_lost, two = bootstrap_mean(lost.to_numpy(dtype=float)), bootstrap_mean(stayed.to_numpy(dtype=float))
    gap = difference_of(of_lost, two)
    numbers = (
        f"on average {display.number(of_lost.value, signed=True)} of IPS over {of_lost.n:,} that were lost, "
        f"{display.number(two.value, signed=True)} over {two.n:,} that stayed right; difference "
        f"{display.number(gap.value, signed=True)}, 95% interval {display.number(gap.low, signed=True)} to "
        f"{display.number(gap.high, signed=True)}"
    )
    if gap.low <= 0 <= gap.high:
        return (
            f"No evidence that, among texts with swapped words, those that flip change more in popularity: {numbers}."
        )
    way = "lose more" if gap.value < 0 else "lose less"
    return f"Among texts with swapped words, those that flip from right to wrong {way} popularity: {numbers}."


FEWEST = 10  # instances on either side of a comparison


def _flips(items: pd.DataFrame, *, of_conclusion: bool) -> None:
    if sentence := flips_in_words(items):
        st.subheader("Do flips lose popularity?", anchor=False)
        show.says(sentence)
        if of_conclusion and (remark := beside_conclusion(items)):
            show.note(remark)


def beside_conclusion(items: pd.DataFrame) -> str:
    """Why the difference here is another than in the sentence above the figure; "" where it is of the same texts."""
    idle = int(((items["fate"] == "nothing to swap") & (items["correct_before"] == 1)).sum())
    if not idle:
        return ""
    return (
        f"The sentence above the figure also counts {idle:,} right {'text' if idle == 1 else 'texts'} without a word "
        "to swap among what stays right, with a change of 0; here only texts with swapped words are compared."
    )


def pick(chosen: Chosen) -> str:
    """The id of a finished perturbation run of this model on this benchmark; "" where there is none."""
    runs = resources.ask_store(perturbation_queries.runs)
    of_benchmark = runs[(runs["model"] == chosen.model) & (runs["benchmark"] == chosen.benchmark)]
    names = run_names.names(of_benchmark)
    if not names:
        return ""
    return links.pick(st.selectbox, "Stored run", "run", list(names), format_func=names.__getitem__)


def has_run(chosen: Chosen) -> bool:
    """Whether there is a finished perturbation run of this model on this benchmark."""
    runs = resources.ask_store(perturbation_queries.runs)
    return bool(((runs["model"] == chosen.model) & (runs["benchmark"] == chosen.benchmark)).any())


def settings_of(run_id: str) -> dict[str, Any]:
    """The settings of a run."""
    runs = resources.ask_store(perturbation_queries.runs).set_index("run_id")
    return json.loads(str(runs.loc[run_id, "settings"]))


def _rejections(run_id: str, pos: str) -> None:
    changes = resources.ask_store(perturbation_queries.changes)
    of_run = changes[(changes["run_id"] == run_id) & (changes["setting"] == pos)]
    rows = [
        {"group": title_of(row["grp"]), "reason": reason, "n": n, "share": 1 - row["accepted"]}
        for row in of_run.to_dict("records")
        for reason, n in tables.detail(row["accepted_detail"]).get("rejected", {}).items()
    ]
    if rows:
        show.folded_table(
            pd.DataFrame(rows),
            f"rejections {run_id} {pos}",
            title="Rejections by reason",
            columns={
                "group": "Group", "reason": "Reason",
                "n": count_column("Instances"),
                "share": share_column("Rejected of the group"),
            },
        )  # fmt: skip


def _popularity(run_id: str, pos: str) -> None:
    bins = resources.ask_store(perturbation_queries.popularity, run_id, pos, width=WIDTH)
    if bins.empty:
        return
    st.subheader("Popularity before and after", anchor=False)
    show.note("IPS of the right option's text, by the same deciles (Figure 4 of the paper shows LAMBADA's).")
    series = {"original": "original", "perturbed": "perturbed"}
    figure = distributions(bins, series, width=WIDTH, title="Popularity score (IPS)", span=(1, 10.2))
    show.chart(figure, key="ips_before_after", alt="Distribution of IPS, original and perturbed")


def _frequencies(run_id: str, pos: str, index: str) -> None:
    bins = resources.ask_store(perturbation_queries.frequencies, run_id, pos, width=WIDTH)
    if bins.empty:
        return
    st.subheader("Words and their synonyms in the corpus", anchor=False)
    show.note(
        f"How often the swapped words and their substitutes occur in the {corpus_mark.title(index)}, in running text "
        "(Figure 2)."
    )
    ticks = [(0.0, "0"), *((float(power), f"{10**power:,}") for power in range(1, 13))]
    figure = distributions(
        bins, {"original": "words of the originals", "synonym": "their synonyms"}, width=WIDTH,
        title="Occurrences, logarithmic", ticks=ticks,
    )  # fmt: skip
    show.chart(figure, key="frequencies", alt="Distribution of the counts of words and synonyms")


def _similarities(run_id: str, pos: str, encoder: str) -> None:
    width = 0.025
    bins = resources.ask_store(perturbation_queries.similarities, run_id, pos, width=width)
    if bins.empty:
        return
    st.subheader("How alike the texts are", anchor=False)
    show.note(f"Changed texts only; BERTScore by {encoder} (Figure 3; the paper's encoder is another).")
    series = {"functional": "functional", "formal": "formal", "other": "other"}
    titles = {
        "bertscore": "BERTScore F1", "rouge_l": "ROUGE-L F1", "rouge_l by characters": "ROUGE-L F1, by characters"
    }  # fmt: skip
    measured = {measure: title for measure, title in titles.items() if (bins["measure"] == measure).any()}
    for column, (measure, title) in zip(st.columns(max(2, len(measured))), measured.items(), strict=False):
        with column:
            of_measure = bins[bins["measure"] == measure]
            if len(of_measure):
                show.chart(
                    distributions(of_measure, series, width=width, title=title),
                    key=f"similarity:{measure}",
                    alt=f"Distribution of {title}",
                )
