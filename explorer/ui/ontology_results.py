"""One ontology run or import: how many ids are right, what the errors look like, and what popularity does."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from explorer.experiments.ontology_published import MODELS, TITLES, figures_of
from explorer.experiments.ontology_rows import AS_RELEASED, CORRECTED
from explorer.figures.ontology_buckets import by_bucket, by_way
from explorer.results import queries_ontology
from explorer.ui import frame, links, resources, show
from explorer.ui.frame import Chosen

COUNTED = {"Corrected": CORRECTED, "As the authors counted": AS_RELEASED}
KNOWLEDGE = {
    "gold_logprob": ("log P of the right ID (nats)", "Summed over the ID's digits, after the prompt."),
    "gold_gain_preferred": (
        "Label speaks for the right ID",
        "Share of other IDs to which the label adds less than to the right one; 50 % by chance.",
    ),
    "gold_preferred": (
        "Right ID likelier than others",
        "Share of other IDs, drawn at random, that are less likely than the right one.",
    ),
}


def pick(chosen: Chosen) -> str:
    """The id of one of the runs on this ontology, imported ones included; "" where there is none."""
    runs = resources.ask(queries_ontology.runs, chosen.benchmark)
    names = {row["run_id"]: _name(row) for _, row in runs.iterrows()}
    if not names:
        return ""
    own = runs[runs["model"] == chosen.model]["run_id"]
    first = own.iloc[0] if len(own) else next(iter(names))
    return links.pick(
        st.selectbox, "Stored run or import", "run", list(names), default=first, format_func=names.__getitem__
    )


def draw(run_id: str, chosen: Chosen) -> None:
    """Everything about one run."""
    setting = COUNTED[
        links.pick(st.segmented_control, "Counted", "counted", list(COUNTED), default="Corrected", required=True)
    ]
    found = resources.ask(queries_ontology.overall, run_id)
    if found.empty:
        show.nothing_yet("Nothing concluded yet", "The run is still going; its figures come when it is complete.")
        return
    ours = found[(found["setting"] == setting) & (found["grp"] == "overall")].set_index("finding")
    _numbers(found, ours, setting)
    st.header("Beside the paper", anchor=False)
    show.table(beside_the_paper(ours, chosen.benchmark), "beside the paper")
    show.note("Tables 2 and 4 of the paper do not follow from the files that its authors released.")
    _popularity(resources.ask(queries_ontology.buckets, run_id, setting))
    _invariance(run_id)
    st.header("Most repeated answers", anchor=False)
    show.table(
        resources.ask(queries_ontology.repeated_answers, run_id),
        "repeated answers",
        columns={"text": "Answer", "verdict": "Kind", "times": "Times"},
    )


def beside_the_paper(ours: pd.DataFrame, benchmark: str) -> pd.DataFrame:
    """A row a figure: ours, and what the paper prints for its three models."""
    printed = figures_of(benchmark)
    rows = []
    for finding, title in TITLES.items():
        if finding not in ours.index:
            continue
        row: Any = ours.loc[finding]
        given = printed.get(finding, {})
        rows.append(
            {
                "Figure": title,
                "This run": _shown(finding, row["value"]),
                **{model: _shown(finding, given[model].value) if model in given else "–" for model in MODELS},
                "Where": next((one.table for one in given.values()), "not printed"),
            }
        )
    return pd.DataFrame(rows)


def _numbers(found: pd.DataFrame, ours: pd.DataFrame, setting: str) -> None:
    accuracy: Any = ours.loc["accuracy"]
    distinct: Any = ours.loc["distinct_predictions"]
    outcomes = found[(found["finding"] == "outcome") & (found["setting"] == setting)].set_index("grp")["value"]
    show.numbers(
        [
            (
                "Right",
                f"{round(accuracy['value'] * accuracy['n']):,} of {int(accuracy['n']):,}",
                f"{show.percent(accuracy['value'], accuracy['low'], accuracy['high'])}, 95 % Wilson interval.",
            ),
            ("Answers that give an ID", show.percent(float(outcomes.get("id", 0.0))), "Of the ontology asked about."),
            ("Distinct predicted IDs", f"{int(distinct['value']):,}", "Over all answers."),
        ]
    )
    known = found[(found["grp"] == "overall") & found["finding"].isin(list(KNOWLEDGE))].set_index("finding")
    cells = []
    for finding, (label, meaning) in KNOWLEDGE.items():
        if finding in known.index:
            row: Any = known.loc[finding]
            value = float(row["value"])
            cells.append((label, f"{value:.2f}" if finding == "gold_logprob" else show.percent(value), meaning))
    if cells:
        show.numbers(cells)


def _popularity(buckets: pd.DataFrame) -> None:
    held = buckets[buckets["n"] > 0]
    if held.empty:
        return
    st.header("Popularity", anchor=False)
    show.lead(
        "Concepts in buckets of equally many distinct counts, from the least to the most popular (the paper's "
        "figures 1 to 3)."
    )
    show.chart(by_bucket(held, {"accuracy": "accuracy"}, "Accuracy", shares=True), key="ontology accuracy",
               alt="Accuracy in each popularity bucket")  # fmt: skip
    show.chart(by_bucket(held, {"repeated": "ratio"}, "500 most repeated IDs: actual over expected"),
               key="ontology repeated", alt="Repeated ids in each bucket, over its due")  # fmt: skip
    show.table(
        held,
        "popularity buckets",
        columns={
            "bucket": "Bucket",
            "n": st.column_config.NumberColumn("Concepts", format="localized"),
            "mean_count": st.column_config.NumberColumn("Mean count", format="%.1f"),
            "accuracy": st.column_config.NumberColumn("Accuracy", format="percent"),
            "jaccard": st.column_config.NumberColumn("Label overlap", format="%.3f"),
            "levenshtein": st.column_config.NumberColumn("Edits", format="%.2f"),
            "repeated": st.column_config.NumberColumn("Repeated, actual over expected", format="%.2f"),
        },
    )


def _invariance(run_id: str) -> None:
    rows = resources.ask(queries_ontology.invariance, run_id)
    if rows.empty:
        return
    st.header("Prediction invariance", anchor=False)
    show.lead(
        "The same question again: as it is (PI-1), warmer (PI-2), in five languages (PI-3); the paper's figure 4."
    )
    show.chart(by_way(rows, "invariance", "Average invariance of parsed IDs"), key="ontology invariance",
               alt="Average prediction invariance in each popularity bucket")  # fmt: skip
    show.chart(by_way(rows, "accuracy", "Accuracy over repeats"), key="ontology invariance accuracy",
               alt="Accuracy of the repeated questions in each popularity bucket")  # fmt: skip


def _name(row: Any) -> str:
    kind = "imported, " if row["imported"] else ""
    state = "" if row["status"] == "complete" else f", {row['status']}"
    return f"{frame.model_title(row['model'])} · {kind}{row['done']:,} concepts{state} · {row['run_id'][-6:]}"


def _shown(finding: str, value: float) -> str:
    if value != value:
        return "–"
    return f"{value:,.0f}" if finding == "distinct_predictions" else f"{value:.3f}"
