"""Short greedy answers by the model of this process for another one, which knows when an answer ends.

What ends an answer is known where its text is: there what was written beyond is dropped. Here as many tokens as are
asked for are written, whatever they say, and the card never waits for somebody to look at one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from explorer.scoring.engine.contract import Answer, Decoder, Ids, Stats, StopRules
from explorer.scoring.engine.decoder import CachedDecoder
from explorer.scoring.engine.prefixes import group

NO_NUMBER = -1  # stands for a token where the model gave no number
UNENDING = StopRules(frozenset(), (), None, lambda ids: "")


class ShortAnswers:
    """Answers prompts with a decoder."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._stats = Stats()

    def begin(self, prompts: Sequence[tuple[Ids, int]]) -> Callable[[], list[list[int]]]:
        """Queues the tokens that go on from each prompt, as many as its limit; what is given waits for them."""
        answers = [Answer(prompt, limit, UNENDING) for prompt, limit in prompts]
        sequences = [prompt for prompt, _ in prompts]
        waiting: list[Callable[[], None]] = []
        most = max((limit for _, limit in prompts), default=0)
        for together in group(sequences, self._decoder.pass_tokens * most):
            members = [answers[member] for member in together.members]
            prefix = sequences[together.members[0]][: together.depth]
            if isinstance(self._decoder, CachedDecoder):
                waiting.append(self._decoder.begin(prefix, members, self._stats, _nobody_asks))
            else:
                self._decoder.write(prefix, members, self._stats, _nobody_asks)

        def finish() -> list[list[int]]:
            for wait in waiting:
                wait()
            return [[*answer.ids, *([NO_NUMBER] if answer.finish == "failed" else [])] for answer in answers]

        return finish


def _nobody_asks(count: int) -> None:
    """Progress is told when a batch is there."""
