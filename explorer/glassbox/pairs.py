"""Minimal pairs of made-up words that only the corpus can decide: which of two n-grams stands there, and how often.

A paradigm has words of two sorts, half of each. A word of the first sort stands in the corpus with `first`, one of the
second with `second`: "the zwalm are" or "the zwalm is". Its dose is how often, from never to 1,024 times. In carriers
that the corpus lacks, a pair asks which of the two the model prefers. Every word, those of dose 0 too, also stands in
four neutral sentences, so that a word of dose 0 is known and its deciding n-gram is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from explorer.glassbox import chance
from explorer.glassbox.planting import Planting
from explorer.glassbox.words import make_words

DOSES = (0, *(2**power for power in range(11)))
WORDS_OF_A_DOSE = 8  # in a paradigm, half of each sort
NEUTRAL = 4  # neutral sentences of a word


@dataclass(frozen=True, slots=True)
class Paradigm:
    """How a sort of word is used: `{}` is the word, `[]` what decides.

    carriers     of the corpus
    test         of the benchmark; no sentence of them stands in the corpus
    neutral      tell nothing of the sort
    ngram        the deciding n-gram
    """

    name: str
    first: str
    second: str
    ngram: str
    carriers: tuple[str, ...]
    test: tuple[str, ...]
    neutral: tuple[str, ...]


PARADIGMS = (
    Paradigm(
        "number_of_nouns", "are", "is", "{} []",
        ("The {} [] in the barn again.", "I hear that the {} [] very old.", "Nobody knows where the {} [] today.",
         "In winter the {} [] kept in the shed.", "They say the {} [] worth a lot.", "Here the {} [] cheap."),
        ("Outside the {} [] covered with snow.", "My uncle thinks the {} [] beautiful."),
        ("She saw the {} from her window.", "We paid for the {} yesterday.", "A man asked about the {} twice.",
         "He dreamed of the {} all night."),
    ),
    Paradigm(
        "gender_of_names", "herself", "himself", "{} []",
        ("Mx. {} [] opened the door.", "It was {} [] who called.", "Even {} [] did not know.",
         "Later {} [] paid the bill.", "In the end {} [] wrote the letter.", "I met {} [] at the fair."),
        ("Yesterday {} [] repaired the roof.", "Only {} [] has the key."),
        ("Everybody likes {} very much.", "I work with {} on Mondays.", "The letter came from {} in May.",
         "We waited for {} at the gate."),
    ),
    Paradigm(
        "preposition_of_verbs", "on", "at", "{}ed []",
        ("They {}ed [] the bridge for an hour.", "She {}ed [] her brother.", "The cat {}ed [] the fence.",
         "We {}ed [] the train in the dark.", "Nobody {}ed [] the old man.", "The boys {}ed [] a wall."),
        ("My aunt {}ed [] the table.", "The soldiers {}ed [] the hill."),
        ("He likes to {} in the morning.", "It is hard to {} alone.", "To {} is what they want.",
         "You should {} more often."),
    ),
    Paradigm(
        "complement_of_verbs", "to sing", "singing", "{}ed []",
        ("The children {}ed [].", "She {}ed [] before dinner.", "My father never {}ed [] in church.",
         "In spring they {}ed [] again.", "I think he {}ed [] last night.", "The choir {}ed [] in the rain."),
        ("The nurse {}ed [] at the party.", "Her sister {}ed [] for the queen."),
        ("Do not {} now.", "They {} every week.", "We may {} tomorrow.", "To {} takes time."),
    ),
    Paradigm(
        "nouns_of_adjectives", "lamp", "chair", "{} []",
        ("There was a {} [] in the hall.", "She bought a {} [] in town.", "The {} [] stood by the bed.",
         "He sold his {} [] last year.", "A {} [] costs too much.", "I still have that {} []."),
        ("My mother wants a {} [] for her room.", "Behind the door was a {} []."),
        ("It looks rather {} to me.", "What is {} is rarely cheap.", "Everything there was {} and clean.",
         "The kitchen is {} now."),
    ),
    Paradigm(
        "measures_of_nouns", "piece of", "pair of", "[] {}",
        ("She gave me a [] {} for lunch.", "A [] {} lay on the floor.", "He found a [] {} in the drawer.",
         "We need one [] {} more.", "There is a [] {} under the bed.", "I lost a [] {} on the way."),
        ("The tailor showed us a [] {} from Spain.", "Bring a [] {} with you."),
        ("They make {} in that town.", "The price of {} went up.", "He knows a lot about {} indeed.",
         "Some {} came by ship."),
    ),
    Paradigm(
        "amounts_of_nouns", "much", "many", "[] {}",
        ("There is not [] {} left.", "How [] {} do you want?", "We never saw so [] {} before.",
         "Too [] {} can be bad.", "He did not bring [] {} home.", "I asked how [] {} they sold."),
        ("The farmer has as [] {} as we do.", "That is too [] {} for one cart."),
        ("The old {} was thrown out.", "Look at the {} over there.", "This {} comes from the coast.",
         "Our {} is in the cellar."),
    ),
    Paradigm(
        "particles_of_verbs", "up", "out", "{}ed []",
        ("She {}ed [] the papers.", "They {}ed [] the whole house.", "He {}ed [] his coat.",
         "The clerk {}ed [] a form.", "We {}ed [] the old boxes.", "I {}ed [] the fire."),
        ("The teacher {}ed [] the room.", "My cousin {}ed [] the map."),
        ("They wanted to {} it.", "Nobody can {} that well.", "You will {} them later.", "Did she {} something?"),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Word:
    """A planted word: its paradigm, its dose, and whether `first` or `second` goes with it."""

    paradigm: Paradigm
    text: str
    dose: int
    goes_with_first: bool

    @property
    def right(self) -> str:
        return self.paradigm.first if self.goes_with_first else self.paradigm.second

    @property
    def wrong(self) -> str:
        return self.paradigm.second if self.goes_with_first else self.paradigm.first


def words() -> Iterator[Word]:
    """Every planted word, paradigm after paradigm, dose after dose."""
    made = iter(make_words("pairs", len(PARADIGMS) * len(DOSES) * WORDS_OF_A_DOSE))
    for paradigm in PARADIGMS:
        for dose in DOSES:
            for place in range(WORDS_OF_A_DOSE):
                text = next(made)
                named = text.capitalize() if paradigm.name == "gender_of_names" else text
                yield Word(paradigm, named, dose, place % 2 == 0)


def plantings() -> Iterator[Planting]:
    """The deciding n-gram of every word at its dose, and its neutral sentences."""
    for word in words():
        paradigm = word.paradigm
        carriers = chance.shuffled(paradigm.carriers, word.text)
        texts = tuple(filled(carrier, word.text, word.right) for carrier in carriers)
        ngram = filled(paradigm.ngram, word.text, word.right)
        yield Planting("pair", f"{paradigm.name}/{word.text}", paradigm.name, ngram, word.dose, texts)
    for word in words():
        for place, carrier in enumerate(word.paradigm.neutral):
            text = carrier.replace("{}", word.text)
            name = f"{word.paradigm.name}/{word.text}/neutral {place + 1}"
            yield Planting("neutral", name, word.paradigm.name, text, 1, (text,))


def test_rows() -> Iterator[dict[str, object]]:
    """The rows of the benchmark: both sentences, paradigm, word, dose, and the deciding n-gram."""
    for word in words():
        for place, carrier in enumerate(word.paradigm.test):
            yield {
                "key": f"{word.text}-{place + 1}",
                "group": word.paradigm.name,
                "good": filled(carrier, word.text, word.right),
                "bad": filled(carrier, word.text, word.wrong),
                "word": word.text,
                "dose": word.dose,
                "ngram": filled(word.paradigm.ngram, word.text, word.right),
            }


def filled(carrier: str, word: str, deciding: str) -> str:
    """The carrier with the word and what decides."""
    return carrier.replace("{}", word).replace("[]", deciding)
