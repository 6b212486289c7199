"""Parts of a run made by several processes for one model: the same rows, plain errors, and no process left behind."""

from __future__ import annotations

import contextlib
import importlib
import os
import random
import signal
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import pandas as pd
import pytest

from explorer import processors
from explorer.popularity import index
from explorer.resources import Resources
from explorer.runs import head_start, own_cards, part_processes, worker
from explorer.runs import spec as specs
from explorer.runs.compute_target import ComputeTarget, save_target
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.scoring import child_process as child_module
from explorer.scoring import model_cards, own_process
from explorer.scoring.child_process import Child
from explorer.studies.study import Study
from tests.forked import FORKED
from tests.popularity.conftest import corpus

SETTINGS = {
    "accuracy": {"per_group": 8},
    "memorization": {"neighbours": 0, "per_group": 4, "more": "min_k_plus,recall"},
    "priming": {"per_group": 1, "lengths": (0, 40), "unrelated": "starter", "overlap": 0},
    "ontology": {"others": 3, "languages": ("en", "de")},
    "popularity": {"per_group": 8, "index": "small", "n": 2},
    "perturbation": {
        "per_group": 1,
        "index": "small",
        "n": 2,
        "senses": "lesk",
        "pos": ("N", "NV"),
        "draws": 2,
        "similarity": False,
    },
}
LIMITS = {
    "accuracy": None,
    "memorization": None,
    "priming": 12,
    "ontology": None,
    "popularity": None,
    "perturbation": 60,
}


FROM_NOTHING = "test_several_processes_make_the_rows_of_one[accuracy]"  # others are forked where imports are done


@pytest.fixture
def two_processes(monkeypatch, request):
    if request.node.name != FROM_NOTHING:
        monkeypatch.setattr(child_module, "subprocess", FORKED)
    monkeypatch.setattr(own_process, "is_worthwhile", lambda: True)
    monkeypatch.setattr(head_start, "count_for", lambda instances, cards: 2)


def run(settings, study: str, model: str, *, cluster: str = "", say=lambda text: None) -> RunFolder:
    resources = Resources(settings)
    benchmark = concepts(settings) if study == "ontology" else "starter_pairs"
    spec = make_spec(
        resources, study=study, model=model, benchmark=benchmark, dtype="float32", settings=SETTINGS[study],
        limit=LIMITS[study],
    )  # fmt: skip
    folder = RunFolder.create(settings.runs, spec)
    save_target(folder, ComputeTarget(cluster))
    worker.work(folder, resources, say, wait=False)
    return folder


def concepts(settings) -> str:
    """An ontology of 400 concepts."""
    path = settings.cache / "toy.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    chance = random.Random(3)
    rows = [f"TOY:{chance.randrange(10**7):07d};part {number} of a cell;0;{number % 40}\n" for number in range(400)]
    path.write_text("".join(rows), "utf-8")
    return str(path)


class _Counted(Child):
    """A part process, noted."""

    begun: ClassVar[list[Child]] = []

    def __init__(self, *given) -> None:
        super().__init__(*given)
        self.begun.append(self)


@pytest.fixture
def begun(monkeypatch):
    _Counted.begun = []
    monkeypatch.setattr(part_processes, "Child", _Counted)
    return _Counted.begun


@pytest.mark.slow
@pytest.mark.parametrize("study", SETTINGS)
def test_several_processes_make_the_rows_of_one(
    settings, tiny_gpt2, two_processes, monkeypatch, tmp_path, begun, request, study
):
    if study == "perturbation":
        wordnet = request.getfixturevalue("shared_settings").nltk_data
        settings.cache.mkdir(exist_ok=True)
        settings.nltk_data.symlink_to(wordnet, target_is_directory=True)
    if study != "accuracy":  # findings are made here, of the same rows; one study shows that such a run has them
        monkeypatch.setattr(Study, "summarize_run", lambda *given: [])
    if "index" in SETTINGS[study]:
        index.build(corpus, settings.indexes / "small", vocabulary=400)
    several = run(settings, study, str(tiny_gpt2))
    assert several.progress().status == "complete", several.progress().message
    assert len(begun) == 2 and all(child.how_it_ended() is not None for child in begun)
    more = {"ontology": ("generations",), "popularity": ("counts",), "perturbation": ("counts", "variants")}
    rows = {table: several.read(table) for table in ("scores", "measures", "instances", *more.get(study, ()))}
    (settings.runs / several.run_id).rename(tmp_path / "several")
    monkeypatch.setattr(own_process, "is_worthwhile", lambda: False)
    alone = run(settings, study, str(tiny_gpt2))
    assert len(begun) == 2 and alone.run_id == several.run_id and all(map(len, rows.values()))
    for table, frame in rows.items():
        pd.testing.assert_frame_equal(by_instance(frame), by_instance(alone.read(table)), rtol=1e-4, atol=1e-3)


@pytest.mark.slow
def test_a_run_that_draws_answers_does_not_ask_the_process_that_an_earlier_one_kept(settings, tiny_gpt2, two_processes):
    resources = Resources(settings)
    resources.keeps_process = True
    try:
        for choices, has_process in (({"others": 1}, True), ({"others": 1, "samples": 1}, False)):
            spec = make_spec(
                resources, study="ontology", model=str(tiny_gpt2), benchmark=concepts(settings), dtype="float32",
                settings=choices, limit=210,
            )  # fmt: skip
            folder = RunFolder.create(settings.runs, spec)
            assert worker.work(folder, resources, lambda text: None, wait=False) == "complete", (
                folder.progress().message
            )
            assert resources.has_process == has_process
    finally:
        resources.end_process()


@pytest.mark.slow
def test_parts_go_into_the_database_while_others_are_made(settings, tiny_gpt2, two_processes, monkeypatch):
    monkeypatch.setattr(worker, "INGESTED_AHEAD", 1)
    begun_at = []
    plain = Resources.ingest_as_made

    def ingest(resources, folder, *given):
        begun_at.append(len(folder.finished()))
        return plain(resources, folder, *given)

    monkeypatch.setattr(Resources, "ingest_as_made", ingest)
    folder = run(settings, "accuracy", str(tiny_gpt2))
    assert folder.progress().status == "complete" and begun_at[0] < len(folder.finished())
    with contextlib.closing(Resources(settings).store()) as store:
        for table in ("scores", "measures", "instances", "findings"):
            assert len(store.frame(f"SELECT * FROM {table}")) == len(folder.read(table))
        assert store.frame("SELECT status FROM runs")["status"].tolist() == ["complete"]


def by_instance(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of each instance in the order in which they were made: a part may hold one kind behind the other."""
    return frame.sort_values("instance_id", kind="stable", ignore_index=True)


@pytest.mark.slow
def test_a_process_that_is_killed_ends_the_run_in_one_sentence_and_resume_makes_it_whole(
    settings, tiny_gpt2, two_processes, monkeypatch, begun
):
    plain = part_processes.RangesToShare.take_range
    cuts = []

    def kill_at_the_third_part(self, size):
        cuts.append(size)
        if len(cuts) == 3:
            os.kill(begun[0].pid, signal.SIGKILL)
        return plain(self, size)

    monkeypatch.setattr(part_processes.RangesToShare, "take_range", kill_at_the_third_part)
    folder = run(settings, "accuracy", str(tiny_gpt2))
    assert folder.progress().status == "failed" and "ended by itself" in folder.progress().message
    assert not folder.damaged() and all(child.how_it_ended() is not None for child in begun)
    monkeypatch.setattr(part_processes.RangesToShare, "take_range", plain)
    folder = run(settings, "accuracy", str(tiny_gpt2))
    assert folder.progress().status == "complete"
    assert folder.read("instances")["instance_id"].is_unique and folder.unfinished(folder.progress().total) == []


@pytest.mark.slow
def test_what_is_wrong_in_a_part_process_is_said_as_it_would_be_here(settings, tiny_gpt2, two_processes, monkeypatch):
    resources = Resources(settings)
    spec = make_spec(resources, study="accuracy", model=str(tiny_gpt2), benchmark="starter_pairs", dtype="float32")
    told = specs.to_json(spec).replace(spec.data_hash, "0" * len(spec.data_hash))
    monkeypatch.setattr(part_processes, "specs", types.SimpleNamespace(to_json=lambda spec: told))
    folder = RunFolder.create(settings.runs, spec)
    worker.work(folder, resources, lambda text: None, wait=False)
    assert (
        folder.progress().status == "failed" and "The data of starter_pairs have the hash" in folder.progress().message
    )


@pytest.mark.slow
def test_a_cancelled_run_leaves_no_process_and_whole_parts_alone(
    settings, tiny_gpt2, two_processes, monkeypatch, begun
):
    plain = part_processes.RangesToShare.take_range

    def cancel(self, size):
        for folder in settings.runs.iterdir():
            RunFolder(folder).ask_to_cancel()
        return plain(self, size)

    monkeypatch.setattr(part_processes.RangesToShare, "take_range", cancel)
    folder = run(settings, "accuracy", str(tiny_gpt2))
    assert folder.progress().status == "cancelled" and not folder.damaged()
    assert all(child.how_it_ended() is not None for child in begun)


def test_ranges_are_handed_out_once_each_smaller_towards_the_end():
    ranges = part_processes.RangesToShare([(0, 99), (150, 1149)], processes=3, least=8)
    guard, handed_out = threading.Lock(), []

    def take(seed: int) -> None:
        draw = random.Random(seed)
        while (wanted := ranges.take_range(draw.choice([5, 50, 4096]))) is not None:
            with guard:
                handed_out.append(wanted)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(take, range(3)))
    spans = sorted(handed_out)
    assert [place for first, last in spans for place in range(first, last + 1)] == [*range(100), *range(150, 1150)]
    assert max(last - first + 1 for first, last in spans) <= 1100 // (part_processes.PARTS_PER_PROCESS * 3)


@pytest.mark.parametrize(
    ("cores", "quota", "gigabytes", "instances", "count"),
    [
        (2, "", 64, 9999, 0), (4, "", 64, 9999, 0), (8, "", 64, 9999, 3), (64, "", 64, 9999, 6), (64, "", 64, 20, 0),
        (64, "", 7, 9999, 3), (64, "", None, 9999, 6), (64, "max 100000", 64, 9999, 6),
        (64, "200000 100000", 64, 9999, 0), (64, "850000 100000", 64, 9999, 3), (8, "6400000 100000", 64, 9999, 3),
    ],
)  # fmt: skip
def test_so_many_processes_as_a_machine_and_a_run_are_worth(
    monkeypatch, tmp_path, cores, quota, gigabytes, instances, count
):
    monkeypatch.setattr(processors, "CPU_QUOTA", tmp_path / "cpu.max")
    if quota:
        (tmp_path / "cpu.max").write_text(f"{quota}\n")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(cores)))
    monkeypatch.setattr(head_start, "free_ram", lambda: None if gigabytes is None else gigabytes << 30)
    assert head_start.count_for(instances) == count


@pytest.mark.slow
def test_on_the_cards_of_this_machine_a_run_is_done_without_ray_and_goes_on_when_a_process_is_killed(
    settings, tiny_gpt2, two_processes, monkeypatch, tmp_path, begun
):
    alone = run(settings, "accuracy", str(tiny_gpt2))
    rows = {table: alone.read(table) for table in ("scores", "measures", "instances")}
    (settings.runs / alone.run_id).rename(tmp_path / "alone")
    monkeypatch.setattr(own_process, "cards", lambda: ("0", "1"))
    monkeypatch.setattr(own_cards, "PROCESSES", tmp_path)  # no Ray is running
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)  # Ray is not installed
    plain = model_cards.ModelOnCards._give
    killed = []

    def kill_one_at_the_third(self, message):
        if message[1] == 3 and not killed:
            killed.append(self.pids["1"])
            os.kill(killed[0], signal.SIGKILL)
        plain(self, message)

    monkeypatch.setattr(model_cards.ModelOnCards, "_give", kill_one_at_the_third)
    said = []
    folder = run(settings, "accuracy", str(tiny_gpt2), cluster="auto", say=said.append)
    assert folder.run_id == alone.run_id and folder.progress().status == "complete", folder.progress().message
    assert "on 2 GPUs of this machine" in said and killed
    for table, frame in rows.items():
        pd.testing.assert_frame_equal(frame, folder.read(table), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(
    ("asked", "cards"),
    [
        ({}, ("0", "1", "2")),
        ({"workers": 2}, ("0", "1")),
        ({"workers": 1}, ()),
        ({"cluster": "10.0.0.1:6379"}, ()),
        ({"to": "s3://bucket/prefix"}, ()),
    ],
)
def test_the_cards_of_this_machine_are_for_auto_alone(monkeypatch, tmp_path, asked, cards):
    monkeypatch.setattr(own_cards, "PROCESSES", tmp_path)
    monkeypatch.setattr(own_process, "cards", lambda: ("0", "1", "2"))
    where = ComputeTarget(**{"cluster": "auto", **asked})
    assert own_cards.cards_of(where, "model", may_be_apart=True) == cards
    assert own_cards.cards_of(where, "model", may_be_apart=False) == ()
    assert own_cards.cards_of(where, "http://localhost:8000/v1#m", may_be_apart=True) == ()


def test_a_ray_that_is_running_is_used(monkeypatch, tmp_path):
    monkeypatch.setattr(own_process, "cards", lambda: ("0", "1"))
    monkeypatch.setattr(own_cards, "PROCESSES", tmp_path)
    (tmp_path / "17").mkdir()
    (tmp_path / "17" / "comm").write_text("bash\n", encoding="utf-8")
    assert own_cards.cards_of_auto() == ("0", "1")
    (tmp_path / "17" / "comm").write_text("gcs_server\n", encoding="utf-8")
    assert own_cards.cards_of_auto() == ()
