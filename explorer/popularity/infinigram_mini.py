"""Counts from the infini-gram-mini service, an index over characters: no tokenizer, but "cat" also counts "category".

A token is here a word with the blank before it, so an n-gram of n words is looked up as one string; its last word may
go on in the corpus. Words have numbers that the count cache gives out, so ids of one cache mean nothing in another.
Protocol: https://infini-gram-mini.readthedocs.io/en/latest/api.html
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from explorer.errors import CountError
from explorer.popularity.cached import Ngram, count_with_cache
from explorer.popularity.count_cache import CountCache
from explorer.popularity.counter import Document, Places, Progress
from explorer.popularity.indexes import MINI
from explorer.popularity.infinigram_api import BATCH
from explorer.popularity.service import Outage, Refused, Service, check_count
from explorer.records import Count

CONTEXT = 500  # characters shown around a find
_WORD = re.compile(r"(?<!\s)\s*\S+")


class InfinigramMini:
    """Counter over one character index."""

    def __init__(self, service: Service, cache: CountCache, *, index: str = "") -> None:
        self.index = index or MINI + service.name
        self._service = service
        self._cache = cache

    def encode(self, texts: Sequence[str], *, bare: bool = False) -> list[tuple[int, ...]]:
        """The numbers of each text's words; the first has a blank before it unless `bare`."""
        shaped = [("" if bare else " ") + text.strip(" ") for text in texts]
        words = [_WORD.findall(text) for text in shaped]
        numbers = self._cache.word_numbers(word for each in words for word in each)
        return [tuple(numbers[word] for word in each) for each in words]

    def decode(self, ids: Sequence[int]) -> tuple[str, ...]:
        """The words with their leading blanks."""
        words = self._cache.words(ids)
        unknown = [number for number in ids if number not in words]
        if unknown:
            raise CountError(
                f"{unknown[0]} is the number of no word in this cache; word numbers hold only in the cache that gave "
                "them out. Encode the text again."
            )
        return tuple(words[number] for number in ids)

    def count(self, ngrams: Sequence[tuple[int, ...]], progress: Progress | None = None) -> list[Count]:
        """One Count per n-gram, in the order asked."""
        outage = Outage()
        return count_with_cache(
            self.index,
            ngrams,
            self._cache,
            lambda part: self._service.ask_each(part, self._ask_count, outage),
            BATCH,
            progress,
        )

    def total_tokens(self) -> float:
        """Unknown: a character index has no tokens."""
        return math.nan

    def documents(self, ids: Sequence[int], limit: int = 5) -> list[Document]:
        """The first `limit` places that hold the string, with some text around."""
        needle = "".join(self.decode(ids))
        answer = self._service.ask_or_raise({"query_type": "find", "query": needle}, _check_segments)
        return [self._document(needle, *hit) for hit in _to_places(answer["segment_by_shard"]).first(limit)]

    def _document(self, needle: str, shard: int, rank: int) -> Document:
        query = {"query_type": "get_doc_by_rank", "query": needle, "s": shard, "rank": rank, "max_ctx_len": CONTEXT}
        answer = self._service.ask_or_raise(query, _check_document)
        before, hit, after = answer["text"].partition(needle)
        pieces = tuple((text, is_hit) for text, is_hit in ((before, False), (hit, True), (after, False)) if text)
        return Document(answer["doc_ix"], answer["doc_len"], pieces)

    def _ask_count(self, ngram: Ngram) -> int:
        needle = "".join(self.decode(ngram))
        if not needle.strip():
            raise Refused("an empty string has no count")
        return int(self._service.ask({"query_type": "count", "query": needle}, check_count)["count"])


def _to_places(segments: Sequence[Sequence[int]]) -> Places:
    ranks = tuple((first, last) for first, last in segments)
    return Places(sum(last - first for first, last in ranks), ranks)


def _check_segments(body: Mapping[str, Any]) -> str:
    segments = body.get("segment_by_shard")
    good = isinstance(segments, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in segments)
    return "" if good else "segment_by_shard is no list of pairs"


def _check_document(body: Mapping[str, Any]) -> str:
    good = isinstance(body.get("text"), str) and all(type(body.get(key)) is int for key in ("doc_ix", "doc_len"))
    return "" if good else "the document has no text, doc_ix or doc_len"
