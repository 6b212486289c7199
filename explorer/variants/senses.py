"""Which meaning a word has where it stands: one protocol, one method a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from explorer.variants.lexicon import Pos, Sense

DECIMALS = 3  # scores are rounded before they are compared, so that machines and batch sizes agree

# The methods by name, in words that tell a reader why a sense was chosen; `tools.build_tools` makes them.
METHODS = {
    "blend": "the definition nearest to the sentence by a sentence encoder, shared words and frequency",
    "gloss": "the definition nearest to the sentence by a sentence encoder and frequency",
    "first": "the most frequent sense",
    "lesk": "the definition that shares most words with the sentence",
    "lm": "the definition that the language model expects after the sentence (PMI)",
    "lm-choice": "the number that the language model would write under the numbered definitions",
    "chat": "the number that the chat model answered to the numbered definitions",
}


# By how much the best sense must lead the next one, unless it is the most frequent of a few. Measured on our annotated
# sentences (tests/variants/data/senses.jsonl): below it the chosen sense was wrong more than twice as often as above.
MARGINS = {"blend": 0.08, "gloss": 0.08}
MANY = 8  # senses from which on the most frequent one must lead too: "hold", "go" and "pull" say many things
RARE = 0.1  # share of a word's uses below which a sense is not taken on a score alone


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A word in a sentence, with the meanings it could have there, most frequent first."""

    sentence: str
    start: int
    end: int
    lemma: str
    pos: Pos
    senses: tuple[Sense, ...]

    @property
    def word(self) -> str:
        return self.sentence[self.start : self.end]


class SenseScorer(Protocol):
    """Scores every sense of every occurrence, higher is better; nan where the method gave no answer for it."""

    name: str

    def score(self, occurrences: Sequence[Occurrence]) -> list[tuple[float, ...]]: ...


def best_sense(scores: Sequence[float]) -> int:
    """The index of the best sense: scores to 3 decimals, ties to the lower sense number, nan last."""
    rounded = [-float("inf") if score != score else round(score, DECIMALS) for score in scores]
    return rounded.index(max(rounded))


# What a low margin costs depends on what is chosen. The most frequent of a few senses is the best guess without any
# score, so it is kept; a rarer one is taken only where the score is clear:
#
#     scores 0.31 0.30, first sense best     kept: frequency speaks for it, too
#     scores 0.30 0.31, second sense best    doubted: 0.01 is less than what our annotated sentences ask for
#     share of uses below RARE               doubted whatever the scores
def why_doubted(senses: Sequence[Sense], scores: Sequence[float], method: str) -> str:
    """Why the best sense is not trusted, "" where it is: a close second, or a meaning the word hardly ever has."""
    best = best_sense(scores)
    sense = senses[best]
    if sense.lemma.share < RARE:
        return f"hardly ever means {sense.synset}"
    others = [score for number, score in enumerate(scores) if number != best and score == score]
    # Of "spirits" and "spirit" neither is the first choice.
    has_several_names = len({sense.lemma.name.lower() for sense in senses}) > 1
    if (
        (has_several_names or sense.lemma.rank > 1 or len(senses) >= MANY)
        and others
        and scores[best] - max(others) < MARGINS.get(method, 0.0)
    ):
        return f"{sense.synset} or another sense"
    return ""
