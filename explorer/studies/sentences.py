"""What a run found, in two or three sentences written from its stored findings by rules.

    sentences("priming", queries.findings(store, run_id), About("Gemma 3 270M", "BLiMP", "blimp", settings))
    compare("priming", {"Gemma 3 270M": findings, "SmolLM2 135M": other_findings})

Pages call `explorer.ui.conclusions.draw_sentences(run_id)` above a figure, which looks names and settings up. A
sentence gives an effect, its interval and its n. Where the interval holds what would be seen without an effect, it says
"no evidence"; of a finding that is missing or nan it says nothing. RULES has the rule of each study.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pandas as pd

from explorer import display
from explorer.finding import Finding
from explorer.rows.schema import FACTORS
from explorer.stats.estimate import FEWEST, Estimate
from explorer.stats.paired_shares import paired_shares
from explorer.stats.proportion import wilson
from explorer.stats.split import SMALLEST_HALF
from explorer.stats.two_estimates import difference_of
from explorer.studies import chat
from explorer.studies.accuracy import declared as accuracy
from explorer.studies.icl import declared as icl
from explorer.studies.memorization import declared as memorization
from explorer.studies.ontology import declared as ontology
from explorer.studies.perturbation import declared as perturbation
from explorer.studies.popularity import declared as popularity
from explorer.studies.priming import declared as priming
from explorer.studies.unscored import UNSCORED

ROUNDED = 0.4  # points by which the difference of whole percents may miss the difference itself
CERTAIN = 0.05
UNITS = ("units", "paradigms", "suites")  # names in a finding's detail of how many its interval is over
FEWEST_IN_GROUP = 20  # items of a group that is named as the weakest
FEWEST_GROUPS = 4
OVERALL, OVER_SUITES = "overall", "mean over suites"
WHOLES = (OVERALL, "mean over groups", "all items alike")  # groups of a finding that are no groups of instances
# A study's setting → what it is in words; the first that was run is told.
SWAPPED = {"NV": "nouns and verbs", "N": "nouns", "V": "verbs"}
REDUCTIONS = {"sum": "summed", "mean_token": "as a mean over tokens", "per_char": "per character"}
PROMPTS = ("full", "pairs_labels", "pairs")
JUDGES = ("final", "rule")
OF_SAMPLE = "Concepts were drawn by popularity bucket: shares are of this sample, not of the whole ontology."
WEIGHED = "Concepts were drawn by popularity bucket, and are reweighted to the whole ontology."
# What stands beside a number: how its ends are written.
WRITERS: Mapping[str, Callable[[float], str]] = {
    "share": display.share,
    "points": display.points,
    "number": display.number,
}


@dataclass(frozen=True, slots=True)
class About:
    """What the findings are of, as people call it; `name` is the benchmark's stored name, `settings` are the run's."""

    model: str = "The model"
    benchmark: str = ""
    name: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    chance: float = math.nan  # the share that is right by chance, where it is known

    @property
    def on(self) -> str:
        """ " on BLiMP" (" on BLiMP asked as a chat" where it was), or nothing."""
        return f" on {self.benchmark}{self.asked}" if self.benchmark else ""

    @property
    def of(self) -> str:
        """ " of BLiMP" (" of BLiMP asked as a chat" where it was), or nothing."""
        return f" of {self.benchmark}{self.asked}" if self.benchmark else ""

    @property
    def asked(self) -> str:
        """ " asked as a chat", or nothing where options were scored as plain text."""
        return f" asked {form_in_words}" if (form_in_words := chat.in_words(self.settings)) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored(Estimate):
    """A stored finding: an estimate with its group, its factors and what has no column."""

    group: str
    factors: Mapping[str, Any]
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Effect:
    """The number that stands for a study: what it is, in which unit, and what it would be without an effect."""

    estimate: Stored
    what: str
    unit: Literal["share", "points", "number"]  # a key of WRITERS
    null: float = math.nan

    @property
    def is_clear(self) -> bool:
        """Whether the interval (or p where there is none) leaves out what would be seen without an effect."""
        return is_clear(self.estimate, self.null)

    @property
    def size(self) -> float:
        """How far it lies from no effect."""
        return abs(self.estimate.value - self.null)

    @property
    def text(self) -> str:
        """The number as it is written."""
        return WRITERS[self.unit](self.estimate.value)


class Findings:
    """The findings of one run that have a number, asked by finding, group and factors."""

    def __init__(self, rows: Iterable[Mapping[Any, Any]]) -> None:
        self._stored: dict[str, list[Stored]] = {}
        for row in rows:
            value = _number(row["value"])
            if math.isnan(value):
                continue
            stored_finding = Stored(
                value, _number(row.get("low")), _number(row.get("high")), _count(row.get("n")), _number(row.get("p")),
                group=str(row["grp"]),
                factors={name: row[name] for name in FACTORS if not _is_missing(row.get(name))},
                detail=_detail(row.get("detail")),
            )  # fmt: skip
            if _units(stored_finding) < FEWEST:  # of a run that stored an interval over so few
                stored_finding = replace(stored_finding, low=math.nan, high=math.nan, p=math.nan)
            self._stored.setdefault(str(row["finding"]), []).append(stored_finding)

    def all(self, finding: Finding, group: str | None = OVERALL, **factors: Any) -> list[Stored]:
        """Those of a finding in a group (none: in any) under these factors, whatever their other factors are."""
        return [
            stored_finding
            for stored_finding in self._stored.get(finding.name, [])
            if (group is None or stored_finding.group == group)
            and all(stored_finding.factors.get(key) == factors[key] for key in factors)
        ]

    def one(self, finding: Finding, group: str = OVERALL, **factors: Any) -> Stored | None:
        """The finding under exactly these factors; none where it is missing or nan."""
        return next(
            (
                stored_finding
                for stored_finding in self.all(finding, group, **factors)
                if dict(stored_finding.factors) == factors
            ),
            None,
        )

    def sure(self, finding: Finding, **factors: Any) -> Stored | None:
        """The same over all, where it has an interval or a test that says how sure it is."""
        stored_finding = self.one(finding, **factors)
        return stored_finding if stored_finding and is_sure(stored_finding) else None


def sentences(study: str, findings: pd.DataFrame, about: About | None = None) -> list[str]:
    """What one run found; `findings` are its rows as `queries.findings` gives them. Empty where nothing can be said."""
    rule = RULES.get(study)
    rows = findings.to_dict("records")
    lines = rule(Findings(rows), about or About()) if rule and rows else []
    return [*_unscored(study, rows), *lines]


def _unscored(study: str, rows: Iterable[Mapping[Any, Any]]) -> list[str]:
    """That no instance has a score, and why; nothing where some have."""
    noun = "verdict" if study == "accuracy" else "score"
    for row in rows:
        if instances := _count(_detail(row.get("detail")).get(UNSCORED)):
            return [f"0 of {instances:,} instances have a {noun}: {row['reason']}."]
    return []


def effect(study: str, findings: pd.DataFrame) -> Effect | None:
    """The number that stands for the run; none where it was not found."""
    rule = EFFECTS.get(study)
    return rule(Findings(findings.to_dict("records"))) if rule and len(findings) else None


def compare(study: str, findings: Mapping[str, pd.DataFrame], about: About | None = None) -> list[str]:
    """What tells models apart, the highest beside the lowest, from their runs of a study on the same benchmark.

    `findings` has what each model is called → its run's findings.
    """
    effects = [(model, run_effect) for model, frame in findings.items() if (run_effect := effect(study, frame))]
    if len(effects) < 2 or len({run_effect.what for _, run_effect in effects}) > 1:
        return []
    ordered = sorted(effects, key=lambda pair: -pair[1].estimate.value)
    (first, high), (last, low) = ordered[0], ordered[-1]
    gap = difference_of(high.estimate, low.estimate)
    if math.isnan(gap.value):
        return []
    on = about.on if about else ""
    numbers = f"{high.text} against {low.text}; {_points(gap.value)}, {_ends(gap, 'points')}"
    if is_clear(gap):
        return [f"The {high.what}{on} is higher for {first} than for {last} ({numbers})."]
    return [f"There is no evidence that the {high.what}{on} differs between {first} and {last} ({numbers})."]


def is_sure(estimate: Estimate) -> bool:
    """Whether an interval or a test says how sure the number is."""
    return not (math.isnan(estimate.low) and math.isnan(estimate.p))


def is_clear(estimate: Estimate, null: float = 0.0) -> bool:
    """Whether the interval leaves out `null`; without an interval, whether p is below 0.05."""
    if not math.isnan(estimate.low) and not math.isnan(estimate.high):
        return estimate.low > null or estimate.high < null
    return estimate.p < CERTAIN


def _accuracy(findings: Findings, about: About) -> list[str]:
    share = findings.one(accuracy.ACCURACY)
    if share is None:
        return []
    over = f" over {_units(share):,.0f} paradigms or suites" if _units(share) < math.inf else ""
    lines = [
        f"{about.model} prefers what the benchmark calls right in {shares(share.value)[0]} of {share.n:,} "
        f"instances{about.of} ({_ends(share, 'share')}{over}){_against_chance(share, about.chance)}."
    ]
    groups = [
        group_share
        for group_share in findings.all(accuracy.ACCURACY, None)
        if not group_share.factors and group_share.group not in WHOLES and group_share.n >= FEWEST_IN_GROUP
    ]
    ordered = sorted(groups, key=lambda group_share: group_share.value)
    if len(groups) >= FEWEST_GROUPS and ordered[0].value < ordered[-1].value:
        weakest, best = (
            f"{display.words(group_share.group)} ({_share_of(group_share)})"
            for group_share in (ordered[0], ordered[-1])
        )
        below = sum(group.high < about.chance for group in groups)
        beneath = f"; in {below:,} of {len(groups):,} groups it is clearly below chance" if below else ""
        lines.append(f"It is weakest on {weakest} and best on {best}{beneath}.")
    others = [other for name in REDUCTIONS if (other := findings.one(accuracy.ACCURACY, setting=name))]
    outside = [other for other in others if other.value < share.low or other.value > share.high]
    if outside:
        far = max(outside, key=lambda other: abs(other.value - share.value))
        way = REDUCTIONS[str(far.factors["setting"])]
        lines.append(f"How scores are reduced matters: {way} it would be {display.share(far.value)}.")
    return lines


def _priming(findings: Findings, about: About) -> list[str]:
    plain = ("acceptable", "unacceptable")
    names = ("less stereotypical", "more stereotypical") if about.name == "crows_pairs" else plain
    moved = [
        (name, change)
        for name, side in zip(names, plain, strict=True)
        if (change := after_longest(findings, f"matched_{side}"))
    ]
    lines: list[str] = []
    for name, change in sorted(moved, key=lambda pair: -abs(pair[1].value)):
        lines.append(_primed(findings, f"{name} matched", change, about, is_first=not lines))
    if unrelated := after_longest(findings, "unrelated"):
        lines.append(_primed(findings, "unrelated", unrelated, about, is_first=not lines))
    if not lines and findings.all(priming.PRIMING_DELTA, None):
        lines.append("There are too few suites or items to say whether contexts change a judgment.")
    if findings.all(priming.SHARED_CONTEXTS, None):
        lines.append("Items of a suite share contexts in this fast preview, so that intervals are too narrow.")
    return lines


def after_longest(findings: Findings, condition: str) -> Stored | None:
    """The change of accuracy after the longest contexts of a condition, over suites where that is stored."""
    for group in (OVER_SUITES, OVERALL):
        changes = findings.all(priming.PRIMING_DELTA, group, condition=condition)
        primed = [change for change in changes if change.factors.get("length") and not math.isnan(change.low)]
        if primed:
            change = max(primed, key=lambda length_change: int(length_change.factors["length"]))
            after = findings.one(priming.PRIMING_ACCURACY, group, **change.factors)
            change = replace(change, detail=after.detail) if after else change  # which says over how many suites
            return None if _units(change) < FEWEST else change
    return None


def _primed(findings: Findings, name: str, change: Stored, about: About, *, is_first: bool) -> str:
    length = int(change.factors["length"])
    after = findings.one(priming.PRIMING_ACCURACY, change.group, **change.factors)
    numbers = f"{_points(change.value)}, {_ends(change, 'points')}, {_units_in_words(change, 'suites')}"
    if not is_clear(change):
        whose = f" the accuracy of {about.model}{about.on}" if is_first else " it"
        return f"There is no evidence that {name} contexts change{whose} ({numbers})."
    if after is None:
        return f"{length:,} tokens of {name} contexts change the accuracy of {about.model}{about.on} ({numbers})."
    before, now = shares(after.value - change.value, after.value)
    if is_first:
        return f"{length:,} tokens of {name} contexts take {about.model} from {before} to {now}{about.on} ({numbers})."
    return f"{name.capitalize()} ones take it to {now} ({numbers})."


def _perturbation(findings: Findings, about: About) -> list[str]:
    swap = _swap(findings)
    if swap is None:
        return []
    before, after, change = swap
    words = SWAPPED[str(change.factors["setting"])]
    first, second = two_shares(before.value, after.value)
    idle = _count(change.detail.get("unchanged"))
    spared = f"; {idle:,} {'has' if idle == 1 else 'have'} no such word to swap" if idle else ""
    numbers = f"{_points(change.value)}, {_ends(change, 'points')}, {_units_in_words(change, 'paradigms')}{spared}"
    if is_clear(change):
        lines = [f"Synonyms for {words} take {about.model} from {first} to {second}{about.on} ({numbers})."]
    else:
        lines = [
            f"There is no evidence that synonyms for {words} change the accuracy of {about.model}{about.on}: {first} "
            f"before, {second} after ({numbers})."
        ]
    gap = findings.sure(perturbation.IPS_LOST_LESS_KEPT, **change.factors)
    if gap:
        ends = f"{display.number(gap.low, signed=True)} to {display.number(gap.high, signed=True)}"
        interval = _ends(gap, "number") if math.isnan(gap.low) or math.isnan(gap.high) else f"95% interval {ends}"
        numbers = f"{display.number(gap.value, signed=True)} of the popularity score, IPS; {interval}, n = {gap.n:,}"
        if is_clear(gap):
            less = "less" if gap.value < 0 else "more"
            lines.append(f"What the swaps turn wrong became {less} popular than what stays right ({numbers}).")
        else:
            lines.append(
                "There is no evidence that what the swaps turn wrong became less popular than what stays right "
                f"({numbers})."
            )
    return lines


def _swap(findings: Findings) -> tuple[Stored, Stored, Stored] | None:
    """Accuracy before and after, and the change as a difference of shares with its test over items."""
    for setting in SWAPPED:
        before = findings.one(perturbation.ACCURACY_ORIGINAL, setting=setting)
        after = findings.one(perturbation.ACCURACY_PERTURBED, setting=setting)
        percent = findings.one(perturbation.CHANGE, setting=setting)
        if before and after and percent:
            lost, gained = percent.detail.get("lost"), percent.detail.get("gained")
            # Stored in percent of the accuracy before, and so are its ends where it has any: over paradigms. Over items
            # there is a test alone, whose table makes the interval.
            low, high = (end * before.value / 100 for end in (percent.low, percent.high))
            if math.isnan(low) and _units(percent) == math.inf and lost is not None and gained is not None:
                over_items = paired_shares(int(lost), int(gained), percent.n)
                low, high = over_items.low, over_items.high
            change = replace(percent, value=after.value - before.value, low=low, high=high)
            return (before, after, change) if is_sure(change) else None
    return None


def _popularity(findings: Findings, about: About) -> list[str]:
    gap = _popularity_gap(findings)
    if gap is None:
        return []
    low, high = (findings.one(popularity.SPLIT.half, setting=side) for side in ("low", "high"))
    sides, half = "", "half"
    if low and high:
        of_low, of_high = two_shares(low.value, high.value)
        # Scores that tie at the median leave no halves: then it is said of how many this is.
        is_half = min(low.n, high.n) >= SMALLEST_HALF * (low.n + high.n)
        half = "half" if is_half else f"{high.n:,} of {low.n + high.n:,} instances"
        sides = f"{of_high} are right, {of_low} of {'the other half' if is_half else 'the others'}; "
    numbers = f"{sides}{_points(gap.value)}, {_ends(gap, 'points')}, {_units_in_words(gap, 'paradigms')}"
    if is_clear(gap):
        does = f"{about.model} does {'better' if gap.value > 0 else 'worse'}"
    else:
        does = f"There is no evidence that {about.model} does better"
    lines = [f"{does} on the more popular {half}{about.of} ({numbers})."]
    ranks = findings.one(popularity.SPLIT.rank_split)
    if ranks and (ranks.value < gap.low or ranks.value > gap.high):
        lines.append(f"Many scores tie at the median: in halves, ties broken at random, it is {_points(ranks.value)}.")
    counted_in_own_data = findings.one(popularity.INDEX_IS_PRETRAINING_DATA)
    if counted_in_own_data and counted_in_own_data.value == 0:
        lines.append("Counts are from an index that is not the model's data.")
    return lines


def _popularity_gap(findings: Findings) -> Stored | None:
    # Over paradigms where there are several, since their items are alike.
    over = findings.sure(popularity.SPLIT.difference_over_paradigms)
    return over or findings.sure(popularity.SPLIT.difference)


def _ontology(findings: Findings, about: About) -> list[str]:
    lines = []
    share = findings.one(ontology.ACCURACY, setting="corrected")
    if share:
        lines.append(f"{about.model} gives the right ID of {part(share)} concepts{about.of} ({_ends(share, 'share')}).")
    gain = findings.sure(ontology.GOLD_GAIN_PREFERRED)
    if gain:
        numbers = f"against {display.share(gain.value)} of other IDs, {_ends(gain, 'share')}; 50% by chance"
        if gain.low > 0.5:
            lines.append(f"A concept's label speaks for its ID more than for others ({numbers}).")
        else:
            lines.append(f"There is no evidence that a concept's label tells its ID from others ({numbers}).")
    curve = findings.sure(ontology.SPEARMAN_BUCKETS, setting="corrected")
    if curve:
        numbers = f"Spearman {display.number(curve.value)}, {_ends(curve, 'number')}, over {curve.n:,} buckets"
        if is_clear(curve):
            way = "rises" if curve.value > 0 else "falls"
            lines.append(f"Accuracy {way} with the popularity of a concept ({numbers}).")
        else:
            lines.append(f"There is no evidence that accuracy follows the popularity of a concept ({numbers}).")
    if lines and _count(about.settings.get("per_bucket")):
        is_weighed = share is not None and "sample" in share.detail
        lines.append(WEIGHED if is_weighed else OF_SAMPLE)
    return lines


def _memorization(findings: Findings, about: About) -> list[str]:
    lines = []
    whole = _extracted(findings)
    if whole:
        lines.append(
            f"Given the first half, {about.model} completes {part(whole)} right texts{about.of} word for word "
            f"({_ends(whole, 'share')})."
        )
    beside = beside_neighbors(findings)
    loss = findings.sure(memorization.CLASSIFIER_AUC, setting="mia_loss", condition="logistic")
    if beside:
        numbers = f"AUC {_area(beside)}; 0.50 by chance"
        if is_clear(beside, 0.5):
            lines.append(
                f"The loss beside that of neighbors tells right from wrong answers ({numbers}), but it holds the "
                "log-probabilities that decide the verdict."
            )
        else:
            lines.append(
                "There is no evidence that the loss beside that of neighbors tells right from wrong answers "
                f"({numbers})."
            )
    elif loss:
        lines.append(
            f"That the loss tells right from wrong answers (AUC {_area(loss)}) is no evidence of memorization: the "
            "same log-probabilities decide the verdict."
        )
    return [*lines, *_membership(findings)]


# Whose labels → what the texts are that are told from the others.
LABELS = {"planted": "texts that it has read", "index": "texts that the index holds"}


def _membership(findings: Findings) -> list[str]:
    """What the loss finds of the texts seen, by labels from outside the model, or of those that only another saw."""
    loss = {"setting": "mia_loss"}
    control = findings.sure(memorization.MEMBERSHIP_AUC, **loss, condition="control")
    if control:
        verdict_words = "distinguishes texts here" if is_clear(control, 0.5) else "is at chance"
        return [
            f"As a control, by texts planted in a corpus that it never read, its loss {verdict_words} "
            f"(AUC {_area(control)})."
        ]
    lines = []
    for labels, texts in LABELS.items():
        area = findings.sure(memorization.MEMBERSHIP_AUC, **loss, condition=labels)
        found_share = findings.sure(memorization.FOUND_AT_5, **loss, condition=labels)
        if area and is_clear(area, 0.5) and area.value > 0.5:
            at = f"; at 5% false alarms it finds {display.share(found_share.value)} of them" if found_share else ""
            lines.append(f"Its loss distinguishes {texts} from others (AUC {_area(area)}{at}).")
        elif area:
            lines.append(f"There is no evidence that its loss distinguishes {texts} from others (AUC {_area(area)}).")
    return lines


def beside_neighbors(findings: Findings) -> Stored | None:
    """How well the loss beside that of neighbors tells right from wrong answers (AUC)."""
    return findings.sure(memorization.CLASSIFIER_AUC, setting="mia_neighbours", condition="logistic")


def _area(area: Stored) -> str:
    return f"{display.number(area.value)}, {_ends(area, 'number')}, n = {area.n:,}"


def _extracted(findings: Findings) -> Stored | None:
    """The share of right (or only) texts whose greedy completion is their second half."""
    sides = (findings.one(memorization.SCORE, setting="tde_accuracy", condition=side) for side in ("correct", "text"))
    share = next((side for side in sides if side), None)
    if share and share.low == share.high and share.n:
        # A mean over nothing but zeros (or ones) drawn anew has no spread, which is no interval; Wilson's has one.
        low, high = wilson(share.value * share.n, share.n, 0.95)
        return replace(share, low=min(low, share.value), high=max(high, share.value))
    return share


def _icl(findings: Findings, about: About) -> list[str]:
    lines = []
    most, none = replicated(findings)
    if most:
        k = int(most.factors["k"])
        lines.append(
            f"With {k:,} demonstrations {about.model} replicates {part(most)} items{about.of} exactly or nearly "
            f"({_ends(most, 'share')}){_beside_none(most, none)}."
        )
    labels = [
        label_share
        for label_share in findings.all(icl.LABEL_ACCURACY)
        if "k" in label_share.factors and "part" not in label_share.factors
    ]
    if labels:
        last = max(labels, key=lambda label_share: int(label_share.factors["k"]))
        # Least and greatest over orders, which is a range and no interval.
        ends = (
            f", from {display.share(last.low)} to {display.share(last.high)} over {last.n:,} orders"
            if last.low < last.high
            else f" in each of {last.n:,} orders"
        )
        k = int(last.factors["k"])
        lines.append(
            f"With {k:,} it labels {display.share(last.value)} correctly{ends if last.high >= last.low else ''}."
        )
    gap = findings.sure(icl.ACCURACY_GAP, **most.factors) if most else None
    if gap:
        numbers = f"{_points(gap.value)}, {_ends(gap, 'points')}, n = {gap.n:,}"
        if is_clear(gap):
            better = "better" if gap.value > 0 else "worse"
            lines.append(f"Replicated items are labeled {better} than the others ({numbers}).")
        else:
            lines.append(f"There is no evidence that replicated items are labeled better than the others ({numbers}).")
    return lines


def replicated(findings: Findings) -> tuple[Stored | None, Stored | None]:
    """The share that replicates after the most demonstrations, and after none."""
    for setting in PROMPTS:
        for judge in JUDGES:
            shares = [
                share
                for share in findings.all(icl.REPLICATION, condition=judge, setting=setting)
                if "k" in share.factors
            ]
            if shares:
                most = max(shares, key=lambda share: int(share.factors["k"]))
                none = next((share for share in shares if int(share.factors["k"]) == 0), None)
                return most, None if none is most else none
    return None, None


def _beside_none(most: Stored, none: Stored | None) -> str:
    if none is None or most.value == 0:
        return ""
    if is_clear(difference_of(most, none)):
        return f", without them {part(none)}"
    return f", without them {part(none)}: there is no evidence that demonstrations add to it"


RULES: Mapping[str, Callable[[Findings, About], list[str]]] = {
    "accuracy": _accuracy,
    "priming": _priming,
    "perturbation": _perturbation,
    "popularity": _popularity,
    "ontology": _ontology,
    "memorization": _memorization,
    "icl": _icl,
}


def _effect_of_accuracy(findings: Findings) -> Effect | None:
    share = findings.one(accuracy.ACCURACY)
    return Effect(share, "accuracy", "share") if share else None


def _effect_of_priming(findings: Findings) -> Effect | None:
    change = after_longest(findings, "matched_unacceptable")
    return Effect(change, "change after unacceptable matched contexts", "points", 0.0) if change else None


def _effect_of_perturbation(findings: Findings) -> Effect | None:
    swap = _swap(findings)
    return Effect(swap[2], "change when words give way to synonyms", "points", 0.0) if swap else None


def _effect_of_popularity(findings: Findings) -> Effect | None:
    gap = _popularity_gap(findings)
    return Effect(gap, "gap between the more and the less popular half", "points", 0.0) if gap else None


def _effect_of_ontology(findings: Findings) -> Effect | None:
    share = findings.one(ontology.ACCURACY, setting="corrected")
    return Effect(share, "share of right IDs", "share", 0.0) if share else None


def _effect_of_memorization(findings: Findings) -> Effect | None:
    whole = _extracted(findings)
    return Effect(whole, "share of texts completed word for word", "share", 0.0) if whole else None


def _effect_of_icl(findings: Findings) -> Effect | None:
    most, none = replicated(findings)
    return Effect(most, "share of replicated items", "share", none.value if none else 0.0) if most else None


EFFECTS: Mapping[str, Callable[[Findings], Effect | None]] = {
    "accuracy": _effect_of_accuracy,
    "priming": _effect_of_priming,
    "perturbation": _effect_of_perturbation,
    "popularity": _effect_of_popularity,
    "ontology": _effect_of_ontology,
    "memorization": _effect_of_memorization,
    "icl": _effect_of_icl,
}


def shares(*values: float) -> list[str]:
    """Shares in whole percents where that tells them apart from each other, from none and from all."""
    is_plain = all(0.01 <= value <= 0.99 for value in values) and (
        len(values) == 1 or max(values) - min(values) >= 0.05
    )
    return [display.share(value, decimals=0 if is_plain else 1) for value in values]


def two_shares(first: float, second: float) -> list[str]:
    """Two shares beside the points between them: with a decimal where whole percents would have another difference."""
    between = 100 * (second - first)
    if abs(round(100 * second) - round(100 * first) - between) > ROUNDED:
        return [display.share(first), display.share(second)]
    return shares(first, second)


def _points(value: float) -> str:
    return f"{display.points(value)} points"


def _ends(estimate: Estimate, unit: str) -> str:
    """The interval in words, the p-value where there is none."""
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return "no interval" if math.isnan(estimate.p) else display.p_in_words(estimate.p)
    return f"95% interval {WRITERS[unit](estimate.low)} to {WRITERS[unit](estimate.high)}"


def _units_in_words(stored: Stored, units: str) -> str:
    count = _units(stored)
    return f"over {count:,.0f} {units}" if count < math.inf else f"n = {stored.n:,}"


def _units(stored: Stored) -> float:
    """Over how many suites or paradigms an interval was made; infinite where it was over items."""
    return next((count for name in UNITS if (count := _count(stored.detail.get(name)))), math.inf)


def _share_of(stored: Stored) -> str:
    return f"{display.share(stored.value)} of {stored.n:,}"


def part(stored: Stored) -> str:
    """So many of n where they are few, else the share: "none of 1,000", "3 of 1,000", "12.3% of 1,000"."""
    count = round(stored.value * stored.n)
    is_few = count < 10 and abs(count - stored.value * stored.n) < 0.01
    return f"{count or 'none'} of {stored.n:,}" if is_few else _share_of(stored)


def _against_chance(stored: Stored, chance: float) -> str:
    if math.isnan(chance) or math.isnan(stored.low):
        return ""
    by_chance = display.share(chance, decimals=0)
    if not is_clear(stored, chance):
        return f"; there is no evidence that it differs from chance, {by_chance}"
    return f", {'above' if stored.value > chance else 'below'} chance, which is {by_chance}"


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def _number(value: Any) -> float:
    return math.nan if _is_missing(value) else float(value)


def _count(value: Any) -> int:
    """A count, or how many are named; 0 where it is neither."""
    if isinstance(value, list):
        return len(value)
    return int(value) if isinstance(value, int | float) and not _is_missing(value) else 0


def _detail(text: Any) -> Mapping[str, Any]:
    try:
        fields = json.loads(text) if isinstance(text, str) and text else {}
    except ValueError:  # of a run that others made
        fields = {}
    return fields if isinstance(fields, dict) else {}
