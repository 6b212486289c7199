"""Answers made elsewhere: a file id;...;prediction, completed from its ontology."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer import fetch
from explorer.errors import OntologyError
from explorer.ontologies import table
from explorer.ontologies.contents import Contents, Problem, read_text
from explorer.ontologies.load import Known, Loaded, judge
from explorer.ontologies.parse import IdRule, id_rule
from explorer.records import Concept

COUNTED = (3, 4)  # columns of a table whose last one may be a count: id;label;count, id;label;annotations;count
ENOUGH = 10  # answers that are all numbers


@dataclass(frozen=True, slots=True)
class Predictions:
    """One answer per concept, in file order, with what is needed to analyze them."""

    concepts: tuple[Concept, ...]  # the file's own labels and counts, the ontology's where the file has none
    answers: tuple[str, ...]
    rule: IdRule
    labels: Mapping[str, str]  # of all concepts of the ontology
    unknown: tuple[str, ...]  # ids that the ontology does not have
    problems: tuple[Problem, ...]
    columns: tuple[str, ...]
    sha256: str


def read_predictions(path: Path, ontology: Loaded) -> Predictions:
    """The answers in a table whose last column, or the one its header calls prediction, holds them."""
    if not path.is_file():
        raise OntologyError(f"There is no file {path}, expected a table id;...;prediction. Check the path.")
    by_id = {concept.id: concept for concept in reversed(ontology.concepts)}
    contents = _with_zeros(
        table.read(read_text(path), path.name, predictions=True, prefix=ontology.report.prefix), by_id
    )
    unknown = tuple(concept.id for concept in contents.concepts if concept.id not in by_id)
    if not contents.concepts or len(unknown) == len(contents.concepts):
        raise OntologyError(
            f"None of the {len(contents.concepts):,} ids in {path.name} is in {ontology.report.source}, expected ids "
            f"like {ontology.concepts[0].id}. Name the ontology that the predictions are about."
        )
    concepts = tuple(_complete(concept, by_id.get(concept.id)) for concept in contents.concepts)
    rule = id_rule(ontology.report.prefix, [*by_id, *(concept.id for concept in concepts)])
    if len(contents.columns) in COUNTED and _are_counts(contents.predictions, rule):
        raise OntologyError(
            f"The last column of {path.name} holds numbers such as {contents.predictions[0]}, expected predictions "
            f"such as {concepts[0].id} behind the counts. Give the file with the predictions."
        )
    return Predictions(
        concepts=concepts,
        answers=contents.predictions,
        rule=rule,
        labels={curie: concept.label for curie, concept in by_id.items()},
        unknown=unknown,
        problems=contents.problems,
        columns=contents.columns,
        sha256=fetch.file_hash(path),
    )


def _with_zeros(contents: Contents, known: Mapping[str, Concept]) -> Contents:
    """The contents with the zeros that a table program took from the front of an id, where one id alone fits."""
    by_number: dict[str, list[str]] = {}
    for curie in known:
        by_number.setdefault(_short(curie), []).append(curie)

    def mended(concept: Concept) -> Concept:
        fitting = by_number.get(_short(concept.id), [])
        alone = concept.id not in known and len(fitting) == 1
        return dataclasses.replace(concept, id=fitting[0]) if alone else concept

    return dataclasses.replace(contents, concepts=tuple(map(mended, contents.concepts)))


def _short(curie: str) -> str:
    prefix, _, local = curie.partition(":")
    return f"{prefix}:{local.lstrip('0')}"


def _are_counts(answers: Sequence[str], rule: IdRule) -> bool:
    """Whether what was read as answers are the counts of a table without any: numbers, few as long as those of ids."""
    texts = [answer.strip() for answer in answers]
    long = sum(len(text) in rule.digits for text in texts)
    return len(texts) >= ENOUGH and long < len(texts) / 2 and all(map(str.isdecimal, texts))


def ontology_in(path: Path, known: Known) -> Loaded:
    """The ontology as far as a prediction file itself tells it, for when the ontology cannot be had."""
    if not path.is_file():
        raise OntologyError(f"There is no file {path}, expected a table id;...;prediction. Check the path.")
    contents = table.read(read_text(path), path.name, predictions=True, prefix=known.prefix)
    if "label" not in contents.columns:
        raise OntologyError(
            f"{path.name} has no labels, and the {known.title} cannot be had. "
            "Connect to the network, or name a file with the ontology."
        )
    concepts, report = judge(contents, known.prefix, "table", path.name, fetch.file_hash(path))
    return Loaded(concepts, report, known.title)


def _complete(concept: Concept, known: Concept | None) -> Concept:
    """The file's row, with the ontology's label, counts and the rest where the row has none."""
    if known is None:
        return concept
    return dataclasses.replace(
        known,
        label=concept.label or known.label,
        obsolete=concept.obsolete or known.obsolete,
        annotations=known.annotations if math.isnan(concept.annotations) else concept.annotations,
        web_count=known.web_count if math.isnan(concept.web_count) else concept.web_count,
        source=concept.source,
    )
