"""What a run of the ontology study stands on: the whole ontology's ids, labels and buckets, and what is put again."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.errors import UsageError
from explorer.ontologies.as_benchmark import concept_of
from explorer.ontologies.buckets import Bucket, bucketize, fill
from explorer.ontologies.invariance_requests import sample
from explorer.ontologies.load import title_of
from explorer.ontologies.parse import IdRule, id_rule
from explorer.records import Concept, Instance, RunSpec
from explorer.runs import spec as specs
from explorer.studies import selection

if TYPE_CHECKING:
    from explorer.resources import Resources

UNCOUNTED_SAMPLE = 100  # concepts that are asked again where none has a count


@dataclass(frozen=True, slots=True)
class RunOntology:
    """The ontology behind a run."""

    prefix: str
    title: str  # what a prompt calls it
    rule: IdRule
    size: int  # concepts, those of a repeated id counted each
    concepts: Mapping[str, Concept]  # by id, the first of a repeated one
    labels: Mapping[str, str]  # of each id
    ids: tuple[str, ...]
    ranges: tuple[Bucket, ...]  # buckets of the whole ontology by the counts of its file; none where it has none
    again: frozenset[str]  # instances that are asked for repeatedly


def ontology_of_run(spec: RunSpec, resources: Resources) -> RunOntology:
    """The ontology behind a run, read once."""
    return resources.once(("ontology of run", specs.run_id(spec)), lambda: _read_ontology(spec, resources))


def select(spec: RunSpec, resources: Resources) -> list[Instance]:
    """The spec's concepts in benchmark order: its prefixes, a seeded draw from each bucket, then the first `limit`."""
    chosen = selection.select(dataclasses.replace(spec, limit=None), resources)
    per_bucket = int(spec.settings["per_bucket"])
    if per_bucket:
        counts = [concept_of(instance).web_count for instance in chosen]
        ranges = fill(_ranges(_everything(spec, resources), spec), counts)
        if not ranges:
            raise UsageError(f"{spec.benchmark} has no counts to make buckets from. Leave per_bucket out.")
        chosen = [chosen[row] for row in sorted(sample(ranges, per_bucket, spec.seed))]
    return chosen[: spec.limit] if spec.limit is not None else chosen


def _read_ontology(spec: RunSpec, resources: Resources) -> RunOntology:
    whole = _everything(spec, resources)
    prefixes = {instance.group for instance in whole}
    if len(prefixes) > 1:
        raise UsageError(
            f"{spec.benchmark} holds ids of {', '.join(sorted(prefixes)[:5])}; a prompt can ask for those of one "
            "ontology only. Name a file with one prefix."
        )
    (prefix,) = prefixes
    concepts: dict[str, Concept] = {}
    for instance in whole:
        concepts.setdefault(instance.options[0], concept_of(instance))
    ranges = _ranges(whole, spec)
    return RunOntology(
        prefix=prefix,
        title=title_of(prefix),
        rule=id_rule(prefix, concepts),
        size=len(whole),
        concepts=concepts,
        labels={curie: concept.label for curie, concept in concepts.items()},
        ids=tuple(concepts),
        ranges=tuple(ranges),
        again=_draw_again(select(spec, resources), ranges, spec) if spec.settings["invariance"] else frozenset(),
    )


def _everything(spec: RunSpec, resources: Resources) -> Sequence[Instance]:
    return resources.instances(spec.benchmark).instances


def _ranges(whole: Sequence[Instance], spec: RunSpec) -> list[Bucket]:
    return bucketize([concept_of(instance).web_count for instance in whole], int(spec.settings["buckets"]))


def _draw_again(chosen: Sequence[Instance], ranges: Sequence[Bucket], spec: RunSpec) -> frozenset[str]:
    per_bucket = int(spec.settings["again_per_bucket"])
    if ranges:
        counts = [concept_of(instance).web_count for instance in chosen]
        rows = sample(fill(ranges, counts), per_bucket, spec.seed)
    else:
        rows = random.Random(spec.seed).sample(range(len(chosen)), min(UNCOUNTED_SAMPLE, len(chosen)))
    return frozenset(chosen[row].id for row in rows)
