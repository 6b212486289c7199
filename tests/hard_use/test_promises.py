"""docs/RELIABILITY.md promises nothing that no test holds."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "RELIABILITY.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)))


@functools.cache
def functions_of(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(("file", "test"), NAMED, ids=[test for _, test in NAMED])
def test_the_test_of_a_promise_exists(file, test):
    assert test in functions_of(file)


def test_every_promise_names_its_test():
    promises = re.split(r"\n- ", TEXT.split("\n## ", 1)[1])[1:]
    assert len(promises) > 20
    assert not [promise[:60] for promise in promises if "::" not in promise]
