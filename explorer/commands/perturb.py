"""`perturb`: nouns and verbs of texts swapped for synonyms, from a JSONL file to a JSONL file."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from explorer import languages
from explorer.commands import common, jsonl, output
from explorer.commands.jsonl import Line
from explorer.settings import Settings
from explorer.variants.senses import METHODS

EPILOG = """A line in is a JSON object with "text", a string; all its other keys are kept. A line out adds perturbed and
swaps: for each its start and end in the original text, original, lemma, pos, synset, definition and
substitute. Draws are keyed by the seed and by "id" where a line has one, else by the text, never by the
order of lines. A line that cannot be read or is not English (as its "language" says, else as its text
looks) has perturbed null and says why under "error", one that is no object also holds itself under "raw";
the exit status is then 1."""
MAX_CHARACTERS = 1_000_000  # that the tagger takes
SWAP_KEYS = ("start", "end", "original", "lemma", "pos", "synset", "definition", "substitute")


def add(subparsers: Any) -> None:
    """`perturb`."""
    parser = common.command_parser(subparsers, "perturb", epilog=EPILOG)
    parser.add_argument(
        "--in", dest="source", required=True, metavar="FILE", help="texts as JSONL; - is standard input"
    )
    parser.add_argument("--out", required=True, metavar="FILE", help="perturbed texts; - is standard output")
    parser.add_argument("--pos", choices=("N", "V", "NV"), default="NV", help="nouns, verbs or both (default: both)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the draws (default: 0)")
    parser.add_argument("--veto", action="append", default=[], metavar="WORD", help="never swap this word; repeatable")
    parser.add_argument(
        "--senses", choices=tuple(METHODS), default="blend", help="how senses are told apart (default: blend)"
    )
    parser.add_argument("--model", default="", metavar="M", help="the language model that lm, lm-choice and chat ask")
    parser.set_defaults(run=perturb_lines)


def perturb_lines(args: argparse.Namespace, settings: Settings) -> int:
    """Perturbs every line that can be read; 1 where some could not."""
    from explorer.resources import Resources
    from explorer.variants import tools
    from explorer.variants.perturb import perturb_texts

    lines = jsonl.read_lines(args.source, ("text",))
    for line in lines:
        size = 0 if line.error else len(line.fields["text"])
        if size >= MAX_CHARACTERS:
            line.error = f"text has {size:,} characters, fewer than {MAX_CHARACTERS:,} can be read; cut it up"
    if args.out != "-":
        output.check_writable(Path(args.out))
    readable = [line for line in lines if not line.error]
    kit = tools.build_tools(Resources(settings), args.senses, args.model)
    started = time.monotonic()
    perturbed = perturb_texts(
        [line.fields["text"] for line in readable],
        kit,
        pos=args.pos,
        seed=args.seed,
        veto=args.veto,
        keys=[_key_of(line) for line in readable],
        languages=[_language_of(line) for line in readable],
        progress=common.ProgressLine("Perturbed") if readable else None,
    )
    for line, result in zip(readable, perturbed, strict=True):
        swaps = [{key: asdict(swap)[key] for key in SWAP_KEYS} for swap in result.swaps]
        line.fields |= {"perturbed": result.text, "swaps": swaps}
        line.error = result.refused
    jsonl.write_lines(args.out, lines, {"perturbed": None, "swaps": []})
    seconds = time.monotonic() - started
    failed = jsonl.report_errors(lines)
    swapped = sum(len(result.swaps) for result in perturbed)
    common.report(f"{swapped:,} words swapped in {len(lines) - failed:,} of {len(lines):,} lines in {seconds:.1f} s")
    if args.json and args.out != "-":
        facts = {"lines": len(lines), "failed": failed, "swaps": swapped, "seconds": round(seconds, 3)}
        common.print_json({**facts, "pos": args.pos, "seed": args.seed, "senses": args.senses})
    return 1 if failed else 0


def _language_of(line: Line) -> str:
    """The language that a line says, "" where it says none."""
    language_code = line.fields.get("language") or line.fields.get("lang")
    return languages.find_code(language_code) or "" if isinstance(language_code, str) else ""


def _key_of(line: Line) -> str:
    from explorer.variants.perturb import text_key

    id = line.fields.get("id")
    return str(id) if isinstance(id, str | int) else text_key(line.fields["text"])
