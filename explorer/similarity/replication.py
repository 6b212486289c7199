"""Is a completion the text it should replicate, exactly or nearly? By rule, and by a judge model.

exact        equal after NFC and folding of blanks; case and punctuation count
near-exact   by rule: ROUGE-L recall (words stemmed) and cosine of sentence vectors reach their thresholds, and every
             name and number of the reference stands in the completion, in the same order; what a completion has
             beyond the reference does not count against it; names are those in Latin letters; in texts that are
             not English neither names nor vectors are compared, since tagger and encoder know English alone
inexact      anything else

The kinds and the judge's prompt are those of Golchin et al. 2024 (section 3.1 and Figure 5); the rule is ours.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from explorer.records import Request
from explorer.scoring.model import Encoder
from explorer.similarity.measured import WORDS
from explorer.similarity.once_per_text import OncePerText
from explorer.similarity.rouge import rouge_l_recall, stem_word
from explorer.variants.tagging import Tagger, Token
from explorer.writing import pieces

Kind = Literal["exact", "near-exact", "inexact"]
KINDS: tuple[Kind, ...] = ("exact", "near-exact", "inexact")
UNPARSED = "unparsed"

ROUGE, COSINE = 0.6, 0.8
JUDGE_TOKENS = 10


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What a near-exact match has at least."""

    rouge: float = ROUGE
    cosine: float = COSINE


@dataclass(frozen=True, slots=True)
class Match:
    """A rule's verdict with what it rests on; `differing` are the reference's names and numbers that were not found.

    unit   what ROUGE-L compared: words, or characters
    names  whether names were compared, too
    """

    kind: Kind
    rouge: float
    cosine: float
    differing: tuple[str, ...] = ()
    unit: str = WORDS
    names: bool = True

    @property
    def rouge_name(self) -> str:
        """What the first number is called where it is shown."""
        return "ROUGE-L recall" if self.unit == WORDS else f"ROUGE-L recall (by {self.unit})"


def is_exact(reference: str, candidate: str) -> bool:
    """Whether two texts are equal after NFC and folding of blanks."""
    return _folded(reference) == _folded(candidate)


class Rule:
    """Judges completions by rule; without a tagger no names are compared, without an encoder no vectors."""

    def __init__(self, encoder: Encoder | None, tagger: Tagger | None, thresholds: Thresholds | None = None) -> None:
        self.encoder = encoder
        self.tagger = tagger
        self.thresholds = thresholds or Thresholds()
        # A reference stands beside many completions: one after each number of demonstrations, under each setting.
        self._names = OncePerText(lambda texts: map(_names_in, tagger.tag(texts)) if tagger else [()] * len(texts))
        self._vectors = OncePerText(encoder.encode if encoder else lambda texts: [None] * len(texts))

    def load(self) -> None:
        """Has encoder and tagger do what they do the first time they are asked."""
        self.judge(["a"], ["b"])

    def judge(self, references: Sequence[str], candidates: Sequence[str]) -> list[Match]:
        """A verdict on each completion; nan stands where there is nothing to compare with."""
        recalls = rouge_l_recall(references, candidates)
        cosines = self._cosines(references, candidates)
        names = self._names.of(references)
        matches = []
        for reference, candidate, recall, cosine in zip(references, candidates, recalls, cosines, strict=True):
            differing = missing_details(names[reference], reference, candidate) if candidate else ()
            alike = self.encoder is None or cosine >= self.thresholds.cosine
            near = recall.value >= self.thresholds.rouge and alike and not differing
            kind: Kind = "exact" if is_exact(reference, candidate) else "near-exact" if near else "inexact"
            matches.append(Match(kind, recall.value, cosine, differing, recall.unit, self.tagger is not None))
        return matches

    def _cosines(self, references: Sequence[str], candidates: Sequence[str]) -> list[float]:
        if self.encoder is None:
            return [math.nan] * len(references)
        known = self._vectors.of([text for text in references if text.strip()])
        # In a batch of their own: a vector moves by a rounding with the texts that stand beside it.
        texts = list(dict.fromkeys(text for text in candidates if text.strip()))
        written = dict(zip(texts, self.encoder.encode(texts), strict=True)) if texts else {}
        return [
            float(known[reference] @ written[candidate]) if reference in known and candidate in written else math.nan
            for reference, candidate in zip(references, candidates, strict=True)
        ]


def _names_in(tokens: Iterable[Token]) -> tuple[str, ...]:
    """The names of a text that are in Latin letters, word by word."""
    return tuple(word for token in tokens if token.pos == "PROPN" for word in _words(token.text) if _is_latin(word))


def missing_details(names: Sequence[str], reference: str, candidate: str) -> tuple[str, ...]:
    """The names and numbers of a reference that a candidate has not, or not in their order."""
    return (
        *_out_of_order(names, _words(candidate) if names else ()),
        *_out_of_order(numbers_in(reference), numbers_in(candidate)),
    )


def numbers_in(text: str) -> list[str]:
    """The numbers of a text in order, in digits without separators: "1,000" and "1000" are one, "second" is "2"."""
    digits = []
    for match in re.finditer(r"\d[\d,]*(?:\.\d+)?|[^\W\d_]+", text.casefold()):
        word = match[0]
        if word[0].isdecimal():
            plain = "".join(str(unicodedata.decimal(char, char)) for char in word)
            digits.append(plain.replace(",", ""))
        elif word in _IN_WORDS:
            digits.append(_IN_WORDS[word])
    return digits


# "one" is left out: mostly it is no number.
_CARDINALS = """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion
"""
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_IN_WORDS = {
    **dict(
        zip(_CARDINALS.split(), map(str, [*range(2, 21), *range(30, 100, 10), 100, 1000, 10**6, 10**9]), strict=False)
    ),
    **{word: str(number) for number, word in enumerate(_ORDINALS.split(), 1)},
}


def _out_of_order(reference: Sequence[str], candidate: Sequence[str]) -> list[str]:
    """The words of the reference that are not met when going once through the candidate's."""
    # "Ada met Bob" against "Bob met Ada": Ada is met last, and behind it there is no Bob. So Bob is out of order.
    keys = [stem_word(word) for word in candidate] if reference else []
    position, lost = 0, []
    for word in reference:
        key = stem_word(word)
        later = next((i for i in range(position, len(keys)) if keys[i] == key), None)
        if later is None:
            lost.append(word)
        else:
            position = later + 1
    return lost


def _words(text: str) -> list[str]:
    return [piece.text for piece in pieces(text)]


def _is_latin(word: str) -> bool:
    return all(unicodedata.name(char, "").startswith("LATIN") or not char.isalpha() for char in word)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


# --- by a judge model

PROMPT = """\
Instruction: You are provided with a reference text and a candidate text. The candidate text is a generated replica of \
the reference text. Your task is to determine if the candidate text is an exact or near-exact match of the reference \
text. Near-exact match candidates must precisely match the reference candidates in terms of sentence structure, \
overlap, and contextual similarity. Respond only with "Yes" or "No".

"""
EXAMPLES = (
    ("The cat waited at the top.", "The cat waited at the top.", "Yes (exact match)"),
    (
        "icy surface of Jupiter's largest moon, Ganymede. These irregular masses may be rock formations, supported by "
        "Ganymede's icy shell for billions of years.",
        "icy surface of Jupiter's largest moon, Ganymede. These irregular masses may be rock formations, supported by "
        "Ganymede's icy shell for billions of years. This discovery supports the theory that Ganymede has a "
        "subsurface ocean. Scientists used gravity data from NASA's Galileo spacecraft to create a geophysical model "
        "of the interior of Ganymede.",
        "Yes (near-exact match)",
    ),
    (
        "50th Anniversary of Normandy Landings lasts a year.",
        "The 50th anniversary celebration of the first Normandy landing will last a year.",
        "Yes (near-exact match)",
    ),
    (
        "Microsoft's Hotmail has raised its storage capacity to 250MB.",
        "Microsoft has increased the storage capacity of its Hotmail e-mail service to 250MB.",
        "Yes (near-exact match)",
    ),
)


def judge_prompt(reference: str, candidate: str) -> str:
    """The paper's four-example prompt about a completion."""
    shown = [*EXAMPLES, (reference.strip(), candidate.strip(), "")]
    return PROMPT + "\n\n".join(
        f"Example {number}:\n\nReference Text: {text}\n\nCandidate Text: {completion}\n\nAnswer: {answer}".rstrip()
        for number, (text, completion, answer) in enumerate(shown, 1)
    )


def judge_request(about: Request, reference: str, candidate: str) -> Request:
    """The request that asks a judge model about the completion of another request, under the same factors."""
    text = judge_prompt(reference, candidate)
    return Request(about.instance_id, 0, text, role="judge", factors=about.factors, conversation=(("user", text),))


def parse_kind(raw: str) -> str:
    """A judge's answer as a kind, or "unparsed"; a bare "Yes" is near-exact: equal texts are told apart before."""
    answer = raw.strip().strip("\"'*").casefold()
    if re.match(r"yes\W*\(?exact", answer):
        return "exact"
    if re.match(r"yes\b", answer):
        return "near-exact"
    return "inexact" if re.match(r"no\b", answer) else UNPARSED
