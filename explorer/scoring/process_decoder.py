"""Short greedy answers written where the model is: in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from explorer.scoring.engine.contract import Answer, Ids, Stats
from explorer.scoring.model_process import ModelProcess


class ProcessDecoder:
    """A decoder for greedy answers of at most MAX_SHORT_ANSWER tokens; what prompts share is found out there."""

    pass_tokens = 1 << 30  # nothing is gained by grouping here

    def __init__(self, model: ModelProcess) -> None:
        self._model = model

    def write(self, prefix: Ids, answers: Sequence[Answer], stats: Stats, done: Callable[[int], None]) -> None:
        """Completes the answers; what was written after an answer's end is dropped."""
        assert all(answer.temperature == 0 for answer in answers), "drawn answers are written where the draws are"
        limits = [answer.max_new_tokens for answer in answers]
        tokens = self._model.begin_writing([answer.prompt for answer in answers], limits)(None)
        for answer, written in zip(answers, tokens, strict=True):
            any(answer.add(token) for token in written)
        done(len(answers))
