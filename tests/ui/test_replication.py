"""The replication board: every source with and without runs, and the index of tables and figures."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pandas as pd
import pytest

from explorer import settings as settings_module
from explorer.benchmarks import BENCHMARKS
from explorer.records import RunSpec
from explorer.results import store
from explorer.rows.builders import finding_row
from explorer.runs.folder import RunFolder
from explorer.settings import ROOT
from explorer.stats.estimate import Estimate
from explorer.studies.accuracy.declared import ACCURACY
from explorer.studies.replication import board as replication_board
from explorer.studies.replication import papers
from explorer.studies.replication.method import ITEMS
from explorer.ui import layout
from explorer.ui.layout import PAGES
from explorer.ui.replication import board

HERE = {"model": "gemma-3-270m", "benchmark": "starter_pairs"}


def html_of(app) -> str:
    return "\n".join(element.proto.body for element in app.html if "<style>" not in element.proto.body)


def board_of(app):
    return app.dataframe[0].value


@pytest.fixture
def pythia(tmp_path):
    """A cache with a run that says it is Pythia 6.9B's: PIQA as printed, WinoGrande off, LAMBADA in another setting."""
    settings = settings_module.read(cache=tmp_path / "cache")
    folders = []
    for benchmark, preset, value in (
        ("piqa", "lm-eval", 0.7519),
        ("winogrande", "lm-eval", 0.5),
        ("lambada", "natural", 0.66),
    ):
        spec = RunSpec("accuracy", 1, "EleutherAI/pythia-6.9b", benchmark, settings={"preset": preset})
        folder = RunFolder.create(settings.runs, spec)
        estimate = Estimate(value, value - 0.02, value + 0.02, n=ITEMS[benchmark])
        folder.write_findings([finding_row(ACCURACY, "overall", estimate)])
        folder.write_progress(status="complete", total=0)
        folders.append(folder)
    store.ingest_runs(settings, folders)
    return settings.cache


@pytest.mark.shares_answers("bare_cache")
@pytest.mark.parametrize("source", [*replication_board.SOURCES, "index"])
def test_every_source_opens_without_a_run(open_page, bare_cache, source):
    app = open_page("replication", bare_cache, source=source, **HERE)
    assert not app.exception and not app.error
    assert len(board_of(app)) > 3
    if source != "index":
        assert set(board_of(app)["verdict"]) == {"not computed"}


@pytest.mark.shares_answers("bare_cache")
def test_what_is_missing_comes_with_the_command_that_computes_it(open_page, bare_cache):
    app = open_page("replication", bare_cache, source="pythia", **HERE)
    assert "python -m explorer run accuracy --model EleutherAI/pythia-70m --benchmark lambada" in app.code[0].value


def test_a_run_of_the_same_model_stands_beside_the_printed_figures(open_page, pythia):
    app = open_page("replication", pythia, source="popularity", table="Table 1", printed="Pythia 6.9B", **HERE)
    rows = board_of(app)
    originals = rows[rows["condition"].eq("original") & rows["metric"].eq("accuracy, %")].set_index("what")
    assert originals.loc["PIQA", "verdict"] == "within the interval"
    assert originals.loc["PIQA", "ours"] == pytest.approx(75.19)
    assert originals.loc["PIQA", "difference"] == pytest.approx(0)
    assert originals.loc["WinoGrande", "verdict"] == "outside the interval"
    assert originals.loc["LAMBADA", "verdict"] == "not comparable"
    assert originals.loc["COPA", "verdict"] == "not computed"


def test_another_model_is_shown_for_orientation_and_never_judged(open_page, pythia):
    app = open_page(
        "replication", pythia, source="popularity", table="Table 1", printed="OLMo 1B", benchmark="starter_pairs",
        model="EleutherAI/pythia-6.9b",
    )  # fmt: skip
    rows = board_of(app)
    piqa = rows[rows["what"].eq("PIQA") & rows["condition"].eq("original")].iloc[0]
    assert piqa["other"] == pytest.approx(75.19)
    assert piqa["verdict"] == "not computed"


@pytest.mark.parametrize("source", list(replication_board.SOURCES))
def test_no_two_lines_of_a_figure_have_one_label(source):
    printed = pd.DataFrame([board._printed(one) for one in replication_board.figures_of_source(source)])
    drawn = [rows for by in (["metric"], ["table", "metric"]) for _, rows in printed.groupby(by)]
    assert drawn
    for rows in drawn:
        labels = board.labels_of(rows)
        assert len(set(labels)) == len(labels), [label for label in labels if labels.count(label) > 1][:4]


@pytest.mark.shares_answers("bare_cache")
@pytest.mark.parametrize(
    ("source", "table", "words"),
    [
        ("popularity", "Table 1", "100 times too large"),
        ("popularity", "Table 2", "contradicts Table D"),
        ("popularity", "Table 4", "labels of OLMo"),
        ("ontologies", "Table 2", "does not follow from the released files"),
        ("ontologies", "Table 4", "does not follow from the released files"),
    ],
)
def test_slips_are_shown_as_such(open_page, bare_cache, source, table, words):
    app = open_page("replication", bare_cache, source=source, table=table, **HERE)
    told = " ".join(str(warning.value).replace("\\", "") for warning in app.warning)
    assert words.lower() in told.lower()


def test_every_page_and_view_of_the_index_exists():
    titles = {page.title: page.path for page in PAGES}
    for place in papers.PLACES:
        if not place.page:
            assert place.remark, f"{place.number} is nowhere, and nothing says why"
            continue
        assert place.page in titles, place
        sources = [ROOT / titles[place.page], *(ROOT / "explorer" / "ui").rglob("*.py")]
        text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
        assert place.choices.get("benchmark", "blimp") in BENCHMARKS
        if place.page != "Replication":  # whose own choices the next test looks at
            wanted = [value for name, value in place.choices.items() if name not in ("benchmark", "model", "matrix")]
            for choice in filter(None, (*wanted, place.view)):
                assert choice in text, (place, choice)


def test_every_table_and_figure_of_the_papers_is_in_the_index_once():
    numbers = {paper: [place.number for place in papers.PLACES if place.paper == paper] for paper in papers.PAPERS}
    assert all(len(found) == len(set(found)) for found in numbers.values())
    tables, figures = ("Table {}".format, "Figure {}".format)
    assert set(numbers["popularity"]) == {
        *map(tables, [1, 2, 3, 4, *"ABCDEFGHIJK"]), *map(figures, [1, 2, 3, 4, 5, "A"]),
    }  # fmt: skip
    assert set(numbers["priming"]) == {*map(tables, [1, 2]), *map(figures, range(1, 18))}
    assert set(numbers["ontologies"]) == {*map(tables, range(1, 5)), *map(figures, range(1, 5))}
    assert set(numbers["icl"]) == {*map(tables, range(1, 4)), *map(figures, range(1, 6))}


def test_printed_tables_of_the_index_have_figures_on_the_board():
    for place in papers.PLACES:
        if place.page == "Replication":
            found = [
                one
                for one in replication_board.figures_of_source(place.choices["source"])
                if one.table == place.choices["table"]
            ]
            assert found, place


def test_the_documentation_holds_the_index():
    assert (ROOT / "docs" / "PAPERS.md").read_text(encoding="utf-8") == papers.markdown()


@pytest.mark.slow
@pytest.mark.parametrize(
    "place",
    [one for one in papers.PLACES if one.page and one.page != "Replication"],
    ids=lambda p: f"{p.paper} {p.number}",
)
@pytest.mark.shares_answers("clean_clone")
def test_a_link_of_the_index_opens_the_thing_itself(open_page, clean_clone, place):
    paths = {page.title: Path(page.path).stem for page in PAGES}
    app = open_page(paths[place.page], clean_clone, **place.choices)
    assert not app.exception and not app.error
    told = html.unescape(re.sub("<[^>]+>", "", html_of(app)))
    assert "is not among" not in told and "no longer" not in told, "the address asks for what there is"
    if not place.comes_along:
        told += " ".join(one.value for one in app.code)
        ways = ("python -m explorer", "shown is", "needs a run that", "A run with", "a run does whose setting")
        assert any(way in told for way in ways), "what there is instead is said"
        return
    shown = [one.proto.alt for one in app.get("plotly_chart")] + [one.value for one in (*app.header, *app.subheader)]
    if place.view == "Live lab":
        assert told
    else:
        assert any(place.shows in words for words in (*shown, told)), (place.shows, shown)


def test_how_runs_stand_to_what_is_printed_is_said_without_naughts():
    def told(*verdicts: str) -> str:
        rows = [{"run_id": "r", "verdict": board.WORDS.get(verdict, ""), "other": None} for verdict in verdicts]
        return board.in_words(pd.DataFrame(rows), "Gemma")

    assert told("within") == "Stored runs answer 1 of 1 printed figures: it agrees."
    assert told("within", "equal", "within").endswith("all 3 agree.")
    assert told("within", "outside").endswith("1 agrees, 1 does not.")
    assert told("outside", "differs").endswith("none agrees, 2 do not.")
    apart = "1 cannot be compared, since the method differs."
    assert told("not comparable").endswith(f"printed figures: {apart}")
    assert told("within", "equal", "not comparable").endswith(f"both agree, {apart}")


@pytest.mark.shares_answers("clean_clone")
def test_on_a_clean_clone_the_board_opens_on_figures_that_runs_answer(open_page, clean_clone):
    app = open_page("replication", clean_clone, **HERE)
    assert not app.exception
    told = " ".join(block.proto.body for block in app.get("html"))
    assert "printed figures: both agree." in told


@pytest.mark.parametrize("source", replication_board.SOURCES)
def test_what_few_figures_have_shares_one_column(source, monkeypatch):
    shown = {}
    monkeypatch.setattr(board.show, "note", lambda _: None)
    monkeypatch.setattr(board.show, "folded_table", lambda rows, name, **more: shown.update(rows=rows, **more))
    rows = board.board(replication_board.figures_of_source(source), pd.DataFrame(columns=list(board.ABOUT)), "")
    board._table(rows, source, layout.Chosen("gemma-3-270m", "starter_pairs"))
    assert not {"remark", "differs", "counted"} & set(shown["columns"])
    if rows["remark"].nunique() > 1:
        assert list(shown["rows"]["to_know"]) == list(rows["remark"]) and "to_know" in shown["columns"]
