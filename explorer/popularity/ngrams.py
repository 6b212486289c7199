"""Texts → their distinct n-grams → a count for each, asked once over all texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from explorer.errors import CountError, UsageError
from explorer.popularity.cached import may_pass
from explorer.popularity.counter import Counter, Progress, TextNotEncoded
from explorer.records import Count

Ngram = tuple[int, ...]
Initial = Literal["running", "both"]

DEFAULT_N = 7  # tokens, as in Ruzzetti et al.
LONGEST_N = 10
BATCH = 200  # texts between two signs of progress; a service may take a minute for them
ROWS_BATCH = 4_000  # the same of a tokenizer on this machine, which shares them out to all processors


@dataclass(frozen=True, slots=True)
class TextNgrams:
    """The distinct n-grams of one text, in order of appearance; `reason` says why there are none.

    `starts[i]` is the first token at which n-gram i stands. From `bare_from` on, the n-grams are those that only the
    form without a leading blank has; their starts count that form's tokens.
    """

    n: int
    ids: Ngram
    ngrams: tuple[Ngram, ...]
    starts: tuple[int, ...]
    bare_from: int
    reason: str = ""


def distinct_ngrams(ids: Sequence[int], n: int) -> dict[Ngram, int]:
    """Each distinct n-gram of the ids with the first place where it stands."""
    ngrams = list(zip(*(ids[first:] for first in range(n)), strict=False))
    places = dict(zip(ngrams, range(len(ngrams)), strict=True))
    if len(places) < len(ngrams):  # of one that stands there twice the last place was kept
        places = {}
        for start, ngram in enumerate(ngrams):
            places.setdefault(ngram, start)
    return places


def of_texts(
    counter: Counter,
    texts: Sequence[str],
    n: int = DEFAULT_N,
    initial: Initial = "running",
    progress: Progress | None = None,
) -> list[TextNgrams]:
    """The n-grams of each text in the index's tokens; `initial="both"` adds those of the form without leading blank."""
    _check_length(n)
    text_ngrams: list[TextNgrams] = []
    for first in range(0, len(texts), BATCH):
        batch = texts[first : first + BATCH]
        running = _encode_each(counter, batch, bare=False)
        bare = _encode_each(counter, batch, bare=True) if initial == "both" else [()] * len(batch)
        text_ngrams += [_of_text(ids, bare_ids, n) for ids, bare_ids in zip(running, bare, strict=True)]
        if progress:
            progress(len(text_ngrams), len(texts))
    return text_ngrams


def distinct_rows(
    counter: Counter, texts: Sequence[str], n: int, initial: Initial = "running", progress: Progress | None = None
) -> np.ndarray:
    """The distinct n-grams of all texts, a row of ids each, in order; the same as `of_texts` gives as objects."""
    _check_length(n)
    pieces = []
    for first in range(0, len(texts), ROWS_BATCH):
        batch = texts[first : first + ROWS_BATCH]
        for bare in (False, True)[: 1 + (initial == "both")]:
            pieces.append(_distinct(_windows(_encode_each(counter, batch, bare), n)))
        if progress:
            progress(min(first + ROWS_BATCH, len(texts)), len(texts))
    return _distinct(np.concatenate(pieces)) if pieces else np.zeros((0, n), dtype=np.uint32)


def _windows(encoded: Sequence[Ngram | TextNotEncoded], n: int) -> np.ndarray:
    """Each n-gram of each text, a row each."""
    texts = [ids for ids in encoded if isinstance(ids, tuple) and len(ids) >= n]
    if not texts:
        return np.zeros((0, n), dtype=np.uint32)
    flat = np.fromiter(chain.from_iterable(texts), dtype=np.uint32)
    # Of 5 and 3 tokens the windows of two begin at 0 1 2 3 and 5 6: the one at 4 would reach into the next text.
    ends = np.cumsum([len(ids) for ids in texts])
    begins_window = np.ones(len(flat), dtype=bool)
    for back in range(1, n):
        begins_window[ends - back] = False
    return flat[np.flatnonzero(begins_window)[:, None] + np.arange(n)]


def _distinct(rows: np.ndarray) -> np.ndarray:
    """The different ones among the rows, in order."""
    # Bytes with the highest first are in the order of the numbers, and compared as one.
    as_bytes = np.ascontiguousarray(rows.astype(">u4")).view(f"V{4 * rows.shape[1]}")[:, 0]
    return np.unique(as_bytes).view(">u4").reshape(-1, rows.shape[1]).astype(np.uint32)


def ngrams_covering(text: TextNgrams, position: int) -> list[Ngram]:
    """The n-grams of the running text that cover the token at `position`, from left to right."""
    last = len(text.ids) - text.n
    return [text.ids[start : start + text.n] for start in range(max(0, position - text.n + 1), min(position, last) + 1)]


def count_ngrams(counter: Counter, texts: Sequence[TextNgrams], progress: Progress | None = None) -> dict[Ngram, Count]:
    """A Count for every distinct n-gram of all texts, each asked once."""
    distinct = list(dict.fromkeys(ngram for text in texts for ngram in text.ngrams))
    return dict(zip(distinct, counter.count(distinct, progress), strict=True))


def require_answers(counts: Mapping[Ngram, Count]) -> None:
    """Raises where counts are missing only because the service was away: asked again later, they can be had."""
    missing = [each for each in counts.values() if may_pass(each)]
    if missing:
        raise CountError(
            f"{len(missing):,} of {len(counts):,} counts could not be had ({missing[0].reason}). The others are kept; "
            "start again to ask for the rest."
        )


# `starts` orders what is found: running n-grams first, then those that only the bare form has. For n = 2:
#
#     " The cat sat"     ids   _The _cat _sat       (_The _cat) (_cat _sat)
#     "The cat sat"      ids    The _cat _sat       ( The _cat)                 new: bare_from = 2
#
# A text at the start of a document has no blank before it, and many tokenizers then begin with another token.
def _of_text(ids: Ngram | TextNotEncoded, bare: Ngram | TextNotEncoded, n: int) -> TextNgrams:
    if isinstance(ids, TextNotEncoded):
        return TextNgrams(n, (), (), (), 0, str(ids))
    starts = distinct_ngrams(ids, n)
    bare_from = len(starts)
    if isinstance(bare, tuple):
        for ngram, start in distinct_ngrams(bare, n).items():
            starts.setdefault(ngram, start)
    reason = "" if starts else f"the text has {len(ids)} tokens, fewer than n = {n}"
    return TextNgrams(n, ids, tuple(starts), tuple(starts.values()), bare_from, reason)


def _check_length(n: int) -> None:
    if not 1 <= n <= LONGEST_N:
        raise UsageError(f"n is {n}, expected 1 to {LONGEST_N} tokens.")


def _is_broken(text: str) -> bool:
    return any("\ud800" <= sign <= "\udfff" for sign in text) if not text.isascii() else False


def _encode_each(counter: Counter, texts: Sequence[str], bare: bool) -> list[Ngram | TextNotEncoded]:
    """Each text's ids, or what kept that one text from being encoded."""
    if any(map(_is_broken, texts)):
        fault = TextNotEncoded("the text holds half a surrogate pair, which is no character")
        encoded = iter(_encode_each(counter, [text for text in texts if not _is_broken(text)], bare))
        return [fault if _is_broken(text) else next(encoded) for text in texts]
    try:
        return list(counter.encode(texts, bare=bare))
    except TextNotEncoded as error:
        if len(texts) == 1:
            return [error]
        return [each for text in texts for each in _encode_each(counter, [text], bare)]
