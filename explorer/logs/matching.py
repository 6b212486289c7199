"""Samples of a log ↔ our instances, by their texts: what was asked elsewhere joins with what is asked here."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from explorer import prompts
from explorer.logs.log import Sample, ScoredOption, normalize
from explorer.records import Instance, Request

MIN_MATCHED_SHARE = 0.5  # the share of a log's samples that must be a benchmark's for the run to be called by its name


@dataclass(frozen=True, slots=True)
class Match:
    """A sample and the instance that it is; `order[i]` is the place of our option i among the harness's options."""

    instance: Instance
    order: tuple[int, ...]


class InstanceIndex:
    """A benchmark's instances by their texts."""

    def __init__(self, instances: Iterable[Instance]) -> None:
        self._by_text: dict[str, list[tuple[Instance, frozenset[str]]]] = defaultdict(list)
        self._by_request: dict[frozenset[str], list[Instance]] = defaultdict(list)
        for instance in instances:
            if instance.kind not in ("pair", "choice", "cloze", "labelled"):
                continue
            texts = frozenset(filter(None, map(normalize, _texts(instance))))
            if texts:
                self._by_text[max(texts, key=lambda text: (len(text), text))].append((instance, texts))
            requests = prompts.requests(instance, "lm-eval")
            self._by_request[_request_texts(requests)].append(instance)

    def find(self, sample: Sample, taken: set[str]) -> Match | None:
        """The instance that the sample is, not one of those `taken`; none where no text agrees."""
        sample_texts = {normalize(text) for text in sample.texts}
        for text in sample_texts:
            for instance, texts in self._by_text.get(text, ()):
                if instance.id not in taken and texts <= sample_texts and (match := _match(instance, sample)):
                    return match
        options = sample.scored_options
        # Demonstrations stand before the last empty line of a context.
        without_demonstrations = [
            dataclasses.replace(option, context=_last_block(option.context)) for option in options
        ]
        for texts in (_request_texts(options), _request_texts(without_demonstrations)):
            for instance in self._by_request.get(texts, ()) if texts else ():
                if instance.id not in taken and (match := _match(instance, sample)):
                    return match
        return None


def match(samples: Sequence[Sample], instances: Iterable[Instance]) -> dict[str, Match]:
    """Sample's key → its instance, each instance once, in the order of the samples."""
    index = InstanceIndex(instances)
    matches: dict[str, Match] = {}
    taken: set[str] = set()
    for sample in samples:
        if matched := index.find(sample, taken):
            matches[sample.key] = matched
            taken.add(matched.instance.id)
    return matches


def order_by_task_name(task: str, names: Sequence[str]) -> list[str]:
    """The benchmarks in the order in which a task of this name suggests them."""
    task = task.lower()

    def distance(name: str) -> tuple[int, int]:
        bare = name.removeprefix("starter_").removeprefix("imported_")
        return (0 if name in task else 1 if bare in task else 2 if bare.split("_")[0] in task else 3, names.index(name))

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


def _request_texts(options: Iterable[ScoredOption | Request]) -> frozenset[str]:
    return frozenset(normalize(option.context + option.continuation) for option in options)


def _last_block(context: str) -> str:
    return context.rsplit("\n\n", 1)[-1]


def _match(instance: Instance, sample: Sample) -> Match | None:
    """The match with the options in our order; none where it cannot be told which option is which."""
    if not sample.scored_options:
        theirs = [normalize(choice) for choice in sample.choices]
        ours = [normalize(option) for option in instance.options]
        order = tuple(theirs.index(option) for option in ours) if set(ours) <= set(theirs) else ()
        return Match(instance, order)
    if len(sample.scored_options) != len(instance.options):
        return None
    for theirs, ours in _comparable_texts(instance, sample):
        if len(set(theirs)) == len(theirs) and sorted(theirs) == sorted(ours):
            return Match(instance, tuple(theirs.index(text) for text in ours))
    # Both members of a pair are sometimes the same text; their order is then the harness's.
    same_gold = sample.gold is not None and sample.gold == instance.gold
    return Match(instance, tuple(range(len(sample.scored_options)))) if same_gold else None


def _comparable_texts(instance: Instance, sample: Sample) -> Iterable[tuple[list[str], list[str]]]:
    """Texts of the options, theirs and ours, from the strictest form to the most lenient.

    A harness's task may ask another question than ours about the same document. So the whole requests are compared
    first, then the continuations alone, then our options as the benchmark has them.
    """
    options, requests = sample.scored_options, prompts.requests(instance, "lm-eval")
    yield (
        [normalize(option.context + option.continuation) for option in options],
        [normalize(request.context + request.continuation) for request in requests],
    )
    if len({option.continuation for option in options}) > 1:
        theirs = [normalize(option.continuation).casefold() for option in options]
        yield theirs, [normalize(request.continuation).casefold() for request in requests]
        yield theirs, [normalize(option).casefold() for option in instance.options]
