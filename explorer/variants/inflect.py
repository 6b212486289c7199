"""Forms of English nouns and verbs by Penn tag, over lemminflect's dictionary and rules."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

TAGS = {"n": ("NN", "NNS"), "v": ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG")}
UPOS = {"n": "NOUN", "v": "VERB"}
PREPOSITIONS = {"of", "in", "at", "to", "for", "on", "by", "with", "from"}

# Where lemminflect's first answer is wrong, rare, or another word's.
OVERRIDES = {
    ("bid", "VBD"): "bid",
    ("cactus", "NNS"): "cacti",
    ("cousin-german", "NNS"): "cousins-german",
    ("fish", "NNS"): "fish",
    ("forego", "VBD"): "forewent",
    ("forego", "VBN"): "foregone",
    ("forgo", "VBD"): "forwent",
    ("forgo", "VBG"): "forgoing",
    ("forgo", "VBZ"): "forgoes",
    ("lie", "VBN"): "lain",
    ("mimic", "VBD"): "mimicked",
    ("mimic", "VBN"): "mimicked",
    ("mimic", "VBG"): "mimicking",
    ("offset", "VBG"): "offsetting",
    ("ox", "NNS"): "oxen",
    ("people", "NNS"): "people",
    ("person", "NNS"): "people",
    ("quit", "VBD"): "quit",
    ("quit", "VBN"): "quit",
    ("shine", "VBD"): "shone",
    ("strive", "VBD"): "strove",
    ("wake", "VBN"): "woken",
    ("weave", "VBD"): "wove",
    ("wet", "VBD"): "wet",
    ("wet", "VBN"): "wet",
}
# Count nouns whose plural looks like the singular; lemminflect marks them like mass nouns.
_INVARIANT = """
    aircraft bison buffalo cod crossroads deer elk fish gallows grouse headquarters hovercraft means moose offspring
    salmon series sheep shellfish shrimp spacecraft species squid swine swordfish trout tuna watercraft works
"""
INVARIANT = frozenset(_INVARIANT.split())


def inflect(lemma: str, tag: str) -> str | None:
    """The lemma in the form a Penn tag asks for, None where English has no such form ("furniture", NNS)."""
    words = lemma.replace("_", " ").split(" ")
    at = 0
    if tag.startswith("N"):
        at = next((i for i, word in enumerate(words) if i and word in PREPOSITIONS), len(words)) - 1
    form = _inflect_word(words[at], tag)
    return None if form is None else " ".join([*words[:at], form, *words[at + 1 :]])


def _inflect_word(word: str, tag: str) -> str | None:
    tag = {"NNP": "NN", "NNPS": "NNS"}.get(tag, tag)
    if (word, tag) in OVERRIDES:
        return OVERRIDES[word, tag]
    if tag == "NNS":
        return word if plural_only(word) else _plural_of(word)
    if tag == "NN":
        return None if plural_only(word) else word
    if tag in ("VB", "VBP"):
        return word
    spellings = [form for form in _dictionary_forms(word, tag) if _same_spelling(word, form)]
    return spellings[0] if spellings else None


def _plural_of(word: str) -> str | None:
    if word in INVARIANT:
        return word
    head, hyphen, tail = word.partition("-")
    if hyphen and tail.split("-")[0] in PREPOSITIONS | {"law"}:  # mother-in-law, passer-by
        form = _plural_of(head)
        return None if form is None else form + hyphen + tail
    forms = [form for form in _dictionary_forms(word, "NNS") if form != word and _same_spelling(word, form)]
    if forms:
        return forms[0]
    return None


def _same_spelling(word: str, form: str) -> bool:
    """The dictionary mixes spellings (re-build: rebuilt); a form keeps its lemma's blanks and hyphens."""
    return form.count(" ") == word.count(" ") and form.count("-") == word.count("-")


@cache
def _dictionary_forms(word: str, tag: str) -> tuple[str, ...]:
    return tuple(_inflections().getInflection(word, tag))


@cache
def spellings_of(lemma: str, tag: str) -> frozenset[str]:
    """Every spelling that counts as this form of the lemma, in lower case."""
    spellings = {form.lower() for form in _dictionary_forms(lemma, tag)}
    if tag == "NNS" and lemma not in INVARIANT and len(spellings) > 1:
        spellings.discard(lemma)  # how the dictionary says that a noun is also uncountable
    if preferred := inflect(lemma, tag):
        spellings.add(preferred.lower())
    return frozenset(spellings)


@cache
def lemmas_of(form: str, pos: str) -> tuple[str, ...]:
    """The lemmas ("n" or "v") that a form may belong to, those in the dictionary first."""
    upos = UPOS[pos]
    form = form.lower()
    candidates = [lemma for (lemma, tag), spelling in OVERRIDES.items() if spelling == form and tag in TAGS[pos]]
    candidates += _lemmatizer().getAllLemmas(form, upos).get(upos, ())
    return tuple(dict.fromkeys(candidates)) or tuple(_lemmatizer().getAllLemmasOOV(form, upos).get(upos, ()))


def tag_of(form: str, lemma: str, pos: str, wish: str) -> str | None:
    """The Penn tag under which `form` is a form of `lemma`: the tagger's where it fits, else the only one."""
    fitting = [tag for tag in TAGS[pos] if form.lower() in spellings_of(lemma, tag)]
    if wish in fitting or not fitting:
        return wish if fitting else None
    if pos == "v" and set(fitting) <= {"VB", "VBP"}:
        return fitting[0]
    return fitting[0] if len(fitting) == 1 else None


@cache
def plural_only(lemma: str) -> bool:
    """True for a lemma that is itself a plural, or ends like one ("scissors", "goods", "news")."""
    if not lemma.endswith("s") or lemma.endswith(("ss", "us", "is")) or lemma in INVARIANT:
        return False
    plurals = _known_inflections(lemma).get("NNS", ())
    return plurals == (lemma,) or (not plurals and bool(lemmas_of(lemma, "n")))


def is_collective(lemma: str) -> bool:
    """True for a noun that is plural without an ending ("police", "people")."""
    return lemma not in INVARIANT and not plural_only(lemma) and lemma in _known_inflections(lemma).get("NNS", ())


def is_invariant(lemma: str) -> bool:
    """True for a noun whose plural looks like its singular ("sheep"): it does not show its number."""
    return lemma in INVARIANT or lemma in ("people", "police", "cattle")


@cache
def is_uncountable(lemma: str) -> bool:
    """True for a noun that has no plural ("furniture", "cash")."""
    return inflect(lemma, "NNS") is None


@cache
def countable_only(lemma: str) -> bool:
    """True for a noun that the dictionary knows as countable and nothing else ("woman"): it needs a determiner."""
    plurals = _known_inflections(lemma).get("NNS", ())
    return bool(plurals) and lemma not in plurals and lemma not in INVARIANT


def is_known(lemma: str, pos: str) -> bool:
    """True where the dictionary lists the word as a noun ("n") or a verb ("v")."""
    return any(tag in TAGS[pos] for tag in _known_inflections(lemma))


@cache
def known_form(form: str, pos: str) -> bool:
    """True where the dictionary has the word as some form of a noun ("n") or verb ("v")."""
    return UPOS[pos] in _lemmatizer().getAllLemmas(form, UPOS[pos])


@cache
def is_listed(form: str) -> bool:
    """True for a word that the dictionary has in some form, of any part of speech."""
    return bool(_lemmatizer().getAllLemmas(form))


@cache
def _known_inflections(lemma: str) -> dict[str, tuple[str, ...]]:
    return dict(_inflections().getAllInflections(lemma))


def match_case(source: str, word: str) -> str:
    """The word in the case of the one it replaces: ALL CAPS, Capitalized or as it is."""
    if len(source) > 1 and source.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if source[:1].isupper() else word


def irregular_forms(upos: str) -> Iterator[tuple[str, str]]:
    """Form and lemma of each irregular word of a kind (NOUN, VERB, ADJ, ADV) in lemminflect's dictionary."""
    _without_spacy()
    from lemminflect import config
    from lemminflect.codecs.InflectionLUCodec import InflectionLUCodec

    tags = {
        "NOUN": ("NNS",),
        "VERB": ("VBD", "VBN", "VBG", "VBZ"),
        "ADJ": ("JJR", "JJS"),
        "ADV": ("RBR", "RBS"),
    }[upos]
    for lemma, table in InflectionLUCodec.load(config.inflection_lu_fn).items():
        for tag in tags:
            for form in table.get(tag, ()):
                if lemma.islower() and " " not in form and not _is_regular(form, lemma):
                    yield form.lower(), lemma


def _is_regular(form: str, lemma: str) -> bool:
    """True where WordNet's own endings lead from the form back to the lemma."""
    endings = ("s", "es", "ed", "ing", "er", "est", "d", "r", "st")
    stems = {lemma, lemma.removesuffix("e")}
    plain = {stem + ending for stem in stems for ending in endings} | {lemma}
    return form in plain or (lemma.endswith("y") and form == lemma[:-1] + "ies")


def _without_spacy() -> None:
    """Makes the package known without running its `__init__`, which loads spaCy and with it torch: seconds."""
    if "lemminflect" not in sys.modules:
        spec = importlib.util.find_spec("lemminflect")
        assert spec is not None
        sys.modules.setdefault("lemminflect", importlib.util.module_from_spec(spec))


@cache
def _lemmatizer() -> Any:
    _without_spacy()
    from lemminflect.core.Lemmatizer import Lemmatizer

    return Lemmatizer()


@cache
def _inflections() -> Any:
    _without_spacy()
    from lemminflect.core.Inflections import Inflections

    return Inflections()
