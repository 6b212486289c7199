"""Does likeness explain priming? Perturbed contexts, and suites compared with suites."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from explorer import display
from explorer.figures.heatmap import square_heatmap
from explorer.results import queries
from explorer.studies.priming import declared
from explorer.studies.priming import queries as priming_queries
from explorer.studies.priming.published import edit_correlations, minus
from explorer.ui import links, resources, run_words, show, study_start
from explorer.ui.columns import count_column, number_column, p_column
from explorer.ui.layout import Chosen
from explorer.ui.priming.figure_curves import name_of
from explorer.ui.priming.figure_edits import edit_curves, edit_effects
from explorer.variants.prefix_edits import PREFIX_EDITS


@dataclass(frozen=True, slots=True)
class Matrix:
    """A suite-by-suite matrix: its name, the figures of the paper it shows, and how its cells are drawn."""

    title: str
    figure: str
    tick: str
    centered: bool = False
    diagonal: bool = True


MATRICES = {
    declared.TOKEN_F1: Matrix("Shared tokens", "figure 12, left", ".2f"),
    declared.DEPENDENCY_F1: Matrix("Shared dependency labels", "figure 12, right", ".2f"),
    declared.MATRIX_ACCURACY: Matrix("Accuracy after 10 sentences", "figure 13, left", ".0%", diagonal=False),
    declared.MATRIX_DELTA: Matrix(
        "Change after 10 sentences", "figures 13, right, and 14", "+.0%", True, diagonal=False
    ),
}


def has_matrices(run_id: str) -> bool:
    """Whether a run compared suites with suites."""
    return len(resources.ask_store(priming_queries.matrix, run_id, declared.TOKEN_F1.name)) > 1


def _asked_for_edits(run_id: str) -> bool:
    spec = resources.ask_store(queries.run, run_id)["spec"]
    return bool(len(spec) and json.loads(spec.iloc[0])["settings"].get("edits"))


def edits(chosen: Chosen, run_id: str) -> None:
    """What mild changes of matched contexts do to their effect."""
    findings = resources.ask_store(priming_queries.edits, run_id)
    curves = findings[findings["finding"] == declared.EDIT_CURVE.name]
    if curves.empty and _asked_for_edits(run_id):
        show.nothing_yet(
            "Nothing was measured of the perturbed contexts",
            "The most affected suites are chosen on one half of the items and measured on the other; this run is too "
            "small for both. Take more items of each suite, or set edit_halves to false.",
        )
        return
    if curves.empty:
        study_start.offer(
            "priming",
            chosen,
            "No perturbed contexts in this run",
            "A run with perturbed contexts changes the sentences before a pair, by an adverb in front or a clause, and "
            "shows whether they then move the judgment less.",
            settings={"edits": ",".join(PREFIX_EDITS), "chains": 2, "lengths": "0,100,200,300,400,500"},
        )
        return
    sides = list(dict.fromkeys(curves["condition"]))
    side = links.pick(
        st.segmented_control, "Contexts", "side", sides, default=sides[0], required=True, format_func=name_of
    )
    show.chart(
        resources.drawn(edit_curves, curves[curves["condition"] == side]),
        key="edit_curves",
        alt="Change of accuracy over the tokens of context, one line per edit of the context sentences",
    )
    effects = findings[findings["finding"] == declared.EDIT_EFFECT.name]
    suites = int(effects["suites"].max())
    show.note(
        f"Mean over the {suites} suites that matched contexts move most (figure 5 of the paper), chosen on one half of "
        "the items and measured on the other unless the run says otherwise."
    )
    show.chart(
        resources.drawn(edit_effects, effects),
        key="edit_effects",
        alt="Likeness of the changed to the plain context sentences against the change of accuracy",
    )
    printed = edit_correlations()
    values = minus(" and ".join(str(figure.value) for figure in printed))
    sentences = []
    for _, row in findings[findings["finding"] == declared.EDIT_CORRELATION.name].iterrows():
        value = (
            "not defined"
            if row["value"] != row["value"]
            else f"ρ = {display.number(row['value'])}, {display.p_in_words(row['p'])}"
        )
        sentences.append(f"{name_of(str(row['condition']))}: {value}")
    show.note(
        f"Spearman's ρ over {len(set(effects['setting']))} kinds of context with its exact permutation p: "
        f"{'; '.join(sentences)}. Published for {printed[0].model}: {values} (figure 9)."
    )


def matrices(chosen: Chosen, run_id: str) -> None:
    """Suites compared with suites, and whether the matrices and judgments go together."""
    matrices = {finding.name: matrix for finding, matrix in MATRICES.items()}
    cells = {name: resources.ask_store(priming_queries.matrix, run_id, name) for name in matrices}
    present = [name for name, cells_of_matrix in cells.items() if len(cells_of_matrix) > 1]
    if not present:
        study_start.offer(
            "priming",
            chosen,
            "No heat maps in this run",
            "A run that compares suites asks pairs of each suite after sentences of every other one, and shows whether "
            "suites that share words and structure prime each other more.",
            settings={"overlap": 100, "matrix": 5, "chains": 2, "lengths": "0,100,200,300,400,500"},
        )
        return
    name = links.pick(
        st.segmented_control, "Matrix", "matrix", present, default=present[0], required=True,
        format_func=lambda matrix_name: matrices[matrix_name].title,
    )  # fmt: skip
    kind = matrices[name]
    show.says(furthest(cells[name], kind))
    show.chart(
        square_heatmap(
            cells[name],
            value_name=kind.title,
            tick=kind.tick,
            rows="Target suite",
            columns="Suite of the context",
            centered=kind.centered,
            diagonal=kind.diagonal,
        ),
        key=f"matrix:{name}",
        alt=f"{kind.title} for each suite after each suite",
    )
    show.note(f"As in {kind.figure} of the paper.")
    show.folded_table(
        cells[name],
        f"{name} {run_id}",
        columns={
            "grp": "Target suite",
            "other": "Suite of the context",
            "value": number_column(kind.title, 3),
            "n": count_column("n"),
        },
    )
    if declared.MATRIX_DELTA.name not in present:
        show.note(
            "This run did not ask how one suite primes another; a run does whose setting "
            f"“{run_words.label('matrix')}” is above 0."
        )
    _correlations(resources.ask_store(priming_queries.correlations, run_id), run_id)


def furthest(cells: pd.DataFrame, kind: Matrix) -> str:
    """Which suite is farthest from zero after which other one, in a sentence; "" where no cell has a number."""
    apart = cells[(cells["grp"] != cells["other"]) & cells["value"].notna()]
    if apart.empty:
        return ""
    top = apart.iloc[int(apart["value"].abs().to_numpy().argmax())]
    value = format(float(top["value"]), kind.tick).replace("-", "−")
    target, other = (display.words(str(top[name])) for name in ("grp", "other"))
    return f"{kind.title}: of two different suites the largest is {target} after {other}, {value}."


def together(table: pd.DataFrame) -> str:
    """In how many comparisons likeness and accuracy go together, in a sentence; "" where none could be made."""
    tested = table[table["p"].notna()]
    if tested.empty:
        return ""
    clear = tested[(tested["low"] > 0) | (tested["high"] < 0)]
    if clear.empty:
        return f"None of {len(tested)} comparisons gives evidence that likeness goes with accuracy."
    return (
        f"In {len(clear)} of {len(tested)} comparisons likeness goes with accuracy, by intervals that leave out zero."
    )


def _correlations(findings: pd.DataFrame, run_id: str) -> None:
    compared = {declared.MATRIX_CORRELATION.name: "matrices", declared.OVERLAP_AND_JUDGMENT.name: "judgments"}
    correlations = findings[findings["finding"].isin(list(compared))]
    if correlations.empty:
        return
    st.subheader("Does likeness go with accuracy?", anchor=False)
    table = pd.DataFrame(
        {
            "level": correlations["finding"].map(compared),
            "likeness": correlations["setting"]
            .str.replace("_f1", "s shared", regex=False)
            .str.replace("dependencys", "labels"),
            "contexts": [name_of(name) if isinstance(name, str) else "one suite" for name in correlations["condition"]],
            "value": correlations["value"],
            "low": correlations["low"],
            "high": correlations["high"],
            "p": correlations["p"],
            "n": correlations["n"],
            "reason": correlations["reason"],
        }
    )
    show.says(together(table))
    show.folded_table(
        table,
        f"likeness and accuracy {run_id}",
        columns={
            "level": "Over",
            "likeness": "Likeness",
            "contexts": "Contexts",
            "value": number_column("Correlation", 3),
            "low": number_column("From", 3),
            "high": number_column("To", 3),
            "p": p_column(),
            "n": count_column("n", "suites of a matrix, or judgments"),
            "reason": "Remark",
        },
    )
    show.note(
        "Matrices: Spearman's ρ without the diagonal and Mantel's permutation p. Judgments: the point-biserial "
        "correlation of being right with the mean token or label F1 of the pair's acceptable sentence and the first "
        "sentences of its context (appendix D of the paper)."
    )
