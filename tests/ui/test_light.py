import os
import subprocess
import sys

import pytest

from explorer.settings import ROOT
from explorer.ui.layout import PAGES

HEAVY = ("torch", "transformers", "sentence_transformers", "spacy")
SLOW = ("nltk", "scipy", "sklearn", "statsmodels")


@pytest.mark.parametrize(
    ("paths", "packages"),
    [([PAGES[0].path], (*HEAVY, *SLOW)), ([page.path for page in PAGES], HEAVY)],
    ids=["the first page", "every page"],
)
def test_drawing_pages_imports_no_heavy_package(tmp_path, paths, packages):
    code = (
        "import sys\n"
        "from streamlit.testing.v1 import AppTest\n"
        f"app = AppTest.from_file({str(ROOT / 'app.py')!r}, default_timeout=60).run()\n"
        "assert not app.exception\n"
        f"for path in {paths!r}:\n"
        "    assert not app.switch_page(path).run().exception\n"
        f"print(*[name for name in {packages!r} if name in sys.modules])\n"
    )
    environment = {**os.environ, "EXPLORER_CACHE": str(tmp_path), "EXPLORER_OFFLINE": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
