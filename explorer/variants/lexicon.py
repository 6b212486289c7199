"""What the rest of the explorer asks of a dictionary of word senses, and nothing of nltk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Pos = Literal["n", "v"]


@dataclass(frozen=True, slots=True)
class Lemma:
    """A word of a synset.

    name    as WordNet writes it, "_" for a blank ("pick_up")
    count   how often SemCor's readers met the word in this sense
    frames  the numbers of WordNet's sentence frames that a verb fits ("Somebody ----s something" is 8)
    usages  domains of usage, for example archaism, disparagement, slang
    rank    which sense of the word the synset is, from 1, the most frequent first
    share   how much of the word's use in SemCor has this sense, half a count added to each sense
    allowed the frames of the word in all its senses
    plural  True where the plural of a noun is an entry of its own ("optics", "spirits") and not in this sense
    """

    name: str
    count: int = 0
    frames: tuple[int, ...] = ()
    usages: tuple[str, ...] = ()
    rank: int = 1
    share: float = 1.0
    allowed: tuple[int, ...] = ()
    plural: bool = False


@dataclass(frozen=True, slots=True)
class Sense:
    """One meaning of the lemma that was asked for; `number` counts its meanings from 1, the most frequent first."""

    synset: str  # "collar.v.01"
    pos: Pos
    number: int
    lemma: Lemma  # the one asked for, as WordNet writes it
    lemmas: tuple[Lemma, ...]  # all words of the synset, in WordNet's order
    definition: str
    examples: tuple[str, ...] = ()
    field: str = ""  # lexicographer's file, for example noun.animal

    @property
    def others(self) -> tuple[Lemma, ...]:
        """The synset's other words: the synonyms."""
        spelling = self.lemma.name.lower()
        return tuple(lemma for lemma in self.lemmas if lemma.name.lower() != spelling)


class Lexicon(Protocol):
    """A dictionary of senses that many threads may ask at once."""

    name: str

    def senses(self, lemma: str, pos: Pos) -> tuple[Sense, ...]:
        """The meanings of exactly this lemma ("_" for blanks), most frequent first; none for an unknown one."""

    def has(self, expression: str) -> bool:
        """True for an entry of any part of speech ("of_course", "pay_attention")."""

    def related(self, synset: str) -> tuple[str, ...]:
        """The glosses of a synset's hypernyms and hyponyms."""
