"""Mild changes to a context sentence that keep its structure and its acceptability (Sinha et al. 2023, section 5).

The paper's six perturbations with adverbs, clauses and names of our own. None of them is negative or a question, so
that no edit licenses a negative polarity item or stands for the subject of an agreement.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Sequence

from explorer.errors import UsageError

ADVERBS = ("Admittedly", "Clearly", "Curiously", "Evidently", "Fortunately", "Incidentally", "Naturally", "Indeed")
LAST_ADVERBS = ("admittedly", "apparently", "clearly", "evidently", "incidentally", "naturally", "presumably", "though")
LONG_ADVERBS = (
    "All things considered",
    "As a matter of course",
    "At the end of the day",
    "For what it is worth",
    "In the grand scheme of things",
    "To make a long story short",
)
CLAUSES = (
    "although {name} sees it differently",
    "as far as {name} can tell",
    "as {name} pointed out the other day",
    "even if {name} finds it surprising",
)
QUOTATIONS = (
    "Last Tuesday, {name} said",
    "Over lunch, {name} remarked",
    "This morning, {name} wrote",
    "In a letter, {name} explained",
)
NAMES = ("Anton", "Ines", "Kofi", "Leila", "Mara", "Priya", "Tobias", "Yuki")

# Sentence openers that lose their capital when something is put before them.
_OPENERS = """
    a an the this that these those some many most every each all both few several no only even another any it it's
    he she they we you there there's here who whose whom what which when where why how if is are was were do does did
    has have had can could will would shall should may might must not in on at by for from with to of about after
    before because since while although as his her its their our my your
"""
FUNCTION_WORDS = frozenset(_OPENERS.split())

Pick = Callable[[str, Sequence[str]], str]
Step = Callable[[str, Pick, Collection[str]], str]


def edit_sentence(edit: str, sentence: str, *, key: str, common: Collection[str] = FUNCTION_WORDS) -> str:
    """The sentence after an edit of PREFIX_EDITS, its wording chosen by `key` alone.

    `common` holds the words that are written small inside a sentence; any other first word keeps its capital, as a
    name does.
    """
    if edit not in PREFIX_EDITS:
        raise UsageError(f"There is no prefix edit {edit!r}; there are {', '.join(PREFIX_EDITS)}.")

    def pick_word(slot: str, choices: Sequence[str]) -> str:
        digest = hashlib.blake2b(f"{key}|{slot}".encode(), digest_size=8).digest()
        return choices[int.from_bytes(digest) % len(choices)]

    for step in PREFIX_EDITS[edit]:
        sentence = step(sentence.strip(), pick_word, common)
    return sentence


def common_words(texts: Iterable[str]) -> frozenset[str]:
    """The words that inside these texts always have a small first letter, and the function words."""
    small: set[str] = set()
    capital: set[str] = set()
    for text in texts:
        for word in re.findall(r"(?<=\w )[^\W\d_][\w'-]*", text):
            (small if word[0].islower() else capital).add(word.lower())
    return frozenset(small - capital) | FUNCTION_WORDS


def _prefix_adverb(sentence: str, pick: Pick, common: Collection[str]) -> str:
    return f"{pick('adverb', ADVERBS)}, {_small_initial(sentence, common)}"


def _long_prefix_adverb(sentence: str, pick: Pick, common: Collection[str]) -> str:
    return f"{pick('long adverb', LONG_ADVERBS)}, {_small_initial(sentence, common)}"


def _suffix_adverb(sentence: str, pick: Pick, common: Collection[str]) -> str:
    body, end = _without_closing_marks(sentence)
    return f"{body}, {pick('last adverb', LAST_ADVERBS)}{end}"


def _as_clause(sentence: str, pick: Pick, common: Collection[str]) -> str:
    name = pick("name of the clause", NAMES)
    clause = pick("clause", CLAUSES).format(name=name)
    if pick("place of the clause", ("start", "end")) == "start":
        return f"{clause[0].upper()}{clause[1:]}, {_small_initial(sentence, common)}"
    body, end = _without_closing_marks(sentence)
    return f"{body}, {clause}{end}"


def _as_quotation(sentence: str, pick: Pick, common: Collection[str]) -> str:
    opening = pick("quotation", QUOTATIONS).format(name=pick("name of the speaker", NAMES))
    mark = "'" if '"' in sentence else '"'
    return f"{opening}, {mark}{sentence}{mark}"


def _small_initial(sentence: str, common: Collection[str]) -> str:
    """The sentence with a small first letter, unless it begins with a name."""
    word = re.match(r"[\w'-]+", sentence)
    if word and (word[0].lower() in common or word[0].removesuffix("s").lower() in common):
        return sentence[0].lower() + sentence[1:]
    return sentence


def _without_closing_marks(sentence: str) -> tuple[str, str]:
    """The sentence without its closing marks, and those."""
    bare = sentence.rstrip()
    body = bare.rstrip(".!?\"'”’")
    return body, bare[len(body) :]


# The short adverb is left out of "all", as in the paper: two adverbs in a row read oddly.
PREFIX_EDITS: dict[str, tuple[Step, ...]] = {
    "none": (),
    "prefix_adverb": (_prefix_adverb,),
    "suffix_adverb": (_suffix_adverb,),
    "long_prefix_adverb": (_long_prefix_adverb,),
    "clause": (_as_clause,),
    "quotation": (_as_quotation,),
    "all": (_suffix_adverb, _as_clause, _long_prefix_adverb, _as_quotation),
}
