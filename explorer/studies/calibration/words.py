"""What each method can and cannot see of what was planted, in one sentence that follows from its responses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from explorer import display
from explorer.stats.mcnemar import PairedChange
from explorer.stats.spearman import spearman
from explorer.studies.calibration.doses import Response, first_above, first_beyond, means

NOTHING, WRONG_WAY = 10**12, 10**12 + 1  # sorted behind every dose


def accuracy_in_words(title: str, responses: Sequence[Response]) -> str:
    """What the curve of one model says."""
    by_dose = {response.dose: response for response in responses}
    first, zero, most = first_above(responses), by_dose.get(0), by_dose[max(by_dose)]
    never = f" Where it never occurs, {_share(zero)}." if zero else ""
    if first is None:
        return f"{title} shows no effect of the dose: {_share(most)} at {most.dose:,} times.{never}"
    return (
        f"{title} beats chance once the deciding n-gram occurs {times(first)} in its corpus, and is right in "
        f"{_share(most)} where it occurs {most.dose:,} times.{never}"
    )


def detection_in_words(title: str, responses: Sequence[Response]) -> str:
    """What one attack finds."""
    first, most = first_above(responses), max(responses, key=lambda response: response.dose)
    area = f"AUC {display.number(most.value)} at {most.dose:,} times"
    if most.high < 0.5:
        return f"{title} points the wrong way: texts of the corpus look less seen than others ({area})."
    if first is None:
        return f"{title} does not tell texts of the corpus from others ({area})."
    at_first = f"better than chance (AUC {display.number(_at(responses, first).value)})"
    further = f"; at {most.dose:,} times the AUC is {display.number(most.value)}" if most.dose > first else ""
    return f"{title} finds texts seen {times(first)} {at_first}{_missed(responses, first)}{further}."


def attacks_in_words(lines: Sequence[tuple[str, Sequence[Response]]]) -> str:
    """What several attacks find: those that find texts from the same dose on in one sentence."""
    by_first: dict[tuple[int, str], list[str]] = {}
    for title, responses in lines:
        first, most = first_above(responses), max(responses, key=lambda one: one.dose)
        named = f"{title} ({display.number(most.value)})"
        if most.high < 0.5:
            by_first.setdefault((WRONG_WAY, ""), []).append(named)
        elif first is None:
            by_first.setdefault((NOTHING, ""), []).append(named)
        else:
            grows = f"{display.number(_at(responses, first).value)} → " if most.dose > first else ""
            named = f"{title} ({grows}{display.number(most.value)})"
            by_first.setdefault((first, _missed(responses, first)), []).append(named)
    sentences = []
    for (first, missed), attacks in sorted(by_first.items()):
        several, names = len(attacks) > 1, display.listed(attacks)
        if first == WRONG_WAY:
            way = "point the wrong way" if several else "points the wrong way"
            sentences.append(f"{names} {way}: texts of the corpus look less seen than others.")
        elif first == NOTHING:
            sentences.append(f"{names} {'do' if several else 'does'} not tell texts of the corpus from others.")
        else:
            sentences.append(
                f"{names} {'find' if several else 'finds'} texts seen {times(first)} better than chance{missed}."
            )
    if not sentences:
        return ""
    longest = max(one.dose for _, responses in lines for one in responses)
    key = f"In brackets: the area under the ROC curve (AUC) at the dose named → at {longest:,} times."
    return " ".join([key, *sentences])


def extraction_in_words(title: str, responses: Sequence[Response]) -> str:
    """From how many repetitions on a model finishes texts that it has read."""
    first, most = first_beyond(responses), max(responses, key=lambda response: response.dose)
    never = next((response for response in responses if response.dose == 0), None)
    others = f", and {_share(never)} of those it never read" if never else ""
    if first is None:
        return (
            f"Extraction does not tell what {title} has read: it finishes {_share(most)} of the texts seen "
            f"{most.dose:,} times{others}."
        )
    return (
        f"{title} finishes texts seen {times(first)}{_missed(responses, first)}: "
        f"{_shares(responses, first, 'of those seen')}{others}."
    )


def popularity_in_words(by_length: Mapping[int, Sequence[Response]]) -> str:
    """Which n of the popularity score sees the deciding n-gram, and whether it sees how often it occurs."""
    seen = {
        n: [response for response in responses if response.dose > 0]
        for n, responses in by_length.items()
        if any(response.dose > 0 for response in responses)
    }
    if not seen:
        return ""
    mean = {
        n: sum(response.value * response.n for response in rows) / sum(response.n for response in rows)
        for n, rows in seen.items()
    }
    best, worst = max(mean, key=lambda n: mean[n]), min(mean, key=lambda n: mean[n])
    sentence = (
        f"With n = {best} the popularity score prefers what occurs in the corpus in {display.share(mean[best])} of "
    )
    sentence += "the pairs"
    if best != worst:
        sentence += f", with n = {worst} in {display.share(mean[worst])}"
    rows = sorted(seen[best], key=lambda response: response.dose)
    least, most = rows[0], rows[-1]
    if least.dose == most.dose:
        return f"{sentence}."
    if least.high >= most.low:
        return (
            f"{sentence}. It sees that an n-gram occurs, not how often: {_share(least)} where it does "
            f"{times(least.dose)}, {_share(most)} where it does {most.dose:,} times."
        )
    return f"{sentence}. It sees more of what occurs often: {_share(most)} at {most.dose:,} times."


def swap_in_words(title: str, change: PairedChange) -> str:
    """What becomes of verdicts when a popular subject gives way to a rare synonym."""
    if math.isnan(change.value):
        return f"{title} has no verdict on both synonyms."
    both = f"{display.share(change.before)} right with the popular synonym, {display.share(change.after)} with the rare"
    flips = f"{change.lost:,} lost, {change.gained:,} gained, McNemar {display.p_in_words(change.p)}"
    if not change.p < 0.05:
        return f"There is no evidence that a swap to a rare synonym changes what {title} gets right: {both} ({flips})."
    way = "costs" if change.after < change.before else "adds"
    return f"A swap to a rare synonym {way} {title} right answers: {both} ({flips})."


def concepts_in_words(title: str, responses: Sequence[Response]) -> str:
    """From which dose on a model gives the ID of a concept."""
    first, most = first_beyond(responses), max(responses, key=lambda response: response.dose)
    if first is None:
        return (
            f"Greedy answers do not show that {title} has read the IDs: {_share(most)} right where label and ID occur "
            f"together {most.dose:,} times."
        )
    return (
        f"{title} gives IDs that occur beside their label {times(first)}{_missed(responses, first)}: "
        f"{_shares(responses, first, 'right at')}."
    )


def likelihood_in_words(responses: Sequence[Response]) -> str:
    """From which dose on the log-probability of the right ID tells more than nothing."""
    first, most = first_beyond(responses), max(responses, key=lambda response: response.dose)
    if first is None:
        return "Neither does the likelihood of the right ID."
    never = next(response for response in responses if response.dose == 0)
    at_first = f"{display.number(_at(responses, first).value, 1)} at {times(first)}, " if most.dose > first else ""
    return (
        f"Its log-probability tells apart those that occur {times(first)}{_missed(responses, first)}: "
        f"{display.number(never.value, 1)} nats where they never do, {at_first}{display.number(most.value, 1)} at "
        f"{most.dose:,} times."
    )


def replication_in_words(title: str, k: int, responses: Sequence[Response]) -> str:
    """Whether completions after k demonstrations tell items that were read from others."""
    first, most = first_beyond(responses), max(responses, key=lambda response: response.dose)
    never = next((response for response in responses if response.dose == 0), None)
    others = f" against {_share(never)} of unseen ones" if never else ""
    shown = f"{_share(most)} of the items seen {most.dose:,} times{others}"
    after = "without demonstrations" if k == 0 else f"after {k:,} demonstrations"
    if first is None:
        return f"Completions {after} do not tell what {title} has read: it repeats {shown}."
    grown = _shares(responses, first, "of the items seen")
    sentences = f"Completions {after} tell apart items seen {times(first)}{_missed(responses, first)}"
    return f"{sentences}: {title} repeats {grown}{others}."


def priming_in_words(deltas: pd.DataFrame) -> str:
    """Whether the change after a context follows the dose (it should not); `deltas` has a row per item: dose, delta."""
    by_dose = deltas.groupby("dose")["delta"].mean()
    rank_correlation = spearman(deltas["dose"].to_numpy(dtype=float), deltas["delta"].to_numpy(dtype=float))
    span = f"{display.points(float(by_dose.min()))} to {display.points(float(by_dose.max()))}"
    span += " points"
    test = f"Spearman {display.number(rank_correlation.value)} over {rank_correlation.n:,} items, "
    test += display.p_in_words(rank_correlation.p)
    if not rank_correlation.p < 0.05:
        return f"The control: what a context does to a verdict does not follow the dose ({test}; {span} over doses)."
    return f"Not the control that it was meant to be: what a context does follows the dose ({test}; {span} over doses)."


def own_in_words(title: str, other: str, dose: Sequence[int], gain: Sequence[float]) -> str:
    """What a model gained on texts that it alone has read, by dose; `gain` is in nats a token."""
    frame = pd.DataFrame({"model": title, "dose": list(dose), "gain": list(gain)}).dropna()
    if frame.empty:
        return ""
    responses = means(frame, "model", "gain")
    first, most = first_above([response for response in responses if response.dose > 0], 0.0), responses[-1]
    gained = f"{display.number(most.value, signed=True)} nats a token at {times(most.dose)}"
    if all(math.isnan(response.low) for response in responses):
        return (
            f"Of texts planted {times(most.dose)} a token is likelier to {title} than to {other}, which did not read "
            f"them, by {display.number(most.value, signed=True)} nats. Fewer than five texts a dose allow no interval."
        )
    if first is None:
        return f"{title} has not learned the planted texts: {gained}, beside {other}, which did not read them."
    return (
        f"{title} has learned texts planted {times(first)} or more: {gained}, beside {other}, which did not read them."
    )


def times(dose: int) -> str:
    """A dose as people say it: "once", "16 times"."""
    return "once" if dose == 1 else f"{dose:,} times"


def _missed(responses: Sequence[Response], first: int) -> str:
    smaller = [response.dose for response in responses if 0 < response.dose < first]
    return f", not those seen {times(max(smaller))}" if smaller else ""


def _at(responses: Sequence[Response], dose: int) -> Response:
    return next(response for response in responses if response.dose == dose)


def _shares(responses: Sequence[Response], first: int, of: str) -> str:
    """The share at the first dose that shows anything, and at the largest where that is another one."""
    largest = max(response.dose for response in responses)
    return ", ".join(f"{_share(_at(responses, dose))} {of} {times(dose)}" for dose in dict.fromkeys((first, largest)))


def _share(response: Response) -> str:
    return display.share(response.value, response.low, response.high)
