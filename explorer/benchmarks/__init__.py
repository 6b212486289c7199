"""Benchmarks: a source in, instances out.

BENCHMARKS                     every benchmark by name
load("blimp", settings)        its instances, found in the user's folder, the cache or on the web
find("imported_mine", settings), names(settings)   the same with what a user has imported
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
from collections.abc import Sequence

from explorer.benchmarks import (
    blimp,
    concepts,
    copa,
    crows_pairs,
    dbpedia,
    glassbox,
    glue,
    lambada,
    piqa,
    sources,
    starter,
    syntaxgym,
    trec,
    winogrande,
)
from explorer.benchmarks.core import reading
from explorer.benchmarks.core.benchmark import Benchmark, LeftOut, Loaded, Parsed, SourceFile
from explorer.benchmarks.tables import table
from explorer.errors import BenchmarkError, UsageError
from explorer.settings import Settings

__all__ = [
    "BENCHMARKS",
    "Benchmark",
    "LeftOut",
    "Loaded",
    "Parsed",
    "SourceFile",
    "available",
    "find",
    "load",
    "missing",
    "names",
]

_ENGLISH: dict[str, Benchmark] = {
    **blimp.BENCHMARKS,
    **syntaxgym.BENCHMARKS,
    **crows_pairs.BENCHMARKS,
    **lambada.BENCHMARKS,
    **piqa.BENCHMARKS,
    **copa.BENCHMARKS,
    **winogrande.BENCHMARKS,
    **glue.BENCHMARKS,
    **trec.BENCHMARKS,
    **dbpedia.BENCHMARKS,
    **concepts.BENCHMARKS,
    **starter.BENCHMARKS,
    **glassbox.BENCHMARKS,
}
BENCHMARKS = {name: dataclasses.replace(benchmark, language="en") for name, benchmark in _ENGLISH.items()}


def default_for(model: str) -> str:
    """The benchmark that is looked at before one is chosen: of a glass-box model what was planted for it."""
    if model.startswith("glassbox-"):
        return next(iter(glassbox.BENCHMARKS))
    return next(iter(starter.BENCHMARKS))


def names(settings: Settings) -> list[str]:
    """Every benchmark's name, then those the user has imported."""
    return [*BENCHMARKS, *table.imported_names(settings)]


def find(name: str, settings: Settings) -> Benchmark:
    """The benchmark of this name; UsageError if there is none."""
    if name in BENCHMARKS:
        return BENCHMARKS[name]
    if name.startswith(table.PREFIX):
        return table.imported_benchmark(name, settings)
    near = difflib.get_close_matches(name, names(settings), n=1)
    guess = f" Did you mean {near[0]}?" if near else ""
    raise UsageError(f"There is no benchmark {name!r}.{guess} `python -m explorer benchmarks` lists all.")


def available_names(settings: Settings) -> list[str]:
    """The names of the benchmarks whose files (of the default splits) are on this machine."""
    available = []
    for name in names(settings):
        with contextlib.suppress(BenchmarkError):  # an import whose folder is damaged
            if not missing_files(find(name, settings), settings):
                available.append(name)
    return available


def missing_files(benchmark: Benchmark, settings: Settings) -> list[SourceFile]:
    """The files of its default splits that a benchmark still lacks on this machine."""
    local = sources.local_files(benchmark, settings, benchmark.default_splits)
    return [file for file in sources.needed_files(benchmark, benchmark.default_splits) if file.path not in local]


def load(
    name: str,
    settings: Settings,
    *,
    splits: Sequence[str] | None = None,
    progress: sources.Progress | None = None,
) -> Loaded:
    """The benchmark's instances of these splits (by default its default ones), in the order of its files."""
    benchmark = find(name, settings)
    chosen_splits = tuple(splits or benchmark.default_splits)
    unknown = [split for split in chosen_splits if split not in benchmark.splits]
    if unknown:
        raise UsageError(f"{name} has no split {', '.join(unknown)}; it has {', '.join(benchmark.splits)}.")
    files = sources.find_or_download(benchmark, settings, chosen_splits, progress)
    with reading.without_collector():
        parsed = benchmark.load(files.paths, chosen_splits)
    return Loaded(parsed.instances, parsed.left_out, files.source, files.data_hash, benchmark.language)
