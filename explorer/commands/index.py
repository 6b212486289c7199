"""`index build|check|count|serve`: n-gram indexes of one's own, and the counts that were had so far."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

from explorer.commands import common, counting, jsonl
from explorer.errors import CountError, UsageError
from explorer.popularity.indexes import FORMER, GLASSBOX
from explorer.records import Count
from explorer.settings import Settings, path_of


def add(subparsers: Any) -> None:
    index = common.command_parser(subparsers, "index")
    actions = index.add_subparsers(dest="action", metavar="ACTION", required=True)

    build = common.make_parser(
        actions, "build", "index text files: .txt, .raw, .md, .rst, .jsonl(.gz) with `text`, folders"
    )
    build.add_argument("--in", dest="inputs", nargs="+", required=True, metavar="FILE", help="files or folders")
    build.add_argument("--out", required=True, metavar="DIR", help="a new folder, or a name in the cache's indexes/")
    build.add_argument(
        "--tokenizer", metavar="T", help="a tokenizer.json or its folder, ids below 65,534 (default: trained here)"
    )
    build.add_argument("--vocabulary", type=int, default=32_768, metavar="V", help="entries of a trained tokenizer")
    build.add_argument("--name", default="", help="the index's name (default: the folder's)")
    build.add_argument("--cpus", type=int, default=0, metavar="N", help="processors to use at most (default: all)")
    build.set_defaults(run=run_build)

    check = common.make_parser(actions, "check", "look at an index's files and compare counts with brute force")
    check.add_argument("--in", dest="folder", metavar="DIR", help="the index")
    check.add_argument("--compare", type=int, default=100, metavar="N", help="counts to compare")
    check.add_argument("--adopt", action="store_true", help="take over an index made elsewhere, with --tokenizer")
    check.add_argument("--tokenizer", metavar="T", help="the tokenizer of an index to be taken over")
    check.add_argument("--dtype", default="u16", choices=["u8", "u16", "u32"], help="its token width")
    check.add_argument("--counts", action="store_true", help="look at the stored counts instead of an index")
    check.add_argument(
        "--repair", action="store_true", help="with --counts: start a damaged store anew from what is left"
    )
    check.add_argument("--forget", metavar="INDEX", help="with --counts: delete the stored counts of an index")
    check.set_defaults(run=run_check)

    count = common.make_parser(actions, "count", "how often texts or ids occur in an index")
    count.add_argument("texts", nargs="*", metavar="TEXT", help="texts, counted as they stand in running text")
    count.add_argument(
        "--index", required=True, metavar="I", help="glassbox, a folder, a public index, mini:NAME, URL#name"
    )
    count.add_argument(
        "--in", dest="input", metavar="FILE", help='JSON lines with {"text": ...} or {"ids": [...]}; - = stdin'
    )
    count.add_argument("--out", metavar="FILE", help="where the JSON lines go (default: standard output)")
    count.add_argument("--bare", action="store_true", help="count texts without the blank before them")
    count.add_argument("--tokenizer", metavar="T", help="a local folder with the tokenizer of a service's index")
    count.set_defaults(run=run_count)

    serve = common.make_parser(
        actions, "serve", "offer indexes to other machines, in the protocol of the infini-gram service"
    )
    serve.add_argument("--in", dest="folders", nargs="+", required=True, metavar="DIR", help="the indexes")
    serve.add_argument("--host", default="127.0.0.1", help="0.0.0.0 = for everyone who can reach this machine")
    serve.add_argument("--port", type=int, default=8010)
    serve.set_defaults(run=run_serve)


def run_build(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.popularity import documents, index, tokenizer

    if not args.out.strip():
        raise UsageError("--out is empty, expected a new folder, or a name for a new one in the cache's indexes/.")
    folder = _new_folder(args.out, settings)
    for name in (GLASSBOX, *FORMER):
        if folder == settings.indexes / name or args.name == name:
            raise UsageError(f"{name!r} is the name of an index that is or was built by itself. Choose another.")
    files = documents.list_files([path_of(name) for name in args.inputs])
    if not 257 <= args.vocabulary <= tokenizer.LARGEST_ID:
        raise UsageError(f"--vocabulary is {args.vocabulary}, expected 257 to {tokenizer.LARGEST_ID}.")
    built = index.build(
        lambda: documents.read_documents(files),
        folder,
        name=args.name,
        tokenizer=tokenizer.load(path_of(args.tokenizer)) if args.tokenizer else None,
        vocabulary=args.vocabulary,
        sources=[str(path) for path in files],
        cpus=args.cpus,
        progress=StepLines(),
    )
    summary = {
        "index": built.name,
        "folder": str(folder),
        "tokens": built.tokens,
        "documents": built.documents,
        "tokenizer": built.tokenizer,
        "compared": built.compared,
        "wrong": 0,
    }
    _print_summary(summary, args.json)
    return 0


def run_check(args: argparse.Namespace, settings: Settings) -> int:
    if args.counts:
        return _check_counts(args, settings)
    if not args.folder:
        raise UsageError("What is to be checked? Give --in DIR for an index, or --counts for the stored counts.")
    from explorer.popularity import index, manifest, tokenizer

    folder = _existing_folder(args.folder, settings)
    if args.adopt:
        if not args.tokenizer:
            raise UsageError("--adopt needs --tokenizer: the tokenizer that the index was made with.")
        index.adopt(folder, tokenizer.load(path_of(args.tokenizer)), args.dtype)
    comparison = index.check(folder, args.compare)
    about = manifest.read(folder)
    summary = {
        "index": about.name,
        "tokens": about.tokens,
        "documents": about.documents,
        "compared": comparison.compared,
        "wrong": len(comparison.wrong),
    }
    _print_summary(summary, args.json)
    if comparison.wrong:
        raise CountError(
            f"{len(comparison.wrong)} counts are wrong, the first: {comparison.wrong[0]}. Build the index anew."
        )
    return 0


def run_count(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.scoring.encode import why_unencodable

    if not args.texts and not args.input:
        raise UsageError("What is to be counted? Give texts, or --in FILE.")
    counter = counting.open_index(args, settings)
    rows = [{"text": text} for text in args.texts] + (jsonl.read_objects(args.input) if args.input else [])
    faults = ["" if "ids" in row else why_unencodable(_text_of(row)) for row in rows]
    sound = [row for row, fault in zip(rows, faults, strict=True) if not fault]
    encoded = iter(counter.encode([_text_of(row) for row in sound if "ids" not in row], bare=args.bare))
    ngrams = [_ids_of(row) if "ids" in row else next(encoded) for row in sound]
    counts = iter(counter.count(ngrams, common.ProgressLine("counting") if len(ngrams) > 100 else None))
    counted = [
        (row, Count(counter.index, (), math.nan, reason=fault) if fault else next(counts))
        for row, fault in zip(rows, faults, strict=True)
    ]
    answers = [
        {**row, "ids": list(count.ids), "count": None if count.reason else int(count.count), "reason": count.reason}
        for row, count in counted
    ]
    if args.json:
        common.print_json(answers)
    elif args.input or args.out:
        jsonl.write_objects(args.out or "-", answers)
    else:
        common.print_rows(answers, ["text", "count", "ids", "reason"])
    return 1 if any(count.reason for _, count in counted) else 0


def run_serve(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.popularity.infinigram_server import IndexServer, open_index

    indexes = [open_index(_existing_folder(folder, settings)) for folder in args.folders]
    server = IndexServer(indexes, args.host, args.port)
    for name in server.indexes:
        common.report(f"{server.url}#{name}")
    common.report("Stop with Ctrl-C.")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        common.report("stopped")
    finally:
        server.server_close()
    return 0


def _check_counts(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.popularity import count_cache

    damage = count_cache.find_damage(settings.counts)
    if damage and not args.repair:
        raise CountError(
            f"{settings.counts / count_cache.FILE} is damaged ({damage}). Add --repair: every count that can still be "
            "read is kept, the damaged file is set aside."
        )
    if damage:
        set_aside, saved = count_cache.rebuild_file(settings.counts)
        common.report(f"{saved:,} rows saved; the damaged file is {set_aside}")
    cache = count_cache.CountCache(settings.counts)
    if args.forget:
        if args.forget not in {row["index"] for row in cache.sizes()}:
            raise UsageError(f"No counts of {args.forget} are stored. `index check --counts` lists what there is.")
        cache.forget(args.forget)
    if args.json:
        common.print_json(cache.sizes())
    else:
        common.print_rows(cache.sizes(), ["index", "tokens", "counts", "encodings"])
    cache.close()
    return 0


def _text_of(row: dict[str, Any]) -> str:
    if not isinstance(row.get("text"), str):
        raise UsageError(f'A line has neither "text" nor "ids": {json.dumps(row)[:80]}')
    return row["text"]


def _ids_of(row: dict[str, Any]) -> tuple[int, ...]:
    ids = row["ids"]
    if not isinstance(ids, list) or not all(type(item) is int for item in ids):
        raise UsageError(f'"ids" must be a list of whole numbers: {json.dumps(row)[:80]}')
    return tuple(ids)


def _new_folder(out: str, settings: Settings) -> Path:
    """The folder that --out names; a bare name means one in the cache's indexes/."""
    return settings.indexes / out if Path(out).name == out and out not in (".", "..") else path_of(out)


def _existing_folder(name: str, settings: Settings) -> Path:
    in_cache = settings.indexes / name
    return in_cache if Path(name).name == name and in_cache.is_dir() else path_of(name)


def _print_summary(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        common.print_json(summary)
    else:
        common.print_rows([summary], list(summary))


class StepLines:
    """Prints each step of a build once, and how many documents are done whenever their number has doubled."""

    def __init__(self) -> None:
        self._step = ""
        self._printed = 0

    def __call__(self, step: str, done: int, total: int) -> None:
        if step != self._step:
            common.report(step)
            self._step, self._printed = step, 0
        elif done >= 2 * self._printed + 1000:
            common.report(f"{step}: {done:,}")
            self._printed = done
