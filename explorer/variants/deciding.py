"""Which words decide between the texts of an instance: those stay, or give way only to words of the same property.

A word decides where another word stands in its place ("littered" for "respected", "every" for "a"). What both texts
share can decide too: a verb whose objects are missing, moved or asked for ("likely to respect"), a noun whose gender
a pronoun takes up ("the waitress ... himself"). Forms of one word ("writes", "write") and words that only moved do not.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from explorer.records import Instance
from explorer.variants import alignment, inflect
from explorer.variants.lexicon import Lexicon
from explorer.variants.tagging import Token
from explorer.variants.targets import GRAMMAR_VERBS, Left, Target

if TYPE_CHECKING:
    from explorer.variants.words import Version

STAYS = "decides between the texts"
GENDER_STAYS = "its gender decides between the texts"
ALIKE = 0.7  # share of words from which on two options of a choice are versions of one sentence
# Tags of words that can differ without touching what a verb takes.
HARMLESS = ("NN", "DT", "PDT", "RB", "CD", "PRP", "MD", "EX", "POS", "UH", ",", ".", ":", "``", "''", "HYPH", "$")
GENDERED_WORDS = {"he", "she", "him", "her", "his", "hers", "it", "its", "himself", "herself", "itself"}
_SEXES = (
    "female|male|wom[ae]n|m[ae]n|girls?|boys?|mother|father|lady|gentleman|wife|husband|daughter|son|sister|brother"
)
GENDER = re.compile(rf"\b({_SEXES})\b")


# "The girls respect the boys" / "The girls respects the boys" differ in the form of one verb. Swapped for another verb
# in both, the pair still asks what it asked, so such words may go. Not so here:
#
#     The boys were respected.             stay: respected, littered    (where they differ decides)
#     The boys were littered.
#     The waitress hurt herself.           stays: waitress              (a pronoun takes up its gender)
#     The waitress hurt himself.
#     Ann was likely to astound Bob.       astound goes, but only for a verb that takes the same objects
#     Ann was adequate to astound Bob.
#
# A Winograd sentence is left alone: there the options are the words that differ.
def mark_deciding_words(instance: Instance, versions: Sequence[Version], lexicon: Lexicon) -> None:
    """Marks in the versions the words that stay because they decide, and the verbs that need an exact stand-in."""
    if instance.kind not in ("pair", "choice", "regions") or instance.format == "winogrande":
        return  # in a Winograd sentence both options are the words that differ, and each keeps its own name
    families: dict[str, list[Version]] = {}
    for version in versions:
        families.setdefault(version.running.family, []).append(version)
    families.pop("", None)
    staying: set[tuple[int, int]] = set()
    exact = gender = False
    numbers = {id(version): number for number, version in enumerate(versions)}
    for family in families.values():
        for first, second in combinations(family, 2):
            if instance.kind == "choice" and _share_alike(first, second) < ALIKE:
                continue
            only_first, only_second = _differing_tokens(first, second)
            sides = ((first, second, only_first, only_second), (second, first, only_second, only_first))
            for mine, theirs, only_mine, only_theirs in sides:
                other_lemmas = _lemmas_of(theirs)
                # A word that the other text has in another form or place decides nothing, nor one that it merely lacks.
                staying |= {
                    (numbers[id(mine)], token.index)
                    for token in only_mine
                    if only_theirs
                    and isinstance(mine.analysis.get(token.index), Target)
                    and _lemma_key(mine, token) not in other_lemmas
                }
            exact = exact or (instance.kind != "choice" and _touches_objects(first, second, only_first, only_second))
            words = [{token.text.lower() for token in side} & GENDERED_WORDS for side in (only_first, only_second)]
            gender = gender or (any(words) and words[0] != words[1])
    for number, version in enumerate(versions):
        for target in version.targets:
            if (number, target.index) in staying:
                version.analysis[target.index] = _leave_word(target, STAYS)
            elif gender and target.pos == "n" and _has_gender(target, lexicon):
                version.analysis[target.index] = _leave_word(target, GENDER_STAYS)
            elif exact and target.pos == "v":
                version.analysis[target.index] = dataclasses.replace(target, exact=True)
    _spread_over_texts(versions)


def _leave_word(target: Target, reason: str) -> Left:
    return Left(target.index, target.start, target.end, target.form, reason)


def _share_alike(first: Version, second: Version) -> float:
    words_shared = sum(
        in_first.stop - in_first.start
        for same, in_first, _ in alignment.matching_blocks(first.forms, second.forms)
        if same
    )
    return words_shared / max(len(first.forms), len(second.forms), 1)


def _differing_tokens(first: Version, second: Version) -> tuple[list[Token], list[Token]]:
    """The tokens of both texts that the other has not in the same place."""
    only_first: list[Token] = []
    only_second: list[Token] = []
    for same, in_first, in_second in alignment.matching_blocks(first.forms, second.forms):
        if not same:
            only_first += first.tokens[in_first]
            only_second += second.tokens[in_second]
    return only_first, only_second


def _lemma_key(version: Version, token: Token) -> tuple[str, str] | None:
    word = version.analysis.get(token.index)
    return (word.lemma, word.pos) if isinstance(word, Target) else None


def _lemmas_of(version: Version) -> set[tuple[str, str]]:
    return {(target.lemma, target.pos) for target in version.targets}


def _touches_objects(
    first: Version, second: Version, only_first: Sequence[Token], only_second: Sequence[Token]
) -> bool:
    """True where the texts differ in more than determiners, adverbs, nouns, auxiliaries and the form of a verb."""
    forms = [{_form_key(token) for token in tokens} for tokens in (only_first, only_second)]
    return any(
        not _is_harmless(token, forms_of_other)
        for tokens, forms_of_other in ((only_first, forms[1]), (only_second, forms[0]))
        for token in tokens
    )


def _form_key(token: Token) -> str:
    """The verb that a token is a form of."""
    lemmas = inflect.lemmas_of(token.text, "v") if token.text.isalpha() else ()
    return lemmas[0] if lemmas else token.lemma.lower()


def _is_harmless(token: Token, others: set[str]) -> bool:
    if token.tag.startswith(HARMLESS) and token.tag != "WDT":
        return True
    if token.pos == "AUX" or token.lemma.lower() in GRAMMAR_VERBS:
        return True
    return token.tag.startswith("VB") and _form_key(token) in others


def _has_gender(target: Target, lexicon: Lexicon) -> bool:
    """True for a noun that names a person of one sex in one of its first senses."""
    return any(
        sense.field == "noun.person" and GENDER.search(sense.definition)
        for sense in lexicon.senses(target.lemma, "n")[:3]
    )


# "The dogs chased the dog" has one lemma twice. If one occurrence stayed and the other went, the text would say another
# thing than before, so a word stays in all its forms, and in every text of the instance.
def _spread_over_texts(versions: Sequence[Version]) -> None:
    """A word that stays in one text stays in all: its occurrences share one substitute."""
    reasons = (STAYS, GENDER_STAYS)
    staying = {
        lemma: left_word.reason
        for version in versions
        for left_word in version.left
        if left_word.reason in reasons
        for lemma in {
            left_word.form.lower(),
            *inflect.lemmas_of(left_word.form, "n"),
            *inflect.lemmas_of(left_word.form, "v"),
        }
    }
    exact = {(target.lemma, target.pos) for version in versions for target in version.targets if target.exact}
    for version in versions:
        for target in version.targets:
            if target.lemma in staying:
                version.analysis[target.index] = _leave_word(target, staying[target.lemma])
            elif (target.lemma, target.pos) in exact and not target.exact:
                version.analysis[target.index] = dataclasses.replace(target, exact=True)
