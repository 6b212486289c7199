"""The starter sets: seven sets of our own, so that a first visit without a network has something to look at.

The pairs are made by `starter_grammar`, the other sets are written by hand; docs/STARTER_SETS.md tells how.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

from explorer.benchmarks.core.benchmark import Benchmark, Parsed, SourceFile
from explorer.benchmarks.core.reading import damaged_file, read_json_rows
from explorer.records import Instance, Kind

FOLDER = Path(__file__).with_name("starter_data")
SPLIT = "all"
LICENSE = "MIT, as Lexiscope"
QUESTION_CLASSES = ("person", "place", "time", "number", "thing", "explanation")
ENTAILMENT_CLASSES = ("entailment", "not_entailment")

Row = Mapping[str, Any]


class InstanceFields(TypedDict, total=False):
    """What a row says of its instance; the rest is the set's."""

    context: str
    second: str
    options: tuple[str, ...]
    gold: int
    label: str
    phenomenon: str
    extra: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StarterSet:
    """A starter set: what its instances have in common, and how a row becomes the rest of one."""

    name: str
    title: str
    kind: Kind
    format: str
    read: Callable[[Row], InstanceFields]
    note: str
    field: str = ""


def _pair_fields(row: Row) -> InstanceFields:
    return {"options": (row["good"], row["bad"]), "gold": 0, "phenomenon": row["group"]}


def _cloze_fields(row: Row) -> InstanceFields:
    context, _, target = row["text"].rpartition(" ")
    return {"context": context, "options": (target,), "gold": 0, "phenomenon": "last_word"}


def _cause_fields(row: Row) -> InstanceFields:
    return _choice_fields(row, row["premise"], "cause_and_effect", question=row["question"])


def _physics_fields(row: Row) -> InstanceFields:
    return _choice_fields(row, row["goal"], "physical_commonsense")


def _pronoun_fields(row: Row) -> InstanceFields:
    return _choice_fields(row, row["sentence"], "pronoun_resolution")


def _choice_fields(row: Row, context: str, phenomenon: str, **extra: str) -> InstanceFields:
    first, second = row["options"]
    gold = (0, 1).index(row["gold"])
    return {
        "context": context,
        "options": (first, second),
        "gold": gold,
        "label": str(gold),
        "phenomenon": phenomenon,
        "extra": extra,
    }


def _question_fields(row: Row) -> InstanceFields:
    return _labelled_fields(row, QUESTION_CLASSES, "question_class", context=row["question"])


def _entailment_fields(row: Row) -> InstanceFields:
    return _labelled_fields(row, ENTAILMENT_CLASSES, "entailment", context=row["premise"], second=row["hypothesis"])


def _labelled_fields(
    row: Row, classes: tuple[str, ...], phenomenon: str, *, context: str, second: str = ""
) -> InstanceFields:
    return {
        "context": context,
        "second": second,
        "options": classes,
        "gold": classes.index(row["label"]),
        "label": row["label"],
        "phenomenon": phenomenon,
    }


SETS = (
    StarterSet(
        "starter_pairs",
        "Starter pairs",
        "pair",
        "sentence",
        _pair_fields,
        "Minimal pairs for 14 phenomena of English grammar, made by a grammar of our own.",
        "formal",
    ),
    StarterSet(
        "starter_cloze",
        "Starter cloze",
        "cloze",
        "cloze",
        _cloze_fields,
        "Short passages whose last word follows from the passage, written by hand.",
        "functional",
    ),
    StarterSet(
        "starter_causes",
        "Starter causes",
        "choice",
        "copa",
        _cause_fields,
        "Which is the likelier cause or effect? Written by hand.",
        "functional",
    ),
    StarterSet(
        "starter_physics",
        "Starter physics",
        "choice",
        "piqa",
        _physics_fields,
        "Which of two ways reaches an everyday goal? Written by hand.",
        "functional",
    ),
    StarterSet(
        "starter_pronouns",
        "Starter pronouns",
        "choice",
        "winogrande",
        _pronoun_fields,
        "Twin sentences with a gap that one of two names or things fills, written by hand.",
        "functional",
    ),
    StarterSet(
        "starter_questions",
        "Starter questions",
        "labelled",
        "labelled",
        _question_fields,
        "What kind of answer does a question ask for? Written by hand.",
    ),
    StarterSet(
        "starter_entailment",
        "Starter entailment",
        "labelled",
        "rte",
        _entailment_fields,
        "Does the second sentence follow from the first? Written by hand and from frames of our own.",
    ),
)


def load(starter: StarterSet, paths: Mapping[str, Path], splits: Sequence[str]) -> Parsed:
    """An instance a row, grouped by what the set says; the row's own key is the source key."""
    path = paths[f"{starter.name}.jsonl"]
    instances = []
    for number, row in enumerate(read_json_rows(path, key=str, group=str, frame=str), 1):
        try:
            fields = starter.read(row)
        except (KeyError, ValueError) as error:
            raise damaged_file(
                path, number, f"a row that cannot be read ({error})", f"a row of {starter.name}"
            ) from error
        fields["extra"] = {"frame": row["frame"], **fields.get("extra", {})}
        instances.append(
            Instance(
                id=f"{starter.name}/{row['group']}/{row['key']}",
                benchmark=starter.name,
                split=SPLIT,
                group=row["group"],
                kind=starter.kind,
                format=starter.format,
                field=starter.field,
                **fields,
            )
        )
    return Parsed(tuple(instances))


BENCHMARKS: dict[str, Benchmark] = {
    starter.name: Benchmark(
        name=starter.name,
        title=starter.title,
        kind=starter.kind,
        load=partial(load, starter),
        files=(SourceFile(f"{starter.name}.jsonl"),),
        splits=(SPLIT,),
        default_splits=(SPLIT,),
        field=starter.field,
        license=LICENSE,
        folder=FOLDER,
        note=starter.note,
    )
    for starter in SETS
}
