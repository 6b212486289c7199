"""Live scoring by several visitors at once: each waits its turn at the one model, and all are answered."""

from __future__ import annotations

import contextlib
import threading
import time

from explorer import stopping
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


def test_a_turn_is_given_in_the_order_in_which_it_was_asked_for_and_who_leaves_is_passed_over():
    row, came = stopping.InOrder(), []
    first = row.enter()
    left = threading.Event()

    def wait(name: str) -> None:
        def look() -> None:
            if name == "gone" and left.is_set():
                raise stopping.Stopped

        with contextlib.suppress(stopping.Stopped), stopping.until(look), stopping.turn(row):
            came.append(name)
            time.sleep(0.01)

    waiting = []
    for name in ("a", "gone", "b", "c", "d"):
        waiting.append(threading.Thread(target=wait, args=(name,)))
        waiting[-1].start()
        while len(row._row) < len(waiting) + 1:  # each in its place before the next comes
            time.sleep(0.001)
    left.set()
    waiting[1].join(30)
    row.leave(first)
    for thread in waiting:
        thread.join(30)
    assert came == ["a", "b", "c", "d"]
