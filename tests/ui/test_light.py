import os
import subprocess
import sys

from explorer.settings import ROOT
from explorer.ui.layout import PAGES

HEAVY = ("torch", "transformers", "sentence_transformers", "spacy")
SLOW = ("nltk", "scipy", "sklearn", "statsmodels")


def test_drawing_pages_imports_no_heavy_package(tmp_path):
    code = (
        "import sys\n"
        "from streamlit.testing.v1 import AppTest\n"
        f"app = AppTest.from_file({str(ROOT / 'app.py')!r}, default_timeout=60).run()\n"
        "assert not app.exception\n"
        f"app.switch_page({PAGES[0].path!r}).run()\n"
        "assert not app.exception\n"
        f"print('the first page:', *[name for name in {(*HEAVY, *SLOW)!r} if name in sys.modules])\n"
        f"for path in {[page.path for page in PAGES]!r}:\n"
        "    assert not app.switch_page(path).run().exception\n"
        f"print('every page:', *[name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    environment = {**os.environ, "EXPLORER_CACHE": str(tmp_path), "EXPLORER_OFFLINE": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["the first page:", "every page:", ""]
