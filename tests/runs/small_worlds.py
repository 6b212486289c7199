"""A run of every study that needs no weights, no network and no chance: the same rows on every machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.fake_model import FakeGenerator, FakeResources, make_folder
from explorer.benchmarks.core.benchmark import Loaded
from explorer.records import Condition, Instance
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from explorer.scoring.generate import ModelGenerator
from explorer.settings import Settings
from tests.stand_ins import Capitals, EqualTexts, Letters, Lexicon, Proposer, WordCounter, pair


class LocalAnswers(FakeGenerator, ModelGenerator):
    """The fake generator where only one of a model on this machine will do."""


PAIRS = (
    pair("0", "The doctors astound Bill.", "The doctors astounds Bill.", "agreement"),
    pair("1", "The actors astound Bill.", "The actors astounds Bill.", "agreement"),
    pair("2", "The lions see Bill.", "The lions sees Bill.", "agreement"),
    pair("3", "The doctor astounds Bill.", "The doctor astounds.", "structure"),
    pair("4", "Zoë “saw” 東京.", "Zoë “seen” 東京.", "structure"),
)
ODD = (
    *PAIRS,
    pair("5", "The teachers write.", "", "odd"),
    pair("6", "Half \ud800 a letter.", "Half a letter.", "odd"),
    pair("7", "The same.", "The same.", "odd"),
    pair("8", "a", "b", "odd"),
)
REGIONS = tuple(
    Instance(
        id=f"syntaxgym/center_embed/{number}", benchmark="syntaxgym", split="test",
        group="center_embed", kind="regions", format="syntaxgym",
        conditions=(
            Condition("plaus", (name, "sees", "", "him.")),
            Condition("implaus", (name, "see", "", "him.")),
        ),
        extra={"formulas": ["(2;%plaus%) < (2;%implaus%)", "(4;%plaus%) = (4;%implaus%)"]},
    )
    for number, name in enumerate(("The king", "No one", "Every ox"))
)  # fmt: skip
LABELLED = tuple(
    Instance(
        id=f"toy/{label}/{number}", benchmark="toy", split="train", group=label, kind="labelled", format="rte",
        context=f"{name} had {number} cups of tea.", options=("yes", "no"), gold=gold, label=label,
        second=f"{name} drank {'tea' if gold == 0 else 'no tea'}.",
    )
    for number, name in enumerate(("Ada", "Bo", "Cy", "Dee", "Eve", "Flo", "Gus", "Hal"))
    for gold, label in enumerate(("yes", "no"))
)  # fmt: skip
CONCEPTS = "".join(f"TOY:{7 * n + 1:07d};{word} valve;0;{n * n}\n" for n, word in enumerate(["heart", "cell", "bone"]))

# name → study, benchmark, settings
RUNS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "accuracy": ("accuracy", "odd", {}),
    "accuracy_pmi": ("accuracy", "starter_causes", {"per_group": 2, "normalization": "pmi", "tokens": False}),
    "accuracy_regions": ("accuracy", "syntaxgym", {}),
    "accuracy_cloze": ("accuracy", "starter_cloze", {"per_group": 2}),
    "accuracy_choice": ("accuracy", "starter_causes", {"per_group": 2}),
    "popularity": ("popularity", "blimp", {"index": "words", "n": 2}),
    "perturbation": ("perturbation", "blimp", {"index": "words", "n": 2, "senses": "first", "encoder": "equal"}),
    "memorization": ("memorization", "odd", {"neighbours": 2}),
    "priming": (
        "priming", "starter_pairs",
        {"per_group": 1, "lengths": [0, 90, 180], "unrelated": "starter", "overlap": 0, "item_intercept": False},
    ),
    "priming_regions": (
        "priming", "syntaxgym",
        {"lengths": [0, 40], "unrelated": "starter", "overlap": 0, "item_intercept": False, "tokens": True,
         "conditions": ["unrelated"]},
    ),
    "icl": ("icl", "toy", {"k": [0, 2], "instances": 4, "settings": ["full"], "orders": 1, "performance": "both"}),
    "ontology": ("ontology", "toy.csv", {"others": 1, "samples": 0}),
}  # fmt: skip


def world(folder: Path) -> FakeResources:
    """Resources with all of the above."""
    resources = FakeResources(Settings(cache=folder / "cache", offline=True))
    (folder / "toy.csv").write_text(CONCEPTS, "utf-8")
    benchmarks = {"blimp": PAIRS, "odd": ODD, "syntaxgym": REGIONS, "toy": LABELLED}
    for key, made in {
        ("lexicon",): Lexicon(),
        ("counter", "words"): WordCounter(),
        ("bertscore", "equal"): EqualTexts(),
        ("proposer", "auto"): Proposer(),
        ("encoder", "all-minilm-l6-v2"): Letters(),
        **{("instances", name, ()): Loaded(given, (), "here", "hash") for name, given in benchmarks.items()},
    }.items():
        resources.once(key, lambda made=made: made)
    return resources


def run(name: str, folder: Path, model: Path) -> RunFolder:
    """The named run, done."""
    study, benchmark, given = RUNS[name]
    folder.mkdir(exist_ok=True)
    resources = world(folder)
    if study == "icl":
        resources.once(("tagger",), Capitals)
    if study == "ontology":
        resources.once(("fake generator", str(model)), lambda: LocalAnswers(resources.model(str(model))))
    benchmark = str(folder / benchmark) if benchmark.endswith(".csv") else benchmark
    spec = make_spec(resources, study=study, model=str(model), benchmark=benchmark, settings=given)
    made = RunFolder.create(resources.settings.runs, spec)
    assert work(made, resources, lambda text: None, wait=False) == "complete", made.progress().message
    return made


def folder_of_model(folder: Path) -> Path:
    """The model all of these runs are done with."""
    return make_folder(folder / "fake-model")
