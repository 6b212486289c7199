"""ROUGE-L: the longest common subsequence of words of two texts, after Lin (2004).

The words of English are those of the package rouge-score, stemmed; those of other alphabets, which it drops, are whole
words. Where a script parts no words, or a text has none, characters are compared, and the similarity says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from explorer.similarity.measured import CHARACTERS, WORDS, Similarity, similarity_of_empty
from explorer.writing import comparable, words

_BETWEEN = "\x1f"


class _Parted:
    """Gives rouge-score the tokens that were found here."""

    def tokenize(self, text: str) -> list[str]:
        return text.split(_BETWEEN) if text else []


@cache
def _scorer() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], tokenizer=_Parted())


@cache
def _english() -> Any:
    from rouge_score.tokenizers import DefaultTokenizer

    return DefaultTokenizer(use_stemmer=True)


def load() -> None:
    """Imports what ROUGE is computed by."""
    _scorer()
    _english()


def rouge_l(originals: Sequence[str], changed: Sequence[str]) -> list[Similarity]:
    """ROUGE-L F1 of each pair, words stemmed, between 0 and 1."""
    return [_measure(original, edited, "fmeasure") for original, edited in zip(originals, changed, strict=True)]


def rouge_l_recall(references: Sequence[str], candidates: Sequence[str]) -> list[Similarity]:
    """The share of each reference's words that the candidate has in the same order, words stemmed."""
    return [
        _measure(reference, candidate, "recall") for reference, candidate in zip(references, candidates, strict=True)
    ]


@lru_cache(maxsize=65536)
def stem_word(word: str) -> str:
    """A word as ROUGE compares it: small letters, and stemmed where it has none but a to z."""
    if not word.isascii():
        return "".join(words(word)) or word.casefold()
    return "".join(_english().tokenize(word)) or word.casefold()


def _measure(reference: str, candidate: str, measure: str) -> Similarity:
    if unmeasured := similarity_of_empty(reference, candidate):
        return unmeasured
    reference_words, candidate_words, by_character = comparable(reference, candidate)
    score = _scorer().score(*(_BETWEEN.join(map(stem_word, tokens)) for tokens in (reference_words, candidate_words)))[
        "rougeL"
    ]
    return Similarity(float(getattr(score, measure)), unit=CHARACTERS if by_character else WORDS)
