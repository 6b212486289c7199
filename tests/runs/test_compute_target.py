"""Where a run is done: what is refused in one sentence, and that its id does not know of it."""

from __future__ import annotations

import importlib.util
import json

import pytest

from explorer.__main__ import main
from explorer.errors import UsageError
from explorer.records import RunSpec
from explorer.runs import bucket
from explorer.runs import compute_target as where
from explorer.runs.compute_target import RAY, THIS_MACHINE, ComputeTarget
from explorer.runs.folder import RunFolder
from explorer.settings import ROOT

SPEC = RunSpec("accuracy", 1, "toy", "pairs")
REQUIREMENTS = (ROOT / "requirements-cluster.txt").read_text(encoding="utf-8")


@pytest.fixture
def with_ray(monkeypatch) -> None:
    """As if ray were installed, or as it is."""
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name if name == "ray" else found(name))


def test_the_messages_name_the_versions_of_the_requirements():
    assert f"ray=={RAY}" in REQUIREMENTS
    assert f"s3fs=={bucket.S3FS}" in REQUIREMENTS


def test_a_place_is_kept_in_the_folder_and_changes_no_id(settings):
    folder = RunFolder.create(settings.runs, SPEC)
    assert where.read_target(folder) == THIS_MACHINE
    there = ComputeTarget("ray://head:10001", "s3://bucket/prefix", workers=8)
    where.save_target(folder, there)
    assert where.read_target(folder) == there
    assert RunFolder.create(settings.runs, SPEC).run_id == folder.run_id
    assert "cluster" not in (folder.path / "spec.json").read_text()


@pytest.mark.parametrize("text", ["", "[]", "\x00", '{"cluster": 3, "to": null, "workers": "x"}'])
def test_a_damaged_file_means_this_machine(settings, text):
    folder = RunFolder.create(settings.runs, SPEC)
    (folder.path / "where.json").write_text(text)
    assert where.read_target(folder) == THIS_MACHINE


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        (ComputeTarget(to="s3://bucket/x"), "Give --cluster"),
        (ComputeTarget("head"), "expected auto, here, or an address"),
        (ComputeTarget("ray://a b:1"), "expected auto, here, or an address"),
        (ComputeTarget("auto", workers=-1), "--workers is -1"),
        (ComputeTarget("auto", to="bucket/x"), "expected an address like s3://bucket/prefix"),
        (ComputeTarget("auto", to="s3://"), "expected an address like s3://bucket/prefix"),
        (ComputeTarget("auto", to="https://host/x"), "can only be read"),
        (ComputeTarget("auto", to="nosuch://bucket/x"), "cannot be opened"),
        (ComputeTarget("auto", to="sftp://me:secret@host/x"), "Put keys into the environment"),
    ],
)
def test_a_place_that_cannot_be_meant_is_refused_in_one_sentence(with_ray, place, problem):
    with pytest.raises(UsageError, match=problem) as caught:
        where.checked_target(place)
    assert "secret@" not in str(caught.value)


def test_without_ray_the_message_says_what_to_install(monkeypatch, settings, capsys):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ray" else found(name))
    asked = ["run", "accuracy", "--benchmark", "starter_pairs", "--cluster", "auto", "--cache", str(settings.cache)]
    assert main(asked) == 1
    assert f"pip install ray=={RAY}" in capsys.readouterr().err
    assert not settings.runs.exists()


def test_resume_takes_a_new_place_and_else_keeps_the_old(monkeypatch, with_ray, settings, capsys):
    from explorer.runs import queue

    started = []
    monkeypatch.setattr(queue, "start_worker", lambda settings, folder: started.append(where.read_target(folder)))
    folder = RunFolder.create(settings.runs, SPEC)
    command = ["resume", folder.run_id, "--detach", "--json", "--cache", str(settings.cache)]
    assert main([*command, "--cluster", "auto", "--workers", "2"]) == 0
    assert main(command) == 0
    assert main([*command, "--cluster", "here"]) == 0
    assert started == [ComputeTarget("auto", workers=2), ComputeTarget("auto", workers=2), THIS_MACHINE]
    assert json.loads(capsys.readouterr().out.split("}\n")[0] + "}")["status"] == "started"
