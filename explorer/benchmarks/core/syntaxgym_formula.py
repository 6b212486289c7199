"""SyntaxGym's prediction formulas: text → tree → true or false, given the surprisal of every region.

    formula    = conjunction { "|" conjunction }
    conjunction = comparison { "&" comparison }
    comparison = sum [ ("<" | ">" | "=") sum ]
    sum        = term { ("+" | "-") term }
    term       = number | region | "(" formula ")" | "[" formula "]" | "-" term
    region     = "(" (number | "*") ";" "%" condition "%" ")"        "*" is all regions of the condition

Sums are numbers (nats), comparisons are true or false, and neither can stand in the other's place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from explorer.errors import BenchmarkError

EQUAL_WITHIN = 1e-3  # nats; two sums of log-probabilities are never equal to the last bit
MOST_PARTS = 500  # signs, brackets and terms; a longer tree could not be walked

Surprisals = Mapping[tuple[str, int], float]  # (condition, region number from 1) → nats


@dataclass(frozen=True, slots=True)
class Number:
    value: float


@dataclass(frozen=True, slots=True)
class Region:
    """The surprisal of one region of a condition, or of all (number None)."""

    number: int | None
    condition: str


@dataclass(frozen=True, slots=True)
class Minus:
    term: Sum


@dataclass(frozen=True, slots=True)
class Arithmetic:
    sign: Literal["+", "-"]
    left: Sum
    right: Sum


@dataclass(frozen=True, slots=True)
class Comparison:
    sign: Literal["<", ">", "="]
    left: Sum
    right: Sum


@dataclass(frozen=True, slots=True)
class Logic:
    sign: Literal["&", "|"]
    left: Formula
    right: Formula


Sum = Number | Region | Minus | Arithmetic
Formula = Comparison | Logic
Node = Sum | Formula


def parse_formula(text: str) -> Formula:
    """The tree of a formula; a BenchmarkError names the place of a mistake."""
    parser = _Parser(text)
    if len(parser.tokens) > MOST_PARTS:
        raise BenchmarkError(
            f"The formula {text[:40]!r}... has {len(parser.tokens):,} parts, too deep or too many to be read; expected "
            f"at most {MOST_PARTS}."
        )
    try:
        node = parser.formula()
    except RecursionError as error:
        raise BenchmarkError(f"The formula {text[:40]!r}... nests its brackets too deep to be read.") from error
    parser.expect_end()
    return parser.as_formula(node, 0)


def holds(formula: Formula, surprisals: Surprisals, equal_within: float = EQUAL_WITHIN) -> bool:
    """Whether the formula is known to be true; "=" is true of two sums at most `equal_within` nats apart."""
    return is_true(formula, surprisals, equal_within) is True


def is_true(formula: Formula, surprisals: Surprisals, equal_within: float = EQUAL_WITHIN) -> bool | None:
    """Whether the formula is true; None where that hangs on a surprisal that is unknown (nan or infinite).

    A conjunction with a part that fails is false, and a disjunction with one that holds is true, whatever the rest is.
    Inequalities are strict, as published: two equal sums fail either way. A region that the surprisals lack is a
    BenchmarkError.
    """
    if isinstance(formula, Logic):
        parts = [is_true(part, surprisals, equal_within) for part in (formula.left, formula.right)]
        decisive = formula.sign == "|"
        return decisive if decisive in parts else None if None in parts else not decisive
    left, right = value_in_nats(formula.left, surprisals), value_in_nats(formula.right, surprisals)
    if not math.isfinite(left) or not math.isfinite(right):
        return None
    if formula.sign == "=":
        return abs(left - right) <= equal_within
    return left < right if formula.sign == "<" else left > right


def value_in_nats(node: Sum, surprisals: Surprisals) -> float:
    """The value of a sum, in nats."""
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Minus):
        return -value_in_nats(node.term, surprisals)
    if isinstance(node, Arithmetic):
        left, right = value_in_nats(node.left, surprisals), value_in_nats(node.right, surprisals)
        return left + right if node.sign == "+" else left - right
    values = [
        value
        for (condition, number), value in surprisals.items()
        if condition == node.condition and node.number in (None, number)
    ]
    if not values:
        conditions = ", ".join(sorted({condition for condition, _ in surprisals}))
        raise BenchmarkError(
            f"The formula asks for {render(node)}, which the item lacks; its conditions are {conditions}."
        )
    return math.fsum(values)


def tests_equality(formula: Formula) -> bool:
    """Whether "=" stands in the formula: its truth then rests on a tolerance."""
    if isinstance(formula, Logic):
        return tests_equality(formula.left) or tests_equality(formula.right)
    return formula.sign == "="


def regions_of(node: Node) -> list[Region]:
    """The regions a formula speaks of, in the order of their first mention."""
    if isinstance(node, Region):
        return [node]
    if isinstance(node, Number):
        return []
    if isinstance(node, Minus):
        return regions_of(node.term)
    return list(dict.fromkeys(regions_of(node.left) + regions_of(node.right)))


def render(node: Node) -> str:
    """The node as text, every part of it in brackets; parsing that gives the node again."""
    if isinstance(node, Number):
        return format(Decimal(repr(node.value)), "f") if node.value != int(node.value) else str(int(node.value))
    if isinstance(node, Region):
        return f"({'*' if node.number is None else node.number};%{node.condition}%)"
    if isinstance(node, Minus):
        return f"-{_bracketed(node.term)}"
    return f"{_bracketed(node.left)} {node.sign} {_bracketed(node.right)}"


def _bracketed(node: Node) -> str:
    return render(node) if isinstance(node, Number | Region) else f"[{render(node)}]"


_TOKEN = re.compile(
    r"""\s*(?:
        (?P<region>\(\s*(?P<number>\d{1,9}|\*)\s*;\s*%(?P<condition>[^%]+)%\s*\))
      | (?P<value>\d{1,15}(?:\.\d{1,15})?)
      | (?P<sign>[-+<>=&|()\[\]])
    )""",
    re.VERBOSE | re.ASCII,
)
_CLOSING = {"(": ")", "[": "]"}


@dataclass(frozen=True, slots=True)
class _Token:
    place: int  # index of its first character
    text: str  # a sign, or "" for a term
    term: Sum | None = None


class _Parser:
    """Recursive descent, one method a rule of the grammar; each returns a node and leaves `self.at` behind it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = self._split()
        self.at = 0

    def formula(self) -> Node:
        return self._logic("|")

    def _logic(self, sign: Literal["&", "|"]) -> Node:
        start = self._place()
        node = self._comparison() if sign == "&" else self._logic("&")
        while self._sign() == sign:
            self.at += 1
            begin = self._place()
            right = self._comparison() if sign == "&" else self._logic("&")
            node = Logic(sign, self.as_formula(node, start), self.as_formula(right, begin))
        return node

    def _comparison(self) -> Node:
        start = self._place()
        left = self._sum()
        sign = self._sign()
        if sign not in ("<", ">", "="):
            return left
        self.at += 1
        begin = self._place()
        node = Comparison(sign, self._as_sum(left, start), self._as_sum(self._sum(), begin))  # type: ignore[arg-type]
        if self._sign() in ("<", ">", "="):
            raise self._mistake("a comparison of a comparison", "& between the two")
        return node

    def _sum(self) -> Node:
        start = self._place()
        node = self._term()
        while (sign := self._sign()) in ("+", "-"):
            self.at += 1
            begin = self._place()
            node = Arithmetic(sign, self._as_sum(node, start), self._as_sum(self._term(), begin))  # type: ignore[arg-type]
        return node

    def _term(self) -> Node:
        if self.at >= len(self.tokens):
            raise self._mistake("the end", "a region, a number or a bracket")
        token = self.tokens[self.at]
        self.at += 1
        if token.term is not None:
            return token.term
        if token.text == "-":
            begin = self._place()
            return Minus(self._as_sum(self._term(), begin))
        if token.text in _CLOSING:
            node = self.formula()
            if self._sign() != _CLOSING[token.text]:
                raise self._mistake(self._next(), f"{_CLOSING[token.text]} for the {token.text} at {token.place + 1}")
            self.at += 1
            return node
        self.at -= 1
        raise self._mistake(self._next(), "a region, a number or a bracket")

    def expect_end(self) -> None:
        if self.at < len(self.tokens):
            raise self._mistake(self._next(), "a sign or the end")

    def as_formula(self, node: Node, position: int) -> Formula:
        if isinstance(node, Comparison | Logic):
            return node
        raise _mistake(self.text, position, "a number", "something true or false, like a comparison")

    def _as_sum(self, node: Node, position: int) -> Sum:
        if isinstance(node, Comparison | Logic):
            raise _mistake(self.text, position, "a comparison", "a number")
        return node

    def _split(self) -> list[_Token]:
        tokens, at, end = [], 0, len(self.text.rstrip())
        while at < end:
            match = _TOKEN.match(self.text, at)
            if not match:
                position = at + len(self.text[at:]) - len(self.text[at:].lstrip())
                raise _mistake(
                    self.text, position, repr(self.text[position]), "a region like (6;%plaus%), a number or a sign"
                )
            tokens.append(_to_token(match, match.start(match.lastgroup or 0)))
            at = match.end()
        return tokens

    def _sign(self) -> str:
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def _next(self) -> str:
        return self.tokens[self.at].text or "a term" if self.at < len(self.tokens) else "the end"

    def _place(self) -> int:
        return self.tokens[self.at].place if self.at < len(self.tokens) else len(self.text)

    def _mistake(self, actual: str, expected: str) -> BenchmarkError:
        return _mistake(self.text, self._place(), actual, expected)


def _to_token(match: re.Match[str], position: int) -> _Token:
    if match["region"]:
        number = None if match["number"] == "*" else int(match["number"])
        return _Token(position, "", Region(number, match["condition"]))
    if match["value"]:
        return _Token(position, "", Number(float(match["value"])))
    return _Token(position, match["sign"])


def _mistake(text: str, position: int, actual: str, expected: str) -> BenchmarkError:
    return BenchmarkError(f"The formula {text!r} has {actual} at character {position + 1}, expected {expected}.")
