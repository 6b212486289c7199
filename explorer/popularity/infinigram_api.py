"""Counts from an infini-gram server: the public one, or one that `index serve` runs.

Protocol: https://infini-gram.readthedocs.io/en/latest/api.html
"""

from __future__ import annotations

import contextlib
import json
import math
import threading
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from explorer import fetch, stopping
from explorer.errors import CountError
from explorer.popularity.cached import UNREACHABLE, Answer, Ngram, count_with_cache
from explorer.popularity.count_cache import CountCache, Encoded
from explorer.popularity.counter import Document, Places, Progress, TextNotEncoded
from explorer.popularity.next_tokens import (
    Chance,
    Following,
    chance_of,
    check_chance,
    check_following,
    following_of,
)
from explorer.popularity.pieces import MOST_CHARACTERS, split_text
from explorer.popularity.service import (
    PATIENCE,
    THREADS,
    Check,
    Outage,
    Refused,
    Service,
    Unreachable,
    check_count,
    check_together,
)
from explorer.popularity.tokenizer import IndexTokenizer, piece_text
from explorer.records import Count

MOST_TOKENS = 500
SEPARATOR = 65_535
BATCH = 200  # counts between two writes to the cache: under a minute of work at five a second
SAMPLE = "The quick brown fox jumps over 12 lazy dogs, doesn't it?"  # a local tokenizer must encode it as the service


class InfinigramAPI:
    """Counter over one index of an infini-gram server; `index` is the name under which its counts are kept."""

    def __init__(
        self, service: Service, cache: CountCache, *, index: str = "", tokenizer: IndexTokenizer | None = None
    ) -> None:
        self.index = index or service.name
        self._service = service
        self._cache = cache
        self._tokenizer = tokenizer
        self._lock = threading.RLock()
        self._same_corpus = False
        self._same_tokenizer = False
        self._texts: dict[int, str] = {}

    def encode(self, texts: Sequence[str], *, bare: bool = False) -> list[tuple[int, ...]]:
        """Ids of running text, from the local tokenizer if there is one, else from the service."""
        if self._tokenizer is not None:
            self._check_tokenizer(self._tokenizer)
            return self._tokenizer.encode(texts, bare=bare)
        if bare:
            raise CountError(
                f"{self.index} puts a blank before every text, so the form without one cannot be had from the service. "
                "Name a local folder with the index's tokenizer."
            )
        bare_texts = [text.lstrip() for text in texts]
        with contextlib.closing(stopping.in_threads(self._encode_text, bare_texts, THREADS)) as outcomes:
            encoded = {position: outcome.result() for position, outcome in outcomes}
        return [encoded[position] for position in range(len(texts))]

    def decode(self, ids: Sequence[int]) -> tuple[str, ...]:
        """The text of each token, from the local tokenizer or the service."""
        if self._tokenizer is not None:
            return self._tokenizer.decode(ids)
        unknown = [token_id for token_id in dict.fromkeys(ids) if token_id not in self._texts]
        for first in range(0, len(unknown), MOST_TOKENS):
            part = unknown[first : first + MOST_TOKENS]
            answer = self._service.ask_or_raise({"query_type": "count", "query_ids": part}, _encoding_of(part))
            self._texts.update(zip(part, map(_token_text, answer["tokens"]), strict=False))
        return tuple(self._texts[token_id] for token_id in ids)

    def count(self, ngrams: Sequence[tuple[int, ...]], progress: Progress | None = None) -> list[Count]:
        """One Count per n-gram, in the order asked; known ones come from the cache without a query."""
        outage = Outage()
        return count_with_cache(
            self.index, ngrams, self._cache, lambda part: self._ask_counts(part, outage), BATCH, progress
        )

    def total_tokens(self) -> float:
        """The corpus size that the service tells, in tokens; nan where it cannot be had."""
        stored_size = self._cache.tokens(self.index)
        try:
            return float(stored_size if stored_size is not None else self._ask_size()[0])
        except (Refused, Unreachable):
            return math.nan

    def find(self, ids: Sequence[int]) -> Places:
        """Where an n-gram stands."""
        answer = self._service.ask_or_raise({"query_type": "find", "query_ids": list(ids)}, _check_segments)
        ranks = tuple((first, last) for first, last in answer["segment_by_shard"])
        return Places(sum(last - first for first, last in ranks), ranks)

    def document(self, ids: Sequence[int], shard: int, rank: int) -> Document:
        """The document at a place, the n-gram marked."""
        query = {"query_type": "get_doc_by_rank", "query_ids": list(ids), "s": shard, "rank": rank,
                 "max_disp_len": 1000}  # fmt: skip
        answer = self._service.ask_or_raise(query, _check_document)
        pieces = tuple((str(text), label is not None) for text, label in answer["spans"])
        return Document(answer["doc_ix"], answer["doc_len"], pieces, source=source_of(answer.get("metadata")))

    def documents(self, ids: Sequence[int], limit: int = 5) -> list[Document]:
        """The first `limit` places that hold the n-gram."""
        return [self.document(ids, *hit) for hit in self.find(ids).first(limit)]

    def chance(self, ids: Sequence[int], *, back_off: bool = False) -> Chance:
        """How likely the last token is after the others."""
        query = {"query_type": "infgram_prob" if back_off else "prob", "query_ids": self._asked(ids)}
        return chance_of(self._service.ask_or_raise(query, _of_ids(ids, check_chance)), len(ids))

    def following(self, ids: Sequence[int], *, back_off: bool = False) -> Following:
        """Which tokens follow; from a sample where the text stands in more than a thousand places."""
        asked_ids = self._asked(ids) if len(ids) else []
        query = {"query_type": "infgram_ntd" if back_off else "ntd", "query_ids": asked_ids}
        return following_of(self._service.ask_or_raise(query, _of_ids(ids, check_following)), len(ids), self.decode)

    def count_together(self, clauses: Sequence[Sequence[Ngram]]) -> Count:
        """In how many places an n-gram of each clause stands near the others; sampled by the service where frequent."""
        query = {"query_type": "count", "query_ids": [[list(ngram) for ngram in clause] for clause in clauses]}
        answer = self._service.ask_or_raise(query, check_together)
        return Count(self.index, (), float(answer["count"]), approx=bool(answer.get("approx")))

    def _asked(self, ids: Sequence[int]) -> list[int]:
        """The ids if the service takes them."""
        if not 0 < len(ids) <= MOST_TOKENS or min(ids) < 0 or max(ids) >= SEPARATOR:
            raise CountError(
                f"{self.index} was asked about {len(ids):,} ids ({str(list(ids))[:60]}), expected 1 to {MOST_TOKENS} "
                f"from 0 to {SEPARATOR - 1:,}. Ask about a shorter text, in the index's own tokens."
            )
        return [int(each) for each in ids]

    def _ask_counts(self, ngrams: Sequence[Ngram], outage: Outage) -> Generator[tuple[Ngram, Answer]]:
        if not outage.reason:
            try:
                self._check_corpus()
            except Unreachable as error:
                outage.stop(str(error))
        return self._service.ask_each(ngrams, self._ask_count, outage)

    def _ask_count(self, ngram: Ngram) -> int:
        if len(ngram) > MOST_TOKENS or max(ngram) >= SEPARATOR:
            raise Refused(f"it takes up to {MOST_TOKENS} ids below {SEPARATOR:,}")
        return int(self._service.ask({"query_type": "count", "query_ids": list(ngram)}, _count_of(ngram))["count"])

    def _check_corpus(self) -> None:
        """Refuses an index whose size or key is not the one it had when its counts were stored."""
        with self._lock:
            if self._same_corpus:
                return
            stored_size, stored_key = self._cache.tokens(self.index), self._cache.key(self.index)
            try:
                size, key = self._ask_size()
            except Refused:  # a server that does not tell its size cannot be checked
                size, key, stored_size = 0, "", 0
            changed = ""
            if stored_size is not None and stored_size != size:
                changed = f"has {size:,} tokens, but had {stored_size:,}"
            elif key and stored_key and key != stored_key:
                changed = f"is served as {key}, but was {stored_key}"
            if changed:
                raise CountError(
                    f"{self.index} {changed} when its counts were stored: it is another corpus now. "
                    f"Run `python -m explorer index check --counts --forget '{self.index}'` to count anew."
                )
            self._same_corpus = True

    def _ask_size(self) -> tuple[int, str]:
        """The corpus size in tokens, which is the count of the empty query, and the index's key where it is told."""
        answer = self._service.ask({"query_type": "count", "query": ""}, check_count)
        size, key = int(answer["count"]), str(answer.get("key") or "")
        if self._cache.tokens(self.index) is None:
            self._cache.store_tokens(self.index, size)
        if key and not self._cache.key(self.index):
            self._cache.store_key(self.index, key)
        return size, key

    def _encode_text(self, text: str) -> Ngram:
        """A text's ids, put together from pieces that the service takes, each seam checked."""
        most = MOST_CHARACTERS
        while text:
            try:
                return self._encode_in_pieces(text, most)
            except Refused as error:
                # A text of many tokens a character: the service takes 500 tokens as well as 1,000 characters.
                if "token" not in str(error).lower() or most <= MOST_CHARACTERS // 8:
                    raise TextNotEncoded(f"{self.index} did not encode {text[:60]!r}: {error}") from error
                most //= 2
        return ()

    def _encode_in_pieces(self, text: str, most: int) -> Ngram:
        ids: Ngram = ()
        for piece in split_text(text, most):
            piece_ids = self._encode_piece(piece.text).ids
            seam = self._encode_piece(piece.overlap).ids if piece.overlap else ()
            if seam and (ids[-len(seam) :] != seam or piece_ids[: len(seam)] != seam):
                raise TextNotEncoded(
                    f"{self.index} encodes {piece.overlap[:60]!r} differently on the two sides of a seam, so the text "
                    f"{text[:60]!r} cannot be encoded in pieces. Name a local folder with the index's tokenizer."
                )
            ids += piece_ids[len(seam) :]
        return ids

    def _encode_piece(self, text: str) -> Encoded:
        encodings = self._cache.encodings(self.index, [text])
        if text not in encodings:
            encodings = {text: self._ask_encoding(text)}
            self._cache.store_encodings(self.index, encodings)
        return encodings[text]

    def _ask_encoding(self, text: str) -> Encoded:
        """The `token_ids` of a count query for the text."""
        try:
            answer = self._service.ask({"query_type": "count", "query": text}, _check_encoding)
        except Unreachable as error:
            raise CountError(f"{self.index} cannot encode texts now: {UNREACHABLE}: {error}") from error
        texts = [_token_text(token) for token in answer["tokens"]]
        self._texts.update(zip(answer["token_ids"], texts, strict=False))
        has_blank = bool(texts) and texts[0].startswith(" ")
        return Encoded(tuple(answer["token_ids"]), "blank put in" if has_blank else "no blank")

    def _check_tokenizer(self, tokenizer: IndexTokenizer) -> None:
        """Refuses a local tokenizer that does not give the service's ids."""
        with self._lock:
            if self._same_tokenizer or self._service.offline:
                return
            theirs = self._encode_piece(SAMPLE).ids
            [ours] = tokenizer.encode([SAMPLE])
            if theirs != ours:
                raise CountError(
                    f"{tokenizer.name} is not the tokenizer of {self.index}: it encodes a sample sentence as "
                    f"{list(ours[:5])}…, the service as {list(theirs[:5])}…. Name the right folder, or none."
                )
            self._same_tokenizer = True


def served_names(url: str, patience: fetch.Patience = PATIENCE, offline: bool = False) -> list[str]:
    """The names of the indexes that a server offers."""
    names = fetch.get(url, patience=patience, offline=offline).json()
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise CountError(
            f"{url} did not answer with a list of index names. Check that an infini-gram server runs there."
        )
    return names


def source_of(metadata: Any) -> str:
    """Where a document came from, out of the metadata line that an index keeps with it."""
    try:
        fields = json.loads(metadata) if isinstance(metadata, str) else {}
    except ValueError:
        return ""
    if not isinstance(fields, dict) or not fields.get("path"):
        return ""
    line = fields.get("linenum")
    return f"{fields['path']}:{line + 1}" if isinstance(line, int) else str(fields["path"])


def _count_of(ngram: Ngram) -> Check:
    def check(body: Mapping[str, Any]) -> str:
        if body.get("token_ids") != list(ngram):
            return f"the answer is for the ids {str(body.get('token_ids'))[:60]}, asked were {list(ngram)}"
        return check_count(body)

    return check


def _of_ids(ids: Sequence[int], check: Check) -> Check:
    """The check of an answer that must be for these ids."""
    asked_ids = [int(each) for each in ids]

    def checked(body: Mapping[str, Any]) -> str:
        if body.get("token_ids", asked_ids) != asked_ids:
            return f"the answer is for the ids {str(body.get('token_ids'))[:60]}, asked were {str(asked_ids)[:60]}"
        return check(body)

    return checked


def _encoding_of(ids: list[int]) -> Check:
    return lambda body: _check_encoding(body) or ("" if body["token_ids"] == ids else "the answer is for other ids")


def _check_encoding(body: Mapping[str, Any]) -> str:
    ids, tokens = body.get("token_ids"), body.get("tokens")
    if not isinstance(ids, list) or not all(type(each) is int and 0 <= each < SEPARATOR for each in ids):
        return f"token_ids is {str(ids)[:60]}, expected a list of ids below {SEPARATOR:,}"
    if not isinstance(tokens, list) or len(tokens) != len(ids) or not all(isinstance(each, str) for each in tokens):
        return "tokens do not match token_ids"
    return check_count(body)


def _check_segments(body: Mapping[str, Any]) -> str:
    segments = body.get("segment_by_shard")
    good = isinstance(segments, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(type(each) is int for each in pair) for pair in segments
    )
    return "" if good else "segment_by_shard is no list of pairs"


def _check_document(body: Mapping[str, Any]) -> str:
    spans = body.get("spans")
    good = isinstance(spans, list) and all(isinstance(span, list) and len(span) == 2 for span in spans)
    good = good and all(type(body.get(key)) is int for key in ("doc_ix", "doc_len"))
    return "" if good else "the document has no spans, doc_ix or doc_len"


def _token_text(token: str) -> str:
    return piece_text(token, byte_level="▁" not in token)
