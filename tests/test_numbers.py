"""What comes from outside and should be a number."""

from __future__ import annotations

import ast
import json
import math
from pathlib import Path

import pytest

from explorer import numbers

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("text", ["²", "٣", "", " 1", "-1", "+1", "1.0", "1e3", "0x1", "1_000", "9" * 5000])
def test_what_is_not_written_in_plain_digits_is_no_whole_number(text):
    assert numbers.whole(text) is None


def test_plain_digits_are_a_whole_number():
    assert [numbers.whole(text) for text in ("0", "007", "123456789012345")] == [0, 7, 123456789012345]


@pytest.mark.parametrize(
    "text", ["null", '"-1.5"', "true", "[]", "{}", "NaN", "Infinity", "-Infinity", "1" + "0" * 400]
)
def test_what_is_no_number_of_json_is_nan(text):
    assert math.isnan(numbers.number(json.loads(text)))


def test_a_number_of_json_is_itself():
    assert [numbers.number(value) for value in (0, -1, 2.5)] == [0.0, -1.0, 2.5]


def test_no_function_that_reads_a_number_asks_for_digits_that_are_no_decimals():
    found = []
    for path in [ROOT / "app.py", *(ROOT / "pages").glob("*.py"), *(ROOT / "explorer").rglob("*.py")]:
        tree = ast.parse(path.read_text("utf-8"))
        for function in (tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))):
            inside = list(ast.walk(function)) if function is not tree else list(_outside_functions(tree))
            asks = any(isinstance(node, ast.Attribute) and node.attr in ("isdigit", "isnumeric") for node in inside)
            reads = any(
                isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("int", "float")
                for node in inside
            )
            if asks and reads:
                found.append(f"{path.relative_to(ROOT)}: {getattr(function, 'name', 'module')}")
    assert found == []


def _outside_functions(tree: ast.Module):
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from ast.walk(node)
