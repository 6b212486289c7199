"""What the hub's own cache holds of a model, and its removal."""

from pathlib import Path

import pytest

from explorer.scoring import hub_cache

FIRST, SECOND = "1" * 40, "2" * 40


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with two commits of a/b that share a file, and one of another model."""
    for name, commit, files in (
        ("a--b", FIRST, {"config.json": "shared", "model.safetensors": "first"}),
        ("a--b", SECOND, {"config.json": "shared", "model.safetensors": "second"}),
        ("a--c", FIRST, {"model.safetensors": "other"}),
    ):
        repo = tmp_path / f"models--{name}"
        (repo / "blobs").mkdir(parents=True, exist_ok=True)
        (repo / "refs").mkdir(exist_ok=True)
        snapshot = repo / "snapshots" / commit
        snapshot.mkdir(parents=True)
        for file, blob in files.items():
            (repo / "blobs" / blob).write_bytes(blob.encode() * 10)
            (snapshot / file).symlink_to(repo / "blobs" / blob)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.utils._cache_manager.HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def test_the_commits_of_a_model_are_found_by_its_name_with_or_without_a_revision(cache):
    assert hub_cache.commits("a/b") == hub_cache.commits("a/b@step1") == {FIRST, SECOND}
    assert hub_cache.commits("a/d") == hub_cache.commits("/some/folder") == frozenset()


def test_only_the_commits_named_go_and_what_another_shares_stays(cache):
    assert hub_cache.remove("a/b", {SECOND, "3" * 40}) == 60  # "second" ten times; config.json is shared
    assert hub_cache.commits("a/b") == {FIRST}
    assert (cache / "models--a--b" / "snapshots" / FIRST / "config.json").read_bytes() == b"shared" * 10
    assert hub_cache.commits("a/c") == {FIRST}


def test_removing_nothing_frees_nothing(cache):
    assert hub_cache.remove("a/b", set()) == hub_cache.remove("a/d", {FIRST}) == 0


def test_a_machine_without_such_a_cache_has_no_commits(cache, monkeypatch):
    monkeypatch.setattr("huggingface_hub.utils._cache_manager.HF_HUB_CACHE", str(cache / "none"))
    assert hub_cache.commits("a/b") == frozenset()
