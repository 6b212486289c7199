"""A dictionary of a few words in WordNet's place, and the real tagger."""

from __future__ import annotations

import pytest

from explorer.resources import Resources
from explorer.settings import Settings
from explorer.variants.lexicon import Lemma, Lexicon, Sense
from explorer.variants.perturb import Tools
from explorer.variants.senses_first import FirstSense
from explorer.variants.tagging import Tagger, load_tagger
from explorer.variants.tools import build_tools

TRANSITIVE, INTRANSITIVE, CLAUSE = (8, 9, 10, 11), (1, 2, 22), (26,)
# lemma → part of speech, synset, definition, its words, frames of verbs; the order is the order of senses
ENTRIES = {
    "arrest": [
        ("v", "collar.v.01", "take into custody", "arrest collar nab pick_up", TRANSITIVE),
        ("v", "halt.v.01", "cause to stop", "arrest halt", TRANSITIVE),
    ],
    "astound": [("v", "amaze.v.01", "affect with wonder", "amaze astound", TRANSITIVE)],
    "boast": [("v", "boast.v.01", "show off", "boast brag", INTRANSITIVE)],
    "buy": [("v", "buy.v.01", "obtain by purchase", "buy purchase", TRANSITIVE)],
    "cut": [("v", "reduce.v.01", "make less", "cut reduce", TRANSITIVE)],
    "hour": [("n", "hour.n.01", "60 minutes", "hour time_unit", ())],
    "actor": [("n", "actor.n.01", "a theatrical performer", "actor player", ())],
    "child": [("n", "child.n.01", "a young person", "child kid", ())],
    "doctor": [("n", "doctor.n.01", "a licensed medical practitioner", "doctor physician", ())],
    "store": [("n", "shop.n.01", "a mercantile establishment", "store shop", ())],
    "sheep": [("n", "sheep.n.01", "a woolly animal", "sheep woolly", ())],
    "woolly": [("n", "sheep.n.01", "a woolly animal", "sheep woolly", ())],
    "calf": [("n", "calf.n.01", "a young animal", "calf deer", ())],
    "trophy": [("n", "trophy.n.01", "an award", "trophy prize", ())],
    "suitcase": [("n", "bag.n.01", "a container for travel", "suitcase bag", ())],
    "object": [("n", "object.n.01", "a thing one can see", "object thing", ())],
    "dog": [("n", "dog.n.01", "a domestic animal", "dog Canis_familiaris Hound hound", ())],
    "look_up": [("v", "look_up.v.01", "seek information", "look_up consult", TRANSITIVE)],
    "look": [("v", "look.v.01", "see with attention", "look gaze", INTRANSITIVE)],
    "chair": [("n", "chair.n.01", "a seat for one person", "chair furniture", ())],
}


class SmallLexicon:
    """A lexicon of the entries above; a word's SemCor count falls with its place in the synset."""

    name = "small"

    def senses(self, lemma: str, pos: str) -> tuple[Sense, ...]:
        rows = [row for row in ENTRIES.get(lemma.lower(), []) if row[0] == pos]
        return tuple(self._sense(lemma, number, *row) for number, row in enumerate(rows, 1))

    def has(self, expression: str) -> bool:
        return expression.lower() in {"of_course", "grocery_store"} or expression.lower() in ENTRIES

    def related(self, synset: str) -> tuple[str, ...]:
        return {"collar.v.01": ("seize: take hold of by the police",)}.get(synset, ())

    def _sense(self, name: str, number: int, pos: str, synset: str, text: str, words: str, frames: tuple) -> Sense:
        lemmas = tuple(Lemma(word, 10 - i, frames) for i, word in enumerate(words.split()))
        own = next(lemma for lemma in lemmas if lemma.name == name.lower())
        return Sense(synset, pos, number, own, lemmas, text, (), f"{pos}.test")  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def lexicon() -> Lexicon:
    return SmallLexicon()


@pytest.fixture(scope="session")
def tagger() -> Tagger:
    return load_tagger()


@pytest.fixture(scope="session")
def tools(lexicon: Lexicon, tagger: Tagger) -> Tools:
    """Everything perturbing asks for, with the most frequent sense."""
    return Tools(lexicon, tagger, FirstSense())


@pytest.fixture(scope="session")
def wordnet(shared_settings: Settings) -> Lexicon:
    """The real WordNet."""
    from explorer.variants.wordnet import open_lexicon

    return open_lexicon(shared_settings)


@pytest.fixture(scope="session")
def kit(shared_settings: Settings) -> Tools:
    """The real WordNet, the real tagger and the default sense method: read once, and what they remember is kept."""
    return build_tools(Resources(shared_settings))
