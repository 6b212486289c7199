"""What a command imports: listing commands, studies and runs starts no package that only the work itself needs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from explorer.records import RunSpec
from explorer.runs.folder import RunFolder
from explorer.settings import PRECOMPUTED, ROOT
from explorer.studies import STUDIES

HEAVY = ("numpy", "pandas", "pyarrow", "scipy", "sklearn", "statsmodels", "torch", "transformers", "spacy", "streamlit")
CODE = """
import sys
from explorer.__main__ import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""


def imported(*line: str, **environment: str) -> set[str]:
    """The modules that a command has imported at its end."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, *line],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return set(done.stderr.split())


@pytest.mark.parametrize("line", [["--help"], ["--version"], ["run", "--help"], ["runs", "--help"]])
def test_help_imports_neither_a_heavy_package_nor_duckdb_nor_a_study(line):
    modules = imported(*line)
    assert not modules & {*HEAVY, "duckdb", "pydantic"}
    assert not modules & set(STUDIES.values())


def test_the_list_of_commands_imports_none_of_them():
    commands = {name for name in imported("--help") if name.startswith("explorer.commands.")}
    assert commands == {"explorer.commands.common", "explorer.commands.usage"}


def test_the_help_of_a_study_imports_no_other():
    modules = imported("run", "accuracy", "--help")
    assert modules & set(STUDIES.values()) == {STUDIES["accuracy"]}


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_runs_are_listed_without_a_heavy_package(settings, flags):
    folder = RunFolder.create(settings.runs, RunSpec("accuracy", 1, "gemma-3-270m", "starter_pairs"))
    folder.write_progress(status="complete", total=0)
    modules = imported("runs", *flags, "--cache", str(settings.cache), EXPLORER_PRECOMPUTED=str(PRECOMPUTED))
    assert not modules & set(HEAVY)


def test_a_table_is_imported_without_the_packages_of_models_and_taggers(settings, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("good,bad\n" + "It is here.,It are here.\n" * 3)
    modules = imported("import", str(path), "--name", "mine", "--kind", "pair", "--cache", str(settings.cache))
    assert "lemminflect.core.Lemmatizer" in modules, "the words were looked up"
    assert not modules & {"spacy", "torch", "transformers", "streamlit"}


@pytest.mark.parametrize("line", [("doctor",), ("models",), ("runs",)], ids=" ".join)
def test_a_python_without_the_packages_is_told_which_python_has_them(line, tmp_path):
    # Without site-packages, as the system's own Python is.
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n" + CODE, *line]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "EXPLORER_CACHE": str(tmp_path / "c")}
    )
    assert "Traceback" not in done.stderr and "unforeseen" not in done.stderr
    assert "is not installed for" in done.stderr and ".venv/bin/python -m explorer" in done.stderr
