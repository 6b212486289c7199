"""Words that mean something only together: a light verb and its noun, an idiom, a number and its unit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from explorer.variants import inflect
from explorer.variants.lexicon import Lexicon, Pos
from explorer.variants.tagging import Token

Lemmatize = Callable[[Token, Pos], str]

# Verbs that add little to their noun ("take a look", "pay a visit"); their noun says what happens.
_LIGHT_VERBS = """
    bear cast catch do draw drop fall get give have hold keep lend lose make pay put raise run set shake strike take
    throw
"""
LIGHT_VERBS = frozenset(_LIGHT_VERBS.split())
# Lexicographers' files of nouns that name no thing one can touch.
_ABSTRACT = """
    act attribute cognition communication event feeling motive phenomenon process relation state time
"""
ABSTRACT = frozenset(f"noun.{name}" for name in _ABSTRACT.split())
LOOKED_AT = 4  # senses of a noun, most frequent first, that may be meant behind a light verb
# Verb → nouns that make an idiom with it and are no entry of WordNet.
IDIOMS: dict[str, frozenset[str]] = {
    verb: frozenset(nouns.split())
    for verb, nouns in {
        "add": "insult fuel",
        "beat": "bush clock odds",
        "bite": "bullet dust tongue lip",
        "blow": "whistle fuse mind cover steam",
        "break": "ice leg bank news silence habit mold heart",
        "bring": "bacon home",
        "burn": "bridge oil",
        "bury": "hatchet",
        "call": "shot bluff quit",
        "carry": "weight torch",
        "catch": "breath eye cold fire",
        "change": "mind tune hand diaper",
        "clear": "air throat deck",
        "cost": "arm leg fortune",
        "cross": "line finger mind",
        "cut": "corner cheese loss",
        "draw": "line",
        "drop": "ball hint line",
        "face": "music",
        "follow": "suit",
        "foot": "bill",
        "gain": "ground",
        "get": "wind boot sack",
        "grit": "tooth",
        "hang": "head",
        "hit": "sack road roof book hay nail jackpot",
        "hold": "breath tongue horse ground",
        "jump": "gun ship shark",
        "keep": "eye word promise secret",
        "kick": "bucket habit",
        "lay": "egg",
        "let": "cat",
        "lose": "heart temper mind face touch",
        "make": "bed way point sense fun face end",
        "mind": "business",
        "miss": "boat point mark",
        "nod": "head",
        "open": "floodgate",
        "pass": "buck time",
        "pay": "price attention",
        "play": "fool part ball",
        "pull": "leg string plug rug",
        "push": "envelope luck",
        "read": "lip mind",
        "ring": "bell",
        "rock": "boat",
        "roll": "eye",
        "run": "risk errand",
        "save": "face",
        "see": "light red",
        "shake": "hand head",
        "shoot": "breeze",
        "shrug": "shoulder",
        "sit": "fence",
        "skip": "beat",
        "spill": "bean gut",
        "stand": "ground chance",
        "steal": "show thunder",
        "strike": "chord",
        "swallow": "pride",
        "take": "place part care time",
        "throw": "towel tantrum",
        "tie": "knot",
        "toe": "line",
        "turn": "tide table page corner",
        "twist": "arm",
        "wash": "hand",
    }.items()
}
# Nouns that make an idiom with the preposition and the words before them, and are no entry of WordNet.
_PHRASES = (
    "under the weather;on the fence;over the moon;in the same boat;once in a blue moon;a dime a dozen;out of the blue;"
    "up in the air;on thin ice;in hot water;on the ball;in a nutshell;on the tip of;at the end of the day;in the end;"
    "on the other hand;on the one hand;in the way;by the way;in a row;in the first place;in the long run;on the way;"
    "in the mood;for the time being;at the same time;a piece of cake;the last straw;a slap in the face;of the house"
)
PHRASES = tuple(tuple(phrase.split()) for phrase in _PHRASES.split(";"))
MEASURES = frozenset({"noun.quantity", "noun.time"})
UNIT = re.compile(r"\b(unit of|monetary unit|basic unit|unit equal|units? of measure)\b")


def why_fixed(tokens: Sequence[Token], token: Token, pos: Pos, lexicon: Lexicon, lemmatize: Lemmatize) -> str:
    """Why a noun or verb cannot be exchanged alone, "" where it can."""
    if pos == "n" and (
        reason := _why_governing(tokens, token)
        or _why_in_phrase(tokens, token)
        or _why_measure(tokens, token, lexicon, lemmatize)
    ):
        return reason
    for verb, noun in _verbs_and_objects(tokens, token, pos):
        verb_lemma, object_lemma = lemmatize(verb, "v"), lemmatize(noun, "n")
        if object_lemma in IDIOMS.get(verb_lemma, ()):
            return f"part of “{verb_lemma} {noun.text}”"
        if verb_lemma in LIGHT_VERBS and noun.tag in ("NN", "NNS") and _says_what_happens(noun, object_lemma, lexicon):
            return f"part of “{verb_lemma} {noun.text}”"
    return ""


def _verbs_and_objects(tokens: Sequence[Token], token: Token, pos: Pos) -> list[tuple[Token, Token]]:
    """The verb with its objects, or the noun with its verb; the subject of a passive is an object too."""
    if pos == "v":
        return [(token, child) for child in tokens if child.head == token.index and child.dep in ("dobj", "nsubjpass")]
    verb = tokens[token.head]
    return [(verb, token)] if token.dep in ("dobj", "nsubjpass") and verb.tag.startswith("VB") else []


def _says_what_happens(noun: Token, lemma: str, lexicon: Lexicon) -> bool:
    """True for the noun of "take a look" and "make a decision", False for that of "take a book"."""
    senses = lexicon.senses(lemma, "n")[:LOOKED_AT]
    abstract = [sense.field in ABSTRACT for sense in senses]
    if not abstract:
        return False
    # A noun spelled like a verb ("bath", "swim") often names a thing first and the deed later.
    return abstract[0] or (any(abstract) and inflect.known_form(noun.text.lower(), "v"))


def _why_governing(tokens: Sequence[Token], token: Token) -> str:
    """ "An alternative to paper", "the reason he left": what follows is chosen by this noun and no other."""
    for child in tokens:
        if (
            child.head == token.index
            and child.index > token.index
            and child.dep == "prep"
            and child.text.lower() == "to"
        ):
            return f"part of “{token.text} to”"
    return ""


def _why_in_phrase(tokens: Sequence[Token], token: Token) -> str:
    for phrase in PHRASES:
        for first in range(max(0, token.index - len(phrase) + 1), token.index + 1):
            window = tokens[first : first + len(phrase)]
            if tuple(word.text.lower() for word in window) == phrase:
                return f"part of “{' '.join(phrase)}”"
    before = tokens[token.index - 1] if token.index else None
    if before is None or token.tag != "NN" or token.dep != "pobj" or before.index != token.head:
        return ""
    # "in bed", "on foot": a noun that wants an article goes without one only in a fixed phrase.
    fixed_phrase = before.tag in ("IN", "TO") and inflect.countable_only(token.lemma.lower())
    return f"part of “{before.text.lower()} {token.text}”" if fixed_phrase else ""


def _why_measure(tokens: Sequence[Token], token: Token, lexicon: Lexicon, lemmatize: Lemmatize) -> str:
    """ "6.5cm", "two cups", "ten dollars": a number and its unit belong together."""
    before = tokens[token.index - 1] if token.index else None
    if before is not None and before.text[-1:].isdigit() and before.end == token.start:
        return "a unit"
    numbers = [child for child in tokens if child.head == token.index and child.dep == "nummod"]
    if before is not None and (before.tag == "CD" or before.text[-1:].isdigit()):
        numbers.append(before)
    if not numbers:
        return ""
    senses = lexicon.senses(lemmatize(token, "n"), "n") or lexicon.senses(token.text.lower(), "n")
    if any(sense.field in MEASURES or UNIT.search(sense.definition) for sense in senses):
        return "a unit"
    return ""
