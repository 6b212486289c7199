"""What lines along an axis say, in sentences that follow from their numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from explorer import display
from explorer.finding import Unit
from explorer.stats.estimate import Estimate
from explorer.stats.two_estimates import difference_of
from explorer.studies.sentences import is_clear
from explorer.studies.trajectories.learned import Earlier
from explorer.studies.trajectories.lines import Along, Stop
from explorer.studies.trajectories.readings import Point

OTHERS = 3  # further lines whose ends are told


@dataclass(frozen=True, slots=True)
class DescribedLine:
    """A line with what was read off each of its stops; `name` is what people call it."""

    name: str
    stops: Sequence[Stop]
    points: Sequence[Point]


def writer(unit: Unit | str) -> Callable[[float], str]:
    """How a number of this unit is written in a sentence."""
    if unit == "share":
        return display.share
    if unit == "points":
        return lambda value: f"{display.points(value)} points"
    if unit == "percent":
        return lambda value: f"{display.number(value, 1, signed=True)}%"
    if unit == "nats":
        return display.nats
    return display.number if unit in ("AUC", "correlation", "kappa", "F1", "IPS", "ratio") else display.significant


def stop_in_words(stop: Stop, along: Along) -> str:
    """A place on an axis in words: "512 steps (8.4M tokens)", "7.5M parameters", "seed 3"."""
    if along == "parameters":
        return f"{display.compact(stop.x)} parameters"
    if along == "seed":
        return f"seed {stop.seed}"
    step, tokens = stop.place.step, stop.place.tokens
    if math.isnan(step):
        return f"{display.compact(tokens)} tokens"
    steps = "no training" if step == 0 else f"{display.count(step)} step{'' if step == 1 else 's'}"
    return steps if math.isnan(tokens) or step == 0 else f"{steps} ({display.compact(tokens)} tokens)"


def in_words(lines: Sequence[DescribedLine], noun: str, unit: str, along: Along) -> str:
    """What the first line says from its one end to the other, and where the others end."""
    known = [line for line in lines if sum(not math.isnan(point.value) for point in line.points) > 1]
    if not known:
        return ""
    sentences = [
        _over_seeds(known[0], noun, unit) if along == "seed" else _change_in_words(known[0], noun, unit, along)
    ]
    rest = known[1 : 1 + OTHERS]
    if rest and along != "seed":
        write = writer(unit)
        ends = [f"{line.name} {write(_last_point(line)[1].value)}" for line in rest]
        sentences.append(f"At their ends: {', '.join(ends)}.")
    return " ".join(sentences)


def _change_in_words(line: DescribedLine, noun: str, unit: str, along: Along) -> str:
    write = writer(unit)
    (begin, first), (end, last) = _first_point(line), _last_point(line)
    was, now = f"{write(first.value)} {_after_stop(begin, along)}", f"{write(last.value)} {_after_stop(end, along)}"
    gap = difference_of(_estimate(last), _estimate(first))
    if math.isnan(gap.value):
        return f"{line.name}: {noun} goes from {was} to {now} (no interval)."
    if not is_clear(gap):
        return f"{line.name}: there is no evidence that {noun} changes, {was} and {now}."
    rises = gap.value > 0
    since = _since(line, rises, along)
    return f"{line.name}: {noun} {'rises' if rises else 'falls'} from {was} to {now}{since}."


def _since(line: DescribedLine, rises: bool, along: Along) -> str:
    """From where on every interval lies beyond that of the first stop; nothing where that is the last stop alone."""
    (_, first), first_beyond = _first_point(line), None
    pairs = [pair for pair in zip(line.stops, line.points, strict=True) if not math.isnan(pair[1].value)]
    for stop, point in reversed(pairs[1:]):
        beyond = point.low > first.high if rises else point.high < first.low
        if not beyond:
            break
        first_beyond = stop
    if first_beyond is None or first_beyond is pairs[-1][0]:
        return ""
    return (
        f"; from {stop_in_words(first_beyond, along)} on it is clearly {'above' if rises else 'below'} where it began"
    )


def _over_seeds(line: DescribedLine, noun: str, unit: str) -> str:
    write = writer(unit)
    values = [point.value for point in line.points if not math.isnan(point.value)]
    return f"{line.name}: over {len(values):,} seeds {noun} lies between {write(min(values))} and {write(max(values))}."


def _after_stop(stop: Stop, along: Along) -> str:
    if along == "parameters":
        return f"at {stop_in_words(stop, along)}"
    return "without training" if stop.place.step == 0 else f"after {stop_in_words(stop, along)}"


def _first_point(line: DescribedLine) -> tuple[Stop, Point]:
    return next(pair for pair in zip(line.stops, line.points, strict=True) if not math.isnan(pair[1].value))


def _last_point(line: DescribedLine) -> tuple[Stop, Point]:
    pairs = list(zip(line.stops, line.points, strict=True))
    return next(pair for pair in reversed(pairs) if not math.isnan(pair[1].value))


def _estimate(point: Point) -> Estimate:
    return Estimate(point.value, point.low, point.high, point.n)


def earlier_in_words(name: str, comparison: Earlier, noun: str) -> str:
    """Whether popular instances are learned earlier; `what` is the popularity: "dose", "IPS of the right option"."""
    rho = comparison.rho
    if math.isnan(rho.value):
        return f"{name}: whether popular instances are learned earlier cannot be said ({rho.reason})."
    if math.isnan(rho.low):
        return (
            f"{name}: Spearman's rank correlation of {noun} and the step at which an instance is learned is "
            f"{display.number(rho.value)} over {rho.n:,} instances ({rho.reason or 'no interval'})."
        )
    groups = f" of {rho.units:,} paradigms" if rho.units is not None else ""
    numbers = (
        f"Spearman {display.number(rho.value)}, 95% interval {display.number(rho.low)} to {display.number(rho.high)}, "
        f"{rho.n:,} instances{groups}"
    )
    if not is_clear(rho):
        return f"{name}: there is no evidence that popular instances are learned earlier or later ({noun}; {numbers})."
    return f"{name} learns popular instances {'earlier' if rho.value < 0 else 'later'} ({noun}; {numbers})."


def left_out_in_words(comparison: Earlier) -> str:
    """How many were never learned, and which have no part in the correlation and why."""
    parts = []
    if comparison.never:
        parts.append(f"{comparison.never:,} were not learned by the end; they are tied last")
    parts += [f"{many:,} left out: {why}" for why, many in comparison.left_out.items()]
    return f"{'; '.join(parts)}." if parts else ""


def learned_in_words(title: str, stops: Sequence[Stop], place: int | None, outcomes: Sequence[float]) -> str:
    """When one instance was learned, in a sentence; `outcomes` has 1 where a stop is right."""
    first_right, last_right = (bool(outcomes) and outcomes[end] == 1 for end in (0, -1))
    if place is None:
        end = "it is right at the end, but not in every checkpoint that is stored" if last_right else "wrong at the end"
        return f"{title} has not learned it: {end}."
    if place == 0:
        return f"{title} is right from the first checkpoint on, {_after_stop(stops[0], 'tokens')}."
    before = "is right at first, then wrong, and has" if first_right else "has"
    return f"{title} {before} learned it after {stop_in_words(stops[place], 'tokens')}: from there on it stays right."
