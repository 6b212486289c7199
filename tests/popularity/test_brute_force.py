"""Counting by looking at every token."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from explorer.popularity import brute_force


def test_overlapping_occurrences_are_counted():
    # a a a a: "a a a" stands at 0 and at 1
    assert brute_force.count(np.array([5, 5, 5, 5]), (5, 5, 5)) == 2


def test_an_ngram_longer_than_the_stream_never_occurs():
    assert brute_force.count(np.array([1, 2]), (1, 2, 3)) == 0


@given(st.lists(st.integers(0, 3), max_size=60), st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_it_agrees_with_comparing_slices(tokens: list[int], ngram: list[int]):
    naive = sum(tokens[i : i + len(ngram)] == ngram for i in range(len(tokens) - len(ngram) + 1))
    assert brute_force.count(np.array(tokens, dtype="<u2"), ngram) == naive


def test_windows_miss_nothing_at_their_seams(monkeypatch):
    monkeypatch.setattr(brute_force, "WINDOW", 7)
    tokens = np.arange(100) % 5
    assert brute_force.count(tokens, (3, 4, 0, 1)) == 20 - 1  # the last 3 has only a 4 after it


def test_sampled_ngrams_hold_no_separator_and_depend_on_the_seed():
    tokens = np.array([65535, 1, 2, 3, 65535, 4, 5, 6, 7, 65535])
    first = brute_force.sample_ngrams(tokens, 65535, 20, seed=1)
    assert len(first) == 20
    assert all(65535 not in ngram for ngram in first)
    assert first == brute_force.sample_ngrams(tokens, 65535, 20, seed=1)
    assert first != brute_force.sample_ngrams(tokens, 65535, 20, seed=2)
