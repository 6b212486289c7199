"""WikiText-2 (Merity et al., 2016) as a source of plain sentences that have nothing to do with a benchmark.

Headings are dropped, the spacing of the Moses tokenizer is undone, and sentences of 4 to 40 words are kept
(the unrelated prefixes of the priming study).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.benchmarks import sources
from explorer.benchmarks.core.reading import damaged_file, read_lines
from explorer.benchmarks.published import published_file, raw_address
from explorer.settings import Settings

PATH = "wikitext/wiki.test.raw"
TOKENS = "wikitext/wiki.test.tokens"  # the edition in which rare words are <unk>
UNKNOWN = "<unk>"
SHORTEST, LONGEST = 4, 40  # words


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences in the order of the text, each once, and how many more were left out for a word that is <unk>."""

    texts: tuple[str, ...]
    unknown: int = 0


def load(settings: Settings, progress: sources.Progress | None = None) -> Sentences:
    """The sentences of the test set; one's own edition may be the one in which rare words are <unk>."""
    tokens = settings.data / TOKENS if settings.data else None
    path = tokens if tokens and _stands_alone(tokens) else sources.find_file("WikiText-2", FILE, settings, progress)
    unique: dict[str, None] = {}
    for line in read_lines(path):
        if is_text(line):
            unique |= dict.fromkeys(text for text in split_sentences(line) if SHORTEST <= len(text.split()) <= LONGEST)
    # A model has never read the mark in running text: what it makes of it says nothing about unrelated contexts.
    texts = tuple(text for text in unique if UNKNOWN not in text)
    if not texts:
        actual = f"no sentence without {UNKNOWN}" if unique else "no sentence"
        raise damaged_file(path, None, actual, "lines of tokenized text")
    return Sentences(texts, len(unique) - len(texts))


def load_sentences(settings: Settings, progress: sources.Progress | None = None) -> list[str]:
    """The sentences alone."""
    return list(load(settings, progress).texts)


def _stands_alone(tokens: Path) -> bool:
    return tokens.is_file() and not tokens.with_name(Path(PATH).name).is_file()


def is_text(line: str) -> bool:
    """Whether a line is text: neither empty nor a heading like " = = Career = = "."""
    bare = line.strip()
    return bool(bare) and not (bare.startswith("= ") and bare.endswith(" ="))


def split_sentences(line: str) -> list[str]:
    """The whole sentences of a line of tokens, as plain text.

    Full stops of abbreviations are part of their token ("Col."), so a stop that stands alone ends a sentence, and
    what closes a quotation or bracket right after it still belongs to it. A rest without a stop is no sentence, nor
    is a part of a quotation that goes on for several.
    """
    tokens = line.split()
    sentences: list[str] = []
    start = 0
    for at, token in enumerate(tokens):
        if token not in (".", "!", "?"):
            continue
        end = at + 1
        while end < len(tokens) and _closes_bracket_or_quote(tokens, start, end):
            end += 1
        # "( coils , wires , etc . ) fail": a sentence does not go on with a small letter or inside brackets.
        goes_on = end < len(tokens) and (tokens[end][:1].islower() or tokens[end] in (",", ";", ":", ".", "!", "?"))
        if at < start or goes_on or _open_brackets(tokens[start:end]):
            continue
        if tokens[start:end].count('"') % 2 == 0:
            sentences.append(detokenize(" ".join(tokens[start:end])))
        start = end
    return sentences


def detokenize(tokens: str) -> str:
    """Tokenized text with the spacing of running text."""
    text = re.sub(r" @([-,.])@ ", r"\1", f" {tokens} ")
    text = re.sub(r"(?<=\d) : (?=\d\d\b)", ":", text)  # times of day
    text = re.sub(r" ([.,;:!?%)\]}…]+)(?= )", r"\1", text)
    text = re.sub(r"(?<= )([(\[{$£€¥₱#]) ", r"\1", text)
    text = re.sub(r"(?<=\w) ('\w+)", r"\1", text)  # Nero 's, d 'affaires, Chang 'an
    return _close_quotes(_close_quotes(text, '"'), "'").strip()


def join_lines(pieces: Sequence[Path]) -> bytes:
    """The published file, of an edition without its empty lines and the tokenized edition, which has them."""
    text, layout = (read_lines(piece) for piece in pieces)
    texts = iter(text)
    lines = [line if not line.strip() else next(texts, "") for line in layout]
    return "\n".join([*lines, ""]).encode("utf-8")


def _closes_bracket_or_quote(tokens: Sequence[str], start: int, at: int) -> bool:
    """Whether the token at `at` closes a bracket of the sentence from `start`, or a quotation of the line."""
    token, sentence = tokens[at], tokens[start:at]
    if token in (")", "]"):
        return sentence.count({")": "(", "]": "["}[token]) > sentence.count(token)
    if token == '"':
        return tokens[:at].count(token) % 2 == 1
    return token in ("”", "’") or (token == "'" and sentence.count(token) % 2 == 1)


def _open_brackets(tokens: Sequence[str]) -> bool:
    return tokens.count("(") > tokens.count(")") or tokens.count("[") > tokens.count("]")


def _close_quotes(text: str, quote: str) -> str:
    """Every other free-standing quote opens (and takes the next word), the others close (and take the one before).

    A single quote after an s, with none open, is a genitive's: "the miners ' strike" is "the miners' strike".
    """
    first, *pieces = re.split(rf" {quote}(?= |[.,;:!?)\]])", text)
    joined, is_open = first, False
    for piece in pieces:
        genitive = quote == "'" and not is_open and joined.endswith("s")
        opens = not is_open and not genitive and piece.startswith(" ")
        joined += f" {quote}{piece[1:]}" if opens else f"{quote}{piece}"
        is_open = opens
    return joined


FILE = published_file(
    PATH,
    raw_address("wikitext", "wiki.test.raw"),
    raw_address("wikitext_tokens", "test.txt"),
    join=join_lines,
)
