"""Ontology runs of a hundred terms whose worker is killed in the middle of a part, again and again."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from explorer.resources import Resources
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from explorer.scoring.http_calls import Limits
from tests import forked
from tests.forked import Forked

pytestmark = pytest.mark.slow

TERMS = 100
WORDS = ("heart", "valve", "cell", "bone", "growth", "repair", "membrane", "left", "early", "acid", "transport", "fold")


@pytest.fixture
def ontology(tmp_path: Path) -> Path:
    """A table of terms with counts, the labels all different."""
    chance = random.Random(5)
    rows = [f"TOY:{i:07d};{' '.join(chance.sample(WORDS, 3))} {i};0;{chance.randrange(40)}\n" for i in range(TERMS)]
    path = tmp_path / "toy.csv"
    path.write_text("".join(rows), "utf-8")
    return path


def new_run(settings, model: str, ontology: Path, **given: Any) -> RunFolder:
    spec = make_spec(
        Resources(settings), study="ontology", model=model, benchmark=str(ontology), dtype="float32", settings=given
    )
    return RunFolder.create(settings.runs, spec)


def worker(settings, folder: RunFolder) -> Forked:
    return forked.explorer("work", folder.run_id, "--cache", str(settings.cache))


def kill_when(process: Forked, ready: Any) -> bool:
    """Kills the process as soon as `ready` says so; False where it was done before."""
    deadline = time.monotonic() + 120
    while process.poll() is None and not ready() and time.monotonic() < deadline:
        time.sleep(0.005)
    if process.poll() is not None:
        return False
    process.send_signal(signal.SIGKILL)
    process.wait()
    return True


def finish(settings, folder: RunFolder) -> None:
    log = settings.cache / "log.txt"
    done = forked.explorer("work", folder.run_id, "--cache", str(settings.cache), log=log)
    assert done.wait(180) == 0, log.read_text("utf-8")
    assert folder.progress().status == "complete"


def assert_every_row_is_there_once(folder: RunFolder, answers: int) -> None:
    """`answers` to each concept."""
    instances = folder.read("instances")
    assert instances["position"].tolist() == list(range(TERMS))
    assert instances["instance_id"].is_unique
    for table, key in (("generations", "request"), ("scores", "request")):
        rows = folder.read(table)
        assert not rows.duplicated(["instance_id", key]).any()
    generations = folder.read("generations")
    assert (generations.groupby("instance_id").size() == answers).all()
    assert generations["instance_id"].nunique() == TERMS
    measures = folder.read("measures")
    assert not measures.duplicated(["instance_id", "measure", "language", "option"]).any()


def test_a_killed_run_of_a_model_keeps_its_parts_and_does_the_rest(settings, tiny_gpt2, ontology):
    given = {"prompt": "chat", "languages": "en,it", "samples": 1, "others": 3, "buckets": 5}
    folder = new_run(settings, str(tiny_gpt2), ontology, **given)
    kills = 0
    stamps: dict[Path, int] = {}
    for _ in range(2):
        before = len(folder.finished())
        process = worker(settings, folder)
        # A part more is stored, and the one after it is in hand.
        killed = kill_when(process, lambda before=before: len(folder.finished()) > before)
        kills += killed
        for path, stamp in stamps.items():
            assert path.stat().st_mtime_ns == stamp, "a finished part was made again"
        stamps = {path: path.stat().st_mtime_ns for path in folder.parts.glob("*.done")}
    assert kills
    assert folder.unfinished(TERMS)
    finish(settings, folder)
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in stamps.items())
    assert_every_row_is_there_once(folder, answers=3)
    whole = new_run(_beside(settings), str(tiny_gpt2), ontology, **given)
    assert whole.run_id == folder.run_id
    assert work(whole, Resources(_beside(settings)), print, wait=False) == "complete"
    columns = ["instance_id", "request", "text", "verdict"]
    assert _sorted(folder.read("generations"))[columns].equals(_sorted(whole.read("generations"))[columns])


def _beside(settings):
    return type(settings)(cache=settings.cache.parent / "whole", offline=True)


def _sorted(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values(["instance_id", "request"], ignore_index=True)


def test_a_killed_run_of_an_endpoint_asks_nothing_twice_that_was_answered(settings, ontology, letters):
    folder = new_run(settings, letters.name, ontology, prompt="completion", samples=1, others=2, buckets=5)
    in_flight: Counter[str] = Counter()
    # In the middle of the first part's answers, of its scores, and later on.
    for mark in (11, 40, 120, 260):
        process = worker(settings, folder)
        if kill_when(process, lambda mark=mark: len(letters.asked) >= mark):
            time.sleep(0.1)  # what was under way arrives
            # Answered by the server, but perhaps not heard any more: each may be asked once more.
            in_flight.update(set(letters.asked[-2 * Limits().concurrency :]))
    assert in_flight
    with folder.path.joinpath("answers.jsonl").open("a", encoding="utf-8") as file:
        file.write('["half a li')
    finish(settings, folder)
    assert_every_row_is_there_once(folder, answers=2)
    twice = {prompt: times - 1 for prompt, times in Counter(letters.asked).items() if times > 1}
    assert all(times <= in_flight[prompt] for prompt, times in twice.items())
    # An answer and a sample, the right id and two others; the sampled id, and every id after a label that says nothing.
    expected = TERMS * (2 + 3)
    distinct = len(set(letters.asked))
    assert expected < distinct <= expected + 2 * TERMS
    assert len(letters.asked) - distinct <= sum(in_flight.values())
    # Started again though it is complete, it asks nothing at all.
    asked = len(letters.asked)
    for path in folder.parts.glob("*.done"):
        path.unlink()
    finish(settings, folder)
    assert len(letters.asked) == asked
