"""What the hub's own cache on this machine holds of a model, and its removal."""

from __future__ import annotations

from collections.abc import Iterable


def commits(model: str) -> frozenset[str]:
    """The commits of a hub model that are on this machine, none for a folder or an endpoint; asks no network."""
    return frozenset(revision.commit_hash for revision in _revisions(model))


def all_commits() -> frozenset[str]:
    """Every commit of every hub model that is on this machine; asks no network."""
    return frozenset(revision.commit_hash for repo in _repositories() for revision in repo.revisions)


def remove(model: str, commit_hashes: Iterable[str]) -> int:
    """Removes these commits of a hub model and what no other commit shares with them; bytes that were freed."""
    from huggingface_hub import scan_cache_dir

    present = commits(model) & set(commit_hashes)
    if not present:
        return 0
    strategy = scan_cache_dir().delete_revisions(*present)
    strategy.execute()
    return int(strategy.expected_freed_size)


def _revisions(model: str) -> Iterable:  # type: ignore[type-arg]  # of huggingface_hub's CachedRevisionInfo
    name = model.partition("@")[0]
    return next((repo.revisions for repo in _repositories() if repo.repo_id == name), ())


def _repositories() -> list:  # type: ignore[type-arg]  # of huggingface_hub's CachedRepoInfo
    from huggingface_hub import scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        return [repo for repo in scan_cache_dir().repos if repo.repo_type == "model"]
    except CacheNotFound:
        return []
