"""The store of counts that many processes share."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from explorer.errors import CountError
from explorer.popularity import count_cache
from explorer.popularity.count_cache import CountCache, Encoded

NGRAMS = st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=10).map(tuple)


@given(
    st.dictionaries(NGRAMS, st.tuples(st.integers(0, 2**53), st.booleans()), max_size=30), st.lists(NGRAMS, max_size=5)
)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_what_is_stored_comes_back_and_nothing_else(cache: CountCache, counts, others):
    cache.store_counts("a", counts)
    cache.forget("b")
    cache.store_counts("b", {})
    assert cache.counts("a", counts) == counts
    assert not set(cache.counts("a", others)) - set(others)
    assert cache.counts("b", counts) == {}
    cache.forget("a")


def test_lookups_of_more_keys_than_one_statement_takes(cache: CountCache, monkeypatch):
    monkeypatch.setattr(count_cache, "CHUNK", 7)
    counts = {(i, i + 1): (i, False) for i in range(50)}
    cache.store_counts("a", counts)
    assert cache.counts("a", [*counts, (999,)]) == counts


@pytest.mark.parametrize("wrong", [-1, 1.5, True, float("nan")])
def test_a_number_that_is_no_count_is_not_stored(cache: CountCache, wrong):
    with pytest.raises((CountError, ValueError)):
        cache.store_counts("a", {(1,): (wrong, False)})
    assert cache.counts("a", [(1,)]) == {}


def test_encodings_and_sizes_are_kept(cache: CountCache):
    encoded = Encoded((5, 6), "blank put in")
    cache.store_encodings("a", {"the cat": encoded, "": Encoded((), "no blank")})
    cache.store_tokens("a", 123)
    assert cache.encodings("a", ["the cat", "", "the dog"]) == {"the cat": encoded, "": Encoded((), "no blank")}
    assert cache.tokens("a") == 123
    assert cache.tokens("b") is None
    assert cache.sizes() == [{"index": "a", "tokens": 123, "counts": 0, "encodings": 2}]


def test_words_keep_their_numbers(cache: CountCache):
    first = cache.word_numbers([" the", " cat", " the"])
    assert cache.word_numbers([" dog", " cat"])[" cat"] == first[" cat"]
    assert cache.words(first.values()) == {number: word for word, number in first.items()}


WRITER = """
import sys
from pathlib import Path
from explorer.popularity.count_cache import CountCache
who = int(sys.argv[2])
cache = CountCache(Path(sys.argv[1]))
for i in range(20):
    cache.store_counts("shared", {(who, i, j): (j, False) for j in range(50)})
    cache.store_counts(f"own {who}", {(i,): (i, False)})
"""


def test_many_processes_write_at_once_and_nothing_is_lost(tmp_path: Path):
    running = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(who)]) for who in range(5)]
    assert [process.wait() for process in running] == [0] * 5
    found = CountCache(tmp_path).counts(
        "shared", [(who, i, j) for who in range(5) for i in range(20) for j in range(50)]
    )
    assert len(found) == 5 * 20 * 50
    assert all(count == ngram[2] for ngram, (count, _) in found.items())


def test_a_file_that_is_no_database_is_told_in_one_sentence_and_rebuilt(tmp_path: Path):
    (tmp_path / count_cache.FILE).write_bytes(b"this is no database, " * 500)
    with pytest.raises(CountError, match=r"is damaged .* --repair"):
        CountCache(tmp_path)
    assert count_cache.find_damage(tmp_path)
    aside, saved = count_cache.rebuild_file(tmp_path)
    assert aside is not None and aside.read_bytes().startswith(b"this is no database")
    assert saved == 0
    assert count_cache.find_damage(tmp_path) == ""
    assert CountCache(tmp_path).counts("a", [(1,)]) == {}


def test_rebuilding_saves_the_rows_that_can_be_read(tmp_path: Path):
    cache = CountCache(tmp_path)
    cache.store_counts("a", {(i, i): (i, False) for i in range(20_000)})
    cache.close()
    path = tmp_path / count_cache.FILE
    data = bytearray(path.read_bytes())
    # Pages near the end of the file are overwritten; those before hold whole rows.
    data[-20_000:] = b"\xab" * 20_000
    path.write_bytes(data)
    assert count_cache.find_damage(tmp_path)
    _, saved = count_cache.rebuild_file(tmp_path)
    found = CountCache(tmp_path).counts("a", [(i, i) for i in range(20_000)])
    assert 0 < len(found) < 20_000
    assert saved >= len(found)
    assert all(count == ngram[0] for ngram, (count, _) in found.items())
