"""The words that may stand in for a word in one of its senses, in the form it has, and the seeded draw among them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from explorer.variants import frames, inflect, usage
from explorer.variants.lexicon import Lemma, Sense
from explorer.variants.targets import GRAMMAR_VERBS, Target

OFFENSIVE = {"archaism", "disparagement", "ethnic_slur", "obscenity", "dirty_word", "vulgarism"}
OLD = re.compile(r"\((archaic|obsolete|dated|old-fashioned)")
RARE = 0.1  # share of its uses below which a synonym would be taken in another meaning, unless it is its first sense
# Verbs that deny: in the place of another verb they would license "ever" and "any", or turn the sentence round.
_NEGATIVE = """
    avoid bar decline deny doubt fail forbid forget lack neglect prevent prohibit refrain refuse reject
"""
NEGATIVE = frozenset(_NEGATIVE.split())
PRONOUNS = {"anybody", "anyone", "everybody", "everyone", "somebody", "someone", "something", "nobody", "none"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A synonym as it would be written in place of the word, in lower case; `reason` tells why it is not offered."""

    lemma: str
    form: str
    reason: str = ""


def candidates_for(target: Target, sense: Sense) -> list[Candidate]:
    """The synset's other words in the target's form, in WordNet's order, each with the reason where it is excluded."""
    return [_make_candidate(target, sense, lemma) for lemma in sense.others]


def offered_candidates(target: Target, sense: Sense) -> list[Candidate]:
    """The candidates that may be drawn."""
    return [candidate for candidate in candidates_for(target, sense) if not candidate.reason]


def _make_candidate(target: Target, sense: Sense, lemma: Lemma) -> Candidate:
    name = lemma.name
    reason = _unfit_word(name) or _unfit_usage(sense, lemma)
    if not reason:
        reason = _unfit_noun(target, sense, lemma) if target.pos == "n" else _unfit_verb(target, sense, lemma)
    if not reason and not inflect.is_known(name, target.pos):
        reason = "its forms are not known"
    form = inflect.inflect(name, target.tag) or ""
    if not reason and target.form.lower() in {name, *inflect.spellings_of(name, "NNS" if target.pos == "n" else "VBD")}:
        reason = "a form of the same word"
    if not reason and not form:
        reason = "has no such form"
    return Candidate(name.replace("_", " "), form, reason)


def _unfit_word(name: str) -> str:
    if "_" in name:
        return "several words"
    if not name.islower():
        return "a name, a scientific name or an abbreviation"
    if not re.fullmatch(r"[a-z]+(-[a-z]+)*", name) or len(name) < 2:
        return "not a plain word"
    if not re.search("[aeiouy]", name):
        return "an abbreviation"
    return ""


def _unfit_usage(sense: Sense, lemma: Lemma) -> str:
    if OFFENSIVE & set(lemma.usages):
        return "offensive or out of use"
    if (sense.lemma.name.lower(), lemma.name) in usage.NEVER:
        return "not used in the same way"
    seldom = (lemma.rank > 1 and lemma.share < RARE) or (lemma.share < 1 and not lemma.count)
    if seldom and _plain_spelling(lemma.name) != _plain_spelling(sense.lemma.name):
        return "seldom has this meaning"
    return "out of use" if OLD.search(sense.definition) else ""


def _plain_spelling(name: str) -> str:
    """A word without what only its spellings differ by ("makeup", "make-up"; "colour", "color")."""
    bare = name.lower().replace("-", "").replace("our", "or").replace("yse", "yze")
    return re.sub("is(e|ing|ation)", r"iz\1", bare)


def _unfit_noun(target: Target, sense: Sense, lemma: Lemma) -> str:
    name = lemma.name
    if name in PRONOUNS:
        return "a pronoun"
    if lemma.plural and (target.tag == "NNS" or not lemma.count):
        return "its plural means something else"
    if target.tag == "NNS" and name.endswith("ing") and not (lemma.count or target.lemma.endswith("ing")):
        return "cannot be counted"
    if inflect.plural_only(name) != inflect.plural_only(sense.lemma.name.lower()):
        return "of the other number"
    if inflect.is_invariant(name) and not inflect.is_invariant(target.lemma):
        return "the same in singular and plural"
    if target.tag == "NNS" and target.form.lower() == target.lemma and inflect.is_collective(target.lemma):
        return "of the other number"
    if (target.tag == "NNS" or target.single) and inflect.is_uncountable(name) and not inflect.plural_only(name):
        return "cannot be counted"
    if target.bare and inflect.countable_only(name) and not inflect.countable_only(target.lemma):
        return "needs a determiner"
    return ""


def _unfit_verb(target: Target, sense: Sense, lemma: Lemma) -> str:
    if lemma.name in GRAMMAR_VERBS:
        return "an auxiliary"
    if lemma.name == "get" and target.tag == "VBN" and "object" in target.use:
        return "has no passive"
    if (lemma.name in NEGATIVE) != (sense.lemma.name in NEGATIVE):
        return "denies, or no longer does"
    if target.tag == "VBP" and lemma.name in inflect.spellings_of(lemma.name, "VBD"):
        return "could be past or present"
    if target.exact and frames.valency(lemma) != frames.valency(sense.lemma):
        return "takes other objects"
    if usage.is_unfit(target.lemma, lemma.name, target.use) or not frames.allows_use(lemma, target.use):
        return "not used in the same way"
    return ""


def sample_synonyms(pool: Sequence[Candidate], *, seed: int, key: str, lemma: str, pos: str) -> list[Candidate]:
    """The pool in an order that depends only on the seed, the key (an instance's id) and the words: take the first."""

    def rank(candidate: Candidate) -> bytes:
        text = f"{seed}\x1f{key}\x1f{lemma}\x1f{pos}\x1f{candidate.lemma}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()

    return sorted(pool, key=rank)
