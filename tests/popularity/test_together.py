"""Two things that stand near each other are counted alike by the local engine and by a server."""

from __future__ import annotations

import pytest

from explorer.errors import CountError
from explorer.ontologies.web_counts import cooccurrences
from explorer.popularity import brute_force
from explorer.popularity.infinigram_api import InfinigramAPI
from explorer.popularity.infinigram_local import LocalCounter
from explorer.popularity.service import Service
from explorer.records import Concept

NEAR = 100  # tokens, the engine's own limit


@pytest.fixture
def local(index_folder, cache):
    made = LocalCounter(index_folder, cache)
    yield made
    made.close()


def test_counts_of_things_that_stand_together_agree_with_a_search_of_the_corpus(local, server, cache):
    remote = InfinigramAPI(Service(server.url, "small"), cache)
    naive, odd, never = local.encode(["naïve", "café", "zebra"])
    stream = brute_force.token_stream(local.folder, "u16")
    assert brute_force.count(stream, naive) == brute_force.count(stream, odd) == 1
    for counter in (local, remote):
        # Both words stand once in the corpus, a few tokens apart.
        assert counter.count_together([[naive], [odd]]).count == 1
        assert counter.count_together([[naive], [never]]).count == 0


def test_a_concept_is_counted_where_its_label_and_id_stand_together(local):
    found = cooccurrences([Concept(id="naïve", label="café"), Concept(id="XX:0001", label="cat")], local)
    assert [one.count for one in found] == [1, 0]
    assert all(one.approx for one in found)


def test_a_server_that_is_away_is_one_sentence(cache):
    away = InfinigramAPI(Service("http://127.0.0.1:9/", "small", offline=True), cache)
    with pytest.raises(CountError, match="did not answer a count query"):
        away.count_together([[(1,)], [(2,)]])
