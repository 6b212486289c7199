"""Several processes do a run between them, stop when the time is up, and what they made comes together again."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest

from explorer.errors import RunError
from explorer.resources import Resources
from explorer.rows.schema import TABLES
from explorer.runs import request, shards, worker
from explorer.runs.folder import RunFolder

LATER = float("inf")


@pytest.fixture
def resources(settings) -> Resources:
    return Resources(settings)


@pytest.fixture
def spec(resources, tiny_gpt2):
    return request.make_spec(
        resources, study="accuracy", model=str(tiny_gpt2), benchmark="starter_causes", limit=40, dtype="float32"
    )


@pytest.fixture
def unbroken(settings, resources, spec, tmp_path) -> RunFolder:
    """The run done by one worker, kept where nobody looks."""
    folder = RunFolder.create(settings.runs, spec)
    assert worker.work(folder, resources, print, wait=False) == "complete"
    return RunFolder(shutil.move(folder.path, tmp_path / folder.run_id))


def is_the_same(one: RunFolder, other: RunFolder) -> bool:
    for table in TABLES:
        pd.testing.assert_frame_equal(one.read(table), other.read(table), rtol=1e-5, atol=1e-5)
    return True


def test_shares_make_together_what_one_worker_makes(settings, resources, spec, unbroken):
    folder = RunFolder.create(settings.runs, spec)
    for number in (2, 0, 1):
        assert shards.run_parts(folder, resources, number, 3, LATER)
    shards.summarize(folder, resources)
    assert folder.progress().status == "complete"
    assert is_the_same(folder, unbroken)


def test_a_run_is_not_concluded_before_its_parts_are_there(settings, resources, spec):
    folder = RunFolder.create(settings.runs, spec)
    assert shards.run_parts(folder, resources, 1, 2, LATER)
    with pytest.raises(RunError, match="lacks the instances 0 to 19"):
        shards.summarize(folder, resources)


def test_no_part_is_begun_after_the_time_and_the_next_call_goes_on(settings, resources, spec, unbroken):
    folder = RunFolder.create(settings.runs, spec)
    clock = iter(range(1000))
    assert not shards.run_parts(folder, resources, 0, 1, until=4, now=lambda: float(next(clock)))
    assert 0 < folder.progress().done < 40
    assert shards.run_parts(folder, resources, 0, 1, LATER)
    shards.summarize(folder, resources)
    assert is_the_same(folder, unbroken)


def test_parts_made_in_two_places_are_merged_and_none_counts_twice(settings, resources, spec, unbroken, tmp_path):
    places = []
    for number, last in enumerate((25, 40)):
        folder = RunFolder.create(settings.runs, spec)
        shards.run_parts(folder, resources, 0, 1, LATER) if last == 40 else shards.run_parts(
            folder, resources, 0, 2, LATER
        )
        places.append(tmp_path / f"place {number}")
        places[-1].mkdir()
        shutil.move(folder.path, places[-1] / folder.run_id)
    for place in places:
        assert shards.merge(place, settings.runs) == [unbroken.run_id]
    merged = RunFolder.find(settings.runs, unbroken.run_id)
    assert shards.run_parts(merged, resources, 0, 1, LATER)
    shards.summarize(merged, resources)
    assert is_the_same(merged, unbroken)


def test_a_finished_run_is_merged_with_its_conclusions(settings, unbroken, tmp_path):
    shards.merge(unbroken.path.parent, settings.runs)
    merged = RunFolder.find(settings.runs, unbroken.run_id)
    assert merged.progress().status == "complete"
    assert merged.environment == unbroken.environment
    assert is_the_same(merged, unbroken)


def test_a_folder_under_a_wrong_name_is_refused(settings, unbroken, tmp_path):
    shutil.move(unbroken.path, tmp_path / "accuracy-000000000000")
    with pytest.raises(RunError, match="holds the spec of"):
        shards.merge(tmp_path, settings.runs)
