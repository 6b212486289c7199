"""Building and checking an n-gram index with the infini-gram package's own indexing binary.

The package's command line is not used: it writes wrong tables for small corpora on several CPUs and says nothing, and
it knows tokenizers only by hub name. An index counts as usable only after its counts equalled brute force.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
from filelock import Timeout

from explorer import fetch, sharing
from explorer.errors import CountError
from explorer.popularity import brute_force, infinigram_local
from explorer.popularity import manifest as manifests
from explorer.popularity import tokenizer as tokenizers
from explorer.popularity.documents import SourceDocument
from explorer.popularity.manifest import Manifest, Shard
from explorer.popularity.tokenizer import IndexTokenizer
from explorer.processors import usable_processors

DTYPE = "u16"  # 32-bit ids would need 32 GiB of memory to index
COMPARED = 100  # counts
LONGEST = 10  # tokens of a compared n-gram
BATCH = 4 << 20  # characters encoded in one go
TRAINING = 64 << 20  # characters a tokenizer is trained on at most
# Several jobs corrupt small tables, so each must get far more than the 100,000 bytes that two neighbours share.
BYTES_A_JOB = 16 << 20
HACK = 100_000  # bytes that a job reads beyond its end
MEMORY_GIB = 4

Progress = Callable[[str, int, int], None]  # what is being done, done, in all (0 where not known)


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of comparing an index with brute force."""

    compared: int
    wrong: tuple[str, ...]  # a sentence for each count that differs


def build(
    documents: Callable[[], Iterable[SourceDocument]],
    out: Path,
    *,
    name: str = "",
    identity: str = "",
    tokenizer: IndexTokenizer | None = None,
    vocabulary: int = tokenizers.DEFAULT_VOCABULARY,
    sources: Sequence[str] = (),
    note: str = "",
    cpus: int = 0,
    progress: Progress | None = None,
) -> Manifest:
    """Builds a checked index in the new folder `out`; `documents` gives the corpus afresh each time it is called.

    Without a tokenizer one is trained on the corpus. `cpus` 0 means all. `identity` is the key of a corpus that is the
    same everywhere; else the key follows from the files.
    """
    infinigram_local.require_engine()
    out = out.expanduser().resolve()
    if out.exists():
        raise CountError(f"{out} exists already. Choose another folder, or delete it first.")
    report = progress or (lambda what, done, total: None)
    try:
        with _build_folder(out, report) as work:
            if tokenizer is None:
                report("training the tokenizer", 0, 0)
                tokenizer = tokenizers.train(_training_texts(documents()), vocabulary)
            _refuse_large(tokenizer)
            (work / tokenizers.FILE).write_text(tokenizer.data, encoding="utf-8")
            shard = _write_tokens(documents(), tokenizer, work, report)
            report("sorting the suffixes", 0, 0)
            _write_table(work, cpus or usable_processors())
            manifest = _describe(work, name or out.name, tokenizer, (shard,), DTYPE)
            manifest = replace(manifest, sources=tuple(sources), note=note, identity=identity)
            manifests.check_sizes(work, manifest)
            report("comparing with brute force", 0, 0)
            manifests.write(work, _with_compared_counts(work, manifest))
            work.rename(out)
    except OSError as error:
        raise CountError(
            f"{out} could not be built ({error.strerror or error}). Check free disk space and rights."
        ) from error
    return manifests.read(out)


@contextlib.contextmanager
def _build_folder(out: Path, report: Progress) -> Iterator[Path]:
    """An empty folder beside `out` for one builder at a time; what a killed build left there is removed first."""
    out.parent.mkdir(parents=True, exist_ok=True)
    work = out.with_name(f".{out.name}.building")
    lock = sharing.lock_at(work.with_name(f"{work.name}.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise CountError(f"{out} is being built by another process. Wait for it, or choose another folder.") from error
    try:
        if work.exists():
            report("removing what a killed build left behind", 0, 0)
            shutil.rmtree(work)
        work.mkdir()
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        with contextlib.suppress(OSError):
            Path(lock.lock_file).unlink()
        lock.release()


def check(folder: Path, compared: int = COMPARED, seed: int = 0) -> Check:
    """Looks at every byte of an index, then compares counts with brute force; raises where a file is not as it was."""
    manifest = manifests.read(folder)
    manifests.check_sizes(folder, manifest)
    manifests.check_tokenizer(folder, manifest)
    manifests.check_hashes(folder, manifest)
    return compare_counts(folder, manifest, compared, seed)


def adopt(folder: Path, tokenizer: IndexTokenizer, dtype: str = DTYPE, name: str = "") -> Manifest:
    """Takes over an index made elsewhere: puts the tokenizer beside it, compares counts, writes the manifest."""
    infinigram_local.require_engine()
    if (folder / manifests.FILE).exists():
        raise CountError(f"{folder} has a {manifests.FILE} already. Check it without --adopt.")
    shards = tuple(_measure_shard(folder, dtype, number) for number in range(_shard_count(folder)))
    highest = max(int(part.max()) for number in range(len(shards)) for part in _ids(folder, dtype, number))
    if highest > tokenizer.highest_id:
        raise CountError(
            f"{folder} holds the id {highest:,}, but {tokenizer.name} ends at {tokenizer.highest_id:,}: "
            "it is not the tokenizer of this index. Name the right one."
        )
    (folder / tokenizers.FILE).write_text(tokenizer.data, encoding="utf-8")
    manifest = _describe(folder, name or folder.resolve().name, tokenizer, shards, dtype)
    manifests.check_sizes(folder, manifest)
    manifests.write(folder, _with_compared_counts(folder, manifest))
    return manifests.read(folder)


def compare_counts(folder: Path, manifest: Manifest, amount: int = COMPARED, seed: int = 0) -> Check:
    """Compares counts of the engine with brute force: n-grams from all over the corpus, and its first and last ones."""
    streams = [brute_force.token_stream(folder, manifest.dtype, number) for number in range(len(manifest.shards))]
    separator = manifests.SEPARATORS[manifest.dtype]
    ngrams = brute_force.sample_ngrams(streams[0], separator, amount, seed, LONGEST)
    for stream in streams:
        ngrams += [tuple(edge.astype(int).tolist()) for edge in (stream[1:4], stream[-4:-1])]
    ngrams = [ngram for ngram in dict.fromkeys(ngrams) if ngram and separator not in ngram]
    engine = infinigram_local.Engine(folder.resolve(), manifest.dtype, manifest.vocabulary)
    try:
        counts = engine.counts(ngrams)
    finally:
        engine.close()
    truth = [sum(brute_force.count(stream, ngram) for stream in streams) for ngram in ngrams]
    wrong = [f"{list(g)}: {c:,}, in truth {t:,}" for g, c, t in zip(ngrams, counts, truth, strict=True) if c != t]
    return Check(len(ngrams), tuple(wrong))


def _with_compared_counts(folder: Path, manifest: Manifest) -> Manifest:
    """The manifest with the number of compared counts; refuses an index with a single wrong one."""
    outcome = compare_counts(folder, manifest)
    if outcome.wrong or not outcome.compared:
        raise CountError(
            f"{len(outcome.wrong)} of {outcome.compared} counts differ from brute force "
            f"({'; '.join(outcome.wrong[:2])}): the index is not usable. Build it anew with --cpus 1."
        )
    return replace(manifest, compared=outcome.compared)


def _training_texts(documents: Iterable[SourceDocument]) -> Iterator[str]:
    characters_left = TRAINING
    for document in documents:
        yield document.text[:characters_left]
        characters_left -= len(document.text)
        if characters_left <= 0:
            return


def _refuse_large(tokenizer: IndexTokenizer) -> None:
    if tokenizer.highest_id > tokenizers.LARGEST_ID - 1:
        raise CountError(
            f"{tokenizer.name} has ids up to {tokenizer.highest_id:,}, and an index takes ids below "
            f"{tokenizers.LARGEST_ID:,}. Use a smaller tokenizer (Pythia, GPT-2, OLMo, Llama-2), or none: "
            "one is then trained on the corpus."
        )


def _write_tokens(
    documents: Iterable[SourceDocument], tokenizer: IndexTokenizer, folder: Path, report: Progress
) -> Shard:
    """Writes tokenized.0, offset.0 and the documents' metadata; each document begins with a separator."""
    tokens, offsets, metadata_offsets, token_bytes, metadata_bytes = 0, [], [], 0, 0
    separator = manifests.SEPARATORS[DTYPE].to_bytes(2, "little")
    with (folder / "tokenized.0").open("wb") as stream, (folder / "metadata.0").open("wb") as metadata:
        for batch in _batches(documents):
            for document, ids in zip(
                batch, tokenizer.encode_verbatim([document_in_batch.text for document_in_batch in batch]), strict=True
            ):
                offsets.append(token_bytes)
                token_bytes += stream.write(separator + np.asarray(ids, dtype="<u2").tobytes())
                tokens += len(ids)
                metadata_offsets.append(metadata_bytes)
                line = {"path": document.path, "linenum": document.number, "metadata": {}}
                metadata_bytes += metadata.write(json.dumps(line).encode() + b"\n")
            report("encoding the documents", len(offsets), 0)
        # Without a separator at the very end the engine's next-token distributions can be wrong.
        stream.write(separator)
    if not tokens:
        raise CountError("The corpus has no text. Expected at least one document that is not empty.")
    np.asarray(offsets, dtype="<u8").tofile(folder / "offset.0")
    np.asarray(metadata_offsets, dtype="<u8").tofile(folder / "metaoff.0")
    return Shard(tokens, len(offsets), closed=True)


def _batches(documents: Iterable[SourceDocument]) -> Iterator[list[SourceDocument]]:
    """The documents in batches of about BATCH characters."""
    batch: list[SourceDocument] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += len(document.text)
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


# Sorting the suffixes of the whole stream at once would take eight times its size in memory, so the binary sorts it in
# parts and merges them. A part must see beyond its end, or the suffixes near the border would be sorted by too little:
#
#     bytes        0 ........... step ........... 2 step ........... size
#     part 1       [──────────────]+HACK
#     part 2                      [────────────────]+HACK
#
# Parts that are not much larger than HACK would overlap almost whole, which is what the package's own command line gets
# wrong on small corpora; hence so few threads that each has BYTES_A_JOB.
def _write_table(folder: Path, cpus: int) -> None:
    """Writes table.0, the sorted suffixes of tokenized.0."""
    data = folder / "tokenized.0"
    size = data.stat().st_size
    width = manifests.WIDTHS[DTYPE]
    rounds = 1
    while rounds * (MEMORY_GIB * 2**30 // 8) < size:
        rounds *= 2
    threads = max(1, min(cpus, size // (BYTES_A_JOB * rounds)))
    step = size // (rounds * threads)
    step += -step % width  # whole tokens
    common = ["--data-file", data, "--ratio", manifests.pointer_width(size), "--token-width", width]
    parts, merged = folder / "parts", folder / "merged"
    parts.mkdir()
    merged.mkdir()
    starts = range(0, size, step)
    for first in range(0, len(starts), threads):
        _run_side_by_side(
            [
                [
                    "make-part",
                    *common,
                    "--parts-dir",
                    parts,
                    "--start-byte",
                    start,
                    "--end-byte",
                    min(start + step + HACK, size),
                ]
                for start in islice(starts, first, first + threads)
            ]
        )
    into = ["--merged-dir", merged, "--num-threads", threads]
    _run_side_by_side([["merge", *common, "--parts-dir", parts, *into, "--hacksize", HACK]])
    _run_side_by_side([["concat", *common, *into, "--merged-file", folder / "table.0"]])
    shutil.rmtree(parts)
    shutil.rmtree(merged)


def _run_side_by_side(commands: Sequence[Sequence[object]]) -> None:
    """Runs the indexing binary once a command, side by side."""
    spec = importlib.util.find_spec(infinigram_local.PACKAGE)
    assert spec is not None and spec.origin is not None  # infinigram_local.require_engine() has been called
    binary = str(Path(spec.origin).with_name("rust_indexing"))
    running = [
        subprocess.Popen(
            [binary, *map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        for command in commands
    ]
    outputs = [process.communicate()[0] for process in running]
    for process, command, output in zip(running, commands, outputs, strict=True):
        if process.returncode:
            raise CountError(
                f"The indexing step {command[0]} ended with code {process.returncode} "
                f"({output.decode('utf-8', 'replace').strip()[-200:]}). "
                "Check free disk space and memory, then build again."
            )


def _describe(folder: Path, name: str, tokenizer: IndexTokenizer, shards: tuple[Shard, ...], dtype: str) -> Manifest:
    """The manifest of the files in the folder, not yet compared."""
    kinds = ("tokenized", "table", "offset", "metadata", "metaoff", "unigram")
    present = [folder / f"{kind}.{number}" for kind in kinds for number in range(len(shards))]
    present = [path for path in present if path.is_file()]
    return Manifest(
        name=name,
        dtype=dtype,
        tokenizer=tokenizer.name,
        tokenizer_hash=fetch.file_hash(folder / tokenizers.FILE),
        vocabulary=tokenizer.highest_id + 1,
        shards=shards,
        sizes={path.name: path.stat().st_size for path in present},
        sha256={path.name: fetch.file_hash(path) for path in present},
        packages={each: importlib.metadata.version(each) for each in ("infini-gram", "tokenizers")},
    )


def _shard_count(folder: Path) -> int:
    amount = 0
    while (folder / f"tokenized.{amount}").is_file():
        amount += 1
    if not amount:
        raise CountError(f"{folder} holds no tokenized.0, so it is no infini-gram index.")
    for number in range(amount):
        for kind in ("table", "offset"):
            if not (folder / f"{kind}.{number}").is_file():
                raise CountError(f"{folder} lacks {kind}.{number}. Copy the whole index.")
    return amount


def _measure_shard(folder: Path, dtype: str, number: int) -> Shard:
    size = (folder / f"tokenized.{number}").stat().st_size
    if dtype not in manifests.WIDTHS or size % manifests.WIDTHS[dtype]:
        raise CountError(f"{folder / f'tokenized.{number}'} has {size:,} bytes, which are no whole {dtype} tokens.")
    stream = brute_force.token_stream(folder, dtype, number)
    separators = sum(int((part == manifests.SEPARATORS[dtype]).sum()) for part in _windows(stream))
    documents = (folder / f"offset.{number}").stat().st_size // 8
    if separators - documents not in (0, 1):
        raise CountError(
            f"{folder} has {separators:,} separators for {documents:,} documents: its tokens are not {dtype}, or "
            "a file is damaged. Name the right --dtype."
        )
    return Shard(len(stream) - separators, documents, closed=separators > documents)


def _ids(folder: Path, dtype: str, number: int) -> Iterator[np.ndarray]:
    """The token ids of a shard, separators left out, a window at a time."""
    for part in _windows(brute_force.token_stream(folder, dtype, number)):
        tokens = part[part != manifests.SEPARATORS[dtype]]
        if len(tokens):
            yield tokens


def _windows(stream: np.ndarray) -> Iterator[np.ndarray]:
    for first in range(0, len(stream), brute_force.WINDOW):
        yield stream[first : first + brute_force.WINDOW]
