"""Requests are encoded and scored in stretches; where they end changes no number and no order."""

from __future__ import annotations

import pytest

from explorer.records import Request
from explorer.scoring import hf
from explorer.scoring import score as scoring


def test_short_stretches_give_the_same_scores_in_the_same_order(settings, tiny_gpt2, monkeypatch):
    model = hf.load(str(tiny_gpt2), settings)
    requests = [
        Request(f"t/{item}", option, "The cats " * item, f"sleep near the {word}.")
        for item in range(6)
        for option, word in enumerate(("stove", "lamp"))
    ]
    told: list[int] = []
    whole = scoring.score(model, requests)
    monkeypatch.setattr(scoring, "STRETCH_CHARACTERS", 1)
    parted = scoring.score(model, requests, progress=lambda done, total: told.append(done))
    assert len(list(scoring._stretches(requests))) == 6
    assert [one.request for one in parted] == requests
    assert [one.sum for one in parted] == pytest.approx([one.sum for one in whole], abs=1e-3)
    assert told == sorted(told) and told[-1] == len(requests)


def test_no_requests_give_no_scores(settings, tiny_gpt2):
    assert scoring.score(hf.load(str(tiny_gpt2), settings), []) == []
