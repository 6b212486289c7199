"""Samples of a log ↔ our instances, by their texts: what was asked elsewhere joins with what is asked here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from explorer import prompts
from explorer.logs.log import Sample, fold
from explorer.records import Instance

ENOUGH = 0.5  # the share of a log's samples that must be a benchmark's for the run to be called by its name


@dataclass(frozen=True, slots=True)
class Match:
    """A sample and the instance that it is; `order[i]` is the place of our option i among the harness's options."""

    instance: Instance
    order: tuple[int, ...]


class Index:
    """A benchmark's instances by their texts."""

    def __init__(self, instances: Iterable[Instance]) -> None:
        self._by_text: dict[str, list[tuple[Instance, frozenset[str]]]] = defaultdict(list)
        self._by_request: dict[frozenset[str], list[Instance]] = defaultdict(list)
        for instance in instances:
            if instance.kind not in ("pair", "choice", "cloze", "labelled"):
                continue
            texts = frozenset(filter(None, map(fold, _texts(instance))))
            if texts:
                self._by_text[max(texts, key=lambda text: (len(text), text))].append((instance, texts))
            asked = frozenset(fold(one.context + one.continuation) for one in prompts.requests(instance, "lm-eval"))
            self._by_request[asked].append(instance)

    def find(self, sample: Sample, taken: set[str]) -> Match | None:
        """The instance that the sample is, not one of those `taken`; none where no text agrees."""
        own = {fold(text) for text in sample.texts}
        for text in own:
            for instance, texts in self._by_text.get(text, ()):
                if instance.id not in taken and texts <= own and (match := _match(instance, sample)):
                    return match
        for full in (True, False):
            # Demonstrations stand before the last empty line.
            asked = frozenset(
                fold((one.context if full else _last(one.context)) + one.continuation) for one in sample.asked
            )
            for instance in self._by_request.get(asked, ()) if asked else ():
                if instance.id not in taken and (match := _match(instance, sample)):
                    return match
        return None


def match(samples: Sequence[Sample], instances: Iterable[Instance]) -> dict[str, Match]:
    """Sample's key → its instance, each instance once, in the order of the samples."""
    index = Index(instances)
    found: dict[str, Match] = {}
    taken: set[str] = set()
    for sample in samples:
        if one := index.find(sample, taken):
            found[sample.key] = one
            taken.add(one.instance.id)
    return found


def likely(task: str, names: Sequence[str]) -> list[str]:
    """The benchmarks in the order in which a task of this name suggests them."""
    told = task.lower()

    def distance(name: str) -> tuple[int, int]:
        bare = name.removeprefix("starter_").removeprefix("imported_")
        return (0 if name in told else 1 if bare in told else 2 if bare.split("_")[0] in told else 3, names.index(name))

    return sorted(names, key=distance)


def _texts(instance: Instance) -> Sequence[str]:
    """The texts by which a document of another edition is known to be this instance."""
    if instance.kind == "pair":
        return instance.options
    if instance.kind == "choice":
        return (instance.context, *instance.options)
    if instance.kind == "cloze":
        return (f"{instance.context} {instance.options[0]}",)
    return (instance.context, instance.second)


def _last(context: str) -> str:
    return context.rsplit("\n\n", 1)[-1]


def _match(instance: Instance, sample: Sample) -> Match | None:
    """The match with the options in our order; none where it cannot be told which option is which."""
    if not sample.asked:
        named = [fold(choice) for choice in sample.choices]
        wanted = [fold(option) for option in instance.options]
        order = tuple(named.index(option) for option in wanted) if set(wanted) <= set(named) else ()
        return Match(instance, order)
    if len(sample.asked) != len(instance.options):
        return None
    for theirs, ours in _ways(instance, sample):
        if len(set(theirs)) == len(theirs) and sorted(theirs) == sorted(ours):
            return Match(instance, tuple(theirs.index(text) for text in ours))
    # Both members of a pair are sometimes the same text; their order is then the harness's.
    same_gold = sample.gold is not None and sample.gold == instance.gold
    return Match(instance, tuple(range(len(sample.asked)))) if same_gold else None


def _ways(instance: Instance, sample: Sample) -> Iterable[tuple[list[str], list[str]]]:
    """Texts of the options, theirs and ours, in a few forms."""
    requests = prompts.requests(instance, "lm-eval")
    yield (
        [fold(one.context + one.continuation) for one in sample.asked],
        [fold(one.context + one.continuation) for one in requests],
    )
    if len({one.continuation for one in sample.asked}) > 1:
        yield (
            [fold(one.continuation).casefold() for one in sample.asked],
            [fold(one.continuation).casefold() for one in requests],
        )
        yield (
            [fold(one.continuation).casefold() for one in sample.asked],
            [fold(option).casefold() for option in instance.options],
        )
