"""When instances were learned: the share by then, by popularity or dose, and the instances behind a dot."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from explorer.figures import theme
from explorer.results.measures import MEASURES
from explorer.stats.proportion import wilson
from explorer.studies.trajectories import judged, queries, words
from explorer.studies.trajectories import learned as learning
from explorer.studies.trajectories.judged import Popularity
from explorer.studies.trajectories.learned import Earlier, Learned
from explorer.studies.trajectories.lines import Line
from explorer.ui import instances_behind, links, resources, run_names, show
from explorer.ui.columns import count_column, number_column, share_column, size_column, text_column
from explorer.ui.layout import Chosen
from explorer.ui.trajectories import findings, naming
from explorer.ui.trajectories.figure_lines import DrawnLine, trajectory
from explorer.ui.trajectories.judged import doses, pick

PAGE, ONE = "Trajectories", "One instance"


def draw_learned(chosen: Chosen, runs: pd.DataFrame) -> None:
    """The pickers, the correlation in a sentence, the figure, and the instances of a dot."""
    known = judged.lines(runs, resources.settings())
    if not known:
        show.nothing_yet(
            "No model has checkpoints on one benchmark yet",
            "When an instance was learned is seen in accuracy or popularity runs of several checkpoints of a model.",
            'python -m explorer run accuracy --model "glassbox-s@step{0,1,2,4,...,1024}" glassbox-s '
            "--benchmark glassbox_pairs",
        )
        return
    benchmark, line, _ = pick(chosen, known)
    learned = of_line(line)
    if learned.items.empty:
        show.nothing_yet("No instance is in every run of this line", "Choose another model or benchmark.")
        return
    popularity = pick_popularity(benchmark, line, learned)
    title = naming.title_of(line)
    if popularity is None:
        show.says(_share_in_words(title, learned, line))
        groups, order = pd.Series("all", index=learned.items.index), ["all"]
    else:
        show.says(words.earlier_in_words(title, _earlier(learned, popularity), popularity.title))
        values = learned.items["instance_id"].map(popularity.values).astype(float)
        groups, order = judged.groups_of(values, dosed=popularity.title == judged.DOSED)
    shares = learning.shares_learned(learned.items, groups, order, len(line.stops))
    answer = show.chart(
        _figure(shares, line),
        key=f"learned:{benchmark}:{line.key}:{popularity.title if popularity else ''}",
        alt=f"Share of instances that {title} has learned, by training",
        n=len(learned.items),
        on_select="rerun",
    )
    show.note(
        " ".join(
            filter(
                None,
                (
                    "Learned: right from there on in every checkpoint. A coin would be right in the last one in half "
                    "of all pairs, so that late steps say less than early ones.",
                    words.left_out_in_words(_earlier(learned, popularity)) if popularity else "",
                    naming.ends_apart([line]),
                    "Click a dot to see what was learned there.",
                ),
            )
        )
    )
    _draw_instances_behind(learned, groups, popularity, line, benchmark, instances_behind.picked(answer))
    _numbers(shares, line)


@st.cache_data(max_entries=16, show_spinner=False, hash_funcs={pd.DataFrame: resources.every_row})
def _learned(run_ids: tuple[str, ...], rows: pd.DataFrame) -> Learned:
    return learning.learned(rows, len(run_ids))


def of_line(line: Line) -> Learned:
    """When the instances of a line were learned."""
    run_ids = tuple(stop.run_id for stop in line.stops)
    return _learned(run_ids, resources.ask_store(queries.learned, run_ids))


def _earlier(learned: Learned, popularity: Popularity) -> Earlier:
    return _correlated(learned.items, dict(learned.left_out), dict(popularity.values))


@st.cache_data(max_entries=16, show_spinner="Correlating", hash_funcs={pd.DataFrame: resources.every_row})
def _correlated(items: pd.DataFrame, left_out: dict[str, int], values: dict[str, float]) -> Earlier:
    return learning.earlier(Learned(items, left_out), values)


def pick_popularity(benchmark: str, line: Line, learned: Learned) -> Popularity | None:
    """Lets the reader choose what ranks instances: the planted dose or a score of counts; None without either."""
    dosed = doses(benchmark, line, learned.items)
    options = judged.sources(resources.ask_store, benchmark, dosed, str(learned.items["kind"].iloc[0]))
    if not options:
        return None
    names = run_names.names(resources.ask_store(queries.counted_runs, benchmark))

    def title(option: str) -> str:
        run_id, _, measure = option.partition(" ")
        return "Times in the corpus" if option == judged.DOSE else f"{MEASURES[measure].title}, {names[run_id]}"

    with show.options("learned:options"):
        option = links.pick(st.selectbox, "Popularity", "popularity", options, default=options[0], format_func=title)
    return judged.popularity(resources.ask_store, option, learned, dosed)


def _figure(shares: pd.DataFrame, line: Line) -> Any:
    traces = []
    groups = list(dict.fromkeys(shares["group"]))
    above = [group for group in groups if group != "never in the corpus"]
    colors = dict(zip(above, theme.in_order(len(above)), strict=True))
    for group in groups:
        rows = shares[shares["group"] == group]
        n = int(rows["n"].iloc[0])
        ends = [wilson(share * n, n, 0.95) for share in rows["share"]]
        traces.append(
            DrawnLine(
                f"{group} ({n:,})",
                colors.get(group, theme.GRAY),
                [stop.x for stop in line.stops],
                rows["share"].tolist(),
                [low for low, _ in ends],
                [high for _, high in ends],
                [
                    f"{words.stop_in_words(stop, judged.along_of(line))}: {share:.1%} learned, {n_here:,} of them here"
                    for stop, share, n_here in zip(line.stops, rows["share"], rows["here"], strict=True)
                ],
                [f"{group}|{place}" for place in rows["place"]],
            )
        )
    axis = findings.axis_of(judged.along_of(line), line.stops)
    return trajectory(traces, axis, response="Learned by then", unit="share")


def _share_in_words(title: str, learned: Learned, line: Line) -> str:
    known = learned.items["place"].notna()
    return (
        f"{title} has learned {int(known.sum()):,} of {len(learned.items):,} instances by "
        f"{words.stop_in_words(line.stops[-1], judged.along_of(line))}; of how popular they are nothing is stored."
    )


def _draw_instances_behind(
    learned: Learned, groups: pd.Series, popularity: Popularity | None, line: Line, benchmark: str, picked: list[str]
) -> None:
    """The instances of the dots that were clicked."""
    for instance_id in picked[:1]:
        group, _, place = instance_id.rpartition("|")
        rows = learned.items[(groups == group) & (learned.items["place"] == float(place))]
        stop = line.stops[int(place)]
        if rows.empty:
            show.note("Nothing was learned just there.")
            return
        columns = {}
        if popularity:
            rows = rows.assign(popularity=rows["instance_id"].map(popularity.values))
            columns = {"popularity": number_column("Popularity", help=popularity.title)}
        instances_behind.draw_instances(
            rows[["instance_id", "grp", *columns]],
            Chosen(stop.model, benchmark),
            f"learned after {words.stop_in_words(stop, judged.along_of(line))}",
            columns,
            key="learned",
            title=f"{len(rows):,} learned after {words.stop_in_words(stop, judged.along_of(line))}: {group}",
            page=PAGE,
            also={"trajectory": ONE, "line": line.key, "on": benchmark},
        )


def _numbers(shares: pd.DataFrame, line: Line) -> None:
    stops = [line.stops[int(place)] for place in shares["place"]]
    rows = shares.assign(
        step=[stop.place.step for stop in stops],
        tokens=[stop.place.tokens for stop in stops],
    )
    show.folded_table(
        rows.drop(columns=["place"]), "learned by then",
        columns={
            "group": text_column("Popularity"), "step": count_column("Steps"), "tokens": size_column("Tokens"),
            "share": share_column("Learned by then"), "here": count_column("Learned just here"),
            "n": count_column("Instances"),
        },
    )  # fmt: skip
