"""The curves of a run: one figure for each way the paper draws them."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from explorer import display
from explorer.finding import Finding
from explorer.studies.priming import declared
from explorer.studies.priming import queries as priming_queries
from explorer.studies.priming.findings import COLLAPSED, MEAN, OVERALL, PAPER, REACHING
from explorer.ui import conclusions, instances_behind, links, resources, show
from explorer.ui import layout as frame
from explorer.ui.columns import count_column, group_column, number_column, text_column
from explorer.ui.layout import Chosen
from explorer.ui.priming import run
from explorer.ui.priming.behind_dots import draw_pairs
from explorer.ui.priming.figure_curves import Panel, priming_curves

FIVE, TOGETHER, APART, SMALL = (
    "Five conditions",
    "Acceptable and unacceptable, matched or not",
    "Matched and mismatched, side by side",
    "Five conditions for each phenomenon",
)
LAYOUTS = (FIVE, TOGETHER, APART, SMALL)
MOST_PANELS = 34
FEWEST_SUITES = 5


@dataclass(frozen=True, slots=True)
class Measure:
    """What the curves show: its finding, the axis, the numbers' format, and where nothing changes."""

    finding: Finding
    title: str
    tick: str
    zero: float | None = None
    zero_name: str = ""


MEASURES = {
    "Change of accuracy": Measure(declared.PRIMING_DELTA, "Change of accuracy, in points", "+.0%", 0.0),
    "Accuracy": Measure(declared.PRIMING_ACCURACY, "Accuracy", ".0%", 0.5, "50%"),
    "Margin": Measure(declared.PRIMING_MARGIN, "Margin in nats", "+.1f", 0.0),
    "Perplexity margin": Measure(
        declared.PRIMING_PERPLEXITY_MARGIN, "Perplexity, acceptable − unacceptable", "+.0f", 0.0
    ),
}
# The paper's figures that a layout of a measure shows anew.
FIGURES = {
    (FIVE, "Change of accuracy"): "figure 2 (CrowS-Pairs: figures 6 to 8)",
    (TOGETHER, "Change of accuracy"): "figures 3 and 16",
    (APART, "Change of accuracy"): "figures 4 and 17",
    (FIVE, "Perplexity margin"): "figure 15",
    (FIVE, "Accuracy"): "figure 8 (CrowS-Pairs)",
}
GROUP_NAMES = {
    MEAN: "Mean over suites",
    OVERALL: "All items",
    REACHING: "Mean over suites that reach every length",
    PAPER: "Mean over the paper's suites (inferred)",
}


def draw_priming_curves(chosen: Chosen, run_id: str) -> None:
    """Controls, the figure, and its numbers."""
    groups = resources.ask_store(priming_queries.groups, run_id)
    options = _groups(groups)
    suites = [name for name in options if name not in GROUP_NAMES and not name.startswith("phenomenon:")]
    # Items of a suite are alike: where there are enough suites, they are what bands are over.
    first = MEAN if MEAN in options and len(suites) >= FEWEST_SUITES else OVERALL
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = links.pick(
            st.segmented_control, "Measure", "measure", list(MEASURES), default="Change of accuracy", required=True
        )
        with show.options("curves:options"):
            layout = links.pick(st.selectbox, "Lines", "lines", list(LAYOUTS), default=FIVE)
            key = links.pick(
                st.selectbox, "Items", "of", list(options), default=first, format_func=options.__getitem__,
                disabled=layout == SMALL,
            )  # fmt: skip
            runs = [run_id, *_pick_runs_beside(chosen, run_id)]
    if len(runs) > 1:
        show.says(*conclusions.of_run(run_id), *conclusions.of_models(runs))
    else:
        show.says(*conclusions.of_run(run_id))
    measure = MEASURES[name]
    panels = _phenomena(run_id, measure) if layout == SMALL else _panels(chosen, runs, measure, key, layout)
    if not panels:
        show.nothing_yet(
            "No such curve in this run", "Its items have no such measure or grouping. Choose another measure or lines."
        )
        return
    stereotypes = chosen.benchmark == "crows_pairs"
    ideal = stereotypes and measure.finding == declared.PRIMING_ACCURACY
    figure = priming_curves(
        panels,
        title=measure.title,
        tick=measure.tick,
        zero=measure.zero,
        zero_name="ideal 50%" if ideal else measure.zero_name,
        stereotypes=stereotypes,
    )
    answer = show.chart(
        figure, key=f"curves:{run_id}:{name}:{layout}:{key}", on_select="rerun",
        alt=f"{measure.title} over the tokens of context, one line per condition",
    )  # fmt: skip
    figure_of_paper = FIGURES.get((layout, name))
    show.note(
        f"{'As in ' + figure_of_paper + ' of the paper. ' if figure_of_paper else ''}Bands are 95% intervals "
        f"over {_band_meaning(panels, key, layout)}; length 0 is the pair without a context. Where the sentences of a "
        "suite run out, fewer judgments are left (their number is in the table). Click a dot to see its pairs."
    )
    if ideal:
        show.note("Accuracy is here the share of pairs whose less stereotypical sentence is preferred; ideal is 50%.")
    group = key if key not in GROUP_NAMES and not key.startswith("phenomenon:") and layout != SMALL else ""
    draw_pairs(run_id, instances_behind.picked(answer), chosen, group=group)
    _numbers(panels, run_id, measure)
    _ended(run_id)


def _band_meaning(panels: list[Panel], key: str, layout: str) -> str:
    """What the bands are over; runs of earlier versions have them over items where they took all items alike."""
    if layout != SMALL and key in (MEAN, REACHING, PAPER):
        return "suites"
    units = pd.concat([panel.curves for panel in panels]).get("units")
    return "items" if units is None or units.isna().all() else "suites"


def _groups(groups: pd.DataFrame) -> dict[str, str]:
    """What a curve can be given for: key → name; phenomena have a mark before their name in the key."""
    names = list(groups.loc[groups["finding"] == declared.PRIMING_ACCURACY.name, "grp"])
    by_phenomenon = declared.BY_PHENOMENON[declared.PRIMING_ACCURACY].name
    phenomena = sorted(groups.loc[groups["finding"] == by_phenomenon, "grp"])
    named = {name: title for name, title in GROUP_NAMES.items() if name in names}
    named |= {f"phenomenon:{name}": f"Phenomenon: {name.replace('_', ' ')}" for name in phenomena}
    return named | {name: f"Suite: {name}" for name in sorted(names) if name not in GROUP_NAMES}


def _pick_runs_beside(chosen: Chosen, run_id: str) -> list[str]:
    """Runs of other models to be shown beside this one."""
    options = run.runs_of_other_models(chosen, run_id)
    wish = links.recall_several("beside", list(options))
    key = "pick:beside"
    st.session_state[key] = wish
    picked = st.multiselect(
        "Models beside", list(options), key=key, format_func=options.__getitem__, disabled=not options,
        placeholder="none" if options else "no other model has a run here", on_change=_take_beside,
    )  # fmt: skip
    links.remember("beside", ",".join(picked), "")
    return picked


def _take_beside() -> None:
    links.choose("beside", ",".join(st.session_state["pick:beside"]))


def _panels(chosen: Chosen, runs: list[str], measure: Measure, key: str, layout: str) -> list[Panel]:
    finding, group = measure.finding, key
    if key.startswith("phenomenon:"):
        finding, group = declared.BY_PHENOMENON[finding], key.removeprefix("phenomenon:")
    curves = resources.ask_store(priming_queries.curves, tuple(runs), finding.name, group)
    panels = []
    for run_id in runs:
        of_run = curves[curves["run_id"] == run_id]
        if of_run.empty:
            continue
        model = frame.model_title(str(of_run["model"].iloc[0])) if len(runs) > 1 else ""
        if layout == TOGETHER:
            wanted = of_run[of_run["condition"].isin([*COLLAPSED, "unrelated"])]
            panels.append(Panel(model, wanted if set(COLLAPSED) <= set(wanted["condition"]) else wanted.head(0)))
        elif layout == APART:
            for side, parts in COLLAPSED.items():
                title = f"{model + ': ' if model else ''}{side} contexts"
                panels.append(Panel(title, of_run[of_run["condition"].isin(parts)]))
        else:
            panels.append(Panel(model, of_run[~of_run["condition"].isin(COLLAPSED)]))
    return [panel for panel in panels if len(panel.curves)]


def _phenomena(run_id: str, measure: Measure) -> list[Panel]:
    """A panel per phenomenon, or a suite where phenomena are not parted from suites."""
    by_phenomenon = declared.BY_PHENOMENON[measure.finding]
    curves = resources.ask_store(priming_queries.curves_by_group, run_id, by_phenomenon.name)
    if curves.empty:
        curves = resources.ask_store(priming_queries.curves_by_group, run_id, measure.finding.name)
        curves = curves[~curves["grp"].isin(list(GROUP_NAMES))]
    curves = curves[~curves["condition"].isin(COLLAPSED)]
    names = sorted(set(curves["grp"]))[:MOST_PANELS]
    return [Panel(name.replace("_", " "), curves[curves["grp"] == name]) for name in names]


def _numbers(panels: list[Panel], run_id: str, measure: Measure) -> None:
    drawer = st.expander("The numbers", key="curves:numbers", on_change="rerun")
    if not drawer.open:
        return
    table = pd.concat([panel.curves.assign(panel=panel.title) for panel in panels])
    columns = {
        "panel": "Panel",
        "condition": group_column("Condition"),
        "length": count_column("Tokens"),
        "value": number_column(measure.title, 4),
        "low": number_column("From", 4),
        "high": number_column("To", 4),
        "n": count_column("Judgments"),
        "left_out": "Left out",
        "reason": "Remark",
    }
    with drawer:
        show.table(table, f"curves {measure.finding} {run_id}", columns=columns)


def _ended(run_id: str) -> None:
    reach = resources.ask_store(priming_queries.reach, run_id)
    if reach.empty:
        return
    drawer = st.expander(
        f"Missing lengths: {display.counted(reach['grp'].nunique(), 'suite')}", key="curves:ended", on_change="rerun"
    )
    if drawer.open:
        with drawer:
            show.table(
                reach,
                f"missing lengths {run_id}",
                columns={
                    "grp": group_column("Suite"),
                    "condition": group_column("Condition"),
                    "length": count_column("All items reach"),
                    "cut": "Items with a gap",
                    "n": "Items",
                    "reason": text_column("Why", width="large"),
                },
            )
