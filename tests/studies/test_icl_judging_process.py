"""Completions judged in another process are judged as here; whatever ends that process is told."""

from __future__ import annotations

import dataclasses
import os
import signal

import pytest

from explorer import stopping
from explorer.errors import RunError
from explorer.resources import Resources
from explorer.scoring import child_process, own_process
from explorer.studies.icl import judging, steps
from explorer.studies.icl.judging_process import JudgingProcess
from tests.forked import FORKED

REFERENCES = ["Ada Lovelace wrote 3 letters to Bo.", "the cat sleeps near the stove", "nothing alike at all"]
COMPLETIONS = ["Ada Lovelace wrote 3 letters to Cy.", "the cat sleeps near the stove", ""]

pytestmark = pytest.mark.slow


@pytest.fixture
def judge(settings, monkeypatch):
    """What makes a process that judges; each is ended behind the test."""
    monkeypatch.setattr(child_process, "subprocess", FORKED)
    made = []

    def make(rouge=0.75, *, names=True):
        made.append(JudgingProcess(settings, rouge, 0.9, names=names))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.mark.parametrize("names", [True, False])
def test_verdicts_are_those_of_this_process(judge, settings, names):
    process = judge(names=names)
    own = judging.rule_of(Resources(settings), 0.75, 0.9, names=names)
    for first in range(2):  # what is asked second is not taken for what was asked first
        asked = REFERENCES[first:], COMPLETIONS[first:]
        for one, other in zip(process.judge(*asked), own.judge(*asked), strict=True):
            one, other = dataclasses.asdict(one), dataclasses.asdict(other)
            assert one.pop("cosine") == pytest.approx(other.pop("cosine"), abs=1e-5, nan_ok=True)
            assert one.pop("rouge") == pytest.approx(other.pop("rouge"), nan_ok=True)
            assert one == other


def test_a_process_that_is_killed_is_told_to_who_waits_and_who_asks_after(judge):
    process = judge()
    process.judge(REFERENCES, COMPLETIONS)
    os.kill(process._child.pid, signal.SIGKILL)
    for _ in range(2):
        with pytest.raises(RunError, match=r"judges completions ended by itself.*resume"):
            process.judge(REFERENCES, COMPLETIONS)


def test_what_is_wrong_with_what_judges_is_told_as_often_as_it_is_asked(judge):
    process = judge("much", names=False)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="TypeError"):
            process.judge(REFERENCES, COMPLETIONS)


def test_the_waiting_ends_when_a_run_is_stopped(judge):
    class Stopped(BaseException):
        pass

    def stop():
        raise Stopped

    process = judge()
    with pytest.raises(Stopped), stopping.until(stop):
        process.judge(REFERENCES, COMPLETIONS)


def test_a_run_is_judged_apart_only_beside_a_card(settings, monkeypatch):
    class Drawn:
        foreign = False

    from explorer.records import RunSpec

    spec = RunSpec("icl", 2, "gemma-3-270m", "", settings={"rouge": 0.75, "cosine": 0.9, "judge": ""})
    run = steps.IclRun(spec, Resources(settings), Drawn(), ())
    monkeypatch.setattr(own_process, "is_worthwhile", lambda: False)
    assert run.with_judges() is run
    monkeypatch.setattr(own_process, "is_worthwhile", lambda: True)
    monkeypatch.setattr(child_process, "subprocess", FORKED)
    cards, start = [], child_process._start
    monkeypatch.setattr(child_process, "_start", lambda module, card="": (cards.append(card), start(module, card))[1])
    apart = run.with_judges()
    assert cards == ["-1"]  # the model may fill the card
    try:
        assert apart.rule() is apart.apart
        assert [match.kind for match in apart.rule().judge(REFERENCES, COMPLETIONS)] == [
            match.kind for match in run.rule().judge(REFERENCES, COMPLETIONS)
        ]
    finally:
        apart.apart.close()
