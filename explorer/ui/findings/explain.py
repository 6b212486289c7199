"""Popularity or memorization? What being right still goes with once everything else that is stored is held."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from explorer.popularity import indexes
from explorer.studies.explain import answer
from explorer.studies.explain.answer import Answer
from explorer.studies.explain.gather import Gathered, gather, with_unigrams
from explorer.studies.explain.predictors import PREDICTORS, of_kind, shares_verdict
from explorer.ui import layout, links, nearest_run, resources, show
from explorer.ui.columns import count_column, name_column, number_column, p_column, text_column
from explorer.ui.findings.figure_effects import effects_held
from explorer.ui.layout import Chosen

MOST = 20_000  # items in a model; more say the same and take a visitor's time
UNIGRAMS = "unigrams"


def draw_findings_explain(chosen: Chosen) -> None:
    """The sentence, the picture, which measures are held, and the table."""
    gathered = _gathered(chosen.model, chosen.benchmark)
    usual = answer.usual(gathered)
    if len(usual) < 2 and (other := nearest_run.with_runs("popularity", chosen)) != chosen:
        chosen, gathered = other, _gathered(other.model, other.benchmark)
        usual = answer.usual(gathered)
    if len(usual) < 2:
        have = ", ".join(PREDICTORS[name].title for name in gathered.measures)
        show.nothing_yet(
            "Verdicts and two measures of the same items are needed",
            (f"Stored so far: {have}. " if have else "Nothing is stored about these items with this model. ")
            + "Popularity gives verdict, IPS and length; memorization and perturbation add theirs.",
            f"python -m explorer run popularity --model {chosen.model} --benchmark {chosen.benchmark}",
        )
        return
    place = st.container()
    measures = _pick(gathered, usual)
    if UNIGRAMS in measures:
        with st.spinner("Counting single tokens", show_time=True):
            gathered = _counted(chosen.model, chosen.benchmark)
    if not measures:
        show.note("Choose a measure to be held.")
        return
    with place, st.spinner("Fitting", show_time=True):
        explained = _explained(_some(gathered.table), gathered.kind, tuple(measures))
        title = f"{layout.model_title(chosen.model)} on {layout.benchmark_title(chosen.benchmark)}"
        show.says(*answer.sentences(explained, title))
        _draw_effects(explained)
    _table(explained, gathered)


def _pick(gathered: Gathered, usual: Sequence[str]) -> list[str]:
    """Which measures stand in the model; those that share the deciding numbers with the verdict are marked."""
    stored = [name for name in of_kind(gathered.kind) if name in gathered.measures or name == UNIGRAMS]
    wish = links.recall_several("held", stored, instead="the usual choice")
    key = "pick:held"
    st.session_state[key] = wish or list(usual)
    picked = st.multiselect(
        "Held together", stored, key=key, on_change=_store_held,
        format_func=lambda name: PREDICTORS[name].title
        + (" (shares the score with the verdict)" if shares_verdict(name, gathered.kind) else ""),
    )  # fmt: skip
    links.remember("held", ",".join(picked) if list(picked) != list(usual) else "", "")
    return picked


def _store_held() -> None:
    links.choose("held", ",".join(st.session_state["pick:held"]))


def _draw_effects(explained: Answer) -> None:
    if not explained.model.effects:
        return
    rows = pd.DataFrame(
        [
            {
                "title": PREDICTORS[effect.name].title, "value": effect.value, "low": effect.low, "high": effect.high,
                "survives": answer.survives(effect), "n": effect.n,
            }
            for effect in explained.model.effects
        ]
    )  # fmt: skip
    show.chart(
        effects_held(rows),
        key="effects",
        n=explained.model.n,
        alt=f"Effects of {len(rows)} measures on being right, each with the others held",
    )


def _table(explained: Answer, gathered: Gathered) -> None:
    model = explained.model
    show.note(
        "Logistic regression of being right (a tie is wrong) on all measures at once"
        + (
            ", with an intercept for each group and errors by group that hold with few of them (CR2)"
            if model.is_by_group
            else ""
        )
        + ("" if model.is_by_group or model.groups < 2 else ", with an intercept for each group")
        + ". Partial Spearman is the rank correlation with the others held, within groups. What a measure adds is told "
        "on items that were not fitted. A measure that is computed from the numbers that decide the verdict explains "
        "nothing and is left out unless it is chosen."
        + (f" {model.left_out:,} items lack a measure or a group's verdicts are all alike." if model.left_out else "")
    )
    for name, why in model.dropped.items():
        show.note(f"{PREDICTORS[name].title} is left out: {why}.")
    if not model.effects:
        return
    show.table(
        pd.DataFrame(
            [
                {
                    "title": PREDICTORS[effect.name].title,
                    "unit": PREDICTORS[effect.name].unit,
                    "value": effect.value,
                    "low": effect.low,
                    "high": effect.high,
                    "p": effect.p,
                    "alone": effect.alone,
                    "partial": effect.partial.value,
                    "partial_low": effect.partial.low,
                    "partial_high": effect.partial.high,
                    "inflation": effect.inflation,
                    "ratio": effect.ratio,
                    "gain": effect.gain,
                    "from": PREDICTORS[effect.name].computed_from,
                    "groups": effect.units if model.is_by_group or model.too_few else None,
                    "runs": len(gathered.runs.get(effect.name, ())) or None,
                }
                for effect in model.effects
            ]
        ),
        "effects with all others held",
        columns={
            "title": name_column("Measure", width=190),
            "value": number_column("Log odds", 2, "per standard deviation within groups, all others held", signed=True),
            "low": number_column("From", 2, "95% interval"),
            "high": number_column("To", 2),
            "p": p_column(),
            "alone": number_column("Alone", 2, "Spearman's rho with being right, within groups"),
            "partial": number_column("Partial", 2, "the same with the others held"),
            "partial_low": number_column("From", 2, "95% interval of the partial correlation"),
            "partial_high": number_column("To", 2),
            "inflation": number_column("VIF", 1, "variance inflation: 1 where it goes with no other measure"),
            "ratio": number_column("Chi²", 1, "likelihood ratio of the model with and without it, items independent"),
            "gain": number_column("Adds", 1, "nats a thousand items that were not fitted (5 folds)"),
            "from": text_column("Computed from", width="medium"),
            "unit": text_column("Unit", width="medium"),
            "groups": count_column("Groups", "groups in which the measure varies, which its interval is over"),
            "runs": count_column("Runs"),
        },
    )


def _some(table: pd.DataFrame) -> pd.DataFrame:
    """At most MOST items, those with every measure first, in an order by chance that stays."""
    if len(table) <= MOST:
        return table
    measures_per_row = table.notna().sum(axis=1)
    order = pd.util.hash_pandas_object(table["instance_id"], index=False)
    return (
        table.assign(_held=-measures_per_row, _order=order).sort_values(["_held", "_order"]).head(MOST)[table.columns]
    )


@st.cache_data(max_entries=8, ttl=600, show_spinner="Joining stored runs")
def _gathered(model: str, benchmark: str) -> Gathered:
    return gather(resources.store(), model, benchmark)


@st.cache_data(max_entries=4, ttl=600, show_spinner=False)
def _counted(model: str, benchmark: str) -> Gathered:
    builder = resources.resources()
    instances = {instance.id: instance for instance in builder.instances(benchmark).instances}
    gathered = _gathered(model, benchmark)
    some = Gathered(_some(gathered.table), gathered.kind, gathered.runs)
    return with_unigrams(some, builder.counter(indexes.suggest_index(model) or indexes.GLASSBOX), instances)


@st.cache_data(max_entries=16, show_spinner=False, hash_funcs={pd.DataFrame: resources.every_row})
def _explained(table: pd.DataFrame, kind: str, measures: tuple[str, ...]) -> Answer:
    return answer.explain(Gathered(table, kind, {}), measures)
