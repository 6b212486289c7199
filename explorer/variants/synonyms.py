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
PRONOUNS = {"anybody", "anyone", "everybody", "everyone", "somebody", "someone", "something", "nobody", "none"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A synonym as it would be written in place of the word, in lower case; `reason` tells why it is not offered."""

    lemma: str
    form: str
    reason: str = ""


def candidates(target: Target, sense: Sense) -> list[Candidate]:
    """The synset's other words in the target's form, in WordNet's order, each with the reason where it is excluded."""
    return [_candidate(target, sense, lemma) for lemma in sense.others]


def offered(target: Target, sense: Sense) -> list[Candidate]:
    """The candidates that may be drawn."""
    return [candidate for candidate in candidates(target, sense) if not candidate.reason]


def _candidate(target: Target, sense: Sense, lemma: Lemma) -> Candidate:
    name = lemma.name
    reason = _unfit_word(name) or _unfit_usage(sense, lemma)
    if not reason:
        reason = _unfit_noun(target, name) if target.pos == "n" else _unfit_verb(target, lemma)
    if not reason and not inflect.known(name, target.pos):
        reason = "its forms are not known"
    form = inflect.inflect(name, target.tag) or ""
    if not reason and target.form.lower() in {name, *inflect.forms(name, "NNS" if target.pos == "n" else "VBD")}:
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
    return "out of use" if OLD.search(sense.definition) else ""


def _unfit_noun(target: Target, name: str) -> str:
    if name in PRONOUNS:
        return "a pronoun"
    if inflect.plural_only(name) != inflect.plural_only(target.lemma):
        return "of the other number"
    if target.tag == "NNS" and target.form.lower() == target.lemma and inflect.collective(target.lemma):
        return "of the other number"
    if (target.tag == "NNS" or target.single) and inflect.uncountable(name) and not inflect.plural_only(name):
        return "cannot be counted"
    if target.bare and inflect.countable_only(name) and not inflect.countable_only(target.lemma):
        return "needs a determiner"
    return ""


def _unfit_verb(target: Target, lemma: Lemma) -> str:
    if lemma.name in GRAMMAR_VERBS:
        return "an auxiliary"
    if lemma.name == "get" and target.tag == "VBN" and "object" in target.use:
        return "has no passive"
    if usage.unfit(target.lemma, lemma.name, target.use) or not frames.allows(lemma, target.use):
        return "not used in the same way"
    return ""


def draw(pool: Sequence[Candidate], *, seed: int, key: str, lemma: str, pos: str) -> list[Candidate]:
    """The pool in an order that depends only on the seed, the key (an instance's id) and the words: take the first."""

    def rank(candidate: Candidate) -> bytes:
        text = f"{seed}\x1f{key}\x1f{lemma}\x1f{pos}\x1f{candidate.lemma}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()

    return sorted(pool, key=rank)
