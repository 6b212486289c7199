"""Rooms: who may import whom, where each third-party package belongs; and importing the explorer stays light."""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "ARCHITECTURE.md"

# Package → the places that may import it.
ROOMS = {
    "torch": (
        "explorer/scoring/hf*",
        "explorer/scoring/engine/*",
        "explorer/scoring/encoder.py",
        "explorer/glassbox/train.py",
    ),
    "transformers": (
        "explorer/scoring/hf*",
        "explorer/scoring/engine/*",
        "explorer/scoring/encoder.py",
        "explorer/glassbox/train.py",
    ),
    "nltk": ("explorer/variants/wordnet*",),
    "spacy": ("explorer/variants/tagging.py",),
    "lemminflect": ("explorer/variants/inflect.py",),
    "requests": ("explorer/fetch*",),
    "psutil": ("explorer/addresses.py", "explorer/scoring/engine/memory.py"),
    "duckdb": ("explorer/results/*",),
    "plotly": ("explorer/figures/*", "explorer/ui/*/figure_*.py"),
    "kaleido": ("explorer/figures/images.py",),
    "streamlit": ("explorer/ui/*", "pages/*", "app.py"),
    "scipy": ("explorer/stats/*",),
    "statsmodels": ("explorer/stats/*",),
    "sklearn": ("explorer/stats/*",),
    "glmm": ("explorer/stats/mixed_logit.py",),
    "infini_gram": ("explorer/popularity/infinigram_*", "explorer/popularity/index*"),
    "ray": ("explorer/cluster/*",),
    "pydantic": ("explorer/runs/validation.py", "explorer/runs/run_file_fields.py"),
    "fsspec": ("explorer/runs/bucket.py",),
    "rouge_score": ("explorer/similarity/*",),
    "bert_score": ("explorer/similarity/*",),
}


@cache
def product_files() -> dict[str, Path]:
    """Module → file, of all that is the product."""
    paths = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py")), *sorted((ROOT / "explorer").rglob("*.py"))]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


@cache
def imported(module: str) -> frozenset[str]:
    """Every dotted name that a module imports when it runs; what only type checkers read is left out."""
    tree = ast.parse(product_files()[module].read_text(encoding="utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    names = set()
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(names)


@cache
def imports_of_ours() -> dict[str, set[str]]:
    """Module → the modules of ours that it imports, at its start or later."""
    modules = product_files()
    ours: dict[str, set[str]] = {}
    for module in modules:
        found = (name if name in modules else name.rpartition(".")[0] for name in imported(module))
        ours[module] = {name for name in found if name in modules} - {module}
    return ours


def room_of(module: str) -> str:
    """The room as docs/ARCHITECTURE.md writes it: a folder, or a file that stands alone."""
    path = product_files()[module].relative_to(ROOT)
    # What a study finds is read from rooms beneath the study, too: it imports nothing but its record.
    if path.match("explorer/studies/*/declared.py"):
        return "explorer/studies/*/declared.py"
    alone = path.parent.as_posix() in (".", "explorer")
    return path.as_posix() if alone else path.parent.as_posix()


@cache
def layers() -> dict[str, int]:
    """Room → its layer, as docs/ARCHITECTURE.md says."""
    rows = re.findall(r"^\| (\d+) \| `([^`]+)` \| \S", TABLE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len({room for _, room in rows}) == len(rows)
    return {room: int(layer) for layer, room in rows}


@pytest.mark.parametrize("package", ROOMS)
def test_a_package_is_imported_only_in_its_room(package):
    strays = []
    for module, path in product_files().items():
        place = path.relative_to(ROOT).as_posix()
        used = {name.partition(".")[0] for name in imported(module)}
        if package in used and not any(fnmatch(place, pattern) for pattern in ROOMS[package]):
            strays.append(place)
    assert not strays, f"{package} belongs into {', '.join(ROOMS[package])}; it is imported in {', '.join(strays)}"


def test_every_room_is_told_of_and_every_room_that_is_told_of_exists():
    rooms = {room_of(module) for module in product_files()}
    untold, gone = sorted(rooms - set(layers())), sorted(set(layers()) - rooms)
    assert not untold, f"add a row with a layer to the table in docs/ARCHITECTURE.md for {', '.join(untold)}"
    assert not gone, f"take the row out of the table in docs/ARCHITECTURE.md: {', '.join(gone)}"


def test_a_room_imports_rooms_of_lower_layers_alone():
    upward = [
        f"{module} imports {other}"
        for module, others in imports_of_ours().items()
        for other in sorted(others)
        if room_of(module) != room_of(other) and layers().get(room_of(other), 0) >= layers().get(room_of(module), 99)
    ]
    assert upward == []


def test_no_file_imports_in_a_circle():
    # static_order raises CycleError, which names the circle.
    assert len(list(graphlib.TopologicalSorter(imports_of_ours()).static_order())) == len(product_files())


def test_a_circle_and_a_step_upward_would_be_seen():
    with pytest.raises(graphlib.CycleError):
        list(graphlib.TopologicalSorter({**imports_of_ours(), "explorer.errors": {"app"}}).static_order())
    assert layers()[room_of("explorer.ui.layout")] > layers()[room_of("explorer.studies.study")]


def test_importing_the_explorer_and_its_command_line_brings_no_heavy_package():
    code = (
        "import sys, importlib, explorer, explorer.__main__\n"
        "from explorer.commands import COMMANDS\n"
        "[importlib.import_module(command.module) for command in COMMANDS.values()]\n"
        "print(*[name for name in ('torch', 'transformers', 'spacy', 'nltk', 'sklearn', 'statsmodels', 'streamlit',"
        " 'ray', 'fsspec') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""
