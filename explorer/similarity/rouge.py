"""ROUGE-L: the longest common subsequence of words of two texts, after Lin (2004)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from explorer.similarity.measured import Similarity, empty


@cache
def _scorer() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], use_stemmer=True)


def rouge_l(originals: Sequence[str], changed: Sequence[str]) -> list[Similarity]:
    """ROUGE-L F1 of each pair, words stemmed, between 0 and 1."""
    return [empty(one, other) or _f1(one, other) for one, other in zip(originals, changed, strict=True)]


def rouge_l_recall(references: Sequence[str], candidates: Sequence[str]) -> list[Similarity]:
    """The share of each reference's words that the candidate has in the same order, words stemmed."""
    return [
        empty(one, other) or Similarity(float(_scorer().score(one, other)["rougeL"].recall))
        for one, other in zip(references, candidates, strict=True)
    ]


def stem(word: str) -> str:
    """A word as ROUGE compares it: small letters, stemmed; one of other letters than a to z as it is."""
    found = _scorer()._tokenizer.tokenize(word)
    return "".join(found) or word.casefold()


def _f1(one: str, other: str) -> Similarity:
    return Similarity(float(_scorer().score(one, other)["rougeL"].fmeasure))
