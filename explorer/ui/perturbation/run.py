"""One perturbation run: distributions before and after, rejections, and pairs with their swaps marked."""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from explorer.studies.perturbation import queries as perturbation_queries
from explorer.studies.popularity.groups import title_of
from explorer.ui import layout, links, resources, run_names, show
from explorer.ui.columns import count_column, share_column
from explorer.ui.layout import Chosen
from explorer.ui.perturbation import pairs, tables
from explorer.ui.perturbation.figure_distributions import distributions

POS = tables.POS
WIDTH = 0.25


def draw_perturbation_run(chosen: Chosen) -> None:
    """The setting, the tables over all runs, and the chosen model's run."""
    pos = links.pick(
        st.segmented_control, "Words swapped", "pos", list(POS), default="NV", required=True, format_func=POS.get
    )
    tables.draw_perturbation_tables(pos)
    run_id = pick(chosen)
    if not run_id:
        return
    st.header(
        show.plain(f"{layout.model_title(chosen.model)} on {layout.benchmark_title(chosen.benchmark)}"), anchor=False
    )
    layout.about_run(run_id)
    settings = settings_of(run_id)
    if pos not in settings["pos"]:
        show.note(f"This run did not swap {POS[pos].lower()}.")
        return
    _fates(run_id, pos)
    _rejections(run_id, pos)
    pairs.draw_perturbation_pairs(run_id, pos, chosen)
    _popularity(run_id, pos)
    _frequencies(run_id, pos, str(settings["index"]))
    _similarities(run_id, pos, str(settings["encoder"]))


def pick(chosen: Chosen) -> str:
    """The id of a finished perturbation run of this model on this benchmark; "" where there is none."""
    runs = resources.ask(perturbation_queries.runs)
    of_benchmark = runs[(runs["model"] == chosen.model) & (runs["benchmark"] == chosen.benchmark)]
    names = run_names.names(of_benchmark)
    if not names:
        return ""
    return links.pick(st.selectbox, "Stored run", "run", list(names), format_func=names.__getitem__)


def has_run(chosen: Chosen) -> bool:
    """Whether there is a finished perturbation run of this model on this benchmark."""
    runs = resources.ask(perturbation_queries.runs)
    return bool(((runs["model"] == chosen.model) & (runs["benchmark"] == chosen.benchmark)).any())


def settings_of(run_id: str) -> dict:
    """The settings of a run."""
    runs = resources.ask(perturbation_queries.runs).set_index("run_id")
    return json.loads(str(runs.loc[run_id, "settings"]))


def _fates(run_id: str, pos: str) -> None:
    fates = resources.ask(perturbation_queries.fates, run_id, pos)
    show.numbers(
        [
            (fate.partition(" (")[0].capitalize(), f"{n:,}", f"{fate}; a tie is not right")
            for fate, n in zip(fates["fate"], fates["n"], strict=True)
        ]
    )


def _rejections(run_id: str, pos: str) -> None:
    changes = resources.ask(perturbation_queries.changes)
    of_run = changes[(changes["run_id"] == run_id) & (changes["setting"] == pos)]
    rows = [
        {"group": title_of(row["grp"]), "reason": reason, "n": n, "share": 1 - row["accepted"]}
        for row in of_run.to_dict("records")
        for reason, n in tables.detail(row["accepted_detail"]).get("rejected", {}).items()
    ]
    if rows:
        with st.expander("Rejections by reason"):
            show.table(
                pd.DataFrame(rows),
                f"rejections {run_id} {pos}",
                columns={
                    "group": "Group", "reason": "Reason",
                    "n": count_column("Instances"),
                    "share": share_column("Rejected of the group"),
                },
            )  # fmt: skip


def _popularity(run_id: str, pos: str) -> None:
    bins = resources.ask(perturbation_queries.popularity, run_id, pos, width=WIDTH)
    if bins.empty:
        return
    st.subheader("Popularity before and after", anchor=False)
    show.note("IPS of the right option's text, by the same deciles (Figure 4 of the paper shows LAMBADA's).")
    series = {"original": "original", "perturbed": "perturbed"}
    figure = distributions(bins, series, width=WIDTH, title="IPS", span=(1, 10.2))
    show.chart(figure, key="ips_before_after", alt="Distribution of IPS, original and perturbed")


def _frequencies(run_id: str, pos: str, index: str) -> None:
    bins = resources.ask(perturbation_queries.frequencies, run_id, pos, width=WIDTH)
    if bins.empty:
        return
    st.subheader("Words and their synonyms in the corpus", anchor=False)
    show.note(f"How often the swapped words and their substitutes occur in {index}, in running text (Figure 2).")
    ticks = [(0.0, "0"), *((float(power), f"{10**power:,}") for power in range(1, 13))]
    figure = distributions(
        bins, {"original": "words of the originals", "synonym": "their synonyms"}, width=WIDTH,
        title="Occurrences, logarithmic", ticks=ticks,
    )  # fmt: skip
    show.chart(figure, key="frequencies", alt="Distribution of the counts of words and synonyms")


def _similarities(run_id: str, pos: str, encoder: str) -> None:
    width = 0.025
    bins = resources.ask(perturbation_queries.similarities, run_id, pos, width=width)
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
