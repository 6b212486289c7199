"""Prediction invariance: does the answer stay when the question is put again? (Bombieri et al. 2024, section 4.3)"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.errors import OntologyError
from explorer.ontologies.contents import prefix_of, read_text
from explorer.ontologies.parse import IdRule, Outcome, bare, id_rule

_ID = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z]+:[0-9]{4,}(?!\d)")


# Where no answer holds an id of any kind, as when a model only refuses, every rule finds none.
NO_IDS = id_rule("GO", ())


@dataclass(frozen=True, slots=True)
class Invariance:
    """Over concepts: mean PI (1: always the same answer, 0: never twice), and how many always got the same answer."""

    mean_pi: float
    identical: int
    n: int


def prediction_invariance(answers: Sequence[str]) -> float:
    """PI = 1 - (U - 1) / (M - 1) of M answers to one concept, U of them distinct."""
    if len(answers) < 2:
        raise OntologyError(f"{len(answers)} answers a concept, expected at least 2: invariance compares answers.")
    return 1 - (len(set(answers)) - 1) / (len(answers) - 1)


def summarize(groups: Sequence[Sequence[str]]) -> Invariance:
    """The invariance of the concepts whose answers these are; nan over none."""
    values = [prediction_invariance(answers) for answers in groups]
    return Invariance(
        mean_pi=math.fsum(values) / len(values) if values else math.nan,
        identical=sum(len(set(answers)) == 1 for answers in groups),
        n=len(groups),
    )


def groups_of(answers: Sequence[str], repeats: int) -> list[tuple[str, ...]]:
    """Each concept's `repeats` consecutive answers; an error where some are left over."""
    if repeats < 2:
        raise OntologyError(f"{repeats} repeats a concept, expected at least 2: invariance compares answers.")
    if not answers or len(answers) % repeats:
        raise OntologyError(
            f"{len(answers):,} answers are no multiple of {repeats}, expected {repeats} consecutive lines a concept. "
            "Check the number of repeats, and that no answer runs over several lines."
        )
    return [tuple(answers[at : at + repeats]) for at in range(0, len(answers), repeats)]


def parsed(groups: Sequence[Sequence[str]], parse: Callable[[str], Outcome]) -> list[tuple[str, ...]]:
    """The groups with ids in place of answers; refusals are one answer, empty ones another, the rest stay as text."""

    def answer_of(text: str) -> str:
        outcome = parse(text)
        if outcome.kind in ("refusal", "empty"):
            return f"({outcome.kind})"
        return outcome.id or bare(text)

    return [tuple(map(answer_of, answers)) for answers in groups]


def read_answers(path: Path) -> list[str]:
    """The lines of a file of raw answers, line ends removed."""
    if not path.is_file():
        raise OntologyError(f"There is no file {path}, expected raw answers, one a line. Check the path.")
    lines = read_text(path).split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def rule_of(answers: Sequence[str], ids: Sequence[str] = ()) -> IdRule:
    """What an id looks like: as in `ids` where there are some, else as in most of the answers that hold one."""
    curies = [match[0] for match in map(_ID.search, answers) if match]
    source = list(ids) or curies
    if not source:
        return NO_IDS
    prefix = Counter(map(prefix_of, source)).most_common(1)[0][0]
    if not ids:
        # A model's slips must not become the rule: only the commonest number of digits counts.
        sizes = Counter(len(curie) for curie in curies if prefix_of(curie) == prefix)
        source = [curie for curie in curies if len(curie) == sizes.most_common(1)[0][0]]
    return id_rule(prefix, source)
