"""Does a language model say that two sentences mean the same? The prompts of the lexical-popularity paper.

System and user prompt are those of its appendix A.3, word for word; there Llama 3.1 8B judged 50 pairs of each subtask.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from explorer.records import Request
from explorer.scoring.model import Generator, Progress

SYSTEM = (
    "You are a strict semantic evaluator. Your only task is to determine whether two sentences express the same "
    "meaning. Consider only their meaning, not style. If they convey the same meaning, output exactly: same. If they "
    "do not, output exactly: different. There might be some unusual words, but this will not affect your judgement "
    "negatively, and in this case you should output same. Synonyms are ok. Do not output anything else."
)
USER = (
    'Compare the following two sentences:\nSentence A: "{first}" Sentence B: "{second}"\n'
    "Do they convey the same meaning? Respond with only\none word: same or different."
)
SAMPLE = 50  # pairs a group
TOKENS = 8

Answer = Literal["same", "different", "unparsed"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge said about a pair: one of two words, or "unparsed" for anything else, and the raw answer."""

    answer: Answer
    raw: str


def judge_prompt(first: str, second: str) -> tuple[tuple[str, str], ...]:
    """The conversation that asks about two sentences."""
    return (("system", SYSTEM), ("user", USER.format(first=first.strip(), second=second.strip())))


def judge_requests(pairs: Sequence[tuple[str, str]], ids: Sequence[str] = ()) -> list[Request]:
    """A request per pair; `context` is the same conversation as plain text, for models without a chat template."""
    names = ids or [str(i) for i in range(len(pairs))]
    requests = []
    for name, (first, second) in zip(names, pairs, strict=True):
        turns = judge_prompt(first, second)
        text = "\n\n".join(content for _, content in turns)
        requests.append(Request(name, 0, f"{text}\nAnswer:", role="prompt", conversation=turns))
    return requests


def judge_pairs(
    pairs: Sequence[tuple[str, str]], generator: Generator, *, seed: int = 0, progress: Progress | None = None
) -> list[Verdict]:
    """The judge's verdict on each pair of sentences, greedily decoded."""
    if not pairs:
        return []
    answers = generator.generate(judge_requests(pairs), max_new_tokens=TOKENS, seed=seed, progress=progress)
    return [Verdict(parse_verdict(answer.text), answer.text or answer.reason) for answer in answers]


def parse_verdict(raw: str) -> Answer:
    """The verdict in an answer that is exactly one of the two words, capitals, blanks and a full stop aside."""
    word = raw.strip().removesuffix(".").lower()
    return word if word in ("same", "different") else "unparsed"  # type: ignore[return-value]


def share_same(verdicts: Iterable[Verdict]) -> tuple[float, int, int]:
    """The share of "same" among the parsed verdicts (nan without any), how many were parsed, and how many were not."""
    answers = [verdict.answer for verdict in verdicts]
    parsed = [answer for answer in answers if answer != "unparsed"]
    share = sum(answer == "same" for answer in parsed) / len(parsed) if parsed else float("nan")
    return share, len(parsed), len(answers) - len(parsed)


def sample_by_group(
    items: Sequence[T], *, key: Callable[[T], str], group: Callable[[T], str], size: int = SAMPLE, seed: int = 0
) -> list[T]:
    """At most `size` items of each group, drawn by seed and key alone, in the order given."""

    # By a hash of its own key an item keeps its rank whatever the others are: a larger sample holds the smaller one,
    # and an item more in the benchmark changes at most one of those drawn.
    def rank(item: T) -> bytes:
        return hashlib.sha256(f"{seed}\x1f{key(item)}".encode()).digest()

    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(group(item), []).append(item)
    drawn = {key(item) for members in groups.values() for item in sorted(members, key=rank)[:size]}
    return [item for item in items if key(item) in drawn]
