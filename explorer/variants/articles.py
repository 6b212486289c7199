"""A or an: which one stands before a word, judged by its sound."""

from __future__ import annotations

import re

SILENT_H = ("heir", "herb", "honest", "honor", "honour", "hour", "homage")
# Written with a vowel, spoken with a consonant: "yoo" and "won".
CONSONANT_SOUND = re.compile(
    r"eu|ewe|once\b|ones?\b|onesie|ouija|u(?=[bcfhkqrst][aeiou])(?!sher)|ubiq|uni(?!n|mp|mm|ma|de|ss)|u\b"
)
VOWEL_LETTERS = "AEFHILMNORSX"  # letters whose names begin with a vowel sound


def indefinite_article(word: str) -> str:
    """ "a" or "an" before a word, an abbreviation or a number written in digits."""
    if word[:1].isdecimal():
        digits = re.match(r"\d+", word).group()  # type: ignore[union-attr]
        return "an" if digits[0] == "8" or (digits[:2] in ("11", "18") and len(digits) % 3 == 2) else "a"
    bare = re.sub(r"^\W+", "", word)
    head = re.split(r"[-\W]", bare)[0] if bare else ""
    spelled = head.isupper() and (len(head) <= 3 or not re.search("[AEIOUY]", head))  # FBI, but not NATO
    if spelled or (len(head) == 1 and head.isalpha()):
        return "an" if head[0].upper() in VOWEL_LETTERS else "a"
    lower = bare.lower()
    if lower.startswith(SILENT_H):
        return "an"
    if CONSONANT_SOUND.match(lower):
        return "a"
    return "an" if lower[:1] in "aeiou" and lower else "a"


def mend_article(article: str, word: str) -> str:
    """The article a word needs, in the case of the one that stood there."""
    right = indefinite_article(word)
    if article.isupper() and (len(article) > 1 or word.isupper()):
        return right.upper()
    return right.capitalize() if article[:1].isupper() else right
