"""How long it takes to count every distinct 7-gram of BLiMP, cold and from the cache.

    EXPLORER_CACHE=... EXPLORER_DATA=... python bench/popularity.py [--index demo --index wiki] [--n 7 --n 2]

Prints a Markdown table for bench/RESULTS.md. Counts go to a fresh cache, so what a user has counted is left alone.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from explorer import benchmarks, prompts, settings
from explorer.popularity import brute_force, documents, index, ngrams
from explorer.popularity.count_cache import CountCache
from explorer.popularity.counters import open_counter
from explorer.popularity.infinigram_local import LocalCounter

COLUMNS = ("index", "tokens", "n", "distinct", "making (s)", "cold (s)", "cached (s)", "occurring", "compared", "wrong")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--index", action="append", help="a local index; wiki is built from EXPLORER_DATA if need be")
    parser.add_argument("--n", type=int, action="append", help="tokens; 7, the paper's, and 2, which do occur")
    parser.add_argument("--compare", type=int, default=300, help="counts to compare with brute force")
    args = parser.parse_args()
    chosen = settings.read()
    texts = [text for each in benchmarks.load("blimp", chosen).instances for text in prompts.option_texts(each)]
    print(f"{len(texts):,} sentences\n")
    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}", flush=True)
    for name in args.index or ["glassbox", "wiki"]:
        _prepare(name, chosen)
        for n in args.n or [7, 2]:
            row = measure(name, texts, n, args.compare, chosen)
            print(f"| {' | '.join(row[column] for column in COLUMNS)} |", flush=True)


def measure(name: str, texts: list[str], n: int, compare: int, chosen: settings.Settings) -> dict[str, str]:
    """One row: seconds for making the n-grams, for counting them cold, and for counting them from the cache."""
    with tempfile.TemporaryDirectory() as folder:
        counter = open_counter(name, chosen)
        assert isinstance(counter, LocalCounter)
        counter._cache = CountCache(Path(folder))
        found, making = _timed(lambda: ngrams.of_texts(counter, texts, n))
        cold, counting = _timed(lambda: ngrams.count_ngrams(counter, found))
        warm, reading = _timed(lambda: ngrams.count_ngrams(counter, found))
        assert warm == cold
        stream = brute_force.token_stream(counter.folder, counter.manifest.dtype)
        some = list(cold)[:: max(1, len(cold) // compare)]
        wrong = sum(brute_force.count(stream, ngram) != cold[ngram].count for ngram in some)
        counter.close()
    return {
        "index": name,
        "tokens": f"{counter.manifest.tokens:,}",
        "n": str(n),
        "distinct": f"{len(cold):,}",
        "making (s)": f"{making:.1f}",
        "cold (s)": f"{counting:.1f}",
        "cached (s)": f"{reading:.1f}",
        "occurring": f"{sum(each.count > 0 for each in cold.values()):,}",
        "compared": str(len(some)),
        "wrong": str(wrong),
    }


def _prepare(name: str, chosen: settings.Settings) -> None:
    """Builds the WikiText index where it is asked for and not there yet."""
    folder = chosen.indexes / name
    if name == "wiki" and not folder.exists() and chosen.data:
        source = chosen.data / "wikitext" / "wiki.test.raw"
        index.build(lambda: documents.read_documents([source]), folder, name="wiki", sources=["WikiText-2 test"])


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    answer = work()
    return answer, time.perf_counter() - started


if __name__ == "__main__":
    main()
