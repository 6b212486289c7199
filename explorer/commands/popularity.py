"""`popularity`: texts in; their n-grams, counts, popularity and IPS out."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.commands import common, output
from explorer.commands.index import Steps, read_json_lines, write_json_lines
from explorer.errors import UsageError
from explorer.settings import Settings, path_of

if TYPE_CHECKING:
    from explorer.popularity.counter import Counter
    from explorer.popularity.ips import IPS, Edges
    from explorer.popularity.ngrams import Ngram, TextNgrams
    from explorer.records import Count


def add(subparsers: Any) -> None:
    parser = common.command(
        subparsers,
        "popularity",
        epilog="Each line in holds a `text`; the line out repeats it and adds its tokens, n-grams, counts, popularity\n"
        "and IPS. The decile edges are those of the texts themselves unless --edges-from names others; they are\n"
        "written beside the output as OUT.edges.json, for a later --edges-from.",
    )
    parser.add_argument(
        "--index", required=True, metavar="I", help="demo, a folder, a public index, mini:NAME, URL#name"
    )
    parser.add_argument("--n", type=int, default=7, help="tokens of an n-gram, 1 to 10")
    parser.add_argument("--in", dest="input", required=True, metavar="FILE", help="JSON lines with `text`; - = stdin")
    parser.add_argument("--out", metavar="FILE", help="where the JSON lines go (default: standard output)")
    parser.add_argument(
        "--edges-from", metavar="RUN|FILE", help="use the decile edges of a run, or of a file written here"
    )
    parser.add_argument(
        "--initial", default="running", choices=["running", "both"], help="both: also the form without a leading blank"
    )
    parser.add_argument("--tokenizer", metavar="T", help="a local folder with the tokenizer of a service's index")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.popularity import ips as scores
    from explorer.popularity import ngrams
    from explorer.popularity.counters import open_counter

    rows = read_json_lines(args.input)
    texts = [_text(row, number) for number, row in enumerate(rows, 1)]
    if not texts:
        raise UsageError(f"{args.input} has no lines. Expected JSON lines with `text`.")
    tokenizer = path_of(args.tokenizer) if args.tokenizer else None
    counter = open_counter(args.index, settings, tokenizer=tokenizer, progress=Steps())
    given = read_edges(args.edges_from, settings) if args.edges_from else None
    if given:
        given.check_fits(counter.index, args.n, args.initial)
    found = ngrams.of_texts(counter, texts, args.n, args.initial)
    counts = ngrams.count(counter, found, common.ProgressLine("counting"))
    edges = given or scores.decile_edges(
        counts, reference=_name(args.input), index=counter.index, n=args.n, initial=args.initial
    )
    rated = [scores.ips(text, counts, edges) for text in found]
    answers = [
        {**row, **_answer(counter, text, score, counts, edges)}
        for row, text, score in zip(rows, found, rated, strict=True)
    ]
    summary = _summary(edges, rated)
    if args.json:
        common.print_json({**summary, "edges": list(edges.values), "texts": answers})
    else:
        write_json_lines(args.out, answers)
        common.say(_sentence(summary))
        if edges.warning:
            common.say(edges.warning)
    if args.out:
        output.write_text(Path(f"{args.out}.edges.json"), edges.to_json() + "\n")
    ngrams.require_answers(counts)
    return 0


def read_edges(source: str, settings: Settings) -> Edges:
    """The decile edges of a stored run, or of a file that this command wrote."""
    from explorer.popularity.ips import Edges
    from explorer.runs.folder import RunFolder

    path = path_of(source)
    if path.is_file():
        return Edges.from_json(path.read_text(encoding="utf-8", errors="replace"))
    findings = RunFolder.find(settings.runs, source).read("findings")
    return Edges.from_rows(findings.to_dict("records"))


def _answer(counter: Counter, text: TextNgrams, score: IPS, counts: dict[Ngram, Count], edges: Edges) -> dict[str, Any]:
    from explorer.popularity.ips import popularity

    known = [counts[ngram].count for ngram in text.ngrams]
    return {
        "tokens": list(counter.decode(text.ids)),
        "ngrams": [
            {
                "text": "".join(counter.decode(ngram)),
                "ids": list(ngram),
                "start": start if i < text.bare_from else None,
                "count": None if math.isnan(count) else int(count),
                "popularity": None if math.isnan(count) else int(rating),
                "reason": counts[ngram].reason,
            }
            for i, (ngram, start, count, rating) in enumerate(
                zip(text.ngrams, text.starts, known, popularity(known, edges), strict=True)
            )
        ],
        "ips": None if math.isnan(score.value) else score.value,
        "reason": score.reason,
    }


def _summary(edges: Edges, rated: list[IPS]) -> dict[str, Any]:
    defined = [score.value for score in rated if not math.isnan(score.value)]
    return {
        "index": edges.index,
        "n": edges.n,
        "reference": edges.reference,
        "reference_ngrams": edges.ngrams,
        "reference_left_out": edges.left_out,
        "coinciding": edges.coinciding,
        "warning": edges.warning,
        "mean_ips": sum(defined) / len(defined) if defined else math.nan,
        "defined": len(defined),
        "undefined": len(rated) - len(defined),
    }


def _sentence(summary: dict[str, Any]) -> str:
    note = f" ({summary['coinciding']})" if summary["coinciding"] else ""
    return (
        f"mean IPS {summary['mean_ips']:.3f} over {summary['defined']:,} texts, {summary['undefined']:,} without one; "
        f"deciles of {summary['reference']}, {summary['reference_ngrams']:,} distinct {summary['n']}-grams{note}"
    )


def _text(row: dict[str, Any], number: int) -> str:
    if not isinstance(row.get("text"), str):
        raise UsageError(f"Line {number} has no `text`. Expected JSON lines with a text under that key.")
    return row["text"]


def _name(source: str) -> str:
    return "standard input" if source == "-" else Path(source).name
