"""A run of every study that needs no weights, no network and no chance: the same rows on every machine."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from bench.fake_model import FakeGenerator, FakeResources, make_folder
from explorer.benchmarks.core.benchmark import Loaded
from explorer.records import Condition, Count, Instance
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from explorer.scoring.generate import ModelGenerator
from explorer.settings import Settings
from explorer.similarity.measured import Similarity
from explorer.variants.lexicon import Lemma, Sense
from explorer.variants.tagging import Token

SYNONYMS = {"doctor": ("n", "doctor physician"), "actor": ("n", "actor player"), "astound": ("v", "astound amaze")}


class Lexicon:
    """Three words with one synonym each."""

    name = "small"

    def senses(self, lemma: str, pos: str) -> tuple[Sense, ...]:
        kind, words = SYNONYMS.get(lemma, ("", ""))
        if kind != pos:
            return ()
        lemmas = tuple(Lemma(word, 1, (8, 9, 10, 11)) for word in words.split())
        return (Sense(f"{words.split()[0]}.{pos}.01", pos, 1, lemmas[0], lemmas, "a definition"),)

    def has(self, expression: str) -> bool:
        return False

    def related(self, synset: str) -> tuple[()]:
        return ()


class WordCounter:
    """A counter whose tokens are words; each occurs as often as it has letters."""

    index = "words"

    def __init__(self) -> None:
        self.names: list[str] = []

    def encode(self, texts, *, bare=False):
        split = [text.lower().strip(".").split() for text in texts]
        self.names += [word for word in dict.fromkeys(w for words in split for w in words) if word not in self.names]
        return [tuple(map(self.names.index, words)) for words in split]

    def decode(self, ids):
        return tuple(f" {self.names[one]}" for one in ids)

    def count(self, ngrams, progress=None):
        return [Count(self.index, each, float(sum(len(self.names[one]) for one in each))) for each in ngrams]

    def total_tokens(self):
        return math.nan


class Proposer:
    """Three words for any gap."""

    name = "words"
    method = "three words by hand"

    def record(self):
        return {"weights": "none"}

    def propose(self, gaps, count):
        return [[("lamp", -1.0), ("winter", -2.0), ("old", -3.0)] for _ in gaps]


class EqualTexts:
    """Stands for BERTScore: every pair is alike to the same degree."""

    def f1(self, originals, changed):
        return [Similarity(0.9) for _ in originals]


class LocalAnswers(FakeGenerator, ModelGenerator):
    """The fake generator where only one of a model on this machine will do."""


class Letters:
    """An encoder whose vectors count letters."""

    name = "letters"

    def encode(self, texts):
        counts = np.array([[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts], dtype=np.float32)
        return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)


class Capitals:
    """A tagger that takes every word with a capital for a name."""

    name = "capitals"

    def tag(self, texts):
        for text in texts:
            yield tuple(
                Token(i, word, 0, 0, "NNP", "PROPN" if word[:1].isupper() else "X", word, "", i, "", 0, True)
                for i, word in enumerate(text.split())
            )


def pair(key: str, good: str, bad: str, group: str = "agreement") -> Instance:
    return Instance(
        id=f"blimp/{group}/{key}", benchmark="blimp", split="train", group=group, kind="pair", format="sentence",
        options=(good, bad), gold=0, phenomenon=group, field="formal",
    )  # fmt: skip


PAIRS = (
    pair("0", "The doctors astound Bill.", "The doctors astounds Bill."),
    pair("1", "The actors astound Bill.", "The actors astounds Bill."),
    pair("2", "The lions see Bill.", "The lions sees Bill."),
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
    "accuracy_pmi": ("accuracy", "odd", {"normalization": "pmi", "tokens": False}),
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
