"""How a verb is used in its sentence, and which of WordNet's sentence frames allow that use."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.variants.lexicon import Lemma
from explorer.variants.tagging import Token

# WordNet's numbered frames by what follows the verb (wninput(5WN), "Verb frames").
PLAIN = {1, 2, 3, 4, 12, 13, 22, 23, 27}  # nothing, or a prepositional phrase
OBJECT = {8, 9, 10, 11, 15, 16, 17, 18, 19, 20, 21, 30, 31}
FRAMES: dict[str, frozenset[int]] = {
    "plain": frozenset(PLAIN),
    "object": frozenset(OBJECT),
    "plain or object": frozenset(PLAIN | OBJECT),
    "two objects": frozenset({14}),
    "adjective": frozenset({6, 7}),
    "object and adjective": frozenset({5}),
    "clause": frozenset({26, 34}),
    "question": frozenset({26, 29}),
    "to-infinitive": frozenset({28}),
    "object and to-infinitive": frozenset({24}),
    "infinitive": frozenset({32, 35}),
    "object and infinitive": frozenset({25}),
    "object and ing-form": frozenset(OBJECT),
    "ing-form": frozenset({33}),
}
QUESTION_WORDS = {"who", "whom", "whose", "what", "which", "when", "where", "why", "how", "whether", "if"}


def uses(tokens: Sequence[Token], verb: Token) -> list[str]:
    """The keys of FRAMES that tell how a verb is used, the most exact first, then a coarser one to fall back on."""
    exact = _use(tokens, verb)
    children = {token.dep for token in tokens if token.head == verb.index and token.index != verb.index}
    coarse = "object" if children & {"dobj", "nsubjpass", "auxpass"} else "plain" if exact == "plain" else ""
    return [key for key in dict.fromkeys([exact, coarse]) if key]


def _use(tokens: Sequence[Token], verb: Token) -> str:
    children = [token for token in tokens if token.head == verb.index and token.index != verb.index]
    relations = {child.dep for child in children}
    passive = bool(relations & {"auxpass", "nsubjpass"})
    has_object = "dobj" in relations or passive
    for child in children:
        if child.dep in ("xcomp", "ccomp") and child.start > verb.start:
            return _with_clause(tokens, child, has_object)
    if relations & {"oprd"}:
        return "object and adjective"
    if relations & {"acomp", "attr"}:
        return "object and adjective" if "dobj" in relations else "adjective"
    if "dative" in relations and "dobj" in relations and _bare(children, "dative"):
        return "two objects"
    if has_object:
        return "object"
    if verb.dep == "amod":
        return "plain or object"
    if verb.tag == "VBN" and verb.dep in ("acl", "advcl") and "aux" not in relations:
        return "object"
    if verb.dep == "relcl" or "conj" in relations or verb.dep == "conj":
        return "plain or object"  # the object may stand before the verb, or behind the next one
    return "plain"


def _bare(children: Sequence[Token], dep: str) -> bool:
    return any(child.dep == dep and child.pos != "ADP" for child in children)


def _with_clause(tokens: Sequence[Token], clause: Token, has_object: bool) -> str:
    inside = [token for token in tokens if token.head == clause.index and token.index != clause.index]
    subject = any(token.dep in ("nsubj", "nsubjpass", "expl") for token in inside)
    to = any(token.tag == "TO" and token.dep == "aux" for token in inside)
    first = min((token.start, token.text.lower()) for token in [clause, *inside])[1]
    if to:
        return "object and to-infinitive" if subject or has_object else "to-infinitive"
    if first in QUESTION_WORDS:
        return "question"
    if clause.tag == "VBG" and not any(token.dep in ("aux", "auxpass") for token in inside):
        return "object and ing-form" if subject or has_object else "ing-form"
    finite = clause.tag in ("VBZ", "VBP", "VBD", "MD") or any(
        token.dep in ("aux", "auxpass") and token.tag in ("VBZ", "VBP", "VBD", "MD") for token in inside
    )
    if finite:
        return "clause"
    if clause.tag == "VB":
        return "object and infinitive" if subject or has_object else "infinitive"
    return "object and adjective" if subject or has_object else ""


def allows(lemma: Lemma, how: str) -> bool:
    """True where one of the verb's frames in this sense allows the use; an unknown use is always allowed."""
    return not how or bool(FRAMES[how] & set(lemma.frames))
