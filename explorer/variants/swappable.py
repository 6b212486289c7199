"""For the live lab: which words of a text can be swapped, in which senses, and for what."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from explorer.records import Instance
from explorer.variants import synonyms
from explorer.variants.lexicon import Sense
from explorer.variants.perturb import Tools, shared_candidates
from explorer.variants.senses import METHODS, best_sense
from explorer.variants.words import Reading, Word, read_instances


@dataclass(frozen=True, slots=True)
class SenseView:
    """A sense of a word in a text: its score, whether it was chosen, and its synonyms as they would be written.

    `offered` are those a random draw picks from; `excluded` are the synset's other words, each with the reason.
    """

    sense: Sense
    score: float
    chosen: bool
    offered: tuple[synonyms.Candidate, ...]
    excluded: tuple[synonyms.Candidate, ...]


@dataclass(frozen=True, slots=True)
class WordView:
    """A word that can be swapped: its places in the text, its senses (most frequent first), why one was chosen."""

    lemma: str
    pos: str
    places: tuple[tuple[int, int], ...]
    senses: tuple[SenseView, ...]
    why: str

    @property
    def chosen(self) -> SenseView:
        return next(view for view in self.senses if view.chosen)


def swappable_words(text: str, tools: Tools, *, veto: Collection[str] = ()) -> list[WordView]:
    """The nouns and verbs of a text that have a synonym in some sense, in the order of their first place."""
    instance = Instance(id="text", benchmark="", split="", group="", kind="text", format="text", context=text)
    (reading,) = read_instances([instance], tagger=tools.tagger, lexicon=tools.lexicon, senses=tools.senses, veto=veto)
    views = [view_word(word, reading, tools.senses.name) for word in reading.words]
    return sorted((view for view in views if any(sense.offered for sense in view.senses)), key=lambda v: v.places[0])


def view_word(word: Word, reading: Reading, method: str) -> WordView:
    """A word of a reading with its senses and their synonyms; `method` says how the senses were told apart."""
    best = best_sense(word.scores)
    senses = tuple(
        _sense_view(word, sense, score, i == best, reading)
        for i, (sense, score) in enumerate(zip(word.senses, word.scores, strict=True))
    )
    spans = tuple((target.start, target.end) for _, target in word.targets)
    return WordView(word.lemma, word.pos, spans, senses, why_chosen(word.scores, method))


def _sense_view(word: Word, sense: Sense, score: float, chosen: bool, reading: Reading) -> SenseView:
    offered = shared_candidates(word, sense, reading.versions)
    names = {candidate.lemma for candidate in offered}
    others = (
        candidate for candidate in synonyms.candidates_for(word.targets[0][1], sense) if candidate.lemma not in names
    )
    excluded = tuple(
        candidate
        if candidate.reason
        else synonyms.Candidate(candidate.lemma, candidate.form, "does not fit everywhere")
        for candidate in others
    )
    return SenseView(sense, score, chosen, tuple(offered), excluded)


def why_chosen(scores: tuple[float, ...], method: str) -> str:
    """In words, why the best sense was chosen and by which margin over the next."""
    if len(scores) == 1:
        return "the only sense that fits"
    ranked = sorted((score for score in scores if score == score), reverse=True)
    if len(ranked) < 2:
        return "no answer from the model: the most frequent sense"
    margin = ranked[0] - ranked[1]
    return f"{METHODS.get(method, method)}; ahead of the next sense by {margin:.3f}"
