"""One memorization run: scores of memorization, classifiers of correctness by them, and halves by them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from explorer.finding import HalfFindings, SplitFindings
from explorer.scoring.reduce import word_of
from explorer.stats.p_values import LEGEND
from explorer.studies.memorization import declared, published
from explorer.studies.memorization import queries as memorization_queries
from explorer.studies.memorization.rows import ATTACKS
from explorer.studies.popularity.groups import members_of, title_of
from explorer.ui import layout, links, resources, show, undecided
from explorer.ui.columns import (
    count_column,
    group_column,
    link_column,
    number_column,
    p_column,
    points_column,
    share_column,
    text_column,
)
from explorer.ui.dossier.dossier_verdicts import WORDS
from explorer.ui.layout import Chosen
from explorer.ui.memorization.figure_roc import one_score, roc_curves, two_scores
from explorer.ui.popularity.figure_dumbbells import dumbbells

DIVISIONS: Mapping[SplitFindings | HalfFindings, str] = {
    declared.SPLIT: "by |score of the right text|",
    declared.PUBLISHED: "by the signed score, as published",
    declared.PLAIN: "plain difference",
}
SIDES = {"correct": "right text", "wrong": "other text", "text": "text"}
CLASSIFIERS = {"logistic": "Logistic regression", "svm": "SVM, polynomial"}
DOTS = 4000


def pick(chosen: Chosen) -> str:
    """The id of one of the model's memorization runs on the benchmark; "" where there is none."""
    return layout.pick_stored(resources.ask(memorization_queries.runs, chosen.benchmark), chosen)


def pick_group(run_id: str) -> str:
    """The group of instances that is looked at, the broadest first."""
    names = list(resources.ask(memorization_queries.groups, run_id)["grp"])
    if len(names) == 1:
        return str(names[0])
    return links.pick(st.selectbox, "Instances", "of", names, format_func=title_of)


def scores(run_id: str, chosen: Chosen) -> None:
    """Mean score of each attack, and one attack's scores instance by instance."""
    group = pick_group(run_id)
    findings = _of(run_id, group)
    undecided.tell([run_id])
    _neighbours(run_id)
    means = findings[findings["finding"] == declared.SCORE.name]
    show.table(
        means.assign(
            attack=[_title(name) for name in means["setting"]],
            side=[SIDES.get(name, name) for name in means["condition"]],
            unit=[ATTACKS[name].unit for name in means["setting"]],
            seen=[f"the {ATTACKS[name].seen}er" for name in means["setting"]],
        ),
        f"scores of memorization {run_id}",
        columns={
            "attack": "Score", "side": "Of", "value": number_column("Mean"),
            "low": number_column("from"), "high": number_column("to"), "unit": "Unit",
            "seen": text_column("Speaks for having been seen"),
            "n": count_column("Instances"), "left_out": count_column("Left out"), "reason": "Why",
        },
    )  # fmt: skip
    attack = _attack(findings)
    items = resources.ask(memorization_queries.items, run_id, attack).dropna(subset=["own"])
    items = items[members_of(items, group)]
    items = items.assign(verdict=[WORDS[word_of(value)] for value in items["correct"]])
    two = items.dropna(subset=["other"])
    if len(two):
        shown = two if len(two) <= DOTS else two.sample(DOTS, random_state=0)
        points = {
            str(name): (dots["own"].tolist(), dots["other"].tolist())
            for name, dots in shown.groupby("verdict", sort=False)
        }
        show.chart(
            two_scores(points, _title(attack)),
            key="memorization_scores",
            alt=f"{_title(attack)} of the right text against that of the other, a dot an instance",
            n=len(two),
        )
        if len(shown) < len(two):
            show.note(f"{DOTS:,} of {len(two):,} instances are drawn, by chance.")
    elif len(items):
        show.chart(
            one_score({str(name): dots["own"].tolist() for name, dots in items.groupby("verdict")}, _title(attack)),
            key="memorization_scores",
            alt=f"How many texts have which {_title(attack)}, right and wrong answers apart",
            n=len(items),
        )
    strongest = items.sort_values("own", ascending=ATTACKS[attack].seen == "low").head(100)
    with st.expander("Instances that look most like seen ones"):
        show.table(
            strongest.assign(
                open=[
                    layout.address_of("Instance", model=chosen.model, benchmark=chosen.benchmark, instance=name)
                    for name in strongest["instance_id"]
                ]
            ),
            f"most like seen {run_id} {attack}",
            columns={
                "instance_id": "Instance", "grp": group_column("Group"), "own": number_column(_title(attack)),
                "verdict": "Verdict", "open": link_column("", "open"),
            },
        )  # fmt: skip


def classifiers(run_id: str, chosen: Chosen) -> None:
    """Can right and wrong answers be told apart by scores of memorization?"""
    group = pick_group(run_id)
    findings = _of(run_id, group)
    rows = [row for attack in _attacks(findings) for row in _classified(findings, attack, chosen.model, group)]
    if not rows:
        show.note("Classifiers are fitted for the paper's tasks and for all instances together; choose one of these.")
    else:
        show.note(
            "Stratified five-fold cross-validation, scaling inside the fold, duplicate texts in one fold; the majority "
            "dummy answers what is most frequent. Trust a classifier only as far as it beats the dummy."
        )
        show.table(
            pd.DataFrame(rows),
            f"classifiers {run_id}",
            columns={
                "attack": "Score", "kind": "Classifier", "f1": number_column("Macro-F1", 3),
                "majority": number_column("Dummy", 3), "auc": number_column("AUC", 3),
                "low": number_column("from", 3), "high": number_column("to", 3),
                "f1_in": number_column("F1, in sample", 3), "auc_in": number_column("AUC, in sample", 3),
                "paper_f1": number_column("Paper: F1", 3), "paper_auc": number_column("Paper: AUC", 3),
                "n": count_column("Instances"), "reason": "Remarks",
            },
        )  # fmt: skip
        show.note(
            "The paper's Tables E to J carry OLMo-7B's correctness whatever model they name, so they stand only beside "
            "a run of OLMo-7B."
        )
        _roc(findings)
    _coefficients(findings)


def low_high(run_id: str, chosen: Chosen) -> None:
    """Accuracy of the instances that look less, and more, like seen ones."""
    group = pick_group(run_id)
    of_group = _of(run_id, group)
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
    show.note(
        "Instances are split at the median of (score of the right text − score of the other), divided as named; ties "
        "go to the low half. As published the divisor keeps its sign, which turns the order round for log-likelihoods."
    )
    known = halves.dropna(subset=["low_value", "high_value"])
    if len(known):
        show.chart(
            dumbbells(
                known,
                {"low": "low half", "high": "high half"},
                "Accuracy: open circle low half, filled circle high half",
            ),
            key="memorization_halves",
            alt="Accuracy of the low and the high half by each score of memorization",
        )
    paper = {
        (attack, end): figure.value
        for attack in ATTACKS
        for end in ("low", "high")
        if (figure := published.of_half(chosen.model, group, attack, end))
    }
    show.table(
        halves.assign(
            paper_low=[paper.get((row["attack"], "low"), math.nan) for row in rows],
            paper_high=[paper.get((row["attack"], "high"), math.nan) for row in rows],
        ),
        f"low and high {run_id}",
        columns={
            "task": "Score", "field": "Divided", "low_value": share_column("Low half"),
            "low_n": count_column("n low"), "high_value": share_column("High half"),
            "high_n": count_column("n high"), "difference": points_column("Difference", "points, high less low"),
            "p": p_column("Fisher's p"), "auc": number_column("AUC, tie-free", 3),
            "paper_low": number_column("Paper: low", 1), "paper_high": number_column("Paper: high", 1),
            "reason": "Remarks",
        },
    )  # fmt: skip


def _of(run_id: str, group: str) -> pd.DataFrame:
    return resources.ask(memorization_queries.of_group, run_id, group)


def _title(attack: str) -> str:
    return ATTACKS[attack].title if attack in ATTACKS else attack


def _attacks(findings: pd.DataFrame) -> list[str]:
    there = set(findings["setting"].dropna())
    return [name for name in ATTACKS if name in there]


def _attack(findings: pd.DataFrame) -> str:
    known = findings[(findings["finding"] == declared.SCORE.name) & findings["value"].notna()]
    names = [name for name in ATTACKS if name in set(known["setting"])] or list(ATTACKS)
    first = "mia_loss" if "mia_loss" in names else names[0]
    return links.pick(st.selectbox, "Score", "attack", names, default=first, format_func=_title)


def _neighbours(run_id: str) -> None:
    neighbors = resources.ask(memorization_queries.neighbors_by, run_id)
    if neighbors.empty:
        show.note("This run made no neighbors (neighbours=0).")
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
        one, two = f1.iloc[0], area.iloc[0]
        printed = {
            metric: published.of_classifier(model, group, attack, kind, metric) for metric in ("f1_macro", "auc")
        }
        rows.append(
            {
                "attack": _title(attack),
                "kind": title,
                "f1": one["value"],
                "majority": dummy["value"].iloc[0] if len(dummy) else math.nan,
                "auc": two["value"],
                "low": two["low"],
                "high": two["high"],
                "f1_in": _number(_detail(one["detail"]).get("in_sample")),
                "auc_in": _number(_detail(two["detail"]).get("in_sample")),
                "paper_f1": printed["f1_macro"].value if printed["f1_macro"] else math.nan,
                "paper_auc": printed["auc"].value if printed["auc"] else math.nan,
                "n": one["n"],
                "reason": one["reason"] or "",
            }
        )
    return rows


def _roc(findings: pd.DataFrame) -> None:
    kind = links.pick(
        st.segmented_control, "ROC curves of", "classifier", list(CLASSIFIERS), default="logistic", required=True,
        format_func=CLASSIFIERS.get,
    )  # fmt: skip
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
        show.chart(roc_curves(curves), key="memorization_roc", alt="ROC curves of out-of-fold scores, a line an attack")


def _coefficients(findings: pd.DataFrame) -> None:
    coefficients = findings[findings["finding"] == declared.CLASSIFIER_COEFFICIENT.name]
    if coefficients.empty:
        return
    st.subheader("Coefficients", anchor=False)
    show.note(
        "Unpenalized logistic regression of being right on the scores of both texts. Where the "
        "classes are separated, a feature is constant or two are the same there are none, and the reason is named."
    )
    details = [_detail(text) for text in coefficients["detail"]]
    show.table(
        coefficients.assign(
            attack=[_title(name) for name in coefficients["setting"]],
            side=[SIDES.get(name, name) for name in coefficients["condition"]],
            stars=[one.get("stars") or "" for one in details],
            per_sd=[_number(one.get("per_sd")) for one in details],
            p_holm=[_number(one.get("p_holm")) for one in details],
        ),
        "coefficients",
        columns={
            "attack": "Score", "side": "Of", "value": number_column("Log odds per unit"),
            "stars": text_column("", show.plain(LEGEND)),
            "per_sd": number_column("per SD", 3), "low": number_column("from"),
            "high": number_column("to"), "p": p_column(),
            "p_holm": p_column("p (Holm)"), "n": count_column("Instances"),
            "reason": "Why not",
        },
    )  # fmt: skip


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
        one = halves.loc[end]
        row |= {
            f"{end}_value": one["value"],
            f"{end}_low": one["low"],
            f"{end}_high": one["high"],
            f"{end}_n": one["n"],
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
