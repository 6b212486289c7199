"""What a memorization run concludes: mean scores, classifiers of correctness, coefficients, low and high halves.

For each task and attack two scores (of the correct and of the wrong option; one for passages) are the features that a
classifier is to tell right from wrong answers by. Source: Ruzzetti, Zanzotto and Caselli, Lexical Popularity, section 6
and appendix A.5.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from explorer.errors import RunError
from explorer.records import RunSpec
from explorer.rows.builders import Row, finding_row
from explorer.stats.auc import RocCurve
from explorer.stats.bootstrap import bootstrap_mean
from explorer.stats.classifiers import KINDS, fit_classifier
from explorer.stats.estimate import Estimate
from explorer.stats.logistic import logistic
from explorer.stats.multiple_tests import correct_p_values as adjust
from explorer.stats.p_values import stars
from explorer.studies import median_split
from explorer.studies.accuracy import findings as accuracy_findings
from explorer.studies.families import families_of
from explorer.studies.memorization import declared, membership_findings
from explorer.studies.memorization.rows import ATTACKS, NEIGHBOR, SMALLEST, scored_instances, sides_of
from explorer.studies.popularity.groups import groups_of, kind_of

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.folder import RunFolder

CLASSIFIED = ("task", "overall")  # kinds of groups that have classifiers
SVM_MOST = 5_000  # instances: a support vector machine's time grows with their square, and a task has at most 8,000
ROC_POINTS = 200  # corners of a stored ROC curve


def summarize(spec: RunSpec, resources: Resources, folder: RunFolder) -> list[Row]:
    """Rows of `findings`; declared.py says what each is."""
    frame = scored_instances(folder)
    if frame.empty:
        return []
    rows = accuracy_findings.summarize(spec, resources, folder) if frame["correct"].notna().any() else []
    if int(spec.settings["neighbours"]) > 0:
        rows.append(neighbors_by(spec, folder, frame))
    known: dict[tuple[bytes, bool], list[Row]] = {}  # a task that is the whole benchmark is also the group "overall"
    for group, members in groups_of(frame):
        key = members.tobytes(), kind_of(group) in CLASSIFIED
        if key not in known:
            known[key] = [
                row for attack in ATTACKS for row in summarize_attack(group, attack, frame[members], spec.seed)
            ]
        rows += [{**row, "grp": group} for row in known[key]]
    adjust_coefficients(rows)
    return [*rows, *membership_findings.summarize(spec, resources, folder)]


def summarize_attack(group: str, attack: str, frame: pd.DataFrame, seed: int) -> list[Row]:
    """Findings about one attack on one group of instances; classifiers for the paper's tasks and for all together."""
    sides = sides_of(frame, attack)
    rows = [_mean(group, attack, side, frame) for side in sides]
    if not sides or not frame["correct"].notna().any():
        return rows
    if "correct" in sides:
        sides = ("correct", "wrong")
    if kind_of(group) in CLASSIFIED:
        rows += classifiers(group, attack, sides, frame, seed)
    rows += coefficients(group, attack, sides, frame)
    rows += low_and_high(group, attack, sides, frame)
    return rows


def classifiers(group: str, attack: str, sides: Sequence[str], frame: pd.DataFrame, seed: int) -> list[Row]:
    """Macro-F1 and AUC of each kind of classifier, and the macro-F1 of the majority dummy."""
    rows: list[Row] = []
    for kind in KINDS:
        used = _sample(frame, attack, sides, seed) if kind == "svm" else frame
        classifier = fit_classifier(
            used["correct"].to_numpy(),
            *(used[f"{attack}/{side}"].to_numpy() for side in sides),
            texts=used["text_hash"].tolist(),
            kind=kind,
            seed=seed,
        )
        spared = len(frame) - len(used)
        reason = "; ".join(
            filter(None, (classifier.reason, f"fitted on {classifier.n:,} instances, drawn" if spared else ""))
        )
        factors = {"setting": attack, "condition": kind}
        detail = {
            "in_sample": _none_for_nan(classifier.macro_f1_in_sample),
            "folds": classifier.folds,
            "right": classifier.right,
        }
        left_out = classifier.macro_f1.left_out + spared
        f1 = replace(classifier.macro_f1, left_out=left_out, reason=reason)
        area = replace(classifier.auc, left_out=left_out, reason=reason or classifier.auc.reason)
        curve = {"in_sample": _none_for_nan(classifier.auc_in_sample), "roc": _thinned(classifier.roc)}
        rows.append(finding_row(declared.CLASSIFIER_F1, group, f1, factors=factors, detail=detail))
        rows.append(finding_row(declared.CLASSIFIER_AUC, group, area, factors=factors, detail=curve))
        if kind == "logistic":
            about = {"setting": attack, "condition": "majority"}
            right = {"right": classifier.right}
            rows.append(
                finding_row(declared.CLASSIFIER_F1, group, classifier.macro_f1_majority, factors=about, detail=right)
            )
    return rows


def coefficients(group: str, attack: str, sides: Sequence[str], frame: pd.DataFrame) -> list[Row]:
    """The change in log odds of being right per unit of each side's score; a problem is named in their place."""
    fit = logistic(
        frame["correct"].to_numpy(),
        *(frame[f"{attack}/{side}"].to_numpy() for side in sides),
        names=list(sides),
        groups=families_of(frame),
    )
    rows = []
    for slope in fit.slopes:
        detail = {
            "per_sd": _none_for_nan(slope.per_sd),
            "stars": stars(slope.p),
            "se": _none_for_nan(slope.se),
            "z": _none_for_nan(slope.z),
            "intercept": _none_for_nan(fit.intercept),
            "right": fit.right,
        }
        about = {"setting": attack, "condition": slope.name}
        rows.append(finding_row(declared.CLASSIFIER_COEFFICIENT, group, slope, factors=about, detail=detail))
    return rows


def adjust_coefficients(rows: Iterable[Row]) -> None:
    """Adds Holm's p to each coefficient's detail: over the attacks and the groups of one kind (the tasks together).

    Rows of several runs are adjusted together over their models, too.
    """
    families: dict[str, list[Row]] = {}
    for row in rows:
        if row["finding"] == declared.CLASSIFIER_COEFFICIENT.name:
            families.setdefault(kind_of(row["grp"]), []).append(row)
    for tested in families.values():
        adjusted = adjust([row["p"] for row in tested], "holm")
        for row, p in zip(tested, adjusted.p, strict=True):
            detail = json.loads(row["detail"]) if isinstance(row["detail"], str) else {}
            row["detail"] = json.dumps({**detail, "p_holm": _none_for_nan(p), "tests": adjusted.n})


def low_and_high(group: str, attack: str, sides: Sequence[str], frame: pd.DataFrame) -> list[Row]:
    """Accuracy below and above the median: by how the options' scores differ, or by the one score there is."""
    factors = {"setting": attack}
    if "correct" not in sides:
        scored = frame.assign(score=frame[f"{attack}/{sides[0]}"])
        return median_split.compare(declared.SPLIT, group, scored, factors=factors)
    # Three divisions, since the published one turns the order round for scores below zero (log-likelihoods).
    right, wrong = frame[f"{attack}/correct"].to_numpy(), frame[f"{attack}/wrong"].to_numpy()
    corrected = frame.assign(score=split_score(right, wrong, "corrected"))
    published = frame.assign(score=split_score(right, wrong, "published"))
    plain = frame.assign(score=split_score(right, wrong, "plain"))
    divided = median_split.compare(declared.SPLIT, group, corrected, factors=factors)
    divided += median_split.halves(declared.PUBLISHED, group, published, factors=factors)
    undefined = int((np.abs(right) < SMALLEST).sum())
    if undefined:
        why = f"{undefined:,} scores of the correct option are too near to zero to divide by"
        for row in divided:
            row["reason"] = why if not row["n"] else "; ".join(filter(None, (row["reason"], why)))
    return [*divided, *median_split.halves(declared.PLAIN, group, plain, factors=factors)]


def split_score(right: np.ndarray, wrong: np.ndarray, division: str) -> np.ndarray:
    """The difference of the options' scores over |the correct one's|; "published": over its signed score, so that its
    sign flips for log-likelihoods; "plain": undivided. Undefined where the divisor is nearer to zero than 1e-6."""
    difference = right - wrong
    if division == "plain":
        return difference
    divisor = np.abs(right) if division == "corrected" else right
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.abs(right) < SMALLEST, np.nan, difference / divisor)


def neighbors_by(spec: RunSpec, folder: RunFolder, frame: pd.DataFrame) -> Row:
    """Who proposed the neighbors, of how many instances; RunError where parts of the run asked different models."""
    variants = folder.read("variants", ["instance_id", "condition", "setting", "accepted", "edit"])
    neighbor_rows = variants[variants["condition"] == NEIGHBOR]
    methods = list(dict.fromkeys(neighbor_rows["setting"].dropna()))
    if len(methods) > 1:
        raise RunError(
            f"The neighbors of this run come from {' and '.join(methods)}. Delete it and start it again with "
            "neighbours_by naming one of them."
        )
    accepted = neighbor_rows[neighbor_rows["accepted"].astype(bool)]
    instances = accepted["instance_id"].nunique()
    cap = int(spec.settings["neighbours_cap"])
    detail = {
        "method": methods[0] if methods else "",
        "weights": json.loads(accepted["edit"].iloc[0]).get("weights", "") if instances else "",
        "per_text": int(spec.settings["neighbours"]),
        "cap": cap,
        "beyond_cap": len(frame) - neighbor_rows["instance_id"].nunique(),
        "made": len(accepted),
    }
    reason = f"at most {cap:,} instances of each task" if detail["beyond_cap"] else ""
    count = Estimate.point(instances, instances, left_out=len(frame) - instances, reason=reason)
    factors = {"setting": methods[0]} if methods else None
    return finding_row(declared.NEIGHBORS_BY, "overall", count, factors=factors, detail=detail)


def _mean(group: str, attack: str, side: str, frame: pd.DataFrame) -> Row:
    """The mean over instances, with its interval over paradigms where these are several."""
    paradigms = families_of(frame)
    mean = bootstrap_mean(frame[f"{attack}/{side}"].to_numpy(), paradigms)
    return finding_row(declared.SCORE, group, mean, factors={"setting": attack, "condition": side})


def _sample(frame: pd.DataFrame, attack: str, sides: Sequence[str], seed: int) -> pd.DataFrame:
    """At most SVM_MOST of the instances that have everything, drawn with the seed."""
    whole = frame[["correct", *(f"{attack}/{side}" for side in sides)]].notna().all(axis=1).to_numpy()
    if whole.sum() <= SVM_MOST:
        return frame
    # Of items that have everything, so that the sample is not thinned a second time by gaps.
    sampled_rows = np.random.default_rng(seed).choice(np.flatnonzero(whole), SVM_MOST, replace=False)
    return frame.iloc[np.sort(sampled_rows)]


def _thinned(curve: RocCurve) -> Mapping[str, list[float]]:
    """At most ROC_POINTS corners of the curve, evenly, with both ends."""
    size = len(curve.false_positive)
    corners = np.unique(np.linspace(0, size - 1, min(size, ROC_POINTS)).round().astype(int)).tolist() if size else []
    return {
        "false_positive": [round(curve.false_positive[i], 5) for i in corners],
        "true_positive": [round(curve.true_positive[i], 5) for i in corners],
    }


def _none_for_nan(value: float) -> float | None:
    return None if math.isnan(value) else value
