"""`corpus`: texts in; the spans of them that a corpus holds word for word, n-gram counts and what comes next out."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any, TypedDict

from explorer.commands import common, counting, jsonl
from explorer.errors import UsageError
from explorer.settings import Settings

if TYPE_CHECKING:
    from explorer.popularity.counter import Document, TokenIndex
    from explorer.popularity.next_tokens import Following
    from explorer.popularity.verbatim import Span, Verbatim

AROUND = 80  # characters of a document on either side of a match
SHOWN_NEXT = 10  # next tokens; with --json as many


def add(subparsers: Any) -> None:
    """`corpus`."""
    parser = common.command_parser(
        subparsers,
        "corpus",
        epilog="A span is a longest run of tokens that stands in the corpus word for word. A text is “in the corpus”\n"
        "where all of it does, “in part” where one span holds at least half of its characters, else “not found”.\n"
        "With --in, lines of a JSONL file with `text` are looked up, each answered by a line that repeats it.",
    )
    parser.add_argument("--index", default="glassbox", metavar="I", help="glassbox, a folder, a public index, URL#name")
    parser.add_argument("--in", dest="source", metavar="FILE", help="JSON lines with `text`; - = stdin")
    parser.add_argument("--out", metavar="FILE", help="where the JSON lines go (default: standard output)")
    parser.add_argument("--least", type=int, default=6, help="tokens a span has at least (default: 6)")
    parser.add_argument("--longest", type=int, default=6, help="count n-grams of up to so many tokens (default: 6)")
    parser.add_argument("--documents", type=int, default=0, metavar="N", help="documents of the longest span to show")
    parser.add_argument("--tokenizer", metavar="T", help="a local folder with the tokenizer of a service's index")
    parser.add_argument("texts", nargs="*", metavar="TEXT", help="texts to look up")
    parser.set_defaults(run=look_up_texts)


def look_up_texts(args: argparse.Namespace, settings: Settings) -> int:
    """Looks the texts up and prints what was found."""
    if bool(args.texts) == bool(args.source):
        raise UsageError("Found " + ("texts and --in" if args.texts else "no text") + ", expected TEXT or --in FILE.")
    for name, most in (("least", 500), ("longest", 10), ("documents", 100)):
        if not (0 if name == "documents" else 1) <= getattr(args, name) <= most:
            raise UsageError(f"--{name} got {getattr(args, name)}, expected a number up to {most}.")
    rows = jsonl.read_objects(args.source, ("text",)) if args.source else [{"text": text} for text in args.texts]
    index = open_index(args, settings)
    answers = [look_up_text(index, str(row["text"]), args) for row in rows]
    answered_rows = [{**row, **answer} for row, answer in zip(rows, answers, strict=True)]
    if args.json:
        common.print_json({"index": index.index, "tokens": index.total_tokens(), "texts": answered_rows})
    elif args.source or args.out:
        jsonl.write_objects(args.out or "-", common.without_nan(answered_rows))
    else:
        for row, answer in zip(rows, answers, strict=True):
            print_answer(str(row["text"]), answer)
    return 0


def open_index(args: argparse.Namespace, settings: Settings) -> TokenIndex:
    """The index that is asked."""
    from explorer.popularity.indexes import MINI

    if args.index.startswith(MINI):
        raise UsageError(f"{args.index} is an index over characters, expected one of tokens. See `index check --help`.")
    return counting.open_index(args, settings)  # type: ignore[return-value]


class DocumentAnswer(TypedDict):
    """A document that holds a span, with the first and last character of the span in it."""

    source: str
    number: int
    tokens: int
    text: str
    first: int
    last: int


class SpanAnswer(TypedDict):
    """A span that the corpus holds: its characters in the text, and how often the corpus has it."""

    text: str
    tokens: int
    first: int
    last: int
    count: float
    documents: list[DocumentAnswer]


class FollowingAnswer(TypedDict):
    """Which tokens follow the last `after_tokens` tokens of the text in the corpus."""

    after_tokens: int
    places: int
    approx: bool
    reason: str
    tokens: list[dict[str, Any]]


class TextAnswer(TypedDict):
    """All that is found about one text."""

    label: str
    reason: str
    covered: float
    longest: float
    tokens: list[str]
    spans: list[SpanAnswer]
    ngrams: list[dict[str, Any]]
    next: FollowingAnswer | None
    next_after_longest_ending: FollowingAnswer | None


def look_up_text(index: TokenIndex, text: str, args: argparse.Namespace) -> TextAnswer:
    """All that is found about one text, as plain values."""
    from explorer.popularity import verbatim

    [traced] = verbatim.trace_texts(index, [text], least=args.least)  # a text that cannot be encoded costs no other
    ids = traced.ids
    spans_looked_up = [(start, n) for n in range(1, args.longest + 1) for start in range(len(ids) - n + 1)]
    counts = index.count([ids[start : start + n] for start, n in spans_looked_up])
    tokens = index.decode(ids)
    return {
        "label": traced.label,
        "reason": traced.reason,
        "covered": traced.covered,
        "longest": traced.longest,
        "tokens": list(tokens),
        "spans": [_describe_span(index, traced, span, args.documents) for span in traced.spans],
        "ngrams": [
            {"text": "".join(tokens[start : start + n]), "start": start, "n": n,
             "count": None if math.isnan(counted.count) else int(counted.count), "reason": counted.reason}
            for (start, n), counted in zip(spans_looked_up, counts, strict=True)
        ],
        "next": _describe_following(index.following(ids, back_off=False)) if ids else None,
        "next_after_longest_ending": _describe_following(index.following(ids, back_off=True)) if ids else None,
    }  # fmt: skip


def _describe_span(index: TokenIndex, traced: Verbatim, span: Span, documents: int) -> SpanAnswer:
    longest = max(traced.spans, key=lambda hit: hit.last - hit.first)
    shown = index.documents(span.ids, documents) if documents and span == longest else []
    return {
        "text": span.text,
        "tokens": span.end - span.start,
        "first": span.first,
        "last": span.last,
        "count": span.count,
        "documents": [_describe_document(document) for document in shown],
    }


def _describe_document(document: Document) -> DocumentAnswer:
    """A document and the characters of its first match."""
    start = 0
    for text, is_match in document.pieces:
        if is_match:
            break
        start += len(text)
    match = next((text for text, is_match in document.pieces if is_match), "")
    return {
        "source": document.source,
        "number": document.number,
        "tokens": document.tokens,
        "text": "".join(text for text, _ in document.pieces),
        "first": start,
        "last": start + len(match),
    }


def _describe_following(following: Following) -> FollowingAnswer:
    return {
        "after_tokens": following.suffix,
        "places": following.prompt_count,
        "approx": following.approx,
        "reason": following.reason,
        "tokens": [
            {"text": token.text, "id": token.id, "count": token.count, "probability": token.probability}
            for token in following.tokens[:SHOWN_NEXT]
        ],
    }


def print_answer(text: str, answer: TextAnswer) -> None:
    """One text's answer for a terminal: its label, its spans, and what comes next."""
    shares = f", spans cover {answer['covered']:.0%}, the longest {answer['longest']:.0%}" if answer["spans"] else ""
    print(f"{text}\n{answer['label']}{shares}{': ' + answer['reason'] if answer['reason'] else ''}")
    if answer["spans"]:
        common.print_rows(answer["spans"], ("text", "tokens", "count"))
    after = answer["next_after_longest_ending"]
    if after and after["tokens"]:
        ending = "".join(answer["tokens"][len(answer["tokens"]) - after["after_tokens"] :]).strip()
        print(f"after {ending!r}, {after['places']:,} times:")
        common.print_rows(
            [{**token, "text": repr(token["text"])} for token in after["tokens"]], ("text", "count", "probability")
        )
    for document in [hit for span in answer["spans"] for hit in span["documents"]]:
        start, end = max(0, document["first"] - AROUND), document["last"] + AROUND
        print(f"{document['source'] or document['number']}: {' '.join(document['text'][start:end].split())}")
    print()
