"""What all counters share: look into the cache, ask for the rest, keep what was answered."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Generator, Sequence

from explorer.popularity.count_cache import LARGEST_ID, CountCache
from explorer.popularity.counter import Progress
from explorer.records import Count

Ngram = tuple[int, ...]
Answer = int | str  # an exact count, or the reason why there is none

SIGN = 1_000  # answers between two signs of progress
# Reasons that begin so may pass: asked again, the service may answer.
UNREACHABLE = "the service could not be reached"


def count_with_cache(
    index: str,
    ngrams: Sequence[Ngram],
    cache: CountCache,
    ask: Callable[[Sequence[Ngram]], Generator[tuple[Ngram, Answer]]],
    batch: int,
    progress: Progress | None = None,
) -> list[Count]:
    """One Count per n-gram; `ask` answers the unknown ones, and each `batch` of answers is kept at once."""
    distinct = list(dict.fromkeys(ngrams))
    reasons = {ngram: "an n-gram has at least one id, and none below 0" for ngram in distinct if not _is_ngram(ngram)}
    known_counts = cache.counts(index, [ngram for ngram in distinct if ngram not in reasons])
    # Neighbours in token order stand beside each other in a suffix array.
    missing = sorted(ngram for ngram in distinct if ngram not in known_counts and ngram not in reasons)
    done = len(distinct) - len(missing)
    if progress:
        progress(done, len(distinct))
    for first in range(0, len(missing), batch):
        new_counts: dict[Ngram, tuple[int, bool]] = {}
        try:
            with contextlib.closing(ask(missing[first : first + batch])) as answers:
                for number, (ngram, answer) in enumerate(answers, 1):
                    if isinstance(answer, str):
                        reasons[ngram] = answer
                    else:
                        new_counts[ngram] = (answer, False)
                    if progress and number % SIGN == 0:
                        progress(done + number, len(distinct))
        finally:
            # Also when interrupted: what was answered need not be asked again.
            cache.store_counts(index, new_counts)
        known_counts |= new_counts
        done += len(missing[first : first + batch])
        if progress:
            progress(done, len(distinct))
    return [_count(index, ngram, known_counts, reasons) for ngram in ngrams]


def may_pass(count: Count) -> bool:
    """Whether a count is missing only because the service was away, so that asking again makes sense."""
    return count.reason.startswith(UNREACHABLE)


def _is_ngram(ngram: Ngram) -> bool:
    return bool(ngram) and min(ngram) >= 0 and max(ngram) <= LARGEST_ID


def _count(index: str, ngram: Ngram, known_counts: dict[Ngram, tuple[int, bool]], reasons: dict[Ngram, str]) -> Count:
    if ngram in known_counts:
        count, approx = known_counts[ngram]
        return Count(index, ngram, float(count), approx)
    return Count(index, ngram, math.nan, reason=reasons[ngram])
