"""The locks hold every package of the requirements, at its version, with checksums; and they are what is tested."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("requirements-base.lock", "requirements-cuda.lock", "requirements-cpu.lock")
AGAIN = "run .ci/lock"


def entries(name: str) -> dict[str, tuple[str, str, list[str]]]:
    """Package → version, marker and checksums."""
    text = (ROOT / name).read_text(encoding="utf-8")
    found = re.findall(
        r"^([\w.-]+)==([\w.+!-]+)(?: ; ([^\\\n]+?))?((?:\s+\\?\s*--hash=sha256:[0-9a-f]{64})+)", text, re.M
    )
    return {
        _plain(package): (version, marker, re.findall(r"[0-9a-f]{64}", hashes))
        for package, version, marker, hashes in found
    }


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    found = [re.match(r"([\w.-]+)(?:\[\w+\])?==([\w.]+)", line) for line in lines]
    return {_plain(match[1]): match[2] for match in found if match}


ALL = {**entries("requirements-base.lock"), **entries("requirements-cuda.lock")}


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-cluster.txt", "requirements-dev.txt"])
def test_every_requirement_is_locked_at_its_version(file):
    wrong = {name: version for name, version in pins(file).items() if ALL.get(name, ("none",))[0] != version}
    assert not wrong, f"{AGAIN}: {wrong} differ from the lock"


@pytest.mark.parametrize("file", LOCKS)
def test_every_line_of_a_lock_has_a_checksum(file):
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    named = [line for line in lines if re.match(r"[\w.-]+==", line)]
    assert len(entries(file)) == len(named) >= 1


def test_what_runs_these_tests_is_what_is_locked():
    wrong = {}
    for name, (version, marker, _) in ALL.items():
        try:
            found = importlib.metadata.version(name).partition("+")[0]
        except importlib.metadata.PackageNotFoundError:
            continue  # of another platform, or of CUDA
        if found != version and "python_full_version" not in marker:
            wrong[name] = f"{found}, locked is {version}"
    assert not wrong, f"install with --require-hashes -r requirements.lock, or {AGAIN}: {wrong}"


def test_the_build_without_cuda_is_of_the_same_version():
    version = entries("requirements-cpu.lock")["torch"][0]
    assert version.partition("+")[0] == ALL["torch"][0] == pins("requirements.txt")["torch"]


def test_the_package_asks_for_ranges_in_which_the_tested_versions_lie():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ranges = {_plain(one.name): one.specifier for one in map(Requirement, project["dependencies"])}
    tested = pins("requirements.txt")
    assert ranges.keys() == tested.keys()
    wrong = {name: tested[name] for name, range_of in ranges.items() if not range_of.contains(tested[name])}
    assert not wrong, f"outside the ranges of pyproject.toml: {wrong}"
    for name, range_of in ranges.items():
        assert {one.operator for one in range_of} == {">=", "<"}, f"{name} needs a lower and an upper bound"


def test_ci_checks_the_code_and_then_runs_the_readme_s_command():
    _, _, after = (ROOT / "README.md").read_text(encoding="utf-8").partition("<!-- test command -->\n```bash\n")
    command, _, _ = after.partition("\n```")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    steps = [line for line in script.splitlines() if line and not line.startswith("#")]
    assert steps[-1] == command and "pytest" in command
    install = [part.replace('"', "") for part in steps[-6:-4]]
    assert install == command.split(" && ")[:2]
    assert steps[-4:-1] == [".venv/bin/ruff format --check", ".venv/bin/ruff check", ".venv/bin/mypy"]
    assert "set -euo pipefail" in steps


def test_the_tests_and_the_readme_install_from_the_lock():
    command = "pip install -q --require-hashes -r ${LOCK-requirements.lock}"
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "LOCK=requirements-cpu.lock" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
