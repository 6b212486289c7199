"""What a reader takes away, as a browser saves it: figures, tables, a whole run."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from explorer import settings as settings_module

pytestmark = pytest.mark.browser

LOGS = Path(__file__).resolve().parent.parent / "data" / "logs" / "lm_eval"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with one run, a log of another harness."""
    from explorer import logs
    from explorer.resources import Resources
    from explorer.studies.imported.log import import_log

    own = tmp_path_factory.mktemp("downloads") / "cache"
    resources = Resources(settings_module.read(cache=own))
    (path,) = LOGS.glob("samples_lexi_pairs_*.jsonl")
    resources.ingest(import_log(logs.read(path), resources).folder)
    return own


def saved(page, open_menu: str, button: str) -> tuple[str, bytes]:
    """The name and the bytes of what a button saves; `open_menu` names the last menu so called, or is ""."""
    if open_menu:
        page.get_by_role("button", name=open_menu).last.click()
    wanted = page.get_by_role("button", name=re.compile(rf"(^|\s){button}$")).first
    with page.expect_download() as download:
        wanted.click()
    data = Path(download.value.path()).read_bytes()
    if open_menu:
        page.keyboard.press("Escape")
        wanted.wait_for(state="hidden")
    return download.value.suggested_filename, data


def test_figures_and_the_run_are_saved_under_speaking_names(browser, theme):
    page = browser.open("runs")
    page.get_by_text("Imported, not done here: lm-evaluation-harness 0.4.13").wait_for()
    name, svg = saved(page, "Download figure", "SVG")
    assert name.startswith("accuracy_tiny-gpt2_starter-pairs_") and name.endswith(".svg")
    assert svg.startswith(b"<svg") and b"10 instances." in svg
    assert re.search(r"fill: (white|rgb\(255, 255, 255\))", svg.decode())
    name, data = saved(page, "", "Download all")
    assert name.startswith("accuracy-") and name.endswith(".zip")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {"README.md", "CITATION.bib", "spec.json", "findings.csv"} <= set(archive.namelist())


def test_tables_are_saved_in_three_formats(browser):
    page = browser.open("runs")
    page.get_by_text("Every instance").click()
    page.get_by_role("button", name="Download table").nth(1).wait_for()  # the list of runs has the first
    browser.settle()
    name, csv = saved(page, "Download table", "CSV")
    assert name.startswith("accuracy_tiny-gpt2_starter-pairs_instances") and name.endswith(".csv")
    assert len(pd.read_csv(io.BytesIO(csv))) == 10
    assert len(pd.read_parquet(io.BytesIO(saved(page, "Download table", "Parquet")[1]))) == 10
    tex = saved(page, "Download table", "LaTeX")[1].decode()
    assert r"\toprule" in tex and "Tokens" not in tex and "benchmark: starter\\_pairs" in tex


def test_a_grid_offers_no_file_of_its_own_whose_formulas_are_not_quoted(browser):
    page = browser.open("data")
    page.get_by_test_id("stDataFrame").first.hover()
    toolbar = page.get_by_test_id("stElementToolbar").first
    toolbar.get_by_role("button", name="Search").wait_for()
    assert not [one for one in toolbar.get_by_role("button", name="Download").all() if one.is_visible()]
