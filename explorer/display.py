"""Numbers, p-values and names as people read them: one way on pages, in figures, in tables and on paper.

A minus is as long as a plus (U+2212), a percent sign follows its number without a blank, counts have thousands
separators, and what could not be measured is a dash; the column beside it or the help says why.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Sequence

MINUS = "−"
MISSING = "–"
LEAST_P = 0.001  # a smaller p-value is printed as "< 0.001"
DIGITS = 4  # significant ones of a column's largest number
MOST_DECIMALS = 6
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_COMPARED = re.compile(rf"(?<=\w) ([=<>≤≥]) (?=[\d.+{MINUS}{MISSING}])")
_NAMED = re.compile(rf"\b(rho|AUC|McNemar's) (?=[\d{MINUS}p])")
SHORT_ID = 6  # the last signs of a run's id, which tell two runs of one minute apart


def number(value: float, decimals: int = 2, *, signed: bool = False) -> str:
    """The number with so many decimals; with `signed` a plus before positive ones, none where it rounds to zero."""
    if math.isnan(value):
        return MISSING
    shown = "∞" if math.isinf(value) else f"{abs(value):,.{decimals}f}"
    if math.isfinite(value) and not any(digit in shown for digit in "123456789"):
        return shown
    return f"{MINUS if value < 0 else '+' if signed else ''}{shown}"


def share(value: float, low: float = math.nan, high: float = math.nan, *, decimals: int = 1) -> str:
    """A share in percent, with its interval where there is one that says something (see `interval`)."""
    if math.isnan(value):
        return MISSING
    ends = f" (95% interval {share(low)} to {share(high)})" if low < high else ""
    return f"{number(100 * value, decimals)}%{ends}"


def interval(low: float, high: float) -> str:
    """The ends of a 95% interval in a sentence, or that there is none.

    Where every resample has the same value, its two ends say nothing of how sure the value is.
    """
    if low == high:
        return "no interval, since every resample has this value"
    return f"95% interval {number(low)} to {number(high)}" if low < high else "no interval"


def probability(value: float) -> str:
    """A probability in percent, with digits that still say something when it is small."""
    return share(value) if value >= 0.001 else power_of_ten(value)


def points(value: float, decimals: int = 1) -> str:
    """A difference of shares in percentage points, with its sign."""
    return number(100 * value, decimals, signed=True)


def nats(value: float, decimals: int = 2, *, signed: bool = False) -> str:
    """A log-probability or a margin with its unit."""
    return MISSING if math.isnan(value) else f"{number(value, decimals, signed=signed)} nats"


def count(value: float) -> str:
    """A count with thousands separators."""
    return number(value, 0)


def counted(many: int, noun: str, several: str = "") -> str:
    """A count with its noun: "1 instance", "2,800 instances"; `several` where an s is not enough."""
    return f"{many:,} {noun if many == 1 else several or noun + 's'}"


def none_or(many: int) -> str:
    """A count in a sentence, where "in 0" would be read twice: "none"."""
    return f"{many:,}" if many else "none"


def compact(value: float) -> str:
    """A large number in millions or billions: 270M, 1.4B."""
    if math.isnan(value):
        return MISSING
    unit, sign = next(((unit, sign) for unit, sign in ((1e9, "B"), (1e6, "M"), (1e3, "K")) if value >= unit), (1, ""))
    return f"{value / unit:.1f}".removesuffix(".0") + sign


def significant(value: float, digits: int = DIGITS) -> str:
    """A number of any unit with the digits that matter; a very small one as a power of ten."""
    if value and math.isfinite(value) and abs(value) < 10**-digits:
        return power_of_ten(value)
    return number(value, decimals([value], digits))


def power_of_ten(value: float, decimals: int = 1) -> str:
    """A very large or small number: 2.1 × 10⁻⁹."""
    first, _, power = f"{abs(value):.{decimals}e}".partition("e")
    return f"{MINUS if value < 0 else ''}{first} × 10{str(int(power)).translate(RAISED)}"


def decimals(values: Iterable[float], digits: int = DIGITS) -> int:
    """The decimals with which the largest of the numbers has so many significant digits; none where all are whole."""
    known = [abs(value) for value in values if math.isfinite(value)]
    largest = max(known, default=0.0)
    if largest == 0 or all(value == int(value) for value in known):
        return 0
    return min(MOST_DECIMALS, max(0, digits - 1 - math.floor(math.log10(largest))))


def p_value(p: float) -> str:
    """A p-value as papers print it: three decimals, "< 0.001" below."""
    return f"< {LEAST_P:g}" if p < LEAST_P else number(p, 3)


def p_in_words(p: float) -> str:
    """A p-value for a sentence: "p = 0.020", "p < 0.001"."""
    shown = p_value(p)
    return f"p = {shown}" if shown[0].isdigit() else f"p {shown}"


def unbroken(text: str) -> str:
    """The text with no line of it ending within "p = 0.020", "n = 600" or "rho 0.5"."""
    text = _COMPARED.sub("\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", text)
    return _NAMED.sub("\\1\N{NO-BREAK SPACE}", text)


def above_zero(p: float) -> float:
    """A p-value for a file: none is 0, even where the number is too small to be written."""
    return p if math.isnan(p) else max(p, sys.float_info.min)


def short_id(run_id: str) -> str:
    """The end of a run's id, for a list whose entries say more than the id does."""
    return run_id[-SHORT_ID:]


def words(text: str) -> str:
    """A stored name (of a group, condition or setting) as words: without underscores."""
    return text.replace("_", " ").strip()


def instance(instance_id: str) -> str:
    """The group of an instance in words, and its name there, from its id; its benchmark is named elsewhere."""
    *groups, name = (instance_id.partition("/")[2] or instance_id).split("/")
    return " · ".join([*map(words, groups), name])


def listed(parts: Sequence[str]) -> str:
    """Names one after the other: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def remarked(name: str, remark: str) -> str:
    """A name with a remark in parentheses, in the same ones where it has some: "Pythia 12B (deduped, imported)"."""
    if not remark:
        return name
    return f"{name[:-1]}, {remark})" if name.endswith(")") else f"{name} ({remark})"


def name(text: str, most: int = 44) -> str:
    """A name with its middle left out where it is longer than `most` characters: its ends tell names apart."""
    if len(text) <= most:
        return text
    head = (most - 1) * 2 // 3
    return f"{text[:head]}…{text[-(most - 1 - head) :]}"
