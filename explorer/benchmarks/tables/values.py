"""What the values of a column tell: texts, numbers, judgments of acceptability."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any

from explorer.benchmarks.tables.gold import is_unlabeled
from explorer.benchmarks.tables.names import NEGATIVE, bare_name
from explorer.benchmarks.tables.text import look_alike

GOOD = ("1", "1.0", "true", "t", "yes", "y", "good", "g", "ok", "acceptable", "grammatical", "correct", "right",
        "plausible", "valid", "pass", "+", "✓", "√", "well-formed")  # fmt: skip
BAD = ("0", "0.0", "false", "f", "no", "n", "bad", "b", "*", "unacceptable", "ungrammatical", "incorrect", "wrong",
       "implausible", "invalid", "fail", "#", "x", "✗", "ill-formed", "-")  # fmt: skip
PLAIN = ("1", "1.0", "true", "t", "yes", "y", "0", "0.0", "false", "f", "no", "n")  # say nothing without the name
ALIKE = 0.5  # how much two sentences of a pair share at least, on average


def is_empty(value: Any) -> bool:
    """Whether a cell holds nothing."""
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def is_text(values: Sequence[Any]) -> bool:
    """Whether a column holds texts: most cells have several words, or many letters of a script without blanks."""
    texts = [value.strip() for value in values if isinstance(value, str) and value.strip()]
    if not texts or len(texts) < 0.5 * sum(not is_empty(value) for value in values):
        return False
    if any(number(text) is None for text in texts[:200]) is False:
        return False
    long = sum(len(text.split()) >= 2 or (not text.isascii() and len(text) >= 6) for text in texts)
    return long > 0.5 * len(texts) and median(len(text) for text in texts) >= 4


def number(value: Any) -> float | None:
    """The number a cell holds, none where it is none."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        amount = float(str(value).strip().replace(",", ".") if isinstance(value, str) else value)
    except (TypeError, ValueError, OverflowError):
        return None
    return amount if math.isfinite(amount) else None


def acceptable_value(name: str, values: Sequence[Any]) -> tuple[str, str] | None:
    """(the value that means acceptable, the other) of a column of judgments; none where its values tell nothing."""
    counts = Counter(written(value) for value in values)
    if len(counts) == 3:  # a "?" or -1 is no judgment; a blank beside two others neither
        counts = Counter({value: count for value, count in counts.items() if not is_unlabeled(value)})
    if len(counts) != 2:
        return None
    first, second = counts
    if "" in counts:  # linguists mark only what is bad
        mark = second if first == "" else first
        return ("", mark) if mark in ("*", "#", "✗") else None
    good = [value for value in counts if value.lower() in GOOD]
    bad = [value for value in counts if value.lower() in BAD]
    if len(good) != 1 or len(bad) != 1 or {value.lower() for value in counts} == {"x", "y"}:  # any two names
        return None
    turned = NEGATIVE.fullmatch(bare_name(name)) and good[0].lower() in PLAIN and bad[0].lower() in PLAIN
    return (bad[0], good[0]) if turned else (good[0], bad[0])


def written(value: Any) -> str:
    """A cell as text, without outer blanks; "" where it holds nothing."""
    return "" if is_empty(value) else str(value).strip()


def says_acceptability(name: str, values: Sequence[Any]) -> bool:
    """Whether a column of judgments is about acceptability and not any two classes."""
    words = {written(value).lower() for value in values}
    plain = bare_name(name)
    is_called_so = any(part in plain for part in ("accept", "gramma", "judg", "wellformed", "illformed", "star"))
    return is_called_so or bool(words & {"*", "acceptable", "unacceptable", "grammatical", "ungrammatical"})


def by_turns(sentences: Sequence[str], judgments: Sequence[bool] | None = None) -> bool:
    """Whether each two rows are versions of one sentence and, where judged, one good and one bad."""
    if len(sentences) < 2 or len(sentences) % 2:
        return False
    if judgments and any(judgments[i] == judgments[i + 1] for i in range(0, len(judgments), 2)):
        return False
    pairs = list(zip(sentences[::2], sentences[1::2], strict=False))[:500]
    within = sum(look_alike(*pair) for pair in pairs) / len(pairs)
    across = list(zip(sentences[1::2], sentences[2::2], strict=False))[:500]
    between = sum(look_alike(*pair) for pair in across) / len(across) if across else 0.0
    return within >= ALIKE and (within > between or judgments is not None)
