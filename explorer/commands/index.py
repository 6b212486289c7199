"""`index build|check|count|serve`: n-gram indexes of one's own, and the counts that were had so far."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from explorer.commands import common, output
from explorer.errors import CountError, UsageError
from explorer.popularity.indexes import DEMO
from explorer.settings import Settings, path_of


def add(subparsers: Any) -> None:
    index = common.command(subparsers, "index")
    actions = index.add_subparsers(dest="action", metavar="ACTION", required=True)

    build = common.parser(actions, "build", "index text files: .txt, .raw, .md, .rst, .jsonl(.gz) with `text`, folders")
    build.add_argument("--in", dest="inputs", nargs="+", required=True, metavar="FILE", help="files or folders")
    build.add_argument("--out", required=True, metavar="DIR", help="a new folder, or a name in the cache's indexes/")
    build.add_argument(
        "--tokenizer", metavar="T", help="a tokenizer.json or its folder, ids below 65,534 (default: trained here)"
    )
    build.add_argument("--vocabulary", type=int, default=32_768, metavar="V", help="entries of a trained tokenizer")
    build.add_argument("--name", default="", help="the index's name (default: the folder's)")
    build.add_argument("--cpus", type=int, default=0, metavar="N", help="processors to use at most (default: all)")
    build.set_defaults(run=run_build)

    check = common.parser(actions, "check", "look at an index's files and compare counts with brute force")
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

    count = common.parser(actions, "count", "how often texts or ids occur in an index")
    count.add_argument("texts", nargs="*", metavar="TEXT", help="texts, counted as they stand in running text")
    count.add_argument(
        "--index", required=True, metavar="I", help="demo, a folder, a public index, mini:NAME, URL#name"
    )
    count.add_argument(
        "--in", dest="input", metavar="FILE", help='JSON lines with {"text": ...} or {"ids": [...]}; - = stdin'
    )
    count.add_argument("--out", metavar="FILE", help="where the JSON lines go (default: standard output)")
    count.add_argument("--bare", action="store_true", help="count texts without the blank before them")
    count.add_argument("--tokenizer", metavar="T", help="a local folder with the tokenizer of a service's index")
    count.set_defaults(run=run_count)

    serve = common.parser(
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
    if _place(args.out, settings) == settings.indexes / DEMO or args.name == DEMO:
        raise UsageError(f"{DEMO!r} is the name of the demonstration index, which is built by itself. Choose another.")
    inputs = [path_of(each) for each in args.inputs]
    files = documents.files(inputs)
    if not 257 <= args.vocabulary <= tokenizer.LARGEST_ID:
        raise UsageError(f"--vocabulary is {args.vocabulary}, expected 257 to {tokenizer.LARGEST_ID}.")
    made = index.build(
        lambda: documents.read(files),
        _place(args.out, settings),
        name=args.name,
        tokenizer=tokenizer.load(path_of(args.tokenizer)) if args.tokenizer else None,
        vocabulary=args.vocabulary,
        sources=[str(path) for path in files],
        cpus=args.cpus,
        progress=Steps(),
    )
    summary = {
        "index": made.name,
        "folder": str(_place(args.out, settings)),
        "tokens": made.tokens,
        "documents": made.documents,
        "tokenizer": made.tokenizer,
        "compared": made.compared,
        "wrong": 0,
    }
    _show(summary, args.json)
    return 0


def run_check(args: argparse.Namespace, settings: Settings) -> int:
    if args.counts:
        return _check_counts(args, settings)
    if not args.folder:
        raise UsageError("What is to be checked? Give --in DIR for an index, or --counts for the stored counts.")
    from explorer.popularity import index, manifest, tokenizer

    folder = _found(args.folder, settings)
    if args.adopt:
        if not args.tokenizer:
            raise UsageError("--adopt needs --tokenizer: the tokenizer that the index was made with.")
        index.adopt(folder, tokenizer.load(path_of(args.tokenizer)), args.dtype)
    found = index.check(folder, args.compare)
    made = manifest.read(folder)
    summary = {"index": made.name, "tokens": made.tokens, "documents": made.documents, "compared": found.compared}
    _show({**summary, "wrong": len(found.wrong)}, args.json)
    if found.wrong:
        raise CountError(f"{len(found.wrong)} counts are wrong, the first: {found.wrong[0]}. Build the index anew.")
    return 0


def run_count(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.popularity.counters import open_counter

    if not args.texts and not args.input:
        raise UsageError("What is to be counted? Give texts, or --in FILE.")
    tokenizer = path_of(args.tokenizer) if args.tokenizer else None
    counter = open_counter(args.index, settings, tokenizer=tokenizer, progress=Steps())
    rows = [{"text": text} for text in args.texts] + (read_json_lines(args.input) if args.input else [])
    places = [i for i, row in enumerate(rows) if "ids" not in row]
    encoded = dict(zip(places, counter.encode([_text(rows[i]) for i in places], bare=args.bare), strict=True))
    ngrams = [encoded[i] if i in encoded else _ids(row) for i, row in enumerate(rows)]
    counts = counter.count(ngrams, common.ProgressLine("counting") if len(ngrams) > 100 else None)
    answers = [
        {**row, "ids": list(each.ids), "count": None if each.reason else int(each.count), "reason": each.reason}
        for row, each in zip(rows, counts, strict=True)
    ]
    if args.json:
        common.print_json(answers)
    elif args.input or args.out:
        write_json_lines(args.out, answers)
    else:
        common.print_rows(answers, ["text", "count", "ids", "reason"])
    return 1 if any(each.reason for each in counts) else 0


def run_serve(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.popularity.infinigram_server import IndexServer, open_index

    served = [open_index(_found(folder, settings)) for folder in args.folders]
    server = IndexServer(served, args.host, args.port)
    for name in server.indexes:
        common.say(f"{server.url}#{name}")
    common.say("Stop with Ctrl-C.")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        common.say("stopped")
    finally:
        server.server_close()
    return 0


def read_json_lines(source: str) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines, or of standard input."""
    try:
        text = sys.stdin.read() if source == "-" else path_of(source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{source} cannot be read ({error}). Give a file of JSON lines in UTF-8.") from error
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{source} line {number} is no JSON ({error}).") from error
        if not isinstance(row, dict):
            raise UsageError(f"{source} line {number} is no JSON object.")
        rows.append(row)
    return rows


def write_json_lines(target: str | None, rows: list[dict[str, Any]]) -> None:
    """Writes the objects as JSON lines to a file, or to standard output."""
    text = "".join(output.json_line(row) for row in rows)
    if target:
        output.write_text(Path(target), text)
    else:
        sys.stdout.write(text)


def _check_counts(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.popularity import count_cache

    problem = count_cache.damage(settings.counts)
    if problem and not args.repair:
        raise CountError(
            f"{settings.counts / count_cache.FILE} is damaged ({problem}). Add --repair: every count that can still be "
            "read is kept, the damaged file is set aside."
        )
    if problem:
        aside, saved = count_cache.rebuild(settings.counts)
        common.say(f"{saved:,} rows saved; the damaged file is {aside}")
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


def _text(row: dict[str, Any]) -> str:
    if not isinstance(row.get("text"), str):
        raise UsageError(f'A line has neither "text" nor "ids": {json.dumps(row)[:80]}')
    return row["text"]


def _ids(row: dict[str, Any]) -> tuple[int, ...]:
    ids = row["ids"]
    if not isinstance(ids, list) or not all(type(each) is int for each in ids):
        raise UsageError(f'"ids" must be a list of whole numbers: {json.dumps(row)[:80]}')
    return tuple(ids)


def _place(out: str, settings: Settings) -> Path:
    """A bare name means the cache's indexes/."""
    return settings.indexes / out if Path(out).name == out and out not in (".", "..") else path_of(out)


def _found(folder: str, settings: Settings) -> Path:
    kept = settings.indexes / folder
    return kept if Path(folder).name == folder and kept.is_dir() else path_of(folder)


def _show(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        common.print_json(summary)
    else:
        common.print_rows([summary], list(summary))


class Steps:
    """Says each step of a build once, and how many documents are done now and then."""

    def __init__(self) -> None:
        self._said = ""
        self._done = 0

    def __call__(self, what: str, done: int, total: int) -> None:
        if what != self._said:
            common.say(what)
            self._said, self._done = what, 0
        elif done >= 2 * self._done + 1000:
            common.say(f"{what}: {done:,}")
            self._done = done
