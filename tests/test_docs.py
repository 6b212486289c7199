"""The README names every page, benchmark, study and command; the changelog is kept."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from explorer.benchmarks import BENCHMARKS
from explorer.commands import COMMANDS
from explorer.studies import STUDIES

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*BENCHMARKS, *STUDIES, *(name for name in COMMANDS if name != "work")])
def test_the_readme_names_each_benchmark_study_and_command(name):
    assert f"`{name}`" in README


def test_the_readme_names_each_page():
    pages = [path.stem.replace("_", " ") for path in (ROOT / "pages").glob("*.py")]
    missing = [page for page in pages if page.lower() not in README.lower()]
    assert pages and not missing


def test_no_page_of_the_docs_is_a_dead_link():
    dead = []
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists():
                dead.append(f"{page.name} → {target}")
    assert not dead


SAID = re.compile(r"-m explorer ([a-z][a-z-]*)(?: ([a-z]+))?")


def test_every_command_that_a_message_or_a_page_of_the_docs_names_is_one():
    texts = [ROOT / "README.md", ROOT / "app.py", *(ROOT / "docs").glob("*.md"), *(ROOT / "bench").rglob("*.md")]
    texts += [path for folder in ("explorer", "pages", "bench") for path in (ROOT / folder).rglob("*.py")]
    wrong, many = [], 0
    for path in texts:
        text = re.sub(
            r"\"\s*\n\s*f?\"", "", path.read_text(encoding="utf-8")
        )  # a message over two lines of code is one
        for command, study in SAID.findall(text):
            many += 1
            if command not in COMMANDS or (command == "run" and study and study not in STUDIES):
                wrong.append(f"{path.name}: {command} {study}".strip())
    assert many > 50 and not wrong
