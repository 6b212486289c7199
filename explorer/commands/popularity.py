"""`popularity`: texts in; their n-grams, counts, popularity and IPS out."""

from __future__ import annotations

import argparse
import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.commands import common, counting, jsonl, output
from explorer.errors import UsageError
from explorer.settings import Settings, path_of

if TYPE_CHECKING:
    from explorer.popularity.counter import Counter
    from explorer.popularity.ips import IPS, DecileEdges
    from explorer.popularity.ngrams import Ngram, TextNgrams
    from explorer.records import Count


def add(subparsers: Any) -> None:
    parser = common.command_parser(
        subparsers,
        "popularity",
        epilog="Each line in holds a `text`; the line out repeats it and adds its tokens, n-grams, counts, popularity\n"
        "and IPS. The decile edges are those of the texts themselves unless --edges-from names others; they are\n"
        "written beside the output as OUT.edges.json, for a later --edges-from.",
    )
    parser.add_argument(
        "--index", required=True, metavar="I", help="glassbox, a folder, a public index, mini:NAME, URL#name"
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
    parser.set_defaults(run=rate_lines)


def rate_lines(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.popularity import ips, ngrams

    rows = jsonl.read_objects(args.input, ("text",))
    if not rows:
        raise UsageError(f"{args.input} has no lines. Expected JSON lines with `text`.")
    counter = counting.open_index(args, settings)
    given_edges = read_edges(args.edges_from, settings) if args.edges_from else None
    if given_edges:
        given_edges.check_fits(counter.index, args.n, args.initial)
    texts = ngrams.of_texts(counter, [row["text"] for row in rows], args.n, args.initial)
    counts = ngrams.count_ngrams(counter, texts, common.ProgressLine("counting"))
    edges = given_edges or ips.decile_edges(
        counts, reference=_name_of_reference(args.input), index=counter.index, n=args.n, initial=args.initial
    )
    scores = [ips.text_ips(text, counts, edges) for text in texts]
    answers = [
        {**row, **_describe_text(counter, text, score, counts, edges)}
        for row, text, score in zip(rows, texts, scores, strict=True)
    ]
    summary = _summarize(edges, scores)
    if args.json:
        common.print_json({**dataclasses.asdict(summary), "edges": list(edges.values), "texts": answers})
    else:
        jsonl.write_objects(args.out or "-", answers)
        common.report(summary.in_words())
        if edges.warning:
            common.report(edges.warning)
    if args.out:
        output.write_text(Path(f"{args.out}.edges.json"), edges.to_json() + "\n")
    ngrams.require_answers(counts)
    return 0


@dataclass(frozen=True, slots=True)
class Summary:
    """The mean IPS of the texts, and the deciles by which it was reckoned."""

    index: str
    n: int
    reference: str  # whose n-grams the deciles are of
    reference_ngrams: int
    reference_left_out: int
    coinciding: str
    warning: str
    mean_ips: float
    defined: int  # texts with an IPS
    undefined: int

    def in_words(self) -> str:
        note = f" ({self.coinciding})" if self.coinciding else ""
        return (
            f"mean IPS {self.mean_ips:.3f} over {self.defined:,} texts, {self.undefined:,} without one; "
            f"deciles of {self.reference}, {self.reference_ngrams:,} distinct {self.n}-grams{note}"
        )


def read_edges(source: str, settings: Settings) -> DecileEdges:
    """The decile edges of a stored run, or of a file that this command wrote."""
    from explorer.popularity.ips import DecileEdges
    from explorer.runs.folder import RunFolder

    path = path_of(source)
    if path.is_file():
        return DecileEdges.from_json(path.read_text(encoding="utf-8", errors="replace"))
    findings = RunFolder.find(settings.runs, source).read("findings")
    return DecileEdges.from_rows(findings.to_dict("records"))


def _describe_text(
    counter: Counter, text: TextNgrams, score: IPS, counts: dict[Ngram, Count], edges: DecileEdges
) -> dict[str, Any]:
    from explorer.popularity.ips import rate_counts

    text_counts = [counts[ngram].count for ngram in text.ngrams]
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
                zip(text.ngrams, text.starts, text_counts, rate_counts(text_counts, edges), strict=True)
            )
        ],
        "ips": None if math.isnan(score.value) else score.value,
        "reason": score.reason,
    }


def _summarize(edges: DecileEdges, scores: list[IPS]) -> Summary:
    defined = [score.value for score in scores if not math.isnan(score.value)]
    return Summary(
        index=edges.index,
        n=edges.n,
        reference=edges.reference,
        reference_ngrams=edges.ngrams,
        reference_left_out=edges.left_out,
        coinciding=edges.coinciding,
        warning=edges.warning,
        mean_ips=sum(defined) / len(defined) if defined else math.nan,
        defined=len(defined),
        undefined=len(scores) - len(defined),
    )


def _name_of_reference(source: str) -> str:
    return "standard input" if source == "-" else Path(source).name
