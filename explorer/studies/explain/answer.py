"""What survives: the joint model of correctness over stored measures, and what it says in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from explorer import display
from explorer.stats.estimate import FEWEST
from explorer.stats.joint_model import Effect, JointModel, joint_model
from explorer.studies.explain.gather import Gathered
from explorer.studies.explain.predictors import DEFAULT, PREDICTORS, shares_verdict

ENOUGH = 1_000  # items that have a measure, from which on it stands in the model even where most others lack it
INFLATED = 10.0  # variance inflation from which on two measures cannot be told apart


@dataclass(frozen=True, slots=True)
class Answer:
    """The model, which measures were asked for, and those of them that share the deciding numbers with the verdict."""

    model: JointModel
    measures: tuple[str, ...]
    sharing: tuple[str, ...]


def usual(gathered: Gathered) -> tuple[str, ...]:
    """The measures that stand in the model unless a reader chooses others: stored, and no function of the verdict.

    One that few items have would take the others' items with it, and is left out.
    """
    table = gathered.table
    chosen: list[str] = []
    whole = table["correct"].notna().to_numpy()
    for name in DEFAULT:
        if name not in gathered.measures or shares_verdict(name, gathered.kind) or table[name].nunique() < 2:
            continue
        both = whole & table[name].notna().to_numpy()
        if both.sum() >= min(ENOUGH, 0.5 * whole.sum()):
            chosen.append(name)
            whole = both
    return tuple(chosen)


def explain(gathered: Gathered, measures: Sequence[str], *, cross_validate: bool = True, seed: int = 0) -> Answer:
    """The joint model of these measures, over the items that have all of them, paradigms or groups as grouping."""
    table = gathered.table
    chosen = tuple(name for name in measures if name in gathered.measures)
    model = joint_model(
        table["correct"].to_numpy(dtype=float),
        {name: table[name].to_numpy(dtype=float) for name in chosen},
        table["grp"].to_numpy(),
        cross_validate=cross_validate,
        seed=seed,
    )
    return Answer(model, chosen, tuple(name for name in chosen if shares_verdict(name, gathered.kind)))


def survives(effect: Effect) -> bool:
    """Whether its interval leaves out zero once the others are held."""
    return not math.isnan(effect.low) and (effect.low > 0 or effect.high < 0)


def sentences(answer: Answer, title: str) -> tuple[str, ...]:
    """What survives, of what there is no evidence, and what a reader should know of it; `title` names model and set."""
    model = answer.model
    if model.reason:
        return (f"{title}: no joint model, since {model.reason}.",)
    kept = sorted((one for one in model.effects if survives(one)), key=lambda one: -abs(one.value))
    unsure = [one for one in model.effects if math.isnan(one.low)]
    rest = [one for one in model.effects if not survives(one) and one not in unsure]
    over = f"{model.n:,} items" + (f" of {model.groups:,} groups" if model.groups > 1 else "")
    unit = "errors by group" if model.is_by_group else "errors over items"
    told = []
    if kept:
        told.append(f"{title}: with all else held, being right goes with {_listed([_effect(one) for one in kept])}.")
        told.append(f"The odds are those of a standard deviation more, over {over}, {unit}.")
    else:
        told.append(f"{title}: no evidence that any of these measures goes with being right ({over}, {unit}).")
    if kept and rest:
        told.append(f"There is no evidence for {_listed([_name(one) for one in rest])}: the intervals hold zero.")
    for one in unsure:
        told.append(
            f"Of {_name(one)} there is an effect of {display.number(one.value, signed=True)} log odds and no interval: "
            f"it varies within {one.units} {'group' if one.units == 1 else 'groups'}, at least {FEWEST} are needed."
        )
    for one in rest:
        if abs(one.alone) >= 0.1:
            told.append(
                f"Alone, {_name(one)} goes with being right by a rank correlation of {display.number(one.alone)}; that "
                "does not outlast the others."
            )
    told += _cautions(answer)
    return tuple(told)


def _cautions(answer: Answer) -> list[str]:
    told = []
    if answer.sharing:
        names = _listed([PREDICTORS[name].title for name in answer.sharing])
        one = len(answer.sharing) == 1
        told.append(
            f"{names} {'is' if one else 'are'} computed from the numbers that decide the verdict: "
            f"{'its effect is' if one else 'their effects are'} near to a definition, and what stands beside "
            f"{'it' if one else 'them'} is explained away by it."
        )
    inflated = [one for one in answer.model.effects if one.inflation > INFLATED]
    if inflated:
        told.append(
            f"{_listed([_name(one) for one in inflated])} can hardly be told apart (variance inflation above "
            f"{INFLATED:.0f}): take some out."
        )
    return told


def _effect(effect: Effect) -> str:
    """ "IPS difference (odds times 1.5, 95% interval 1.25 to 1.8)"."""
    odds, low, high = (math.exp(value) for value in (effect.value, effect.low, effect.high))
    return (
        f"{_name(effect)} (odds times {display.number(odds)}, 95% interval {display.number(low)} to "
        f"{display.number(high)})"
    )


def _name(effect: Effect) -> str:
    title = PREDICTORS[effect.name].title
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
