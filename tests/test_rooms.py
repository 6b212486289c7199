"""Each third-party package has one room; importing the explorer stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Package → the places that may import it.
ROOMS = {
    "torch": ("explorer/scoring/hf", "explorer/scoring/encoder.py"),
    "transformers": ("explorer/scoring/hf", "explorer/scoring/encoder.py"),
    "nltk": ("explorer/variants/wordnet",),
    "spacy": ("explorer/variants/tagging.py",),
    "lemminflect": ("explorer/variants/inflect.py",),
    "requests": ("explorer/fetch",),
    "psutil": ("explorer/addresses.py", "explorer/scoring/engine/memory.py"),
    "duckdb": ("explorer/results/",),
    "plotly": ("explorer/figures/",),
    "kaleido": ("explorer/figures/images.py",),
    "streamlit": ("explorer/ui/", "pages/", "app.py"),
    "scipy": ("explorer/stats/",),
    "statsmodels": ("explorer/stats/",),
    "sklearn": ("explorer/stats/",),
    "glmm": ("explorer/stats/mixed_logit.py",),
    "infini_gram": ("explorer/popularity/infinigram_", "explorer/popularity/index"),
    "ray": ("explorer/cluster/ray_parts.py",),
    "pydantic": ("explorer/runs/outside.py",),
    "fsspec": ("explorer/runs/bucket.py",),
    "rouge_score": ("explorer/similarity/",),
    "bert_score": ("explorer/similarity/",),
}


def product_files() -> list[Path]:
    return [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py")), *sorted((ROOT / "explorer").rglob("*.py"))]


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("package", ROOMS)
def test_a_package_is_imported_only_in_its_room(package):
    strays = []
    for path in product_files():
        place = path.relative_to(ROOT).as_posix()
        if path.exists() and package in imports(path) and not place.startswith(ROOMS[package]):
            strays.append(place)
    assert not strays, f"{package} belongs into {', '.join(ROOMS[package])}; it is imported in {', '.join(strays)}"


def test_importing_the_explorer_and_its_command_line_brings_no_heavy_package():
    code = (
        "import sys, importlib, explorer, explorer.__main__\n"
        "from explorer.commands import COMMANDS\n"
        "[importlib.import_module(module) for module in set(COMMANDS.values())]\n"
        "print(*[name for name in ('torch', 'transformers', 'spacy', 'nltk', 'sklearn', 'statsmodels', 'streamlit',"
        " 'ray', 'fsspec') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""
