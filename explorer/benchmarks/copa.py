"""COPA: the more plausible cause or effect (Roemmele et al., 2011), as published (XML) and in SuperGLUE's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from explorer.benchmarks.core.benchmark import Benchmark, Parsed
from explorer.benchmarks.core.reading import damaged_file, read_json_rows, read_rows, read_text, unique_keys
from explorer.benchmarks.published import published_file, raw_address
from explorer.records import Instance

SUPERGLUE = "copa/superglue_val.jsonl"
QUESTIONS = ("cause", "effect")


def load_xml(paths: Mapping[str, Path], splits: Sequence[str]) -> Parsed:
    """A premise with two alternatives an item, grouped by cause and effect; the item's id is the key.

    The answers are in the XML; gold.dev and gold.test hold them once more and have to agree.
    """
    instances: list[Instance] = []
    for split in [name for name in ("dev", "test") if name in splits]:
        path = paths[f"copa/copa-{split}.xml"]
        items = _read_items(path, split)
        gold = _read_gold(paths[f"copa/gold.{split}"])
        if [(instance.id.rpartition("/")[2], instance.gold) for instance in items] != gold:
            raise damaged_file(paths[f"copa/gold.{split}"], None, "other items or answers", f"those of {path.name}")
        instances += items
    return Parsed(tuple(instances))


def load_superglue(paths: Mapping[str, Path], splits: Sequence[str]) -> Parsed:
    """A premise with two choices a row; idx is the key."""
    path = paths[SUPERGLUE]
    rows = read_json_rows(path, premise=str, choice1=str, choice2=str, question=str, label=int, idx=int)
    instances = []
    for number, (key, row) in enumerate(zip(unique_keys(str(row["idx"]) for row in rows), rows, strict=True), 1):
        if row["question"] not in QUESTIONS or row["label"] not in (0, 1):
            actual = f"question {row['question']!r} and label {row['label']}"
            raise damaged_file(path, number, actual, "cause or effect, and 0 or 1")
        options = (row["choice1"], row["choice2"])
        question, gold = row["question"], row["label"]
        instances.append(
            _instance("copa_superglue", "validation", key, question, row["premise"], options, gold, str(gold))
        )
    return Parsed(tuple(instances))


def _read_items(path: Path, split: str) -> list[Instance]:
    try:
        # The DOCTYPE names an external DTD; this parser never fetches one.
        items = ElementTree.fromstring(read_text(path)).findall("item")
        instances = []
        for key, item in zip(unique_keys(item.attrib["id"] for item in items), items, strict=True):
            question, label = item.attrib["asks-for"], item.attrib["most-plausible-alternative"]
            if question not in QUESTIONS or label not in ("1", "2"):
                raise ValueError(f"item {key} asks for {question!r} and answers {label!r}")
            options = (_child_text(item, "a1"), _child_text(item, "a2"))
            instances.append(
                _instance("copa", split, key, question, _child_text(item, "p"), options, int(label) - 1, label)
            )
        return instances
    except (ElementTree.ParseError, KeyError, ValueError) as error:
        expected = "items with id, asks-for, most-plausible-alternative, p, a1 and a2"
        raise damaged_file(path, None, f"no readable item ({type(error).__name__}: {error})", expected) from error


def _child_text(item: ElementTree.Element, tag: str) -> str:
    text = item.findtext(tag)
    if not text:
        raise ValueError(f"item {item.get('id')} has no {tag}")
    return text


def _read_gold(path: Path) -> list[tuple[str, int]]:
    """(id, index of the right alternative): the column that holds the 1."""
    rows = read_rows(path, " ", 3)
    return [(key, 0 if (first, second) == ("1", "0") else 1) for key, first, second in rows]


def _instance(
    benchmark: str, split: str, key: str, question: str, premise: str, options: tuple[str, str], gold: int, label: str
) -> Instance:
    return Instance(
        id=f"{benchmark}/{question}/{key}",
        benchmark=benchmark,
        split=split,
        group=question,
        kind="choice",
        format="copa",
        context=premise,
        options=options,
        gold=gold,
        label=label,
        phenomenon="causal_commonsense",
        field="functional",
        extra={"question": question},
    )


BENCHMARKS = {
    "copa": Benchmark(
        name="copa",
        title="COPA",
        kind="choice",
        load=load_xml,
        files=(
            published_file("copa/copa-dev.xml", raw_address("copa", "datasets/copa-dev.xml"), splits=("dev",)),
            published_file("copa/gold.dev", raw_address("copa", "results/gold.dev"), splits=("dev",)),
            published_file("copa/copa-test.xml", raw_address("copa", "datasets/copa-test.xml"), splits=("test",)),
            published_file("copa/gold.test", raw_address("copa", "results/gold.test"), splits=("test",)),
        ),
        splits=("dev", "test"),
        default_splits=("dev", "test"),
        field="functional",
        license="BSD 2-Clause (as far as is known)",
        hub_id="pkavumba/balanced-copa",
    ),
    "copa_superglue": Benchmark(
        name="copa_superglue",
        title="COPA (SuperGLUE validation)",
        kind="choice",
        load=load_superglue,
        files=(published_file(SUPERGLUE, raw_address("copa_superglue", "val.jsonl")),),
        splits=("validation",),
        default_splits=("validation",),
        field="functional",
        license="BSD 2-Clause (as far as is known)",
        hub_id="super_glue (copa)",
    ),
}
