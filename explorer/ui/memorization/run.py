"""One memorization run: scores of memorization, classifiers of correctness by them, and halves by them."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from explorer import benchmarks, display
from explorer.figures import theme
from explorer.finding import HalfFindings, SplitFindings
from explorer.results.store import Store
from explorer.runs.slices import Slice
from explorer.scoring.reduce import word_of
from explorer.stats.p_values import LEGEND
from explorer.stats.proportion import proportion
from explorer.studies.memorization import declared, published
from explorer.studies.memorization import queries as memorization_queries
from explorer.studies.memorization.rows import ATTACKS
from explorer.studies.popularity.groups import members_of, title_of
from explorer.ui import conclusions, instances_behind, layout, links, resources, show, slices, texts, undecided_verdicts
from explorer.ui.columns import (
    count_column,
    number_column,
    p_column,
    points_column,
    saying_something,
    share_column,
    text_column,
)
from explorer.ui.dossier.dossier_verdicts import WORDS
from explorer.ui.layout import Chosen
from explorer.ui.memorization import membership_view, tasks
from explorer.ui.memorization.figure_roc import areas, one_score, roc_curves, two_scores
from explorer.ui.popularity.figure_dumbbells import certain, dumbbells

DIVISIONS: Mapping[SplitFindings | HalfFindings, str] = {
    declared.SPLIT: "by |score of the right text|",
    declared.PUBLISHED: "by the signed score, as published",
    declared.PLAIN: "plain difference",
}
SIDES = {"correct": "right text", "wrong": "other text", "text": "text"}
CLASSIFIERS = {"logistic": "Logistic regression", "svm": "SVM, polynomial"}
VIEWS = ["Scores", "Classifiers", "Low and high", "All tasks", "Membership"]
DOTS = theme.FEW_DOTS  # more would be drawn by the graphics card, which takes a page change over its time
BY_DEFINITION = (
    "The loss of its texts decides a minimal pair by definition, so that scores made of it separate right from wrong "
    "without any memorization."
)
SHARED = (
    "Scores that are made of the same log-probabilities as the verdict separate right from wrong without any "
    "memorization."
)
SPELLED_OUT = {
    "tde_accuracy": "Training data extraction (TDE): accuracy",
    "tde_likelihood": "Training data extraction (TDE): likelihood",
    "mia_loss": "Membership inference attack (MIA): loss",
    "mia_perplexity": "Membership inference attack (MIA): perplexity",
    "mia_neighbours": "Membership inference attack (MIA): neighbors",
    "min_k": "The least likely tokens (Min-k %)",
}
SPELLED = (
    "TDE, training data extraction: does the model continue the first half of a text with its second half? MIA, "
    "membership inference attack: is a text less surprising than texts that were not seen are? Min-k %: the mean "
    "log-probability of a text's least likely tokens."
)


def pick(chosen: Chosen) -> str:
    """The id of one of the model's memorization runs on the benchmark; "" where there is none."""
    return layout.pick_stored(resources.ask_store(memorization_queries.runs, chosen.benchmark), chosen)


def draw_memorization_run(chosen: Chosen) -> bool:
    """The views of one run of the model on the benchmark; False where there is none."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        view = links.pick(
            st.segmented_control, "View", "facet", VIEWS, default=VIEWS[0], required=True, label_visibility="collapsed"
        )
        # All tasks together are of the largest run on each.
        with st.container() if view == VIEWS[3] else show.options("memorization:options"):
            run_id = pick(chosen) if view != VIEWS[3] else ""
            if run_id:
                group = pick_group(run_id)
                attack = _attack(_findings_of(run_id, group)) if view == VIEWS[0] else ""
                labels = membership_view.pick_labels(run_id, chosen) if view == VIEWS[4] else ("", "")
                kind = _pick_classifier() if view == VIEWS[1] else ""
                slice_picked = slices.pick(chosen.benchmark) if view == VIEWS[0] else None
    if view == VIEWS[3]:
        return tasks.draw_memorization_tasks(chosen.model) or _no_task_yet(chosen)
    if not run_id:
        return False
    if view == VIEWS[0]:
        scores(run_id, group, attack, chosen, slice_picked)
    elif view == VIEWS[1]:
        classifiers(run_id, group, kind, chosen)
    elif view == VIEWS[2]:
        low_high(run_id, group, chosen)
    else:
        membership_view.draw_membership_view(run_id, *labels, chosen)
    show.note(SPELLED)
    return True


def _no_task_yet(chosen: Chosen) -> bool:
    """Says that the model's runs are of no published task; False where it has no run at all."""
    runs = resources.ask_store(memorization_queries.runs, chosen.benchmark)
    if chosen.model not in set(runs["model"]):
        return False
    show.nothing_yet(
        "None of the paper's tasks yet",
        f"{layout.model_title(chosen.model)} has memorization runs of other benchmarks only. Choose BLiMP, LAMBADA, "
        "PIQA, COPA or WinoGrande in the bar at the top and run the study there, or choose another model.",
    )
    return True


def pick_group(run_id: str) -> str:
    """The group of instances that is looked at, the broadest first."""
    names = list(resources.ask_store(memorization_queries.groups, run_id)["grp"])
    if len(names) == 1:
        return str(names[0])
    return links.pick(st.selectbox, "Instances", "of", names, format_func=title_of)


def scores(run_id: str, group: str, attack: str, chosen: Chosen, slice_picked: Slice | None) -> None:
    """One attack's scores instance by instance, and the mean score of each attack."""
    findings = _findings_of(run_id, group)
    if group == "overall":
        show.says(*conclusions.of_run(run_id))
    here = texts.are_here(chosen.benchmark)
    kept = slice_picked and slice_picked.ids
    scored = resources.ask_shared(scored_instances, run_id, group, attack, chosen.benchmark, here, kept)
    show.says(scored.sentence)
    picked = _figure(run_id, group, attack, scored)
    undecided_verdicts.draw_undecided_note([run_id])
    _draw_instances_behind(scored.items, attack, picked, chosen)
    _means(findings, run_id)
    _neighbours(run_id)


@dataclass(frozen=True, slots=True)
class Scored:
    """One attack's scores: a row per instance, a sentence, and a figure of `drawn` instances of the `two`, which have
    another text beside the right one.
    """

    items: pd.DataFrame
    sentence: str
    figure: Any
    drawn: int
    two: int


def scored_instances(
    store: Store, run_id: str, group: str, attack: str, benchmark: str, here: bool, kept: tuple[str, ...] | None
) -> Scored:
    """The scores of a run's instances of a group, of a slice where one is `kept`; with texts where they are `here`.

    For `resources.ask_shared`, which remembers it.
    """
    items = memorization_queries.items(store, run_id, attack).dropna(subset=["own"])
    items = items[members_of(items, group)]
    items = items if kept is None else items[items["instance_id"].isin(kept)]
    items = items.assign(verdict=[WORDS[word_of(value)] for value in items["correct"]])
    two = items.dropna(subset=["other"])
    if two.empty:
        values = {str(name): dots["own"].tolist() for name, dots in items.groupby("verdict")}
        return Scored(items, "", one_score(values, _title(attack)) if len(items) else None, len(items), 0)
    shown = two if len(two) <= DOTS else two.sample(DOTS, random_state=0)
    known = texts.sentences(benchmark, list(shown["instance_id"])) if here else {}
    figure = two_scores(
        shown.assign(text=shown["instance_id"].map(known).fillna("")),
        _title(attack),
        ATTACKS[attack].unit,
        Counter(two["verdict"]),
    )
    return Scored(items, _right_looks_seen(two, attack), figure, len(shown), len(two))


def _right_looks_seen(two: pd.DataFrame, attack: str) -> str:
    """How often the right text looks more like a seen one than the other does."""
    lower = ATTACKS[attack].seen == "low"
    gaps = two["other"] - two["own"] if lower else two["own"] - two["other"]
    share = proportion([0.5 if gap == 0 else float(gap > 0) for gap in gaps])
    return (
        f"By {_title(attack)} the right text looks more like a seen one in "
        f"{display.share(share.value, share.low, share.high)} of {share.n:,} instances; 50% by chance."
    )


def _figure(run_id: str, group: str, attack: str, scored: Scored) -> list[str] | None:
    """The figure of one attack; what was picked in it, none where nothing can be."""
    key = f"memorization_scores:{run_id}:{group}:{attack}"
    if scored.two:
        answer = show.chart(
            scored.figure,
            key=key,
            alt=f"{_title(attack)} of the right text against that of the other, one dot per instance",
            n=scored.two,
            on_select="rerun",
        )
        how_many = f" {DOTS:,} of {scored.two:,} instances are drawn, by chance." if scored.drawn < scored.two else ""
        below = "Below" if ATTACKS[attack].seen == "low" else "Above"
        show.note(
            f"{below} the line the right text looks more like a seen one. Click a dot, or draw a box around some, to "
            f"see the instances.{how_many}"
        )
        return instances_behind.picked(answer)
    if scored.figure is not None:
        show.chart(
            scored.figure,
            key=key,
            alt=f"How many texts have which {_title(attack)}, right and wrong answers apart",
            n=scored.drawn,
        )
    return None


def _draw_instances_behind(items: pd.DataFrame, attack: str, picked: list[str] | None, chosen: Chosen) -> None:
    columns: dict[str, Any] = {"verdict": "Verdict", "own": number_column(_title(attack), help="of the right text")}
    if items["other"].notna().any():
        columns["other"] = number_column("Other text", help=f"{_title(attack)} of the other text, their mean")
    if picked:
        rows = items[items["instance_id"].isin(picked)]
        title = f"{len(rows):,} picked instances"
        instances_behind.draw_instances(rows, chosen, f"picked by {attack}", columns, key="picked", title=title)
        return

    def draw() -> None:
        strongest = items.sort_values("own", ascending=ATTACKS[attack].seen == "low").head(100)
        instances_behind.draw_instances(strongest, chosen, f"most like seen {attack}", columns, key="seen")

    show.folded("Instances that look most like seen ones", f"seen:{attack}", draw)


def _means(findings: pd.DataFrame, run_id: str) -> None:
    means = findings[findings["finding"] == declared.SCORE.name]
    means = means.assign(
        attack=[_title(name) for name in means["setting"]],
        side=[SIDES.get(name, name) for name in means["condition"]],
        unit=[ATTACKS[name].unit for name in means["setting"]],
        seen=[f"the {ATTACKS[name].seen}er" for name in means["setting"]],
    )
    columns = {
        "attack": "Score", "side": "Of", "value": number_column("Mean"),
        "low": number_column("From", help="95% interval"), "high": number_column("To"), "unit": "Unit",
        "seen": text_column("Seen if", "which end speaks for having been seen"),
        "n": count_column("n", "instances"), "left_out": count_column("Left out"), "reason": "Why",
    }  # fmt: skip
    show.folded_table(
        means, f"scores of memorization {run_id}", title="The mean of every score",
        columns=saying_something(means, columns),
    )  # fmt: skip


def _pick_classifier() -> str:
    return links.pick(
        st.segmented_control, "Classifier", "classifier", list(CLASSIFIERS), default="logistic", required=True,
        format_func=CLASSIFIERS.get,
    )  # fmt: skip


def classifiers(run_id: str, group: str, kind: str, chosen: Chosen) -> None:
    """Can right and wrong answers be told apart by scores of memorization?"""
    findings = _findings_of(run_id, group)
    rows = [row for attack in _attacks(findings) for row in _classified(findings, attack, chosen.model, group)]
    if not rows:
        show.note("Classifiers are fitted for the paper's tasks and for all instances together; choose one of these.")
        _coefficients(findings)
        return
    table = pd.DataFrame(rows)
    classified = table[(table["kind"] == CLASSIFIERS[kind]) & table["auc"].notna()]
    classified = classified.assign(value=classified["auc"]).sort_values(["decides", "auc"], ascending=[True, False])
    is_pair = benchmarks.find(chosen.benchmark, resources.settings()).kind == "pair"
    show.says(_best_of(classified), BY_DEFINITION if is_pair else SHARED if classified["decides"].any() else "")
    if len(classified):
        show.chart(
            resources.drawn(areas, classified), key=f"memorization_areas:{kind}",
            alt="Area under the ROC curve of a classifier of right answers by each score, with its interval",
        )  # fmt: skip
    columns = {
        "attack": "Score", "kind": "Classifier", "f1": number_column("Macro-F1", 3),
        "majority": number_column("Dummy", 3, "the most frequent answer, always"), "auc": number_column("AUC", 3),
        "low": number_column("From", 3, "95% interval of the AUC"), "high": number_column("To", 3),
        "f1_in": number_column("F1, in sample", 3), "auc_in": number_column("AUC, in sample", 3),
        "paper_f1": number_column("Paper: F1", 3), "paper_auc": number_column("Paper: AUC", 3),
        "n": count_column("n", "instances"), "reason": "Remarks",
    }  # fmt: skip
    show.folded_table(
        table,
        f"classifiers {run_id}",
        title="Every classifier",
        remark="Stratified five-fold cross-validation, scaling inside the fold, duplicate texts in one fold; the "
        "majority dummy answers what is most frequent. Trust a classifier only as far as it beats the dummy. The "
        "paper's Tables E to J carry OLMo-7B's correctness whatever model they name, so they are shown only beside a "
        "run of OLMo-7B.",
        columns=saying_something(table, columns),
    )
    show.folded("ROC curves", "roc", lambda: _roc(findings, kind))
    _coefficients(findings)


def _best_of(classified: pd.DataFrame) -> str:
    """The best classifier among those whose score does not share the verdict's number."""
    apart = classified[~classified["decides"]]
    if apart.empty:
        return "No score here is independent of the verdict, so that none can speak for memorization."
    best = apart.iloc[0]
    ends = display.interval(best["low"], best["high"])
    numbers = f"AUC {display.number(best['auc'])}, {ends}, n = {best['n']:,.0f}"
    if math.isnan(best["low"]):
        return f"Of the scores that share no number with the verdict, {best['attack']} has the largest area: {numbers}."
    if best["low"] <= 0.5:
        return f"No evidence that a score which is independent of the verdict tells right from wrong: {numbers}."
    return (
        f"Of the scores that share no number with the verdict, {best['attack']} tells right from wrong best: {numbers}."
    )


def low_high(run_id: str, group: str, chosen: Chosen) -> None:
    """Accuracy of the instances that look less, and more, like seen ones."""
    of_group = _findings_of(run_id, group)
    rows = []
    for findings, division in DIVISIONS.items():
        for attack in _attacks(of_group):
            row = _half(of_group, findings, attack)
            if row:
                rows.append(
                    {**row, "field": division, "task": _title(attack), "model": layout.model_title(chosen.model)}
                )
    if not rows:
        show.note("No verdicts here, so there are no halves to compare.")
        return
    halves = pd.DataFrame(rows)
    known = halves.dropna(subset=["low_value", "high_value"])
    is_pair = benchmarks.find(chosen.benchmark, resources.settings()).kind == "pair"
    show.says(_halves_in_words(known), BY_DEFINITION if is_pair else "")
    if len(known):
        show.chart(
            resources.drawn(
                dumbbells,
                known,
                {"low": "low half", "high": "high half"},
                "Accuracy: ○ low half, ● high half",
            ),
            key="memorization_halves",
            alt="Accuracy of the low and the high half by each score of memorization",
        )
    show.note(
        "Instances are split at the median of (score of the right text − score of the other), divided as named; ties "
        "go to the low half. As published the divisor keeps its sign, which turns the order round for log-likelihoods."
    )
    paper = {
        (attack, end): figure.value
        for attack in ATTACKS
        for end in ("low", "high")
        if (figure := published.printed_half(chosen.model, group, attack, end))
    }
    table = halves.assign(
        paper_low=[paper.get((row["attack"], "low"), math.nan) for row in rows],
        paper_high=[paper.get((row["attack"], "high"), math.nan) for row in rows],
    )
    columns = {
        "task": "Score", "field": "Divided", "low_value": share_column("Low"),
        "low_n": count_column("n low"), "high_value": share_column("High"),
        "high_n": count_column("n high"), "difference": points_column("Points", "high less low"),
        "p": p_column("p", "by paradigms where items share them, else Fisher's exact"),
        "auc": number_column("AUC", 3, "tie-free"),
        "paper_low": number_column("Paper: low", 1), "paper_high": number_column("Paper: high", 1),
        "reason": "Remarks",
    }  # fmt: skip
    show.folded_table(table, f"low and high {run_id}", columns=saying_something(table, columns))


def _halves_in_words(halves: pd.DataFrame) -> str:
    """Over the plain division: by which scores the half that looks more like seen texts is answered better."""
    if halves.empty:
        return ""
    clear = halves[certain(halves)]
    return (
        f"In {display.none_or(len(clear))} of {len(halves)} comparisons the halves differ by more than chance "
        "(Fisher's exact test over items, or errors by paradigm where items share them)."
    )


def _findings_of(run_id: str, group: str) -> pd.DataFrame:
    return resources.ask_store(memorization_queries.findings_of_group, run_id, group)


def _title(attack: str) -> str:
    return ATTACKS[attack].title if attack in ATTACKS else attack


def _spelled(attack: str) -> str:
    """An attack with what its letters stand for, where it is first named."""
    return SPELLED_OUT.get(attack, _title(attack))


def _attacks(findings: pd.DataFrame) -> list[str]:
    stored_attacks = set(findings["setting"].dropna())
    return [name for name in ATTACKS if name in stored_attacks]


def _attack(findings: pd.DataFrame) -> str:
    known = findings[(findings["finding"] == declared.SCORE.name) & findings["value"].notna()]
    names = [name for name in ATTACKS if name in set(known["setting"])] or list(ATTACKS)
    first = "mia_loss" if "mia_loss" in names else names[0]
    return links.pick(st.selectbox, "Score", "attack", names, default=first, format_func=_spelled, width=330)


def _neighbours(run_id: str) -> None:
    neighbors = resources.ask_store(memorization_queries.neighbors_by, run_id)
    if neighbors.empty:
        show.note("This run made no neighbors.")
        return
    row = neighbors.iloc[0]
    detail = _detail(row["detail"])
    if not row["value"]:
        show.note(f"No neighbors were made. {row['reason'] or ''}")
        return
    text = f"Neighbors by {row['setting']}: {detail.get('per_text', '?')} a text, of {row['value']:,.0f} instances"
    text += f" ({row['reason']})" if row["reason"] else ""
    if "infilling" in str(row["setting"]):
        text += ". These are words that a causal model finds likely in the gap, not a masked model's as in the paper"
    show.note(text + ".")


def _classified(findings: pd.DataFrame, attack: str, model: str, group: str) -> list[dict[str, Any]]:
    of_attack = findings[findings["setting"] == attack]
    dummy = of_attack[(of_attack["finding"] == declared.CLASSIFIER_F1.name) & (of_attack["condition"] == "majority")]
    rows = []
    for kind, title in CLASSIFIERS.items():
        f1 = of_attack[(of_attack["finding"] == declared.CLASSIFIER_F1.name) & (of_attack["condition"] == kind)]
        area = of_attack[(of_attack["finding"] == declared.CLASSIFIER_AUC.name) & (of_attack["condition"] == kind)]
        if f1.empty or area.empty:
            continue
        best_f1, two = f1.iloc[0], area.iloc[0]
        printed = {
            metric: published.printed_classifier(model, group, attack, kind, metric) for metric in ("f1_macro", "auc")
        }
        rows.append(
            {
                "attack": _title(attack),
                "kind": title,
                "f1": best_f1["value"],
                "majority": dummy["value"].iloc[0] if len(dummy) else math.nan,
                "auc": two["value"],
                "low": two["low"],
                "high": two["high"],
                "f1_in": _number(_detail(best_f1["detail"]).get("in_sample")),
                "auc_in": _number(_detail(two["detail"]).get("in_sample")),
                "paper_f1": printed["f1_macro"].value if printed["f1_macro"] else math.nan,
                "paper_auc": printed["auc"].value if printed["auc"] else math.nan,
                "n": best_f1["n"],
                "reason": best_f1["reason"] or "",
                "decides": tasks.shares_the_number(attack),
            }
        )
    return rows


def _roc(findings: pd.DataFrame, kind: str) -> None:
    areas = findings[
        (findings["finding"] == declared.CLASSIFIER_AUC.name)
        & (findings["condition"] == kind)
        & findings["value"].notna()
    ]
    curves = {}
    for row in areas.to_dict("records"):
        roc = _detail(row["detail"]).get("roc") or {}
        if roc.get("false_positive"):
            curves[_title(row["setting"])] = (roc["false_positive"], roc["true_positive"], row["value"])
    if curves:
        show.chart(
            resources.drawn(roc_curves, curves),
            key="memorization_roc",
            alt="ROC curves of out-of-fold scores, one line per attack",
        )


def _coefficients(findings: pd.DataFrame) -> None:
    coefficients = findings[findings["finding"] == declared.CLASSIFIER_COEFFICIENT.name]
    if coefficients.empty:
        return
    details = [_detail(text) for text in coefficients["detail"]]
    coefficients = coefficients.assign(
        attack=[_title(name) for name in coefficients["setting"]],
        side=[SIDES.get(name, name) for name in coefficients["condition"]],
        stars=[detail.get("stars") or "" for detail in details],
        per_sd=[_number(detail.get("per_sd")) for detail in details],
        p_holm=[_number(detail.get("p_holm")) for detail in details],
    )
    columns = {
        "attack": "Score", "side": "Of", "value": number_column("Log odds per unit"),
        "stars": text_column("", show.plain(LEGEND)),
        "per_sd": number_column("per SD", 3), "low": number_column("From", help="95% Wald interval"),
        "high": number_column("To"), "p": p_column(),
        "p_holm": p_column("p (Holm)"), "n": count_column("n", "instances"),
        "reason": "Why not",
    }  # fmt: skip
    show.folded_table(
        coefficients,
        "coefficients",
        title="Coefficients",
        remark="Unpenalized logistic regression of being right on the scores of both texts. Where the classes are "
        "separated, a feature is constant or two are the same there are none, and the reason is named.",
        columns=saying_something(coefficients, columns),
    )


def _half(findings_of_group: pd.DataFrame, findings: SplitFindings | HalfFindings, attack: str) -> dict[str, Any]:
    of_attack = findings_of_group[findings_of_group["setting"] == attack]
    halves = of_attack[of_attack["finding"] == findings.half.name].set_index("condition")
    gap = of_attack[of_attack["finding"] == findings.difference.name]
    if gap.empty or not {"low", "high"} <= set(halves.index):
        return {}
    # Of the other divisions only the halves are stored: the AUC needs none, and is the same for all.
    area = (
        of_attack[of_attack["finding"] == findings.auc.name]
        if isinstance(findings, SplitFindings)
        else of_attack.head(0)
    )
    row: dict[str, Any] = {"attack": attack}
    for end in ("low", "high"):
        half_row = halves.loc[end]
        row |= {
            f"{end}_value": half_row["value"],
            f"{end}_low": half_row["low"],
            f"{end}_high": half_row["high"],
            f"{end}_n": half_row["n"],
        }
    return row | {
        "difference": gap["value"].iloc[0],
        "p": gap["p"].iloc[0],
        "auc": area["value"].iloc[0] if len(area) else math.nan,
        "reason": gap["reason"].iloc[0] or "",
    }


def _detail(text: Any) -> dict[str, Any]:
    return dict(json.loads(text)) if isinstance(text, str) else {}


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
