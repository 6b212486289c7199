"""One ontology run or import: how many ids are right, what the errors look like, and what popularity does."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import streamlit as st

from explorer import display
from explorer.finding import Finding
from explorer.results import queries
from explorer.runs import imported
from explorer.studies.ontology import declared
from explorer.studies.ontology import queries as ontology_queries
from explorer.studies.ontology.published import BESIDE, MODELS, SIGNIFICANT, figures_of, mark, size
from explorer.studies.ontology.rows import AS_RELEASED, CORRECTED
from explorer.ui import conclusions, layout, links, nearest_run, resources, run_names, show
from explorer.ui.columns import count_column, text_column
from explorer.ui.layout import Chosen
from explorer.ui.ontology import design, invariance, knowledge, popularity

ROW = 35  # pixels of a table's row
COUNTED = {"Corrected": CORRECTED, "As the authors counted": AS_RELEASED}
FIGURES_ONLY = (
    "Of this run only totals are kept. The released file, imported under the model's name, makes the same run with its "
    "single answers."
)
KNOWLEDGE = {
    declared.GOLD_LOGPROB: ("log P of the right ID (nats)", "Summed over the ID's digits, after the prompt."),
    declared.GOLD_GAIN_PREFERRED: (
        "Label speaks for the right ID",
        "Share of other IDs to which the label adds less than to the right one; 50% by chance.",
    ),
    declared.GOLD_PREFERRED: (
        "Right ID likelier than others",
        "Share of other IDs, drawn at random, that are less likely than the right one.",
    ),
}


def pick(chosen: Chosen) -> str:
    """The id of one of the runs on this ontology, imported ones included; "" where there is none."""
    runs = resources.ask_store(ontology_queries.runs, chosen.benchmark)
    names = run_names.names(runs)
    if not names:
        return ""
    of_model = runs[runs["model"] == chosen.model]["run_id"]
    first = of_model.iloc[0] if len(of_model) else next(iter(names))
    return links.pick(
        st.selectbox, "Stored run or import", "run", list(names), default=first, format_func=names.__getitem__
    )


def nearest(chosen: Chosen) -> Chosen:
    """The choice; where it has no run, one whose accuracy rises with popularity, since there is most to see."""
    rising = set(resources.ask_store(ontology_queries.rising)["run_id"])
    return nearest_run.with_runs("ontology", chosen, useful=rising.__contains__, far=True)


def draw_ontology_results(chosen: Chosen, options: Any) -> bool:
    """Everything about one run; False where there is none. Which run and how it counts are asked in `options`."""
    with options, show.options("ontology:options"):
        run_id = pick(chosen)
        if run_id:
            counted = links.pick(
                st.segmented_control, "Counted", "counted", list(COUNTED), default="Corrected", required=True
            )
            others = others_of(run_id, chosen)
            beside = popularity.pick_beside(run_id, others)
    if not run_id:
        return False
    setting = COUNTED[counted]
    findings = resources.ask_store(ontology_queries.overall, run_id)
    if findings.empty:
        show.nothing_yet("Nothing concluded yet", "The run is still going; its figures come when it is complete.")
        return True
    ours = findings[(findings["setting"] == setting) & (findings["grp"] == "overall")].set_index("finding")
    known = resources.ask_store(ontology_queries.knowledge, run_id)
    spec = json.loads(str(resources.ask_store(queries.run, run_id)["spec"].iloc[0]))
    per_bucket = int(spec["settings"].get("per_bucket") or 0)
    sentences = [
        sentence
        for sentence in conclusions.of_run(run_id)
        if not per_bucket or "drawn by popularity bucket" not in sentence
    ]
    show.says(*sentences, design.in_words(run_id, findings, chosen.benchmark, per_bucket))
    gives_some = bool(ours["value"].to_dict()[declared.ACCURACY.name] > 0)
    # What a model knows that gives no right ID is in the likelihoods; else its answers come first.
    if not gives_some:
        knowledge.draw_ontology_knowledge(run_id, known, chosen)
    answers = resources.ask_store(ontology_queries.repeated_answers, run_id)
    name = _in_figure(beside) if beside else ""
    popularity.draw_ontology_popularity(
        run_id, _in_figure(run_id), setting, beside, name, chosen, has_rows=not answers.empty
    )
    if gives_some:
        knowledge.draw_ontology_knowledge(run_id, known, chosen)
    _numbers(findings, ours, setting)
    invariance.draw_ontology_invariance(run_id, findings)
    table = beside_the_paper(ours, chosen.benchmark)
    columns = {name: text_column(name, right=True, width=110) for name in map(str, table)}
    columns |= {"Figure": text_column("Figure", width=376), "Where": text_column("Where", width=84)}
    sampled = " The paper asks for every concept, this run for a sample of each bucket: not comparable."
    show.folded_table(
        table,
        "beside the paper",
        title="Beside the paper",
        remark="Tables 2 and 4 of the paper do not follow from the files that its authors released. "
        f"* p ≤ {SIGNIFICANT} in a permutation test.{sampled if per_bucket else ''}",
        columns=columns,
        height=ROW * (len(table) + 1) + 3,
    )
    if answers.empty:
        show.note(FIGURES_ONLY)
    else:
        show.folded_table(
            answers,
            "repeated answers",
            title="Most repeated answers",
            columns={"text": "Answer", "verdict": "Kind", "times": count_column("Times")},
        )
    return True


def beside_the_paper(ours: pd.DataFrame, benchmark: str) -> pd.DataFrame:
    """A row per figure: ours, and what the paper prints for its three models."""
    printed = figures_of(benchmark)
    rows = []
    for finding in BESIDE:
        if finding.name not in ours.index:
            continue
        row: Any = ours.loc[finding.name]
        figures_by_model = printed.get(finding.name, {})
        concepts = size(benchmark) if figures_by_model else 0
        rows.append(
            {
                "Figure": finding.title,
                "This run": _value_in_words(finding, row["value"], int(row["n"]))
                + ("*" if row["p"] <= SIGNIFICANT else ""),
                **{
                    model: _value_in_words(finding, figures_by_model[model].value, concepts)
                    + mark(figures_by_model[model])
                    if model in figures_by_model
                    else display.MISSING
                    for model in MODELS
                },
                "Where": next((figure.table for figure in figures_by_model.values()), "not printed"),
            }
        )
    return pd.DataFrame(rows)


def _in_figure(run_id: str) -> str:
    """The name of a run in a figure: its model, with the mark of an import."""
    row = resources.ask_store(queries.run, run_id).iloc[0]
    return display.remarked(layout.model_title(str(row["model"])), imported.short_label(str(row["spec"])))


def others_of(run_id: str, chosen: Chosen) -> dict[str, str]:
    """The other runs and imports on this ontology that are complete, by id, each with its name."""
    runs = resources.ask_store(ontology_queries.runs, chosen.benchmark)
    done = runs[(runs["status"] == "complete") & (runs["run_id"] != run_id)]
    return run_names.names(done)


def _numbers(findings: pd.DataFrame, ours: pd.DataFrame, setting: str) -> None:
    accuracy: Any = ours.loc[declared.ACCURACY.name]
    distinct: Any = ours.loc[declared.DISTINCT_PREDICTIONS.name]
    outcomes = findings[(findings["finding"] == declared.OUTCOME.name) & (findings["setting"] == setting)].set_index(
        "grp"
    )["value"]
    show.numbers(
        [
            (
                "Right",
                f"{round(accuracy['value'] * accuracy['n']):,} of {int(accuracy['n']):,}",
                f"{display.share(accuracy['value'], accuracy['low'], accuracy['high'])}, by Wilson's method.",
            ),
            ("Answers that give an ID", display.share(float(outcomes.get("id", 0.0))), "Of the ontology asked about."),
            ("Distinct predicted IDs", f"{int(distinct['value']):,}", "Over all answers."),
        ]
    )
    known = findings[
        (findings["grp"] == "overall")
        & findings["finding"].isin([declared_finding.name for declared_finding in KNOWLEDGE])
    ].set_index("finding")
    cells = []
    for finding, (label, meaning) in KNOWLEDGE.items():
        if finding.name in known.index:
            row: Any = known.loc[finding.name]
            value = float(row["value"])
            cells.append(
                (label, display.number(value) if finding == declared.GOLD_LOGPROB else display.share(value), meaning)
            )
    if cells:
        show.numbers(cells)


def _value_in_words(finding: Finding, value: float, n: int) -> str:
    if value != value:
        return display.MISSING
    if finding == declared.ACCURACY:
        return display.share(value)
    if finding != declared.DISTINCT_PREDICTIONS:
        return display.number(value, 3)
    return f"{display.count(value)} ({display.share(value / n, decimals=2)})" if n else display.count(value)
