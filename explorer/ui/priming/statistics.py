"""The regressions of a run, and its figures beside the paper's."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from explorer import display
from explorer.figures.models import model_color
from explorer.results import queries
from explorer.stats.p_values import LEGEND, stars
from explorer.studies.priming import queries as priming_queries
from explorer.studies.priming.published import SOURCE, Published, statements
from explorer.studies.priming.regression import BY_SUITE, UNRELATED_BY_SUITE
from explorer.studies.sentences import OVER_SUITES
from explorer.ui import links, resources, show
from explorer.ui.columns import number_column, p_column, text_column
from explorer.ui.layout import Chosen
from explorer.ui.priming.figure_terms import regression_terms

MODELS = {
    BY_SUITE: "In-distribution contexts, errors by suite",
    UNRELATED_BY_SUITE: "Unrelated contexts, errors by suite",
    "suite": "As published: in-distribution contexts, an intercept for each suite",
    "suite and item": "The same, with an intercept for each item too",
    "unrelated": "As published: unrelated contexts",
}
AS_PUBLISHED = "As published, it takes an effect to be the same in every suite, which makes its intervals too narrow."
ROW = 35  # pixels of a table's row
FEWEST_SUITES = 5
TERMS = {
    "Intercept": "intercept",
    "log_length": "log length",
    "match": "match",
    "acceptable": "acceptability",
}


def regressions(run_id: str, model: str) -> None:
    """The terms of one regression, with its fit and remarks."""
    terms = resources.ask_store(priming_queries.regression, run_id)
    fits = {str(row["setting"]): row for _, row in resources.ask_store(priming_queries.fits, run_id).iterrows()}
    if terms.empty:
        show.nothing_yet(
            "No regression in this run",
            "It needs all four matched and mismatched, acceptable and unacceptable conditions, or unrelated contexts.",
        )
        return
    setting = links.pick(
        st.selectbox, "Regression", "fit", [name for name in MODELS if name in fits], format_func=MODELS.get,
        label_visibility="collapsed",
    )  # fmt: skip
    of_setting = terms[terms["setting"] == setting]
    known = of_setting["estimate"].notna().any()
    of_setting = of_setting.assign(
        term=[" × ".join(TERMS.get(part, part) for part in term.split(":")) for term in of_setting["term"]],
        stars=[stars(p) for p in of_setting["p"]],
    )
    if known:
        caution = [] if setting in (BY_SUITE, UNRELATED_BY_SUITE) else [AS_PUBLISHED]
        show.says(in_words(of_setting, fits[setting]), *caution)
        show.chart(
            resources.drawn(regression_terms, of_setting[of_setting["term"] != TERMS["Intercept"]], model_color(model)),
            key=f"terms:{setting}:{run_id}",
            alt="Each term of the regression with its 95% interval, in log odds",
        )
    by_suite = setting in (BY_SUITE, UNRELATED_BY_SUITE)
    show.note(
        "A logistic regression of being right on the log of the context's length in tokens, whether it is of the same "
        "suite (matched +1, mismatched −1) and whether it is acceptable (+1, −1). Filled dots: the interval leaves out "
        "zero. "
        + (
            "Judgments of a suite go together, so that errors are by suite."
            if by_suite
            else "Only intercepts vary by suite. Errors by suite, or the bands over suites in “Curves”, are the ones "
            "to trust."
        )
    )
    if known:
        _terms(of_setting, setting, run_id)
    _fit(fits[setting])


def in_words(terms: pd.DataFrame, fit: pd.Series) -> str:
    """Which terms differ from zero, the strongest first, and over how many judgments and suites."""
    about = json.loads(fit["detail"])
    rows = terms[terms["term"] != TERMS["Intercept"]]
    clear = rows[(rows["low"] > 0) | (rows["high"] < 0)]
    suites = (about.get("levels") or {}).get("suite", 0)
    over = f"{fit['n']:,} judgments" + (f" in {suites:,} suites" if suites else "")
    if suites and suites < FEWEST_SUITES:
        return f"With {suites} suites the intervals say little; {over}."
    if clear.empty:
        return f"No evidence that length, match or acceptability of a context moves correctness: {over}."
    strongest = clear.sort_values("z", key=abs, ascending=False).iloc[0]
    numbers = (
        f"{display.number(strongest['estimate'], signed=True)} log odds, 95% interval "
        f"{display.number(strongest['low'], signed=True)} to {display.number(strongest['high'], signed=True)}"
    )
    many = f"{len(clear)} of {len(rows)} terms {'differs' if len(clear) == 1 else 'differ'} from zero over {over}"
    return f"{many}; the clearest is {strongest['term']} ({numbers})."


def _fit(fit: pd.Series) -> None:
    about = json.loads(fit["detail"])
    if fit["reason"]:
        show.note(f"No estimates: {fit['reason']}.")
        return
    formula = re.sub(r"\w+", lambda name: TERMS.get(name[0], name[0]), about["formula"]).replace("*", "×")
    if not about["random"]:
        # Runs of before hold the usual errors, which fall short where suites are few.
        how = (
            "errors that hold with few suites (CR2)"
            if about.get("errors") == "CR2"
            else "t with one degree of freedom less than there are suites, too narrow where these are few"
        )
        show.note(f"{formula} · {fit['n']:,} judgments of {about['levels']['suite']:,} suites · {how}")
        return
    random = ", ".join(
        f"{name} {display.number(sd)} ({about['levels'][name]:,} levels)" for name, sd in about["random"].items()
    )
    how = "Laplace" if about["nagq"] == 1 else "Gauss-Hermite"
    for warning in about["warnings"]:
        st.warning(show.plain(warning), icon=":material/warning:")
    with st.expander("How it was fitted", key="regression:fit"):
        show.note(
            f"{formula} · {fit['n']:,} judgments · log-likelihood {display.number(fit['loglik'])} · "
            f"AIC {display.number(about['aic'])} · sd of the intercepts: {random} · {how} approximation"
        )


def _terms(of_setting: pd.DataFrame, setting: str, run_id: str) -> None:
    show.folded_table(
        of_setting,
        f"regression {setting} {run_id}",
        columns={
            "term": text_column("Term", width="medium"),
            "estimate": number_column("Log odds", 4),
            "low": number_column("From", 4, "95% interval: errors by suite where they are named, else Wald's"),
            "high": number_column("To", 4),
            "se": number_column("SE", 4),
            "z": number_column("z", 2),
            "p": p_column(),
            "stars": text_column("", show.plain(LEGEND)),
        },
    )


def beside_the_paper(chosen: Chosen, run_id: str) -> None:
    """What the paper reports for this benchmark, and what this run found."""
    rows = statements(chosen.benchmark)
    if not rows:
        show.note(f"{SOURCE} has no figures for this set; below are those for BLiMP.")
        rows = statements("blimp")
    findings = resources.ask_store(queries.findings, run_id)
    table = pd.DataFrame(
        [{"what": row.what, "published": row.said, "ours": _ours(row, findings), "place": row.place} for row in rows]
    )
    show.says(paper_in_words(rows, findings))
    show.table(
        table,
        f"beside the paper {run_id}",
        columns={
            "what": text_column("What", width=400),
            "ours": text_column("This run", "changes of accuracy in points, at so many tokens of context", width=190),
            "published": text_column("Published", width=232),
            "place": text_column("Where", width=168),
        },
        height=ROW * (len(table) + 1) + 3,
    )
    show.note(
        f"Published: {SOURCE}, with GPT-2 and five OPT models; its contexts, items and scoring differ from this run's "
        "where its settings do. Changes are of accuracy in points, the largest or smallest over all lengths."
    )


def paper_in_words(rows: Sequence[Published], findings: pd.DataFrame) -> str:
    """How many of the paper's statements the run answers, and how many of its changes go the printed way."""
    answered = [row for row in rows if _answers(row, findings) is not None]
    changes = [(row, _answers(row, findings)) for row in answered if row.takes in ("largest", "smallest")]
    alike = sum((row.takes == "largest") == (change["value"] > 0) for row, change in changes if change is not None)
    said = f"This run answers {len(answered)} of {len(rows)} statements of the paper"
    if not changes:
        return f"{said}."
    if len(changes) > 1 and alike == len(changes):
        return f"{said}; all {alike:,} changes of accuracy go the printed way."
    few = f"{display.none_or(alike)} {'goes' if alike < 2 else 'go'}"
    return f"{said}; of {display.counted(len(changes), 'change')} of accuracy {few} the printed way."


def _ours(row: Published, findings: pd.DataFrame) -> str:
    finding = _answers(row, findings)
    if finding is None:
        return "not in this run"
    if row.takes in ("largest", "smallest"):
        return _change(finding)
    return display.p_in_words(finding["p"]) if row.takes == "p" else _value(finding)


def _answers(row: Published, findings: pd.DataFrame) -> Any | None:
    """The finding of a run that answers a statement of the paper; None where it has none."""
    of_finding = findings[findings["finding"] == row.finding.name]
    # A change has its interval over suites, as in the view “Curves”, where the run has several.
    groups = [OVER_SUITES, row.group] if row.takes in ("largest", "smallest") else [row.group]
    group = next((name for name in groups if name in set(of_finding["grp"])), row.group)
    matching = of_finding[of_finding["grp"] == group]
    for column, wish in (("condition", row.condition), ("setting", row.setting)):
        if wish:
            matching = matching[matching[column] == wish]
    matching = matching[matching["value"].notna()]
    if row.takes in ("largest", "smallest"):
        matching = matching[matching["length"] > 0].sort_values("value", ascending=row.takes == "smallest")
    return matching.iloc[0] if len(matching) else None


def _change(row: Any) -> str:
    value, low, high = (display.points(row[name], 0) for name in ("value", "low", "high"))
    return f"{value} ({low} to {high}) at {row['length']:,.0f}"


def _value(row: Any) -> str:
    interval = f" ({display.number(row['low'])} to {display.number(row['high'])})" if row["low"] == row["low"] else ""
    p = f", {display.p_in_words(row['p'])}" if row["p"] == row["p"] else ""
    return f"{display.number(row['value'])}{interval}{p}"
