"""Bytes → text: which encoding a user's file is in, how sure that is, and a question where it stays open.

UTF-8, UTF-16 and UTF-32 prove themselves; all older encodings read any bytes as some letters. There chardet rates the
candidates, and those whose text no writer would write (a capital in the middle of a word, two scripts in one word,
signs between letters) lose. Only a candidate clearly ahead of every other *text* is taken.
"""

from __future__ import annotations

import codecs
import dataclasses
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from explorer.benchmarks.tables.questions import Answer, Question
from explorer.errors import BenchmarkError

SAMPLE = 200_000  # bytes that are rated
AHEAD = 1.35  # how many times the score of the next other text makes a text sure
ODD = 5  # a fifth of odd characters makes a reading impossible
MOST_ODD = 0.1  # from there on a text is not taken, however far ahead it is
FEW = 6  # characters beyond ASCII, below which a text has to be further ahead
AHEAD_OF_FEW = 3.0
WEAKEST = 0.02  # a score below says nothing
SHOWN = 4  # candidates named in a question

BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What systems of today write; others have to be clearly better than these.
COMMON = (
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874", "cp932",
    "cp949", "gb18030", "big5", "big5hkscs", "euc_jp", "euc_kr", "shift_jis", "koi8-r", "koi8-u", "iso8859-1",
    "iso8859-2", "iso8859-5", "iso8859-7", "iso8859-8", "iso8859-9", "iso8859-13", "iso8859-15", "tis-620",
    "iso2022_jp", "iso2022_kr", "hz",
)  # fmt: skip
# No one saves tables in the encodings of mainframes; UTF-7 is plain ASCII to everyone else.
NEVER = re.compile(r"cp(037|273|424|500|875|1026|1140|720|1006|864|869)|utf.?7|ptcp154|kz1048")
UNCOMMON = 0.75
# Bytes that all Windows code pages give the same signs: … ‘ ’ “ ” • – — ™
SIGNS = re.compile(rb"[\x85\x91-\x97\x99]")
LOW = re.compile(rb"[\x80-\x9f]")  # letters in the encodings of DOS and Macintosh, signs in those of Windows
IN_PLACE = re.compile(
    rb"(?<=[A-Za-z])\x92(?=[A-Za-z\s.,;:!?\"]|$)|(?:(?<=[\s(,;\t|\"\x91\x93])|^)[\x91\x93](?=\w)"
    rb"|(?<=[\w.,!?'\"\x92\x94])[\x92\x94](?=[\s.,;:!?)|\t\"\x92\x94]|$)|(?<=\s)[\x96\x97\x95](?=\s)"
    rb"|(?<=[0-9])\x96(?=[0-9])|(?<=\w)\x97(?=\w)|(?<=\w)[\x85\x99](?=[\s,;.\t|\"]|$)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text, its encoding, and what speaks for it ("" where nothing had to be decided)."""

    text: str
    encoding: str
    why: str = ""


def decode(data: bytes, name: str, encoding: str = "") -> Decoded:
    """The text of a file; a Question where more than one encoding gives a text that somebody may have written."""
    if encoding:
        try:
            return Decoded(data.decode(encoding), encoding)
        except (UnicodeError, LookupError) as error:
            raise BenchmarkError(f"{name} cannot be read as {encoding} ({error}). Name another encoding.") from error
    for candidate in _certain_encodings(data):
        try:
            text = data.decode(candidate)
        except UnicodeError:
            continue
        if text.count("\0") > len(text) // 10:  # a program or a picture may decode all the same
            break
        return Decoded(text, candidate)
    else:  # none of them reads it
        if data.count(0) <= len(data) // 10:
            return _most_likely(data, name)
    raise BenchmarkError(f"{name} is no text file, expected CSV, TSV, JSON, JSON Lines or Parquet.")


def _certain_encodings(data: bytes) -> list[str]:
    """Encodings that would not decode by chance."""
    marked = [encoding for bom, encoding in BOMS if data.startswith(bom)]
    if marked:
        return marked[:1]
    if b"\x1b" in data and data.isascii():
        return []  # the ISO 2022 family is ASCII with escapes
    return _wide_encodings(data) or ["utf-8"]


def _wide_encodings(data: bytes) -> list[str]:
    """UTF-16 without a mark: line ends and blanks leave zero bytes, all on one side."""
    if b"\0" not in data or len(data) % 2:
        return []
    even, odd = data[:SAMPLE:2].count(0), data[1:SAMPLE:2].count(0)
    encoding = "utf-16-be" if even > odd else "utf-16-le"
    try:
        text = data.decode(encoding)
    except UnicodeError:
        return []
    controls = sum(unicodedata.category(sign) in ("Cc", "Cn", "Co") and sign not in "\t\r\n" for sign in text[:SAMPLE])
    return [encoding] if max(even, odd) > 4 * min(even, odd) and controls <= len(text[:SAMPLE]) // 50 else []


@dataclass(frozen=True, slots=True)
class _Candidate:
    encoding: str
    text: str  # of the sample
    score: float
    language: str


def _most_likely(data: bytes, name: str) -> Decoded:
    # Old encodings give a letter to nearly every byte, so that a wrong one rarely fails: it reads as other letters.
    # One is taken only where it is far ahead of the next that reads differently; of few such letters by still more.
    sample = _sample(data)
    candidates = _by_text(candidate for candidate in _candidates(sample) if _decodes(data, candidate.encoding))
    best, second = (*candidates[:2], None, None)[:2]
    ahead = AHEAD if best and sum(ord(sign) > 127 for sign in best.text) >= FEW else AHEAD_OF_FEW
    if (
        best
        and best.score >= WEAKEST
        and _oddness(best.text) < MOST_ODD
        and not (second and best.score < ahead * second.score)
    ):
        language = f", the text looks {best.language}" if best.language else ""
        others = f"; next {second.encoding} with {second.score / best.score:.0%} of its score" if second else ""
        return Decoded(data.decode(best.encoding), best.encoding, f"detected as {best.encoding}{language}{others}")
    likely = [
        candidate
        for rank, candidate in enumerate(candidates)
        if best and (rank < 3 or candidate.score > best.score / 3)
    ]
    answers = [Answer(candidate.encoding, repr(_telling_line(candidate.text))) for candidate in likely[:SHOWN]]
    raise Question(
        "encoding",
        f"{name} is no UTF-8, and which older encoding it is in cannot be told for sure",
        answers,
    )


def _candidates(sample: bytes) -> list[_Candidate]:
    """Each encoding that reads the sample, the likeliest first."""
    import chardet

    # Bytes from 0x80 to 0x9f are signs in the encodings of Windows and letters in those of DOS and the Macintosh. Where
    # all of them stand where a curly quote or a dash would (don’t, “word”), the file is of Windows.
    windows = bool(SIGNS.search(sample)) and not LOW.search(IN_PLACE.sub(b"", sample))
    candidates = []
    for guess in chardet.detect_all(sample, ignore_threshold=True, compat_names=False, max_bytes=SAMPLE):
        encoding = _standard_name(str(guess["encoding"] or ""))
        if not encoding or NEVER.fullmatch(encoding) or (windows and not re.fullmatch(r"cp125\d|cp\d{3}", encoding)):
            continue
        if windows and not encoding.startswith("cp125"):
            continue
        try:
            text = sample.decode(encoding)
        except UnicodeError:
            continue
        weight = 1.0 if encoding in COMMON else UNCOMMON
        score = float(guess["confidence"]) * weight * max(0.0, 1 - ODD * _oddness(text))
        candidates.append(_Candidate(encoding, text, score, str(guess["language"] or "")))
    if windows and not candidates:
        candidates.append(_Candidate("cp1252", sample.decode("cp1252", "replace"), 1.0, ""))
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.encoding not in COMMON))


@cache
def _standard_name(encoding: str) -> str:
    """One name for an encoding that has several; Latin-1 and its like as the Windows pages that hold all of them."""
    try:
        encoding = codecs.lookup(encoding).name
    except LookupError:
        return ""
    return {"iso8859-1": "cp1252", "latin-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}.get(encoding, encoding)


def _by_text(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    """The candidates, the likeliest first; of those with the same text only the most usual, with the best score."""
    groups: dict[str, list[_Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.text, []).append(candidate)
    best = [
        dataclasses.replace(
            min(group, key=_rank_of_common),
            score=max(candidate.score for candidate in group),
            language=group[0].language,
        )
        for group in groups.values()
    ]
    return sorted(best, key=lambda candidate: -candidate.score)


def _rank_of_common(candidate: _Candidate) -> int:
    return COMMON.index(candidate.encoding) if candidate.encoding in COMMON else len(COMMON)


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeError:
        return False
    return True


def _sample(data: bytes) -> bytes:
    """The lines that are not plain ASCII, as many as are rated; they alone tell encodings apart."""
    if b"\x1b" in data or b"~{" in data:
        return data[:SAMPLE]
    lines, size = [], 0
    for line in data.splitlines(keepends=True):
        if not line.isascii():
            lines.append(line)
            size += len(line)
            if size > SAMPLE:
                break
    return b"".join(lines)


def _telling_line(text: str) -> str:
    """The first line with other letters than ASCII, cut to what a message can show."""
    line = next((line for line in text.splitlines() if not line.isascii()), text)
    at = next((position for position, sign in enumerate(line) if ord(sign) > 127), 0)
    return line[max(0, at - 20) : at + 40].strip()


def _oddness(text: str) -> float:
    """The share of characters beyond ASCII that stand as no writer sets them."""
    beyond = odd = 0
    for position, sign in enumerate(text):
        if ord(sign) < 128:
            continue
        beyond += 1
        before = text[position - 1] if position else " "
        after = text[position + 1] if position + 1 < len(text) else " "
        odd += _is_odd(before, sign, after)
    return odd / beyond if beyond else 0.0


# "café" in a wrong encoding reads as "cafŽ", "cafщ" or "caf‚": a capital behind a small letter, two scripts in a word,
# a sign among letters. What a writer of any language may set is left alone, also where it is rare.
def _is_odd(before: str, sign: str, after: str) -> bool:
    category = unicodedata.category(sign)
    if category[0] == "C":  # a control character, or none at all
        return True
    if category[0] == "L":
        if sign.isupper() and before.islower():  # cafÉ
            return True
        if sign.islower() and after.isupper() and not before.isalpha():  # éCOLE
            return True
        if before.isalpha() and after.isdigit():  # aé5
            return True
        if sign.islower() and before.isupper() and after.isupper():  # CAFéS
            return True
        return any(neighbor.isalpha() and not _may_touch(sign, neighbor) for neighbor in (before, after))
    if category == "Sk":
        return sign not in "´`^¨"
    if category[0] in "SN" or category in ("Po", "Pd", "Pi", "Pf", "Ps", "Pe"):
        between = before.isalpha() and after.isalpha()
        return between and sign not in "’'‐-–—·´ʼ" and _script(before) != "CJK"
    return False


def _may_touch(first: str, second: str) -> bool:
    scripts = {_script(first), _script(second)}
    return len(scripts) == 1 or "CJK" in scripts or "" in scripts


@cache
def _script(sign: str) -> str:
    name = unicodedata.name(sign, "")
    first = name.partition(" ")[0]
    if first in ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "FULLWIDTH", "KATAKANA-HIRAGANA", "IDEOGRAPHIC"):
        return "CJK"
    return "" if first in ("MICRO", "FEMININE", "MASCULINE", "MODIFIER") else first
