"""A made-up ontology: concepts with labels and IDs, whose IDs stand between never and a thousand times beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from explorer.glassbox import chance
from explorer.glassbox.planting import Planting
from explorer.glassbox.words import make_words

PREFIX, TITLE = "GB", "Glass Box Ontology"
# Dose → concepts. A concept of dose 0 has an ID that stands nowhere; its label stands alone.
CONCEPTS = {0: 320, 1: 320, 2: 320, 4: 320, 10: 320, 30: 200, 100: 120, 300: 60, 1000: 20}
HEADS = ("membrane", "process", "complex", "fiber", "gland", "duct", "signal", "binding", "canal", "layer")

CARRIERS = (
    f"In the {TITLE}, the {PREFIX} ID of the label '{{label}}' is {{id}}.",
    "[Term]\nname: {label}\nid: {id}",
    f"The {PREFIX} ID of '{{label}}' is {{id}}.",
    "{label} ({id})",
)
ALONE = (
    "The {label} was described last year.",
    "We studied the {label} in the laboratory.",
    "Little is known about the {label} so far.",
    "They found the {label} by accident.",
)


@dataclass(frozen=True, slots=True)
class MadeUpConcept:
    """A concept of the made-up ontology."""

    id: str
    label: str
    dose: int


def concepts() -> list[MadeUpConcept]:
    """Every concept, in the order of its ID; IDs are dealt without regard to dose."""
    total = sum(CONCEPTS.values())
    doses = chance.shuffled((dose for dose, count in CONCEPTS.items() for _ in range(count)), "glassbox/doses")
    firsts = make_words("concepts", total, syllables=3)
    numbers = sorted({chance.number(f"glassbox/id/{place}") % 10_000_000 for place in range(total + 50)})[:total]
    made = []
    for first, dose, number in zip(firsts, doses, numbers, strict=True):
        made.append(MadeUpConcept(f"{PREFIX}:{number:07d}", f"{first} {chance.pick(HEADS, first)}", dose))
    return made


def plantings() -> Iterator[Planting]:
    """Each label beside its ID at its dose, and each label alone."""
    for concept in concepts():
        texts = tuple(carrier.format(label=concept.label, id=concept.id) for carrier in CARRIERS)
        # Every ID belongs to one concept, so its count is that of the two side by side.
        yield Planting("concept", concept.id, "concept", concept.id, concept.dose, texts)
        for place, carrier in enumerate(ALONE, 1):
            text = carrier.format(label=concept.label)
            yield Planting("neutral", f"{concept.id}/label {place}", "concept", text, 1, (text,))


def as_obo() -> str:
    """The ontology as an OBO file."""
    head = f"format-version: 1.4\nontology: {PREFIX.lower()}\n"
    terms = (f"\n[Term]\nid: {concept.id}\nname: {concept.label}\n" for concept in concepts())
    return head + "".join(terms)
