"""All data sets of a model in one picture, as figures 2 to 4 of the in-context paper draw them."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from explorer import display
from explorer.figures import theme
from explorer.studies.icl import declared
from explorer.studies.icl import queries as icl_queries
from explorer.ui import layout, links, resources, show
from explorer.ui.columns import count_column, share_column
from explorer.ui.icl import run
from explorer.ui.icl.figure_together import panels
from explorer.ui.layout import Chosen

BOTH, EXACT = "exact and near-exact", "exact alone"
MATCHES, PERFORMED = "matches", "performance"
PICTURES = {
    "memorization": "Memorization (figure 2)",
    MATCHES: "Exact and near-exact (figure 3)",
    PERFORMED: "Performance and memorization (figure 4)",
}
REMARKS = {
    MATCHES: " Solid: exact and near-exact together; dotted, open circles: exact alone.",
    PERFORMED: " Label accuracy is asked for once a run: its line is the same in every row.",
}
KINDS = {declared.REPLICATION.name: BOTH, declared.REPLICATION_EXACT.name: EXACT}
PERFORMANCE, REPLICATED = "right labels", "replicated, exactly or nearly"


def has_runs(model: str) -> bool:
    """Whether a model has a run that this picture can show."""
    return bool(resources.ask_store(icl_queries.together, model)["finding"].isin(list(KINDS)).any())


def draw_icl_together(chosen: Chosen) -> bool:
    """The picture and its table; False where the model has no run."""
    findings = resources.ask_store(icl_queries.together, chosen.model)
    shares = findings[findings["finding"].isin(list(KINDS))]
    if shares.empty:
        return False
    sources = [name for name in run.SOURCES if name in set(shares["condition"])]
    picture = links.pick(
        st.segmented_control, "Picture", "picture", list(PICTURES), default="memorization", required=True,
        format_func=PICTURES.__getitem__, label_visibility="collapsed",
    )  # fmt: skip
    shares = shares[shares["condition"] == sources[0]]
    settings = [name for name in run.SETTINGS if name in set(shares["setting"])]
    names = sorted(dict.fromkeys(shares["benchmark"]), key=lambda name: name.startswith("starter_"))
    titles = {name: layout.benchmark_title(name) for name in names}
    colors = dict(zip(titles.values(), theme.in_order(len(names)), strict=True))
    shares = shares.assign(
        down=shares["setting"].map(run.SETTINGS), name=shares["benchmark"].map(titles), kind="",
        what=shares["finding"].map(KINDS),
    )  # fmt: skip
    down = [run.SETTINGS[name] for name in settings]
    sentence = in_words(shares)
    if picture == MATCHES:
        sentence = exact_in_words(shares)
        rows = shares.assign(across=shares["name"], kind=shares["what"])
        across, title = [titles[name] for name in names], "Share of test items"
    elif picture != PERFORMED:
        rows = shares.assign(across=shares["what"])
        across, title = [BOTH, EXACT], "Share of test items"
    else:
        both = shares[shares["finding"] == declared.REPLICATION.name].assign(across=REPLICATED)
        performance = _performance(findings, titles, settings)
        sentence = performance_in_words(performance, both)
        rows = pd.concat([performance, both], ignore_index=True)
        across, title = [PERFORMANCE, REPLICATED], "Share"
    rows = rows.reset_index(drop=True)
    show.says(sentence)
    show.chart(
        resources.drawn(panels, rows, colors, down=down, across=across, title=title),
        key=f"icl_together:{chosen.model}:{picture}",
        alt=f"{PICTURES[picture]} over the number of demonstrations, all data sets together",
    )
    show.note(
        "One row per setting, one line per data set; each is the model's largest run. Hovering shows interval and n. "
        + (f"Verdicts by {run.SOURCES[sources[0]].lower()}." if sources[0] != "final" else "")
        + REMARKS.get(picture, "")
    )
    show.folded_table(
        rows,
        f"all data sets {picture}",
        columns={
            "name": "Data set", "down": "Setting", "across": "Of", "kind": "Matches", "k": "k",
            "value": share_column("Share"), "low": share_column("From"), "high": share_column("To"),
            "n": count_column("n"),
        },
    )  # fmt: skip
    return True


def _performance(findings: pd.DataFrame, titles: dict[str, str], settings: list[str]) -> pd.DataFrame:
    """The accuracy of labels, which is asked for once a run, in every setting's row."""
    scored = findings[findings["finding"] == declared.LABEL_ACCURACY.name]
    rest = findings[
        (findings["finding"] == declared.LABEL_ACCURACY_WRITTEN.name) & ~findings["run_id"].isin(scored["run_id"])
    ]
    rows = pd.concat([scored, rest])
    rows = rows[rows["benchmark"].isin(list(titles))]
    frames = []
    for setting in settings:
        rows_of_setting = rows[rows["setting"].isna() | (rows["setting"] == setting)]
        frames.append(rows_of_setting.assign(down=run.SETTINGS[setting]))
    performance = pd.concat(frames, ignore_index=True)
    return performance.assign(across=PERFORMANCE, name=performance["benchmark"].map(titles), kind="")


def in_words(shares: pd.DataFrame) -> str:
    """On which data set most comes back after demonstrations, and on how many nothing does."""
    both = shares[shares["what"] == BOTH]
    best = both.sort_values("value", ascending=False, kind="stable").iloc[0]
    none = [str(name) for name, rows in both.groupby("name", sort=False) if not (rows["value"] > 0).any()]
    rest = f"; nothing on {', '.join(none)}" if none else ""
    return (
        f"Of {both['name'].nunique()} data sets most comes back on {best['name']}: {100 * best['value']:.1f}% of "
        f"{best['n']:,.0f} items after {best['k']:.0f} demonstrations ({str(best['down']).lower()}){rest}."
    )


def exact_in_words(shares: pd.DataFrame) -> str:
    """How much of what comes back at most is word for word."""
    best = shares.sort_values("value", ascending=False, kind="stable").groupby("what").first()
    if EXACT not in best.index or BOTH not in best.index:
        return in_words(shares)
    both, exact = (best.loc[what].to_dict() for what in (BOTH, EXACT))
    return (
        f"Exactly or nearly at most {display.share(both['value'])} come back ({both['name']}, {both['k']:.0f} "
        f"demonstrations), word for word at most {display.share(exact['value'])} ({exact['name']}, {exact['k']:.0f})."
    )


def performance_in_words(performance: pd.DataFrame, replicated: pd.DataFrame) -> str:
    """On how many data sets demonstrations raise the right labels, and on how many what is replicated."""
    raised, known = _raised(performance)
    more, of = _raised(replicated)
    if not known:
        return in_words(replicated.assign(what=BOTH))
    return (
        f"From the fewest demonstrations to the most, right labels rise on {raised or 'none'} of {known} data sets, "
        f"and what is replicated on {more or 'none'} of {of}; the view “Over k” says whether that is more than chance."
    )


def _raised(rows: pd.DataFrame) -> tuple[int, int]:
    """On how many data sets the value is higher at the largest k than at the smallest, and on how many it is known."""
    known = rows.dropna(subset=["value"]).groupby(["name", "k"])["value"].mean().unstack("k")
    known = known.loc[known.notna().sum(axis=1) > 1] if len(known) else known
    ends = [row.dropna() for _, row in known.iterrows()]
    return sum(bool(row.iloc[-1] > row.iloc[0]) for row in ends), len(ends)
