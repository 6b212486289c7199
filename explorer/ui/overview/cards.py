"""What the Overview shows of each study: a sentence, the small figure under it, and the page behind it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from explorer import display
from explorer.figures import theme
from explorer.figures.models import model_colors
from explorer.figures.small import Curve, Dot, small_curves, small_dots
from explorer.stats.estimate import Estimate
from explorer.stats.proportion import wilson
from explorer.studies import sentences
from explorer.studies.calibration import doses
from explorer.studies.icl.declared import REPLICATION
from explorer.studies.ontology import declared as ontology
from explorer.studies.priming.declared import PRIMING_ACCURACY
from explorer.studies.runs_together import OfRun, Together, gives_ids, together
from explorer.studies.sentences import OVER_SUITES, OVERALL, Stored

FEW_PLACES = 7  # that a lower axis names each
MOST_ROWS = 10  # of a figure: the benchmark that its sentence names, then those with most instances
# Condition of a context → what it is called at the end of its curve, and how its line is drawn.
CONTEXTS = {
    "matched_acceptable": ("acceptable", "solid"),
    "unrelated": ("unrelated", "dot"),
    "matched_unacceptable": ("unacceptable", "dash"),
}


@dataclass(frozen=True, slots=True)
class Card:
    """A small figure under its sentence.

    size    how much it shows, by which cards are ordered
    note    what the intervals are over, and what has to be known
    page    the title of the page behind it, with what it opens on
    link    what the link to it says; its title where nothing is said
    """

    title: str
    sentence: str
    figure: Any
    note: str
    size: float
    page: str
    choices: Mapping[str, str] = field(default_factory=dict)
    link: str = ""


def card(study: str, runs: Sequence[OfRun], colors: Mapping[str, str]) -> Card | None:
    """What these runs of a study show together; none where they have nothing to show."""
    together_said = together(study, runs)
    return CARDS[study](together_said, runs, colors) if together_said and study in CARDS else None


def _accuracy(together_said: Together, runs: Sequence[OfRun], colors: Mapping[str, str]) -> Card | None:
    dots = _dots("accuracy", runs, together_said.on)
    return Card(
        "Accuracy",
        together_said.sentence,
        small_dots(dots, colors, tick=".0%", across="Accuracy"),
        f"Share of instances on which a model prefers the right option; {_largest(dots, runs)}",
        together_said.size,
        "Instance",
        {"verdict": "wrong", "order": "smallest margin"},
        "What is answered wrong",
    )


def _priming(together_said: Together, runs: Sequence[OfRun], colors: Mapping[str, str]) -> Card | None:
    curves, suites = [], 0.0
    for run in runs:
        if run.about.benchmark != together_said.on:
            continue
        for condition, (name, dash) in CONTEXTS.items():
            points = run.findings.all(PRIMING_ACCURACY, OVER_SUITES, condition=condition)
            points = points or run.findings.all(PRIMING_ACCURACY, OVERALL, condition=condition)
            if len(points) > 1:
                curves.append(_curve(run, name, dash, points, "length", f"{name.capitalize()} contexts"))
                suites = max(suites, float(points[-1].detail.get("suites") or 0))
    if not curves:
        return None
    over = f"over {suites:,.0f} suites" if suites else "over items"
    return Card(
        "Priming",
        together_said.sentence,
        small_curves(
            curves, colors, tick=".0%", across="Tokens of context", up="Accuracy", reference=0.5, zero="chance"
        ),
        f"Accuracy on {together_said.on}; bands are 95% intervals {over}, n = {curves[0].dots[0].n:,} pairs.",
        together_said.size,
        "Priming",
        {"priming": "Curves"},
    )


def _perturbation(together_said: Together, runs: Sequence[OfRun], colors: Mapping[str, str]) -> Card | None:
    dots = _dots("perturbation", runs, together_said.on)
    return Card(
        "Swapped words", together_said.sentence, _points(dots, colors, "no change"),
        _note(f"Change of accuracy; {_largest(dots, runs)}", together_said), together_said.size, "Perturbation",
        {"facet": "Full runs"},
    )  # fmt: skip


def _popularity(together_said: Together, runs: Sequence[OfRun], colors: Mapping[str, str]) -> Card | None:
    dots = _dots("popularity", runs, together_said.on)
    return Card(
        "Popularity", together_said.sentence, _points(dots, colors, "no difference"),
        _note(f"Accuracy of the more popular half minus that of the other; {_largest(dots, runs)}", together_said),
        together_said.size, "Popularity",
    )  # fmt: skip


def _ontology(together_said: Together, runs: Sequence[OfRun], colors: Mapping[str, str]) -> Card | None:
    curves = [curve for run in runs if run.about.benchmark == together_said.on and (curve := _buckets(run))]
    if curves:
        return Card(
            "Ontologies",
            together_said.sentence,
            small_curves(curves, colors, tick=".0%", across="Popularity bucket, the most popular last", up="Right IDs"),
            _note(
                f"Right IDs of {together_said.on} by popularity; bands are 95% intervals over concepts.", together_said
            ),
            together_said.size,
            "Ontologies",
        )
    dots = [
        _dot(run, run.about.benchmark, gain)
        for run in runs
        if (gain := run.findings.sure(ontology.GOLD_GAIN_PREFERRED)) is not None
    ]
    if not dots:
        return None
    return Card(
        "Ontologies",
        together_said.sentence,
        small_dots(dots, colors, tick=".0%", across="Share of IDs", reference=0.5, zero="chance"),
        _note(
            f"Share of other IDs that a label speaks for less than for its own; {_largest(dots, runs)}", together_said
        ),
        together_said.size,
        "Ontologies",
    )


def _buckets(run: OfRun) -> Curve | None:
    rows = [bucket for bucket in run.findings.all(ontology.BUCKET_ACCURACY, None) if bucket.group.isdecimal()]
    if not gives_ids(run) or len(rows) < 2:
        return None
    ordered = sorted(rows, key=lambda bucket: int(bucket.group))
    dots = []
    for bucket in ordered:
        low, high = wilson(bucket.value * bucket.n, bucket.n, 0.95) if bucket.n else (math.nan, math.nan)
        estimate = Estimate(bucket.value, low, high, bucket.n)
        dots.append(_dot(run, f"Bucket {bucket.group}", estimate))
    return Curve(run.about.model, "", "solid", tuple(float(bucket.group) for bucket in ordered), tuple(dots))


def _memorization(together_said: Together, runs: Sequence[OfRun], colors: Mapping[str, str]) -> Card | None:
    dots = [
        _dot(run, run.about.benchmark, area)
        for run in runs
        if (area := sentences.beside_neighbors(run.findings)) is not None
    ]
    if not dots:
        return None
    return Card(
        "Memorization",
        together_said.sentence,
        small_dots(dots, colors, tick=".2f", across="AUC", reference=0.5, zero="chance"),
        _note(f"AUC of the loss beside that of neighbors; {_largest(dots, runs)}", together_said),
        together_said.size,
        "Memorization",
    )


def _icl(together_said: Together, runs: Sequence[OfRun], colors: Mapping[str, str]) -> Card | None:
    curves = []
    for run in runs:
        most, _ = sentences.replicated(run.findings)
        if most is None or (together_said.on and run.about.benchmark != together_said.on):
            continue
        of = {name: value for name, value in most.factors.items() if name != "k"}
        points = run.findings.all(REPLICATION, OVERALL, **of)
        if len(points) > 1:
            curves.append(_curve(run, "", "solid", points, "k", run.about.benchmark))
    if not curves:
        return None
    return Card(
        "In-context", together_said.sentence,
        small_curves(curves, colors, tick=".0%", across="Demonstrations", up="Replicated"),
        _note(f"Share of replicated items; bands are 95% intervals, n = {curves[0].dots[0].n:,} items.", together_said),
        together_said.size, "In-context",
    )  # fmt: skip


CARDS: Mapping[str, Callable[[Together, Sequence[OfRun], Mapping[str, str]], Card | None]] = {
    "accuracy": _accuracy,
    "priming": _priming,
    "perturbation": _perturbation,
    "popularity": _popularity,
    "ontology": _ontology,
    "memorization": _memorization,
    "icl": _icl,
}


def dose_card(
    title: str,
    sentence: str,
    lines: Sequence[tuple[str, Sequence[doses.Response]]],
    *,
    tick: str,
    note: str,
    of_models: bool = True,
) -> Card | None:
    """A curve per model (or attack) over how often the corpus holds what decides; `lines` are named.

    A color is one model's everywhere: what is no model is gray, told apart by how its line is drawn.
    """
    known = sorted({response.dose for _, responses in lines for response in responses})
    if len(known) < 2:
        return None
    places = {dose: float(place) for place, dose in enumerate(known)}
    curves = [
        Curve(
            name,
            name,
            "solid" if of_models else theme.DASHES[number % len(theme.DASHES)],
            tuple(places[response.dose] for response in responses),
            tuple(
                Dot(
                    f"{response.dose:,} times in the corpus",
                    name,
                    response.value,
                    response.low,
                    response.high,
                    response.n,
                    "",
                )
                for response in responses
            ),
        )
        for number, (name, responses) in enumerate(lines)
    ]
    names = [name for name, _ in lines]
    colors = dict(zip(names, model_colors(names) if of_models else [theme.GRAY] * len(names), strict=True))
    figure = small_curves(
        curves, colors, tick=tick, across="Times in the corpus", up="Accuracy" if of_models else "AUC", reference=0.5,
        zero="chance", ticks=_told_places(places),
    )  # fmt: skip
    largest = [responses[-1] for _, responses in lines if responses]
    size = max((response.value - 0.5 for response in largest if response.low > 0.5), default=0.0)
    return Card(title, sentence, figure, note, size, "Calibration", {} if of_models else {"facet": "Memorized texts"})


def _told_places(places: Mapping[int, float]) -> dict[float, str]:
    """The places of doses that a narrow axis names: of many every second from the last back, and no dose at all."""
    last = max(places.values())
    step = 1 if len(places) <= FEW_PLACES else 2
    return {place: f"{dose:,}" for dose, place in places.items() if (last - place) % step == 0 or dose == 0}


def _dots(study: str, runs: Sequence[OfRun], on: str) -> list[Dot]:
    """The number that stands for each run in the row of its benchmark, of not too many benchmarks."""
    effects = [(run, effect) for run in runs if (effect := sentences.EFFECTS[study](run.findings))]
    sizes: dict[str, int] = {}
    for run, effect in effects:
        sizes[run.about.benchmark] = max(sizes.get(run.about.benchmark, 0), effect.estimate.n)
    shown = sorted(sizes, key=lambda name: (name != on, -sizes[name]))[:MOST_ROWS]
    return [
        _dot(run, name, effect.estimate, scale=100.0 if effect.unit == "points" else 1.0)
        for run, effect in effects
        if (name := run.about.benchmark) in shown
    ]


def _dot(run: OfRun, row: str, estimate: Estimate, *, scale: float = 1.0) -> Dot:
    value, low, high = (scale * number for number in (estimate.value, estimate.low, estimate.high))
    return Dot(row, run.about.model, value, low, high, estimate.n, run.run_id)


def _curve(run: OfRun, name: str, dash: str, points: Sequence[Stored], along: str, row: str) -> Curve:
    ordered = sorted(points, key=lambda point: float(point.factors.get(along, 0)))
    return Curve(
        run.about.model,
        name,
        dash,
        tuple(float(point.factors.get(along, 0)) for point in ordered),
        tuple(_dot(run, row, point) for point in ordered),
    )


def _largest(dots: Sequence[Dot], runs: Sequence[OfRun]) -> str:
    """What the intervals are, over how many items, and how many benchmarks are left out of the figure."""
    counts = [dot.n for dot in dots]
    over = f"n = {min(counts):,} to {max(counts):,}" if min(counts) < max(counts) else f"n = {counts[0]:,}"
    left_out = len({run.about.benchmark for run in runs}) - len({dot.row for dot in dots})
    rest = f" Not drawn: {display.counted(left_out, 'smaller benchmark')}." if left_out > 0 else ""
    return f"95% intervals, {over}.{rest}"


def _points(dots: Sequence[Dot], colors: Mapping[str, str], zero: str) -> Any:
    return small_dots(dots, colors, tick=".1f", across="Points", reference=0.0, zero=zero)


def _note(text: str, together_said: Together) -> str:
    return f"{text} {together_said.caveat}".strip()
