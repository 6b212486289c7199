"""Rights of what is made: those of the umask, for any account."""

from __future__ import annotations

import ast
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer import sharing
from explorer.popularity.count_cache import CountCache
from explorer.runs import files

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(params=[0o002, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_and_folders_follow_the_umask(umask, tmp_path):
    files.write_json(tmp_path / "file.json", {})
    assert rights(tmp_path / "file.json") == 0o666 & ~umask
    assert rights(sharing.new_folder(tmp_path, ".work-")) == 0o777 & ~umask
    private = tmp_path / "private"
    private.touch(0o600)
    sharing.share(private)
    assert rights(private) == 0o666 & ~umask
    CountCache(tmp_path / "counts").close()
    assert {rights(path) for path in (tmp_path / "counts").iterdir()} == {0o666 & ~umask}


def test_a_file_that_is_replaced_gets_the_rights_of_a_new_one(umask, tmp_path):
    (tmp_path / "file.json").touch(0o600)
    files.write_json(tmp_path / "file.json", {})
    assert rights(tmp_path / "file.json") == 0o666 & ~umask


def test_a_lock_has_the_rights_of_its_folder(umask, tmp_path):
    tmp_path.chmod(0o770)
    with sharing.hold(tmp_path / ".lock"):
        assert rights(tmp_path / ".lock") == 0o660


def test_no_other_place_makes_files_or_locks_for_one_account_alone():
    # TemporaryDirectory is for what is read and thrown away.
    private = {"mkstemp", "mkdtemp", "NamedTemporaryFile", "FileLock", "SoftFileLock"}
    found = set()
    for path in sorted((ROOT / "explorer").rglob("*.py")):
        calls = [node.func for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
        for call in calls:
            name = call.attr if isinstance(call, ast.Attribute) else call.id if isinstance(call, ast.Name) else ""
            if name in private:
                found.add((path.relative_to(ROOT).as_posix(), name))
    assert found == {
        ("explorer/sharing.py", "FileLock"),
        ("explorer/runs/files.py", "FileLock"),  # looks whether one is held
        ("explorer/ui/gate/server.py", "mkstemp"),  # a secret
    }
