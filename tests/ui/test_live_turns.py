"""Live scoring by several visitors at once: each waits its turn at the one model, and all are answered."""

from __future__ import annotations

import threading
import time

from explorer.scoring.score import ModelScorer
from explorer.ui import live, resources


def test_visitors_who_score_at_once_take_turns_and_are_all_answered(monkeypatch, tmp_path, tiny_gpt2):
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    inside, most = [], []
    score = ModelScorer.score

    def watched(self, *given, **named):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.02)
        try:
            return score(self, *given, **named)
        finally:
            inside.pop()

    monkeypatch.setattr(ModelScorer, "score", watched)
    pairs = resources.instances("starter_pairs").instances[:6]
    answers: dict[str, float] = {}

    def visit(pair) -> None:
        judged = live.judge(pair, str(tiny_gpt2), {})
        answers[pair.id] = judged.scores[0].sum

    visitors = [threading.Thread(target=visit, args=(pair,)) for pair in pairs]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join(60)
    assert set(answers) == {pair.id for pair in pairs} and all(value < 0 for value in answers.values())
    assert max(most) == 1
