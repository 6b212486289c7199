"""LAMBADA: the last word of a passage (Paperno et al., ACL 2016), in OpenAI's and in the original form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from explorer.benchmarks.core.benchmark import Benchmark, Parsed
from explorer.benchmarks.core.reading import damaged_file, read_json_rows, read_lines
from explorer.benchmarks.published import published_file, raw_address
from explorer.records import Instance

OPENAI = "lambada/lambada_test.jsonl"
ORIGINAL = "lambada/lambada_test_plain_text.txt"


def load_openai(paths: Mapping[str, Path], splits: Sequence[str]) -> Parsed:
    """A passage a row, with its case, quotes and newlines; the row number is the key."""
    path = paths[OPENAI]
    texts = [row["text"] for row in read_json_rows(path, text=str)]
    return Parsed(tuple(_instance("lambada", path, number, text) for number, text in enumerate(texts)))


def load_original(paths: Mapping[str, Path], splits: Sequence[str]) -> Parsed:
    """A tokenized, lower-cased passage a line; the row number is the key."""
    path = paths[ORIGINAL]
    return Parsed(
        tuple(_instance("lambada_original", path, number, text) for number, text in enumerate(read_lines(path)))
    )


def _instance(benchmark: str, path: Path, number: int, text: str) -> Instance:
    # Only a blank parts words here: seven of OpenAI's targets hold a newline, and keep it.
    context, blank, word = text.rpartition(" ")
    if not blank or not word:
        raise damaged_file(path, number + 1, "a passage without a last word", "words parted by blanks")
    return Instance(
        id=f"{benchmark}/test/{number}",
        benchmark=benchmark,
        split="test",
        group="test",
        kind="cloze",
        format="cloze",
        context=context,
        options=(word,),
        gold=0,
        phenomenon="broad_context",
        field="functional",
    )


BENCHMARKS = {
    "lambada": Benchmark(
        name="lambada",
        title="LAMBADA (OpenAI)",
        kind="cloze",
        load=load_openai,
        files=(published_file(OPENAI, raw_address("lambada", "lambada_test.jsonl")),),
        splits=("test",),
        default_splits=("test",),
        field="functional",
        license="CC BY 4.0 (as far as is known)",
        hub_id="EleutherAI/lambada_openai",
    ),
    "lambada_original": Benchmark(
        name="lambada_original",
        title="LAMBADA (original)",
        kind="cloze",
        load=load_original,
        files=(published_file(ORIGINAL, raw_address("lambada_original", "lambada_test_plain_text.txt")),),
        splits=("test",),
        default_splits=("test",),
        field="functional",
        license="CC BY 4.0 (as far as is known)",
    ),
}
