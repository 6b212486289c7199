"""Printed figures beside those of stored runs: the difference, whether it lies in the interval, and the slips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from explorer import display
from explorer.results import queries_replication
from explorer.results.store import Store
from explorer.studies.replication import board as replication_board
from explorer.studies.replication import papers
from explorer.studies.replication.board import BoardFigure, Ours
from explorer.studies.replication.figures import BLIMP, PYTHIA
from explorer.ui import corpus_mark, layout, links, resources, show
from explorer.ui.columns import count_column, link_column, number_column, text_column
from explorer.ui.layout import Chosen
from explorer.ui.replication.figure_printed import printed_and_ours

EVERY_TABLE = "All tables"
EVERY_MODEL = "All models"
ROW = 35
TALLEST = 640
ABOUT = ("study", "benchmark", "finding", "grp", "setting", "condition", "k")
DRAWN = 70  # figures in a picture
WORDS = {
    "within": "within the interval",
    "outside": "outside the interval",
    "equal": "equal as printed",
    "differs": "differs",
    "not comparable": "not comparable",
    "no target": "no target",
    "not computed": "not computed",
}


def draw_replication_board(source: str, chosen: Chosen) -> None:
    """One source: its slips, its figures beside ours, and what would compute those that are missing."""
    show.about("replication")
    every = resources.ask_store(board_of, source, chosen.model)
    table, model = _pickers(source, every)
    is_picked = [
        figure.table in (table or figure.table) and figure.model == (model or figure.model)
        for figure in replication_board.figures_of_source(source)
    ]
    printed = [
        figure for figure, keep in zip(replication_board.figures_of_source(source), is_picked, strict=True) if keep
    ]
    rows = every[is_picked].reset_index(drop=True) if len(every) else every
    show.says(in_words(rows, layout.model_title(chosen.model)))
    _figures(rows, layout.model_title(chosen.model))
    _counts(rows)
    _remarks(printed)
    _table(rows, f"{source} {table or 'all'}", chosen)
    _commands(printed, rows)


def in_words(rows: pd.DataFrame, other: str) -> str:
    """How many of the printed figures stored runs answer, how many of those can be compared, and how they stand."""
    if rows.empty:
        return ""
    computed = rows[rows["run_id"] != ""]
    if computed.empty:
        beside = f" Diamonds are {other}'s: another model, for orientation only." if rows["other"].notna().any() else ""
        return (
            f"No run of the models that these {len(rows):,} printed values are about is stored here: drawn is what is "
            f"printed.{beside}"
        )
    agree = int(computed["verdict"].isin([WORDS["within"], WORDS["equal"]]).sum())
    off = int(computed["verdict"].isin([WORDS["outside"], WORDS["differs"]]).sum())
    apart = int((computed["verdict"] == WORDS["not comparable"]).sum())
    stands = [_agreement(agree, off)] if agree or off else []
    stands += [f"{apart:,} cannot be compared, since the method differs"] if apart else []
    answered = f"Stored runs answer {len(computed):,} of {len(rows):,} printed figures"
    return f"{': '.join(filter(None, [answered, ', '.join(stands)]))}."


def _agreement(agree: int, off: int) -> str:
    if not off:
        return "it agrees" if agree == 1 else "both agree" if agree == 2 else f"all {agree:,} agree"
    return f"{display.none_or(agree)} {'agrees' if agree < 2 else 'agree'}, {off:,} {'does' if off == 1 else 'do'} not"


def board_of(store: Store, source: str, model: str) -> pd.DataFrame:
    """The rows of one source."""
    printed = replication_board.figures_of_source(source)
    names = sorted({answer.finding.name for figure in printed for answer in figure.answers})
    return board(printed, queries_replication.findings(store, tuple(names)), model)


def board(printed: Sequence[BoardFigure], findings: pd.DataFrame, model: str) -> pd.DataFrame:
    """A row per printed figure: ours of the same model where a run has it, the chosen model for orientation."""
    wanted = replication_board.keys_of(printed)
    # Of tens of thousands of stored findings a few hundred answer a source's figures.
    about = findings[list(ABOUT)].itertuples(index=False, name=None)
    findings = findings[[key in wanted for key in about]]
    by_finding = replication_board.index(
        [{str(key): value for key, value in row.items()} for row in findings.to_dict("records")]
    )
    rows = []
    for figure in printed:
        ours = replication_board.matching_run(figure, by_finding)
        other = replication_board.matching_run(figure, by_finding, model) if ours is None and model else None
        rows.append({**_printed(figure), **_ours(figure, ours), "other": other.value if other else None})
    return pd.DataFrame(rows)


def _pickers(source: str, rows: pd.DataFrame) -> tuple[str, str]:
    """The table and the printed model; the board opens on the first table of which something is computed."""
    figures = replication_board.figures_of_source(source)
    computed = list(rows.loc[rows["run_id"] != "", "table"]) if len(rows) else []
    left, right = st.columns([1, 1])
    tables = [EVERY_TABLE, *dict.fromkeys(figure.table for figure in figures)]
    models = [EVERY_MODEL, *dict.fromkeys(figure.model for figure in figures)]
    with left:
        table = links.pick(st.selectbox, "Table", "table", tables, default=[*computed, tables[1]][0], format_func=str)
    with right:
        model = links.pick(st.selectbox, "Printed model", "printed", models, default=EVERY_MODEL)
    return "" if table == EVERY_TABLE else table, "" if model == EVERY_MODEL else model


def _printed(figure: BoardFigure) -> dict[str, Any]:
    return {
        "table": figure.table,
        "what": layout.benchmark_title(figure.what) if figure.source in (PYTHIA, BLIMP) else figure.what,
        "condition": figure.condition,
        "metric": figure.metric,
        "model": figure.model,
        "printed": display.number(figure.value, figure.digits),
        "sd": figure.sd,
        "mended": display.number(figure.shown, figure.digits) if figure.shown == figure.shown else "",
        "remark": figure.remark,
        "command": figure.command,
        "published": figure.target,
    }


def _ours(figure: BoardFigure, ours: Ours | None) -> dict[str, Any]:
    gap = float("nan")
    if ours is None:
        return {
            "ours": gap, "low": gap, "high": gap, "difference": gap, "verdict": WORDS["not computed"], "n": None,
            "setting": "", "differs": "", "run_id": "", "look": None, "counted": "",
        }  # fmt: skip
    return {
        "ours": ours.value, "low": ours.low, "high": ours.high,
        "difference": ours.value - figure.target,
        "verdict": WORDS[replication_board.verdict(figure, ours)], "n": ours.n, "setting": ours.setting,
        "differs": ours.differs,
        "counted": f"{corpus_mark.title(ours.foreign)} {corpus_mark.MARK}" if ours.foreign else "",
        "run_id": ours.run_id,
        "look": layout.address_of("Runs", shown=ours.run_id),
    }  # fmt: skip


def _counts(rows: pd.DataFrame) -> None:
    counts = rows["verdict"].value_counts() if len(rows) else pd.Series(dtype=int)
    agree = int(counts.get(WORDS["within"], 0) + counts.get(WORDS["equal"], 0))
    off = int(counts.get(WORDS["outside"], 0) + counts.get(WORDS["differs"], 0))
    show.numbers(
        [
            ("Printed figures", f"{len(rows):,}", "Those of the table and model chosen above."),
            ("Computed", f"{(rows['run_id'] != '').sum():,}", "A run of the same model is stored."),
            ("Agree", f"{agree:,}", "Same setting, and the printed figure lies in our 95% interval, or is equal to "
             "ours at the printed precision where there is no interval."),
            ("Disagree", f"{off:,}", "Same setting, and it does not."),
            ("With a remark", f"{(rows['remark'] != '').sum():,}", "A slip, or why it is no target."),
        ]
    )  # fmt: skip


def _remarks(printed: Sequence[BoardFigure]) -> None:
    """The slips of the paper as warnings, other remarks as notes, each with how many figures it is about."""
    remarks = list(dict.fromkeys(figure.remark for figure in printed if figure.remark))
    if not remarks:
        return
    with st.expander("Slips in print, and remarks", key="replication:remarks"):
        for remark in remarks:
            number = sum(figure.remark == remark for figure in printed)
            sentence = f"{remark[:1].upper()}{remark[1:]}: {number:,} of these figures."
            if any(figure.is_slip for figure in printed if figure.remark == remark):
                st.warning(show.plain(sentence), icon=":material/edit_note:")
            else:
                show.note(sentence)


def _figures(rows: pd.DataFrame, other: str) -> None:
    """What was computed, else what is printed, as rings and dots: a figure for each kind of number."""
    if rows.empty:
        return
    computed = rows[rows["run_id"] != ""]
    shown = computed if len(computed) else rows[rows["other"].notna()] if rows["other"].notna().any() else rows
    for metric, of_metric in shown.groupby("metric", sort=False):
        of_metric = of_metric[of_metric["published"].notna()]
        if of_metric.empty:
            continue
        part = of_metric.head(DRAWN)
        show.chart(
            resources.drawn(printed_and_ours, part.assign(label=labels_of(part)), str(metric), other),
            key=f"replication:{metric}",
            alt=f"Printed and our own figures: {metric}",
        )
        if len(part) < len(of_metric):
            show.note(f"The first {len(part)} of {len(of_metric)} are drawn; the table has all.")


def labels_of(rows: pd.DataFrame) -> list[str]:
    """A label a row, of all that differs between the rows."""
    differing_columns = [name for name in ("table", "what", "condition", "model") if rows[name].nunique() > 1] or [
        "what"
    ]
    return [
        " · ".join(map(display.words, filter(None, row))) for row in rows[differing_columns].itertuples(index=False)
    ]


def _table(rows: pd.DataFrame, name: str, chosen: Chosen) -> None:
    title = layout.model_title(chosen.model)
    columns: dict[str, Any] = {
        "table": text_column("Table", width=75),
        "what": text_column("What", width=125),
        "condition": text_column("Under", width=150),
        "metric": text_column("Figure", width=130),
        "model": text_column("Model", width=90),
        "printed": text_column("Printed", right=True, width=75),
        "mended": text_column("Mended", "the figure that the slip stands for", right=True, width=75),
        "ours": number_column("Ours", width=75),
        "difference": number_column(
            "Difference", help="ours minus the printed or mended figure", signed=True, width=85
        ),
        "verdict": text_column("Verdict", width=140),
        "low": number_column("From", help="our 95% interval", width=75),
        "high": number_column("To", width=75),
        "n": count_column("Instances", width=80),
        "look": link_column("Run", width=60),
        "other": number_column(title, help="another model, for orientation only", width=110),
        "to_know": text_column(
            "To know", "what differs, which corpus was counted, what is odd in print", width="large"
        ),
    }
    if rows.empty:
        show.note("There is no such figure.")
        return
    # One column for what few rows have.
    remarks = rows["remark"] if rows["remark"].nunique() > 1 else [""] * len(rows)  # else it stands above
    counted = ["" if not name else f"counted in {name}" for name in rows["counted"]]
    notes = zip(rows["differs"], counted, remarks, strict=True)
    rows = rows.assign(to_know=["; ".join(filter(None, of_row)) for of_row in notes])
    for column in ("condition", "mended", "to_know"):
        if (rows[column] == "").all():
            columns.pop(column)
    same = [name for name in ("table", "what", "condition", "metric", "model") if rows[name].nunique() == 1]
    same_values = [str(rows[name].iloc[0]) for name in same if name in columns]
    for name in same:
        columns.pop(name, None)
    if same_values:
        show.note(f"Every row below: {', '.join(same_values)}.")
    if "condition" not in columns or "metric" not in columns:
        columns["what"] = text_column("What", width="medium") if "what" in columns else None
    columns = {name: kind for name, kind in columns.items() if kind is not None}
    for column in ("ours", "low", "high", "difference", "n", "look"):
        if rows[column].isna().all():
            columns.pop(column)
    if rows["other"].isna().all():
        columns.pop("other")
    show.folded_table(rows, name, title="Every figure", columns=columns, height=min(ROW * (len(rows) + 1) + 3, TALLEST))


def _commands(printed: Sequence[BoardFigure], rows: pd.DataFrame) -> None:
    """What would compute the figures that no run answers yet."""
    missing = dict.fromkeys(
        figure.command for figure, run_id in zip(printed, rows["run_id"], strict=True) if not run_id and figure.command
    )
    if not missing:
        return

    def draw() -> None:
        show.note("No run of these models is stored here. These commands make them; large models want a GPU.")
        st.code("\n".join(missing), language="bash", wrap_lines=True, height="content" if len(missing) <= 8 else 300)

    show.folded("Compute what is missing: do this from the command line", "replication:commands", draw)


def index() -> None:
    """Every table and figure of the papers: where it is in the app, or why it is not."""
    show.lead("Every table and figure of the four papers, and the page that shows it for a run of your own.")
    rows = pd.DataFrame([_place_in_paper(place) for place in papers.PLACES])
    show.table(
        rows,
        "tables and figures of the papers",
        columns={
            "paper": text_column("Paper", width=150),
            "number": text_column("Number", width=75),
            "look": link_column("Open", "open", width=58),
            "what": text_column("What it shows", width=300),
            "where": text_column("Where, and what to know", width="large"),
        },
        height=TALLEST,
    )


def _place_in_paper(place: papers.Place) -> dict[str, Any]:
    return {
        "paper": papers.PAPERS[place.paper],
        "number": place.number,
        "what": place.what,
        "where": "; ".join(filter(None, (papers.describe(place), place.remark))),
        "look": layout.address_of(place.page, **place.choices) if place.page else None,
    }
