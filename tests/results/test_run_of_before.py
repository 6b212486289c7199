"""A run made and exported before the code moved into rooms opens as it did: its zip, its rows, its address."""

from __future__ import annotations

import contextlib
from pathlib import Path

from explorer.__main__ import main
from explorer.resources import Resources
from explorer.results import queries

ARCHIVE = Path(__file__).resolve().parents[1] / "data" / "runs" / "accuracy_before_the_move.zip"
RUN = "accuracy-c29317a2ec7f"  # of four instances of starter_causes with Gemma 3 270M


def test_its_archive_is_imported_and_says_what_it_said(settings, capsys):
    assert main(["import-run", str(ARCHIVE), "--cache", str(settings.cache)]) == 0
    assert RUN in capsys.readouterr().out
    with contextlib.closing(Resources(settings).store()) as store:
        (run,) = queries.run(store, RUN).to_dict("records")
        findings = queries.findings(store, RUN)
        items = queries.items(store, RUN)
    assert (run["study"], run["benchmark"], run["status"], run["done"]) == ("accuracy", "starter_causes", "complete", 4)
    overall = findings[
        (findings["finding"] == "accuracy") & (findings["grp"] == "overall") & findings["setting"].isna()
    ]
    assert overall["value"].tolist() == [0.75] and overall["n"].tolist() == [4]
    assert len(items) == 4
    out = settings.cache / "out.csv"
    assert main(["export", RUN, "--format", "csv", "--out", str(out), "--cache", str(settings.cache)]) == 0
    assert out.read_text(encoding="utf-8").count("\n") == 5


def test_its_address_of_before_opens(settings, monkeypatch, capsys):
    from streamlit.testing.v1 import AppTest

    from explorer.settings import ROOT

    main(["import-run", str(ARCHIVE), "--cache", str(settings.cache)])
    monkeypatch.setenv("EXPLORER_CACHE", str(settings.cache))
    app = AppTest.from_file(str(ROOT / "pages" / "instance.py"), default_timeout=60)
    for name, value in {"model": "gemma-3-270m", "benchmark": "starter_causes", "run": RUN, "verdict": "right"}.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    assert app.selectbox(key="pick:run").value == RUN
    assert app.selectbox(key="pick:verdict").value == "right"
