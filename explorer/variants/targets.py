"""The nouns and verbs of a tagged text that may be swapped, and for every other word the reason why not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from explorer.variants import frames, inflect, phrases
from explorer.variants.lexicon import Lexicon, Pos, Sense
from explorer.variants.tagging import Token

GRAMMAR_VERBS = {
    "be",
    "have",
    "do",
    "can",
    "could",
    "may",
    "might",
    "must",
    "ought",
    "shall",
    "should",
    "will",
    "would",
}
# Verbs that help another verb ("going to leave", "need to know", "let me go", "went fishing").
HALF_AUXILIARIES = {"go", "gon", "let", "need", "suppose", "use"}
COPULAS_WITH_LIKE = {"feel", "look", "smell", "sound", "taste"}
# Nouns that measure, point or fill in rather than name; their synonyms do not stand in the same phrases.
_LIGHT_NOUNS = """
    bit couple deal dozen half hundred kind lot lots million number o'clock one other others pair percent plenty rest
    sake sort thing thousand today tomorrow tonight type way yesterday
"""
LIGHT_NOUNS = frozenset(_LIGHT_NOUNS.split())
DETERMINERS = {"det", "poss", "nummod", "predet"}
BEFORE_NOUNS = {"CD", "DT", "IN", "JJ", "JJR", "JJS", "POS", "PRP$", "WP$"}
SINGLE = {"a", "an", "one", "each", "every", "another", "either", "neither"}
LONGEST_EXPRESSION = 4


@dataclass(frozen=True, slots=True)
class Target:
    """A word that may be swapped: where it stands, which form of which lemma it is, and what it could mean there.

    use      how a verb is used (a key of `frames.FRAMES`), "" for nouns
    single   a noun after "a", "one", "each" ...: it counts one thing
    bare     a singular noun without a determiner: it names a stuff, not a thing
    exact    a verb whose objects decide between two texts: only one that takes the same may stand in for it
    """

    index: int  # among the text's tokens
    start: int
    end: int
    form: str
    tag: str
    lemma: str
    pos: Pos
    senses: tuple[Sense, ...]  # those that fit the use, most frequent first
    use: str = ""
    single: bool = False
    bare: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Left:
    """A noun or verb that is left as it is, and why."""

    index: int
    start: int
    end: int
    form: str
    reason: str


# A word that is left always has a reason, shown in the lab and counted in runs. The checks go from what the tagger says
# to what WordNet knows, so that the reason given is the plainest one:
#
#     "Gail had been going to leave the grocery store."
#     Gail       a name
#     had, been  an auxiliary, a modal verb, or be, have, do
#     going      a half-auxiliary
#     leave      Target: VB of "leave", senses whose frame takes an object
#     grocery    part of “grocery store”
def find_targets(
    tokens: Sequence[Token], text: str, lexicon: Lexicon, veto: Collection[str] = ()
) -> tuple[list[Target], list[Left]]:
    """The words of a text that may be swapped, and the nouns and verbs that may not with the reason."""
    targets: list[Target] = []
    left: list[Left] = []
    named = {word.strip().lower() for word in veto}
    barred = named | {lemma for word in named for pos in ("n", "v") for lemma in inflect.lemmas_of(word, pos)}
    capitals = _all_capitals(text)
    for token in tokens:
        if not token.tag.startswith(("NN", "VB", "MD")):
            continue
        result = _make_target(tokens, token, text, lexicon, capitals)
        if isinstance(result, Target) and barred & {result.lemma, result.form.lower()}:
            result = "vetoed"
        if isinstance(result, Target):
            targets.append(result)
        else:
            left.append(Left(token.index, token.start, token.end, token.text, result))
    return targets, left


def _make_target(tokens: Sequence[Token], token: Token, text: str, lexicon: Lexicon, capitals: bool) -> Target | str:
    if reason := _not_a_word(tokens, token, text, capitals):
        return reason
    pos: Pos = "v" if token.tag.startswith("VB") else "n"
    if reason := _verb_reason(tokens, token) if pos == "v" else _noun_reason(tokens, token):
        return reason
    if reason := _why_in_expression(tokens, token, pos, lexicon) or phrases.why_fixed(
        tokens, token, pos, lexicon, _lemma_of
    ):
        return reason
    analysed = _analyse(token, pos, lexicon)
    if analysed is None:
        return "not in WordNet in this form"
    lemma, tag, senses = analysed
    if pos == "v":
        if _past_or_present(tokens, token, lemma, tag):
            return "past or present"
        for use in frames.verb_uses(tokens, token, lexicon):
            fitting = tuple(sense for sense in senses if frames.allows_use(sense.lemma, use))
            if frames.by_a_person(tokens, token, lexicon):
                fitting = tuple(sense for sense in fitting if frames.takes_people(sense.lemma)) or fitting
            if fitting:
                return Target(token.index, token.start, token.end, token.text, tag, lemma, pos, fitting, use)
        return "no sense that is used like this"
    single, bare = _number_of_noun(tokens, token)
    return Target(token.index, token.start, token.end, token.text, tag, lemma, pos, senses, "", single, bare)


def _not_a_word(tokens: Sequence[Token], token: Token, text: str, capitals: bool) -> str:
    if token.tag in ("NNP", "NNPS") or token.pos == "PROPN":
        return "a name"
    if not token.text.isalpha():
        return "not a plain word"
    before, after = text[max(token.start - 1, 0) : token.start], text[token.end : token.end + 1]
    if before in ("-", "/", "@", ".", "_") or after in ("-", "/", "@", "_"):
        return "part of a hyphenated word"
    if before.isalpha() or after.isalpha():
        return "part of a longer word"  # gotta, wanna: two tokens of the tagger, one word of the text
    first = token.index == 0 or tokens[token.index - 1].sentence != token.sentence
    opening = token.index > 0 and tokens[token.index - 1].pos in ("PUNCT", "SPACE")
    if token.text[:1].isupper() and not (first or opening or capitals):
        return "a name"
    if token.text[:1].isupper() and not capitals and token.tag == "NN" and _number_of_noun(tokens, token)[1]:
        return "perhaps a name"  # "Faith lost her faith"
    if len(token.text) > 1 and token.text.isupper() and not capitals:
        return "an abbreviation"
    return ""


def _all_capitals(text: str) -> bool:
    words = text.split()
    return len(words) > 1 and text.isupper()


def _verb_reason(tokens: Sequence[Token], token: Token) -> str:
    lemmas = {token.lemma.lower(), *inflect.lemmas_of(token.text, "v")}
    if token.pos == "AUX" or token.dep in ("aux", "auxpass") or lemmas & GRAMMAR_VERBS:
        return "an auxiliary, a modal verb, or be, have, do"
    children = [child for child in tokens if child.head == token.index and child.index != token.index]
    if lemmas & HALF_AUXILIARIES and (
        "let" in lemmas or any(child.dep in ("xcomp", "ccomp") and child.tag in ("VB", "VBG") for child in children)
    ):
        return "a half-auxiliary"
    if token.dep == "prep" and token.tag in ("VBG", "VBN"):
        return "a preposition"  # "according to", "regarding"
    if token.text.lower() == "used":
        behind = tokens[token.index + 1].text.lower() if token.index + 1 < len(tokens) else ""
        if token.dep == "amod" or behind == "to":
            return "an adjective"  # "a used car", "get used to it"
    if any(child.dep == "prt" for child in children):
        return "a phrasal verb"
    if lemmas & COPULAS_WITH_LIKE and any(child.dep == "prep" and child.text.lower() == "like" for child in children):
        return "a copula"
    return ""


def _noun_reason(tokens: Sequence[Token], token: Token) -> str:
    if token.tag == "MD" or token.pos == "AUX":
        return "an auxiliary, a modal verb, or be, have, do"
    if token.pos in ("PRON", "NUM", "DET"):
        return "a pronoun or number word"
    if token.text.lower() in LIGHT_NOUNS or token.lemma.lower() in LIGHT_NOUNS:
        return "a light noun"
    if token.dep == "npadvmod":
        return "an adverbial noun"
    numbers = [child for child in tokens if child.head == token.index and child.dep == "nummod"]
    if token.tag == "NN" and any(number.text.lower() not in ("1", "one") for number in numbers):
        return "a unit"
    if inflect.known_form(token.text.lower(), "v") and _perhaps_a_verb(tokens, token):
        return "perhaps a verb"
    return ""


def _perhaps_a_verb(tokens: Sequence[Token], token: Token) -> bool:
    """True where the tagger may have missed a verb: "Plant seeds", "Octopi bike to the bank"."""
    sentence = [other for other in tokens if other.sentence == token.sentence]
    opening = next((other for other in sentence if other.pos != "PUNCT"), token)
    if token.tag == "NN" and token.index == opening.index:
        return True
    if token.index and tokens[token.index - 1].tag in BEFORE_NOUNS:
        return False
    # "Does the path end": an auxiliary alone is no verb.
    finite = any(
        other.tag in ("VB", "VBZ", "VBP", "VBD") and (other.pos == "VERB" or other.lemma == "be") for other in sentence
    )
    return not finite and not any(
        other.dep in ("aux", "auxpass") and tokens[other.head].tag in ("VBN", "VBG") for other in sentence
    )


# "Look up" is not to look, and a "grocery store" is no kind of grocery. Every window of two to four words that holds
# the token is looked up as an entry of WordNet; then, over any distance, a verb with its object ("paid close
# attention").
def _why_in_expression(tokens: Sequence[Token], token: Token, pos: Pos, lexicon: Lexicon) -> str:
    """Why a word belongs to a longer entry of WordNet ("grocery store", "of course", "look at", "pay attention")."""
    here = token.index
    for first in range(max(0, here - LONGEST_EXPRESSION + 1), here + 1):
        for last in range(max(here, first + 1), min(len(tokens), first + LONGEST_EXPRESSION)):
            window = tokens[first : last + 1]
            if any(not (word.text[:1].isalpha() or word.text == "'s") for word in window):
                continue
            if len({word.sentence for word in window}) > 1:
                continue
            if _known_together(window, token, pos, lexicon):
                return f"part of “{text_of(window)}”"
    if pos == "v":
        objects = [child for child in tokens if child.head == here and child.dep in ("dobj", "attr", "acomp")]
        heads = [(token, child) for child in objects]
    else:
        verb = tokens[token.head]
        heads = [(verb, token)] if token.dep == "dobj" and verb.tag.startswith("VB") else []
    for verb, noun in heads:
        lemma = _lemma_of(verb, "v")
        if any(lexicon.senses(f"{lemma}_{word}", "v") for word in {noun.text.lower(), _lemma_of(noun, "n")}):
            return f"part of “{lemma} {noun.text}”"
    return ""


def text_of(window: Sequence[Token]) -> str:
    return "".join(token.text + (" " if token.space else "") for token in window).strip()


def _known_together(window: Sequence[Token], token: Token, pos: Pos, lexicon: Lexicon) -> bool:
    words = [word.text.lower() for word in window]
    if pos == "v":
        if token.index != window[0].index:
            return False
        entry = "_".join([_lemma_of(token, "v"), *words[1:]])
        return bool(lexicon.senses(entry, "v"))
    entries = {"_".join(words)}
    if window[-1].tag.startswith("NN"):
        entries.add("_".join([*words[:-1], _lemma_of(window[-1], "n")]))
    if window[0].tag in ("DT", "PRP$", "CD") and window[0].text.lower() not in ("a", "no", "at"):
        return False
    return any(lexicon.has(entry) for entry in entries)


def _lemma_of(token: Token, pos: Pos) -> str:
    lemmas = inflect.lemmas_of(token.text, pos)
    spelled = token.lemma.lower()
    return spelled if spelled in lemmas or not lemmas else lemmas[0]


def _analyse(token: Token, pos: Pos, lexicon: Lexicon) -> tuple[str, str, tuple[Sense, ...]] | None:
    """Lemma, Penn tag and senses such that the lemma in that form spells the word again."""
    form = token.text.lower()
    for lemma in dict.fromkeys([token.lemma.lower(), *inflect.lemmas_of(form, pos)]):
        tag = inflect.tag_of(form, lemma, pos, token.tag)
        if tag is None:
            continue
        if senses := lexicon.senses(lemma, pos):
            # "spirits", "glasses", "customs": the plural is a word of its own, with meanings the singular has not.
            plural = lexicon.senses(form, pos) if tag == "NNS" and form != lemma else ()
            return lemma, tag, _merge_senses(plural, senses) if plural else senses
    return None


def _merge_senses(plural: Sequence[Sense], singular: Sequence[Sense]) -> tuple[Sense, ...]:
    """The meanings of a plural and of its singular, the more frequent first."""
    merged: dict[str, Sense] = {}
    for sense in (*plural, *singular):
        merged.setdefault(sense.synset, sense)
    return tuple(sorted(merged.values(), key=lambda sense: -sense.lemma.count))


def _past_or_present(tokens: Sequence[Token], token: Token, lemma: str, tag: str) -> bool:
    """True for "they hit": only another verb's form would tell which it is."""
    if (
        tag not in ("VBP", "VBD")
        or token.text.lower() != lemma
        or token.text.lower() not in inflect.spellings_of(lemma, "VBD")
    ):
        return False
    subjects = [child for child in tokens if child.head == token.index and child.dep == "nsubj"]
    third = any(word.tag == "NN" or word.text.lower() in ("he", "she", "it") for word in subjects)
    return not third or tag != "VBD"


def _number_of_noun(tokens: Sequence[Token], token: Token) -> tuple[bool, bool]:
    children = [child for child in tokens if child.head == token.index and child.index != token.index]
    single = any(child.dep in DETERMINERS and child.text.lower() in SINGLE for child in children)
    singular = token.tag == "NN"
    bare = singular and token.dep != "compound" and not any(child.dep in DETERMINERS for child in children)
    return single, bare
