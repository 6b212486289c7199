"""What survives: the joint model of correctness over stored measures, and what it says in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from explorer import display
from explorer.stats.bias_reduced import NO_OTHERS
from explorer.stats.estimate import FEWEST
from explorer.stats.joint_model import Effect, JointModel, joint_model
from explorer.studies.explain.gather import Gathered
from explorer.studies.explain.predictors import DEFAULT, PREDICTORS, shares_verdict
from explorer.studies.families import families_of

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
    # A joint model takes only items that have every one of its measures, so each further measure may cost items. They
    # are tried in the order of DEFAULT. One that would leave less than half of the items, and fewer than ENOUGH, stays
    # out:
    #
    #     measure      items that have it    items of the model then
    #     popularity   67,000                67,000
    #     length       67,000                67,000
    #     dose            300                   300, so it is left out: all else would be judged by 300 items
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
    """The joint model of these measures, over the items that have all of them, paradigms or groups as grouping.

    Whether the items of a group share material is decided as everywhere (`families.py`): of few paradigms or suites
    there are effects without intervals; of few sorts of items (the two questions of COPA) errors are over items.
    """
    table = gathered.table
    chosen = tuple(name for name in measures if name in gathered.measures)
    model = joint_model(
        table["correct"].to_numpy(dtype=float),
        {name: table[name].to_numpy(dtype=float) for name in chosen},
        table["grp"].to_numpy(),
        share_material=share_material(gathered),
        cross_validate=cross_validate,
        seed=seed,
    )
    return Answer(model, chosen, tuple(name for name in chosen if shares_verdict(name, gathered.kind)))


def share_material(gathered: Gathered) -> bool:
    """Whether the items of a group are made alike: paradigms and suites, not topics or sorts of question."""
    return bool(gathered.kind) and families_of(gathered.table.assign(kind=gathered.kind)) is not None


def survives(effect: Effect) -> bool:
    """Whether its interval leaves out zero once the others are held."""
    return not math.isnan(effect.low) and (effect.low > 0 or effect.high < 0)


def sentences(answer: Answer, title: str) -> tuple[str, ...]:
    """What survives, of what there is no evidence, and what a reader should know of it; `title` names model and set."""
    model = answer.model
    if model.reason:
        return (f"{title}: no joint model, since {model.reason}.",)
    surviving = sorted((effect for effect in model.effects if survives(effect)), key=lambda effect: -abs(effect.value))
    untested = [effect for effect in model.effects if math.isnan(effect.low)]
    rest = [effect for effect in model.effects if not survives(effect) and effect not in untested]
    over = f"{model.n:,} items" + (f" of {model.groups:,} groups" if model.groups > 1 else "")
    unit = f"{over}, {'errors by group' if model.is_by_group else 'errors over items'}"
    is_alone = len(model.effects) == 1
    written = []
    if surviving:
        condition = "" if is_alone else "with all else held, "
        written.append(
            f"{title}: {condition}being right goes with {_list_in_words([_effect(effect) for effect in surviving])}."
        )
        written.append(f"The odds are those of a standard deviation more, over {unit}.")
    elif rest:
        which = (
            "any of these measures"
            if len(rest) > 1 and not untested
            else _list_in_words([_name(effect) for effect in rest], "or")
        )
        written.append(f"{title}: no evidence that {which} goes with being right ({unit}).")
    else:
        written.append(f"{title}: nothing can be said beyond these {over}.")
    if surviving and rest:
        holds = "the interval holds zero" if len(rest) == 1 else "the intervals hold zero"
        written.append(f"There is no evidence for {_list_in_words([_name(effect) for effect in rest])}: {holds}.")
    if model.too_few:
        written.append(
            f"Items of a group share material, and of {_groups(model.groups)} there is no interval, at least {FEWEST} "
            f"are needed. Effects here, in log odds: "
            f"{_list_in_words([f'{_name(effect)} {_log_odds(effect)}' for effect in untested])}."
        )
    else:
        written += [_untested(effect) for effect in untested]
    for effect in rest:
        if abs(effect.alone) >= 0.1:
            within = " within groups" if model.groups > 1 else ""
            which = "its interval in the model" if is_alone else "with the others held its interval"
            written.append(
                f"Alone, {_name(effect)} goes with being right by a rank correlation of {display.number(effect.alone)}"
                f"{within}; {which} holds zero."
            )
    if len(surviving) + len(rest) > 1:
        written.append(
            "Each interval is for one measure at a time: of models in which nothing goes with being right, 11 to 22% "
            "find something."
        )
    written += _cautions(answer)
    return tuple(written)


def _untested(effect: Effect) -> str:
    """What there is of a measure without an interval, and why it has none."""
    if effect.reason == NO_OTHERS:
        why = "one group alone decides it, so that it says nothing of others"
    else:
        why = f"it varies within {_groups(effect.units)}, at least {FEWEST} are needed"
    return f"Of {_name(effect)} there is an effect of {_log_odds(effect)} log odds and no interval: {why}."


def _cautions(answer: Answer) -> list[str]:
    written = []
    entered = [effect.name for effect in answer.model.effects]
    sharing = [name for name in answer.sharing if name in entered]  # one that was left out explains nothing away
    if sharing:
        names = _list_in_words([PREDICTORS[name].title for name in sharing])
        is_one_source = len(sharing) == 1
        beside = f", and what stands beside {'it' if is_one_source else 'them'} is explained away by it"
        written.append(
            f"{names} {'is' if is_one_source else 'are'} computed from the numbers that decide the verdict: "
            f"{'its effect is' if is_one_source else 'their effects are'} near to a definition"
            + (beside if len(entered) > len(sharing) else "")
            + "."
        )
    inflated = [effect for effect in answer.model.effects if effect.inflation > INFLATED]
    if inflated:
        written.append(
            f"{_list_in_words([_name(effect) for effect in inflated])} can hardly be told apart (variance inflation "
            f"above {INFLATED:.0f}): take some out."
        )
    return written


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


def _log_odds(effect: Effect) -> str:
    return display.number(effect.value, signed=True)


def _groups(many: int) -> str:
    return "1 group" if many == 1 else f"{many:,} groups"


def _list_in_words(words: Sequence[str], last: str = "and") -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"
