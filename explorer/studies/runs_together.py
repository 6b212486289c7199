"""What the runs of a study say together, over models and benchmarks: one sentence, and how large what it shows is.

The rules are of the same kind as those of one run in `sentences.py`: effect, interval, n, and "no evidence" where the
interval holds what would be seen without an effect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from explorer import display
from explorer.stats.two_estimates import difference_of
from explorer.studies import sentences
from explorer.studies.ontology import declared as ontology
from explorer.studies.sentences import About, Effect, Findings

FEW = 0.01  # of all concepts: below it a model gives no IDs to speak of


@dataclass(frozen=True, slots=True)
class OfRun:
    """A run, what it is of, and its findings."""

    run_id: str
    about: About
    findings: Findings


@dataclass(frozen=True, slots=True)
class Together:
    """A sentence over several runs.

    size    the largest clear effect as a share (an AUC as its distance from 0.5); 0 where none is clear
    caveat  what has to be known beside it
    on      the benchmark that the sentence is about, or that it names
    """

    sentence: str
    size: float = 0.0
    caveat: str = ""
    on: str = ""


def together(study: str, runs: Sequence[OfRun]) -> Together | None:
    """What these runs of a study, one a model and benchmark, say; none where they say nothing."""
    rule = ACROSS.get(study)
    return rule(runs) if rule and runs else None


def _accuracy(runs: Sequence[OfRun]) -> Together | None:
    shares = _effects("accuracy", runs)
    if not shares:
        return None
    pairs = []
    for name in dict.fromkeys(run.about.benchmark for run, _ in shares):
        of_name = sorted((pair for pair in shares if pair[0].about.benchmark == name), key=lambda pair: _value(pair[1]))
        if len(of_name) > 1:
            pairs.append((difference_of(of_name[-1][1].estimate, of_name[0][1].estimate), of_name[-1], of_name[0]))
    if not pairs:
        (low, least), (high, most) = (pick(shares, key=lambda pair: _value(pair[1])) for pick in (min, max))
        if low is high:
            return Together(f"{high.about.model} prefers the right option in {most.text}{high.about.of}.")
        return Together(
            f"{high.about.model} prefers the right option most often on {high.about.benchmark} ({most.text}), and "
            f"least on {low.about.benchmark} ({least.text})."
        )
    clear = [pair for pair in pairs if sentences.is_clear(pair[0])]
    if not clear:
        return Together(f"There is no evidence that the models differ on any of {_count(len(pairs), 'benchmark')}.")
    gap, (high, most), (low, least) = max(clear, key=lambda pair: pair[0].value)
    rest = "; on the others there is no evidence that they do" if len(clear) < len(pairs) else ""
    return Together(
        f"The models differ on {len(clear):,} of {_count(len(pairs), 'benchmark')}, most on {high.about.benchmark} "
        f"({high.about.model} {most.text}, {low.about.model} {least.text}){rest}.",
        gap.value,
        on=high.about.benchmark,
    )


def _priming(runs: Sequence[OfRun]) -> Together | None:
    moved = _effects("priming", runs)
    if not moved:
        return None
    first, largest = _largest(moved)
    on = first.about.benchmark
    of_benchmark = [(run, effect) for run, effect in moved if run.about.benchmark == on]
    bad = "more stereotypical" if first.about.name == "crows_pairs" else "unacceptable"
    if not largest.is_clear:
        return Together(f"There is no evidence that {bad} matched contexts change a judgment on {on}.", on=on)
    falls = [
        f"from {before} to {after} ({run.about.model})"
        for run, effect in of_benchmark
        if effect.is_clear
        for before, after in [_before_and_after(run.findings, effect)]
    ]
    changes = [change for run, _ in of_benchmark if (change := sentences.after_longest(run.findings, "unrelated"))]
    rest = ""
    if changes and not any(sentences.is_clear(change) for change in changes):
        rest = "; there is no evidence that unrelated ones change it"
    known = [sentences.after_longest(run.findings, "matched_acceptable") for run, _ in of_benchmark]
    raised = [change for change in known if change]
    if falls and raised and all(sentences.is_clear(change) and change.value > 0 for change in raised):
        rest = f", acceptable ones raise it{rest}" if bad == "unacceptable" else rest
    return Together(
        f"{bad.capitalize()} sentences of the same kind before a pair take accuracy {display.listed(falls)}{rest}.",
        largest.size,
        on=on,
    )


def _before_and_after(findings: Findings, effect: Effect) -> tuple[str, str]:
    change = effect.estimate
    after = findings.one(sentences.priming.PRIMING_ACCURACY, change.group, **change.factors)
    if after is None:
        return "what it was", f"{effect.text} points"
    before, now = sentences.shares(after.value - change.value, after.value)
    return before, now


def _perturbation(runs: Sequence[OfRun]) -> Together | None:
    changed = _effects("perturbation", runs)
    if not changed:
        return None
    lost = [(run, effect) for run, effect in changed if effect.is_clear and _value(effect) < 0]
    if not lost:
        return Together(f"There is no evidence that synonyms cost accuracy in any of {_count(len(changed), 'run')}.")
    run, effect = _largest(lost)
    others = "; in the others there is no evidence of it" if len(lost) < len(changed) else ""
    return Together(
        f"Swapping nouns and verbs for synonyms costs accuracy in {len(lost):,} of {_count(len(changed), 'run')}, most "
        f"on {run.about.benchmark} ({run.about.model} {effect.text} points){others}.",
        effect.size,
        _by_chance(len(changed)),
        run.about.benchmark,
    )


def _popularity(runs: Sequence[OfRun]) -> Together | None:
    gaps = _effects("popularity", runs)
    if not gaps:
        return None
    checks = [run.findings.one(sentences.popularity.INDEX_IS_PRETRAINING_DATA) for run, _ in gaps]
    foreign = any(check is not None and check.value == 0 for check in checks)
    caveat = "Counts are from an index that is not the models' data. " if foreign else ""
    better = [(run, effect) for run, effect in gaps if effect.is_clear and _value(effect) > 0]
    worse = sum(effect.is_clear and _value(effect) < 0 for _, effect in gaps)
    if not better:
        sentence = (
            f"There is no evidence that popular instances are answered better in any of {_count(len(gaps), 'run')}."
        )
        return Together(sentence, 0.0, caveat + _by_chance(len(gaps)))
    run, effect = _largest(better)
    but = f", worse in {worse:,}" if worse else ""
    return Together(
        f"Popular instances are answered better in {len(better):,} of {_count(len(gaps), 'run')}{but}; most on "
        f"{run.about.benchmark} ({run.about.model} {effect.text} points).",
        effect.size,
        caveat + _by_chance(len(gaps)),
        run.about.benchmark,
    )


def _ontology(runs: Sequence[OfRun]) -> Together | None:
    effects = _effects("ontology", runs)
    of_bucket_samples = [effect for run, effect in effects if int(run.about.settings.get("per_bucket") or 0)]
    of_sample = any("sample" not in effect.estimate.detail for effect in of_bucket_samples)
    caveat = (sentences.OF_SAMPLE if of_sample else sentences.WEIGHED) if of_bucket_samples else ""
    known = [(run, effect) for run, effect in effects if gives_ids(run)]
    if known:
        run, effect = _largest(known)
        curve = run.findings.sure(ontology.SPEARMAN_BUCKETS, setting="corrected")
        rises = ""
        if curve and sentences.is_clear(curve):
            way = "rises" if curve.value > 0 else "falls"
            rises = f", and accuracy {way} with the popularity of a concept (Spearman {display.number(curve.value)})"
        on = run.about.benchmark
        without = [other.about.model for other, its in effects if other.about.benchmark == on and not _value(its)]
        none = f"; {display.listed(without)} give{'s' if len(without) == 1 else ''} none" if without else ""
        return Together(
            f"{run.about.model} gives the right ID of {effect.text} of concepts{run.about.of}{rises}{none}.",
            curve.value if curve and rises else effect.size,
            caveat,
            run.about.benchmark,
        )
    labels = [(run, gain) for run in runs if (gain := run.findings.sure(ontology.GOLD_GAIN_PREFERRED))]
    clear = [gain for _, gain in labels if gain.low > 0.5]
    none = "No model gives the right IDs" if effects else ""
    if not labels:
        return Together(f"{none}.", 0.0, caveat) if none else None
    first = f"{none}, and in" if none else "In"
    return Together(
        f"{first} {len(labels) - len(clear):,} of {_count(len(labels), 'run')} there is no evidence that a concept's "
        "label tells its ID from others.",
        max((gain.value - 0.5 for gain in clear), default=0.0),
        caveat,
    )


def gives_ids(run: OfRun) -> bool:
    """Whether a model gives right IDs to speak of: many, or the more the more popular a concept is."""
    share = run.findings.one(ontology.ACCURACY, setting="corrected")
    curve = run.findings.sure(ontology.SPEARMAN_BUCKETS, setting="corrected")
    return bool(share and share.value >= FEW) or bool(curve and curve.value > 0 and sentences.is_clear(curve))


def _memorization(runs: Sequence[OfRun]) -> Together | None:
    areas = [(run, area) for run in runs if (area := sentences.beside_neighbors(run.findings))]
    whole = [(run, effect) for run, effect in _effects("memorization", runs) if _value(effect) > 0]
    most = max(whole, key=lambda pair: _value(pair[1]), default=None)
    if most is None:
        texts = "No right text is completed word for word from its first half"
    else:
        part = sentences.part(most[1].estimate)
        texts = f"At most {part} right texts are completed word for word ({most[0].about.model}{most[0].about.on})"
    if not areas:
        return Together(f"{texts}.") if _effects("memorization", runs) else None
    clear = [pair for pair in areas if sentences.is_clear(pair[1], 0.5)]
    # The loss beside that of neighbors holds what decides the verdict, so that its size is none of memorization alone.
    return Together(
        f"{texts}; the loss beside that of neighbors tells right from wrong answers in {len(clear):,} of "
        f"{_count(len(areas), 'run')}.",
        most[1].size if most and most[1].is_clear else 0.0,
        "The loss holds the log-probabilities that decide the verdict.",
    )


def _icl(runs: Sequence[OfRun]) -> Together | None:
    most = _effects("icl", runs)
    if not most:
        return None
    added = []
    for run, effect in most:
        _, none = sentences.replicated(run.findings)
        gap = difference_of(effect.estimate, none) if none else None
        if gap and sentences.is_clear(gap) and gap.value > 0:
            added.append((run, effect, none, gap))
    benchmarks = dict.fromkeys(run.about.benchmark for run, _ in most)
    sets = _count(len(benchmarks), "data set")
    if not added:
        return Together(f"There is no evidence that demonstrations bring texts back on any of {sets}.")
    first, _, none, gap = max(added, key=lambda added_run: added_run[3].value)
    on = first.about.benchmark
    effects = [f"{run.about.model} replicates {effect.text}" for run, effect, *_ in added if run.about.benchmark == on]
    k = int(most[[run for run, _ in most].index(first)][1].estimate.factors["k"])
    others = len(benchmarks) - len({run.about.benchmark for run, *_ in added})
    rest = f"; on {others:,} other{'s' if others > 1 else ''} there is no evidence of it" if others else ""
    without = sentences.part(none) if none else ""
    return Together(
        f"After {k:,} demonstrations {display.listed(effects)} of {on}, without them {without}{rest}.", gap.value,
        "Exactly or nearly; a copy of what is in the prompt counts, too.", on,
    )  # fmt: skip


ACROSS: Mapping[str, Callable[[Sequence[OfRun]], Together | None]] = {
    "accuracy": _accuracy,
    "priming": _priming,
    "perturbation": _perturbation,
    "popularity": _popularity,
    "ontology": _ontology,
    "memorization": _memorization,
    "icl": _icl,
}


def _effects(study: str, runs: Sequence[OfRun]) -> list[tuple[OfRun, Effect]]:
    return [(run, effect) for run in runs if (effect := sentences.EFFECTS[study](run.findings))]


def _largest(effects: Sequence[tuple[OfRun, Effect]]) -> tuple[OfRun, Effect]:
    """The largest of the clear ones; of all where none is."""
    clear = [pair for pair in effects if pair[1].is_clear] or list(effects)
    return max(clear, key=lambda pair: pair[1].size)


def _value(effect: Effect) -> float:
    return effect.estimate.value


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _by_chance(tests: int) -> str:
    """How many of so many intervals at 95% leave out zero though nothing is there."""
    if tests < 10:
        return ""
    expected = round(tests / 20)
    return f"Of {tests:,} intervals about {expected or 1:,} would leave out zero by chance."
