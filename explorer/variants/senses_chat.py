"""A chat model, local or behind an endpoint, that answers with the number of a definition (Basile et al. 2025)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from explorer.records import Request
from explorer.scoring.model import Generator
from explorer.variants.senses import Occurrence
from explorer.variants.senses_lm import choice_prompt

TOKENS = 8  # for a number
ANSWER = re.compile(r"\s*+(\d{1,3})\s*+[).]?\s*")


class ChatSense:
    """Scores 1 for the sense whose number was answered and 0 for the others; nan for all where no number came."""

    name = "chat"

    def __init__(self, generator: Generator) -> None:
        self._generator = generator

    def score(self, occurrences: Sequence[Occurrence]) -> list[tuple[float, ...]]:
        requests = []
        for i, occurrence in enumerate(occurrences):
            prompt = choice_prompt(occurrence)
            requests.append(Request(str(i), 0, f"{prompt}\nAnswer:", role="prompt", conversation=(("user", prompt),)))
        answers = self._generator.generate(requests, max_new_tokens=TOKENS) if requests else []
        return [
            _parse_scores(answer.text, len(occurrence.senses))
            for answer, occurrence in zip(answers, occurrences, strict=True)
        ]


def _parse_scores(text: str, senses: int) -> tuple[float, ...]:
    match = ANSWER.fullmatch(text)
    number = int(match.group(1)) if match else 0
    if not 1 <= number <= senses:
        return (math.nan,) * senses
    return tuple(float(k == number) for k in range(1, senses + 1))
