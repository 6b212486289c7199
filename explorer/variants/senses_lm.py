"""A causal language model as judge of senses: the definition it expects, or the number it would write.

`choice` is the multiple-choice form of Basile et al. (2025), on whose fine-tuned model the popularity paper
relies. `pmi` subtracts what a definition would get without the sentence: short and common ones score well anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from explorer.records import Request
from explorer.scoring.model import Scorer
from explorer.variants.senses import Occurrence
from explorer.writing import joined


def choice_prompt(occurrence: Occurrence) -> str:
    """The numbered definitions and the sentence, as the fine-tuned model was asked (Basile et al. 2025)."""
    numbered = "\n".join(f"{number}) {sense.definition}" for number, sense in enumerate(occurrence.senses, 1))
    return (
        f'Given the word "{occurrence.word}" in the input sentence, choose the correct meaning from the following:\n'
        f'{numbered}\n\nGenerate only the number of the selected option. Input: "{occurrence.sentence.strip()}"'
    )


class PmiSense:
    """Scores a sense by log P(definition | sentence, word) - log P(definition | word), in nats."""

    name = "lm"

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer

    def score(self, occurrences: Sequence[Occurrence]) -> list[tuple[float, ...]]:
        def with_sentence(occurrence: Occurrence) -> str:
            return f'Sentence: "{occurrence.sentence.strip()}" In this sentence, the word "{occurrence.word}" means:'

        def without(occurrence: Occurrence) -> str:
            return f'The word "{occurrence.word}" means:'

        in_sentence = _score_definitions(self._scorer, occurrences, with_sentence)
        anywhere = _score_definitions(self._scorer, occurrences, without)
        return [
            tuple(x - y for x, y in zip(row, base, strict=True))
            for row, base in zip(in_sentence, anywhere, strict=True)
        ]


class ChoiceSense:
    """Scores a sense by the log-probability, in nats, that its number follows the multiple-choice prompt."""

    name = "lm-choice"

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer

    def score(self, occurrences: Sequence[Occurrence]) -> list[tuple[float, ...]]:
        rows = [
            [
                Request(str(i), k, f"{choice_prompt(occurrence)}\nAnswer:", f" {k + 1}", "label")
                for k in range(len(occurrence.senses))
            ]
            for i, occurrence in enumerate(occurrences)
        ]
        return _score_rows(self._scorer, rows)


def _score_definitions(
    scorer: Scorer, occurrences: Sequence[Occurrence], context: Callable[[Occurrence], str]
) -> list[tuple[float, ...]]:
    rows = [
        [
            Request(str(i), k, *joined(context(occurrence), sense.definition))
            for k, sense in enumerate(occurrence.senses)
        ]
        for i, occurrence in enumerate(occurrences)
    ]
    return _score_rows(scorer, rows)


def _score_rows(scorer: Scorer, rows: Sequence[Sequence[Request]]) -> list[tuple[float, ...]]:
    """All rows scored in one call, so that the scorer can batch them."""
    scores = iter(scorer.score([request for row in rows for request in row]))
    return [tuple(next(scores).sum for _ in row) for row in rows]
