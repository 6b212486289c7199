"""How texts are written: the blank between two pieces of a text, and the words of a text in any script.

    joined("He is", "late ")      → ("He is", " late")      one blank, whatever stands at the edges
    joined("Answer:\\n", " late")  → ("Answer:\\n", "late")   a line break at the join parts as well as a blank
    joined("He is", ", late")     → ("He is", ", late")     no blank before a closing mark
    joined("他是", "学生")          → ("他是", "学生")           none between characters of a script without blanks
    parted("He is ", "late.")     → ("He is", " late.")     two stretches of one text, which keeps its own blanks
    pieces("Don't 猫が")           → Don t 猫 が              words; where a script has none apart, characters

White space at the edges of a piece counts for nothing, but for a line break that a context ends in.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

# Han, kana, Thai, Lao, Burmese and Khmer put no blank between words.
_WITHOUT_BLANKS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)
# Marks as wide as a Chinese character bring their own room.
_WIDE_MARK = re.compile("[\u3000-\u3004\u3008-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]")
# A mark that closes what stands before it, and not the first sign of ".5", ".NET" or ":-)".
_CLOSING = re.compile(r"""[.,;:!?…)\]}”’»]+(?=[\s"']|$)""")
_ASCII_WORDS = re.compile("[A-Za-z0-9]+")
_ASCII_WORDS_AND_SIGNS = re.compile(r"[A-Za-z0-9]+|[^\sA-Za-z0-9]")


def without_blanks(char: str) -> bool:
    """Whether a character is of a script whose words stand side by side."""
    return bool(_WITHOUT_BLANKS.match(char))


def has_without_blanks(text: str) -> bool:
    """Whether a text has a character of a script whose words stand side by side."""
    return not text.isascii() and bool(_WITHOUT_BLANKS.search(text))


def is_wide(char: str) -> bool:
    """Whether a character is a mark as wide as a Han character, or is Han or kana itself."""
    return bool(_WIDE_MARK.match(char)) or (char >= "\u3000" and without_blanks(char))


def blank(before: str, after: str) -> str:
    """What stands between two texts without white space at their edges: a blank, or nothing."""
    if not before or not after or _CLOSING.match(after):
        return ""
    last, first = before[-1], after[0]
    if _WIDE_MARK.match(last) or _WIDE_MARK.match(first):
        return ""
    return "" if without_blanks(_base(before)) and without_blanks(first) else " "


def joined(before: str, after: str) -> tuple[str, str]:
    """The first text as it stands before the second, and the second with the blank that parts them, if any, in front.

    White space at the end of the second is left out; what a context begins with is its caller's.
    """
    bare, text = before.rstrip(), after.strip()
    if not text:
        return bare, ""
    broken = before[len(bare) :].rstrip(" \t\xa0")
    if "\n" in broken:
        return bare + broken, text
    return bare, blank(bare, text) + text


def parted(before: str, after: str) -> tuple[str, str]:
    """Two stretches of one text, the white space between them moved to the second but for a line break and what
    stands before it: as `joined` parts them, and with no character added or lost."""
    bare = before.rstrip()
    cut = max(len(bare), before.rfind("\n") + 1)
    return before[:cut], before[cut:] + after


def running(*texts: str) -> str:
    """The texts as one, each joined to those before it and none with white space at its ends."""
    whole = ""
    for text in texts:
        whole = "".join(joined(whole, text)) if text.strip() else whole
    return whole


def _base(text: str) -> str:
    """The last character of a text that is no accent or vowel sign on another."""
    return next((char for char in reversed(text) if unicodedata.category(char)[0] != "M"), text[-1])


# --- words


@dataclass(frozen=True, slots=True)
class Piece:
    """A word of a text, or a character where words do not stand apart, and its place: `text[start:end]`."""

    text: str
    start: int
    end: int

    @property
    def is_character(self) -> bool:
        return without_blanks(self.text[0])


def pieces(text: str, *, signs: bool = False) -> list[Piece]:
    """The words of a text in order, letters and digits of any script with their accents; with `signs` other marks too.

    A script without blanks gives its characters, each with the signs that stand on it.
    """
    if text.isascii():
        pattern = _ASCII_WORDS_AND_SIGNS if signs else _ASCII_WORDS
        return [Piece(match[0], *match.span()) for match in pattern.finditer(text)]
    spans: list[Piece] = []
    start = -1  # of the word that is being read
    for place, char in enumerate(text):
        kind = _kind(char)
        if start >= 0 and kind in ("word", "mark") and not (kind == "word" and without_blanks(text[start])):
            continue
        if start >= 0 and kind == "joiner" and _kind(text[place + 1 : place + 2] or " ") in ("word", "mark"):
            continue
        if start >= 0:
            spans.append(Piece(text[start:place], start, place))
            start = -1
        if kind in ("word", "character"):
            start = place
        elif signs and kind in ("sign", "mark"):
            spans.append(Piece(char, place, place + 1))
    if start >= 0:
        spans.append(Piece(text[start:], start, len(text)))
    return spans


@lru_cache(maxsize=4096)
def _kind(char: str) -> str:
    """What a character is: of a word, a character of its own, a mark on another, a joiner, a sign or a blank."""
    if without_blanks(char) and unicodedata.category(char)[0] in "LN":
        return "character"
    category = unicodedata.category(char)
    if category[0] in "LN":
        return "word"
    if category[0] == "M":
        return "mark"
    if char in "\u200c\u200d\u00ad":  # between letters of one word in Persian, Hindi; a hyphen that is not seen
        return "joiner"
    return "blank" if char.isspace() or char == "\u200b" else "sign"


def words(text: str) -> list[str]:
    """The words of a text for comparison, without regard to case and to how accents are encoded."""
    return [fold(piece.text) for piece in pieces(unicodedata.normalize("NFC", text))]


def fold(word: str) -> str:
    """A word as it is compared: composed, small, without joiners."""
    bare = "".join(char for char in word if _kind(char) != "joiner")
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", bare).casefold())


def fold_text(text: str) -> str:
    """A text as it is looked for: composed, small, with single blanks."""
    return " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).split())


def characters(text: str) -> list[str]:
    """The characters of a text that are no white space, for texts without any word."""
    return [char for char in unicodedata.normalize("NFC", text).casefold() if not char.isspace()]


def by_characters(tokens: Iterable[str]) -> bool:
    """Whether some of these are characters of a script that does not part its words."""
    return any(without_blanks(token[0]) for token in tokens)


def comparable(first: str, second: str) -> tuple[Sequence[str], Sequence[str], bool]:
    """What two texts are compared by, and whether these are characters: where words do not stand apart, or none is."""
    left, right = words(first), words(second)
    if not left and not right:
        return characters(first), characters(second), True
    return left, right, by_characters(left) or by_characters(right)
