"""Texts to distinct n-grams."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.errors import CountError, UsageError
from explorer.popularity import ngrams
from explorer.popularity.cached import UNREACHABLE
from explorer.popularity.counter import TextNotEncoded
from explorer.records import Count


class Words:
    """A counter over words: id = a word's number; what `counts` does not name occurs as often as its ids add up to."""

    index = "words"

    def __init__(self, counts: dict[str, float] | None = None, reason: str = "") -> None:
        self.vocabulary: list[str] = []
        self.counts = counts or {}
        self.reason = reason
        self.asked: list[tuple[int, ...]] = []

    def encode(self, texts: Sequence[str], *, bare: bool = False) -> list[tuple[int, ...]]:
        if any("\ud800" in text for text in texts):
            raise TextNotEncoded("a text is odd")
        words = [[("" if bare and i == 0 else " ") + word for i, word in enumerate(text.split())] for text in texts]
        for word in (word for each in words for word in each):
            if word not in self.vocabulary:
                self.vocabulary.append(word)
        return [tuple(map(self.vocabulary.index, each)) for each in words]

    def decode(self, ids: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.vocabulary[i] for i in ids)

    def count(self, wanted: Sequence[tuple[int, ...]], progress=None) -> list[Count]:
        self.asked += wanted
        return [self._one(ngram) for ngram in wanted]

    def total_tokens(self) -> float:
        return 1000.0

    def _one(self, ngram: tuple[int, ...]) -> Count:
        text = "".join(self.decode(ngram)).strip()
        found = self.counts.get(text, 0.0)
        return Count(self.index, ngram, found, reason=self.reason if found != found else "")


def test_a_repeated_ngram_is_there_once_at_its_first_place():
    # a b a b a: "a b" at 0 and 2, "b a" at 1 and 3
    assert ngrams.distinct_ngrams((1, 2, 1, 2, 1), 2) == {(1, 2): 0, (2, 1): 1}


@given(st.lists(st.integers(0, 3), max_size=30), st.integers(1, 10))
def test_the_distinct_ngrams_are_the_set_of_all(ids, n):
    found = ngrams.distinct_ngrams(ids, n)
    assert set(found) == {tuple(ids[i : i + n]) for i in range(len(ids) - n + 1)}
    assert all(tuple(ids[start : start + n]) == ngram for ngram, start in found.items())
    assert list(found.values()) == sorted(found.values())


def test_a_text_shorter_than_n_has_none_and_says_so():
    [short] = ngrams.of_texts(Words(), ["the cat sat"], n=4)
    assert short.ngrams == ()
    assert short.reason == "the text has 3 tokens, fewer than n = 4"


def test_the_bare_form_adds_only_what_it_has_of_its_own():
    words = Words()
    [both] = ngrams.of_texts(words, ["the cat sat down"], n=2, initial="both")
    texts = ["".join(words.decode(ngram)) for ngram in both.ngrams]
    assert texts == [" the cat", " cat sat", " sat down", "the cat"]
    assert both.bare_from == 3


def test_a_token_is_covered_by_up_to_n_ngrams():
    [text] = ngrams.of_texts(Words(), ["a b c d e"], n=3)
    assert ngrams.ngrams_covering(text, 0) == [(0, 1, 2)]
    assert ngrams.ngrams_covering(text, 2) == [(0, 1, 2), (1, 2, 3), (2, 3, 4)]
    assert ngrams.ngrams_covering(text, 4) == [(2, 3, 4)]
    [short] = ngrams.of_texts(Words(), ["a b"], n=3)
    assert ngrams.ngrams_covering(short, 0) == []


def test_counting_asks_each_ngram_of_all_texts_once():
    words = Words({"the cat": 3})
    found = ngrams.of_texts(words, ["the cat sat", "the cat ran"], n=2)
    counts = ngrams.count_ngrams(words, found)
    assert len(words.asked) == len(counts) == 3
    assert counts[found[0].ngrams[0]].count == 3


def test_one_odd_text_does_not_keep_the_others_from_being_encoded():
    good, odd = ngrams.of_texts(Words(), ["the cat", "a \ud800 b"], n=1)
    assert len(good.ngrams) == 2
    assert "half a surrogate pair" in odd.reason


@pytest.mark.parametrize("n", [0, 11, -1])
def test_n_has_bounds(n):
    with pytest.raises(UsageError, match="expected 1 to 10"):
        ngrams.of_texts(Words(), ["a"], n=n)


def test_counts_missing_for_an_outage_stop_a_run_but_refused_ones_do_not():
    nan = float("nan")
    words = Words({"the cat": nan}, reason=f"{UNREACHABLE}: no answer")
    counts = ngrams.count_ngrams(words, ngrams.of_texts(words, ["the cat sat"], n=2))
    with pytest.raises(CountError, match=r"1 of 2 counts could not be had .* start again"):
        ngrams.require_answers(counts)
    words.reason = "the service refused the query"
    ngrams.require_answers(ngrams.count_ngrams(words, ngrams.of_texts(words, ["the cat sat"], n=2)))
