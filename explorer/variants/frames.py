"""How a verb is used in its sentence, and which of WordNet's sentence frames allow that use."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.variants import usage
from explorer.variants.lexicon import Lemma, Lexicon
from explorer.variants.tagging import Token

# WordNet's numbered frames by what follows the verb (wninput(5WN), "Verb frames").
PLAIN = {1, 2, 3, 4, 12, 13, 22, 23, 27}  # nothing, or a prepositional phrase
PERSON = {9, 10, 17, 18, 20, 30}  # the object is somebody
THING = {8, 11, 15, 16, 19, 21, 31}  # the object is something
OBJECT = PERSON | THING
THING_SUBJECT = {1, 3, 4, 5, 6, 10, 11, 12, 34, 35}  # "Something ----s ...", "It ----s ..."
FRAMES: dict[str, frozenset[int]] = {
    "plain": frozenset(PLAIN),
    "object": frozenset(OBJECT),
    "person as object": frozenset(PERSON),
    "thing as object": frozenset(THING),
    "plain or object": frozenset(PLAIN | OBJECT),
    "two objects": frozenset({14}),
    "adjective": frozenset({6, 7}),
    "noun complement": frozenset({6}),
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
PERSONAL = {"me", "you", "him", "her", "us", "myself", "yourself", "himself", "herself", "ourselves", "who", "whom"}
PERSONAL |= {"someone", "somebody", "everyone", "everybody", "anyone", "anybody", "nobody"}
PEOPLE = PERSONAL | {"i", "he", "she", "we"}
CLOSING_QUOTES = {'"', "”", "''"}
QUESTION_WORDS = {"who", "whom", "whose", "what", "which", "when", "where", "why", "how", "whether", "if"}


def verb_uses(tokens: Sequence[Token], verb: Token, lexicon: Lexicon) -> list[str]:
    """The keys of FRAMES that tell how a verb is used, the most exact first, then coarser ones to fall back on."""
    exact = _find_use(tokens, verb)
    children = [token for token in tokens if token.head == verb.index and token.index != verb.index]
    keys = [exact]
    if exact == "object":
        objects = [child for child in children if child.dep in ("dobj", "nsubjpass")]
        kinds = {_object_kind(child, lexicon) for child in objects}
        keys = [*(kinds - {""} if len(kinds) == 1 else ()), exact]
    elif exact == "object and to-infinitive":
        keys.append("object")  # "He was chosen to lead": the infinitive may tell the purpose
    return [key for key in dict.fromkeys(keys) if key]


def by_a_person(tokens: Sequence[Token], verb: Token, lexicon: Lexicon) -> bool:
    """True where the subject of a verb is surely a person."""
    subjects = [token for token in tokens if token.head == verb.index and token.dep == "nsubj"]
    return any(
        word.text.lower() in PEOPLE or (word.tag in ("NN", "NNS") and _object_kind(word, lexicon) == "person as object")
        for word in subjects
    )


def _object_kind(noun: Token, lexicon: Lexicon) -> str:
    """Whether an object is a person or a thing, "" where it could be either."""
    word = noun.text.lower()
    if word in PERSONAL:
        return "person as object"
    if word in ("it", "itself", "what", "which", "something", "everything", "nothing", "anything"):
        return "thing as object"
    senses = lexicon.senses(noun.lemma, "n") if noun.tag in ("NN", "NNS") else ()
    # An untagged first sense is no evidence: WordNet's first toaster is who proposes a toast.
    common = [sense.field for sense in senses[:1] if sense.lemma.count] or [sense.field for sense in senses]
    if not common or set(common) & {"noun.group", "noun.animal"}:
        return ""
    people = {field == "noun.person" for field in common}
    return "" if len(people) > 1 else "person as object" if people.pop() else "thing as object"


def _find_use(tokens: Sequence[Token], verb: Token) -> str:
    children = [token for token in tokens if token.head == verb.index and token.index != verb.index]
    relations = {child.dep for child in children}
    passive = bool(relations & {"auxpass", "nsubjpass"})
    has_object = "dobj" in relations or passive
    if verb.index and tokens[verb.index - 1].text in CLOSING_QUOTES:
        return "clause"  # "Sit down!" shouted the nurse: no object, whatever the parser says
    for child in children:
        if child.dep in ("xcomp", "ccomp"):
            # What stands before its verb is quoted: "Sit down," said the nurse.
            return _with_clause(tokens, child, has_object) if child.start > verb.start else "clause"
    if "oprd" in relations:
        return "object and adjective"
    if relations & {"acomp", "attr"}:
        complement = "adjective" if "acomp" in relations else "noun complement"
        return "object and adjective" if "dobj" in relations else complement
    if "dobj" in relations and any(child.dep == "dative" and child.pos != "ADP" for child in children):
        return "two objects"
    if has_object:
        return "object"
    if verb.tag == "VBN" and verb.dep in ("acl", "advcl") and "aux" not in relations:
        return "object"
    later = [child.index for child in children if child.dep == "conj"]
    shared = any(token.dep == "dobj" and token.head in later for token in tokens)
    # The object may stand before the verb ("the dress she wore"), or behind the next one ("washed and dried it").
    return "plain or object" if shared or verb.dep in ("amod", "relcl") else "plain"


def _with_clause(tokens: Sequence[Token], clause: Token, has_object: bool) -> str:
    inside = [token for token in tokens if token.head == clause.index and token.index != clause.index]
    subject = any(token.dep in ("nsubj", "nsubjpass", "expl") for token in inside)
    to = any(token.tag == "TO" and token.dep == "aux" for token in inside)
    first = min((token.start, token.text.lower()) for token in [clause, *inside])[1]
    if to:  # "wanted (him) to leave"
        return "object and to-infinitive" if subject or has_object else "to-infinitive"
    if first in QUESTION_WORDS:  # "asked whether he left"
        return "question"
    if clause.tag == "VBG" and not any(token.dep in ("aux", "auxpass") for token in inside):  # "saw him leaving"
        return "object and ing-form" if subject or has_object else "ing-form"
    finite = clause.tag in ("VBZ", "VBP", "VBD", "MD") or any(
        token.dep in ("aux", "auxpass") and token.tag in ("VBZ", "VBP", "VBD", "MD") for token in inside
    )
    if finite:  # "said (that) he left"
        return "clause"
    if clause.tag == "VB":  # "made him leave"
        return "object and infinitive" if subject or has_object else "infinitive"
    # "found it odd"
    return "object and adjective" if subject or has_object else ""


def allows_use(lemma: Lemma, how: str) -> bool:
    """True where one of the verb's frames in this sense allows the use; an unknown use is always allowed."""
    return not how or bool(FRAMES[how] & set(lemma.frames))


def takes_people(lemma: Lemma) -> bool:
    """True where a person can be the verb's subject in this sense ("I need it", not the "needs" of "it needs time")."""
    return not lemma.frames or not set(lemma.frames) <= THING_SUBJECT


def valency(lemma: Lemma) -> frozenset[str]:
    """Which of no object, an object and two objects a verb takes in any of its senses, as far as `usage` agrees."""
    return frozenset(
        use
        for use in ("plain", "object", "two objects")
        if FRAMES[use] & set(lemma.allowed) and lemma.name not in usage.UNFIT.get(use, ())
    )
