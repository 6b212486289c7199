"""The Overview's small figures: of any model's stored runs, the largest clear effect first, what a user tried apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer import settings as settings_module
from explorer.figures import small
from explorer.figures.small import Curve, Dot
from explorer.records import RunSpec
from explorer.results import precomputed, store
from explorer.rows.builders import finding_row
from explorer.runs.folder import RunFolder
from explorer.stats.estimate import Estimate
from explorer.studies.accuracy.declared import ACCURACY
from explorer.studies.popularity.declared import INDEX_IS_PRETRAINING_DATA, SPLIT
from explorer.studies.priming.declared import PRIMING_ACCURACY, PRIMING_DELTA
from explorer.studies.runs_together import OfRun
from explorer.studies.sentences import About, Findings
from explorer.ui.overview import cards, gallery
from explorer.ui.overview.stored import Run

GEMMA, SMOLLM, MINE = "gemma-3-270m", "smollm2-135m-instruct", "someone/my-model"
PYTHIA = "EleutherAI/pythia-70m"


def html_of(app) -> str:
    return "\n".join(element.proto.body for element in app.html if "<style>" not in element.proto.body)


def make(runs: Path, study: str, model: str, benchmark: str, *findings: dict) -> RunFolder:
    """A finished run of these findings alone."""
    folder = RunFolder.create(runs, RunSpec(study, 1, model, benchmark, settings={"preset": "natural"}))
    folder.write_part(0, 0, {"instances": [], "measures": []})
    folder.write_findings(list(findings))
    folder.write_progress(status="complete", total=0)
    return folder


def accuracy(runs: Path, model: str, benchmark: str, share: float) -> RunFolder:
    found = finding_row(ACCURACY, "overall", Estimate(share, share - 0.03, share + 0.03, 1000))
    return make(runs, "accuracy", model, benchmark, found)


def primed(runs: Path, model: str) -> RunFolder:
    rows = []
    for condition, after in (("matched_acceptable", 0.9), ("matched_unacceptable", 0.2), ("unrelated", 0.8)):
        for length, value in ((0, 0.8), (900, after)):
            factors = {"condition": condition, "length": length}
            change = Estimate(value - 0.8, value - 0.85, value - 0.75, 600)
            rows += [
                finding_row(PRIMING_DELTA, "mean over suites", change, factors=factors),
                finding_row(PRIMING_ACCURACY, "mean over suites", Estimate(value, value - 0.05, value + 0.05, 600),
                            factors=factors, detail={"suites": 67}),
            ]  # fmt: skip
    return make(runs, "priming", model, "blimp", *rows)


def popular(runs: Path, model: str) -> RunFolder:
    return make(
        runs, "popularity", model, "copa",
        finding_row(SPLIT.difference, "overall", Estimate(0.1, 0.05, 0.16, 1000)),
        finding_row(INDEX_IS_PRETRAINING_DATA, "overall", 0.0),
    )  # fmt: skip


@pytest.fixture(scope="module")
def packed(tmp_path_factory) -> Path:
    """A file with runs of two models, which tests only read."""
    place = tmp_path_factory.mktemp("packed")
    folders = [
        accuracy(place / "runs", GEMMA, "copa", 0.68), accuracy(place / "runs", SMOLLM, "copa", 0.52),
        primed(place / "runs", GEMMA), primed(place / "runs", SMOLLM), popular(place / "runs", GEMMA),
    ]  # fmt: skip
    precomputed.pack_runs(folders, place / "packed.duckdb")
    return place / "packed.duckdb"


@pytest.fixture
def came_along(packed, tmp_path, monkeypatch) -> Path:
    """An empty cache beside packed runs of two models."""
    monkeypatch.setenv("EXPLORER_PRECOMPUTED", str(packed))
    return tmp_path / "cache"


def titles(app) -> list[str]:
    shown = html_of(app)
    return sorted(["Priming", "Accuracy", "Popularity"], key=lambda name: shown.index(f'lx-section">{name}'))


def test_a_figure_a_study_stands_under_its_sentence_the_largest_clear_effect_first(open_page, came_along):
    app = open_page("overview", came_along)
    assert not app.exception and not app.error and not app.dataframe
    assert len(app.get("plotly_chart")) == 3
    assert titles(app) == ["Priming", "Accuracy", "Popularity"]  # 60 points, 16, 10
    shown = html_of(app)
    assert "take accuracy from 80% to 20% (Gemma 3 270M) and from 80% to 20% (SmolLM2 135M Instruct)" in shown
    assert "The models differ on 1 of 1 benchmark, most on COPA (Gemma 3 270M 68.0%" in shown
    assert "Counts are from an index that is not the models&#x27; data." in shown
    assert "bands are 95% intervals over 67 suites, n\xa0=\xa0600 pairs" in shown


def test_a_second_visit_makes_no_figure_again(open_page, came_along, monkeypatch):
    made = []
    real = cards.card
    monkeypatch.setattr(cards, "card", lambda *asked: made.append(asked) or real(*asked))
    first, once = open_page("overview", came_along), len(made)
    again = open_page("overview", came_along)
    assert once and len(made) == once
    assert html_of(again) == html_of(first) and len(again.get("plotly_chart")) == 3


def test_models_are_named_once_above_all_figures(open_page, came_along):
    shown = html_of(open_page("overview", came_along))
    assert shown.count('class="lx-models"') == 1 and "</span>Gemma 3 270M</span>" in shown


def test_a_model_that_was_tried_here_stays_out_until_it_is_ticked(open_page, came_along):
    settings = settings_module.read(cache=came_along)
    store.ingest_runs(settings, [accuracy(settings.runs, MINE, "copa", 0.99)])
    app = open_page("overview", came_along)
    assert not app.exception
    assert "99.0%" not in html_of(app) and f"</span>{MINE}" not in html_of(app)
    ticked = open_page("overview", came_along, also=MINE)
    assert "My Model (someone) 99.0%" in html_of(ticked) and "</span>My Model (someone)</span>" in html_of(ticked)


def test_a_checkpoint_is_no_model_of_its_own(open_page, came_along):
    settings = settings_module.read(cache=came_along)
    store.ingest_runs(settings, [accuracy(settings.runs, f"{PYTHIA}@step512", "copa", 0.99)])
    store.ingest_runs(settings, [accuracy(settings.runs, PYTHIA, "copa", 0.95)])
    app = open_page("overview", came_along, also=PYTHIA)
    assert not app.exception
    assert "95.0%" in html_of(app) and "99.0%" not in html_of(app)


def test_where_nothing_but_tried_models_has_a_run_they_are_shown(open_page, tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_PRECOMPUTED", "none")
    settings = settings_module.read(cache=tmp_path / "cache")
    store.ingest_runs(settings, [accuracy(settings.runs, MINE, "copa", 0.75)])
    app = open_page("overview", tmp_path / "cache")
    assert "My Model (someone) prefers the right option in 75.0% of COPA." in html_of(app)
    assert len(app.get("plotly_chart")) == 1


def test_without_a_run_it_says_how_to_start_one(open_page, tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_PRECOMPUTED", "none")
    app = open_page("overview", tmp_path / "cache")
    assert not app.exception and "No run has finished yet" in html_of(app)
    assert not app.get("plotly_chart")


def test_a_dot_that_is_clicked_leads_to_its_run():
    card = cards.Card("Priming", "", None, "", 0.5, "Priming", {"priming": "Curves"})
    run = Run("priming", GEMMA, "blimp", OfRun("priming-1", About(), Findings([])))
    point = {"selection": {"points": [{"customdata": ["priming-1", "900 tokens"]}]}}
    page, choices = gallery.behind(point, card, {"priming-1": run})
    assert page.title == "Priming"
    assert choices == {"model": GEMMA, "benchmark": "blimp", "run": "priming-1", "priming": "Curves"}
    assert gallery.behind({"selection": {"points": []}}, card, {"priming-1": run}) is None
    assert gallery.behind(point, card, {}) is None  # of the glass box no dot names a run


def dot(row: str, model: str, value: float, low: float, high: float) -> Dot:
    return Dot(row, model, value, low, high, 50, f"run of {row}")


def test_rows_of_a_small_figure_rise_and_each_dot_knows_its_run():
    dots = [dot("COPA", "a", 0.6, 0.5, 0.7), dot("PIQA", "a", 0.4, 0.3, 0.5), dot("COPA", "b", 0.8, 0.7, 0.9)]
    figure = small.small_dots(dots, {"a": "#000000", "b": "#ffffff"}, tick=".0%", reference=0.5, zero="chance")
    assert list(figure.layout.yaxis.ticktext) == ["PIQA", "COPA"]
    first, second = figure.data
    assert list(first.x) == [0.6, 0.4] and list(second.x) == [0.8]
    assert first.y[0] != second.y[0]  # no interval hides another
    assert figure.layout.margin.t >= 20, "the name of the reference stands above the plot, whole"
    assert first.customdata[0][0] == "run of COPA" and first.error_x["array"][0] == pytest.approx(0.1)


def test_names_at_the_ends_of_curves_do_not_cover_each_other():
    curves = [
        Curve("a", name, "solid", (0.0, 1.0), (dot("", "a", 0.5, 0.4, 0.6), dot("", "a", end, end - 0.1, end + 0.1)))
        for name, end in (("one", 0.80), ("two", 0.81), ("three", 0.2))
    ]
    figure = small.small_curves(curves, {"a": "#000000"}, tick=".0%", across="Tokens")
    places = {note.text.rpartition(" ")[2]: note.y for note in figure.layout.annotations}
    # Intervals reach from 0.1 to 0.91: 0.81 of the axis and its rim on 164 pixels, of which a name takes 15.
    assert places["two"] - places["one"] == pytest.approx(15 / 164 * 0.81 * 1.12)
    assert (places["two"] + places["one"]) / 2 == pytest.approx(0.805), "both give way"
    assert places["three"] == pytest.approx(0.2)
    assert all("#000000" in note.text for note in figure.layout.annotations), "a name has the color of its curve"


def test_three_names_that_end_at_one_place_stand_one_above_the_other():
    ends = small._apart({"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.58, "e": 0.9}, 0.1)
    assert [ends[name] for name in "abcd"] == pytest.approx([0.37, 0.47, 0.57, 0.67])
    assert ends["e"] == 0.9


def test_curves_of_one_name_that_end_apart_are_told_by_a_key_of_dashes():
    curves = [
        Curve(model, "acceptable", "solid", (0.0, 1.0), (dot("", model, 0.5, 0.4, 0.6), dot("", model, end, end, end)))
        for model, end in (("a", 0.9), ("b", 0.1))
    ]
    figure = small.small_curves(curves, {"a": "#000000", "b": "#ffffff"}, tick=".0%", across="Tokens")
    assert [trace.name for trace in figure.data if trace.showlegend] == ["acceptable"]
    assert not figure.layout.annotations


def test_a_curve_over_doses_needs_two_of_them():
    assert cards.dose_card("Known doses", "", [("Glass box M", [])], tick=".0%", note="") is None


def test_of_many_doses_a_narrow_axis_names_every_second():
    many = cards._told_places({dose: float(place) for place, dose in enumerate((0, 1, 2, 4, 8, 16, 32, 64, 1024))})
    assert list(many.values()) == ["0", "2", "8", "32", "1,024"]
    assert list(cards._told_places({1: 0.0, 4: 1.0, 16: 2.0}).values()) == ["1", "4", "16"]


def test_what_is_no_model_has_no_models_color():
    from explorer.figures import theme
    from explorer.studies.calibration.doses import Response

    lines = [(name, [Response(name, dose, 0.5 + at, 0.4, 0.9, 20) for dose in (1, 10)])
             for name, at in (("loss", 0.1), ("rarest tokens", 0.3))]  # fmt: skip
    attacks = cards.dose_card("Membership", "", lines, tick=".2f", note="", of_models=False).figure
    drawn = [trace for trace in attacks.data if trace.mode == "lines+markers"]
    assert [trace.line.color for trace in drawn] == [theme.GRAY, theme.GRAY]
    assert len({trace.line.dash for trace in drawn}) == 2
    assert any("╌" in note.text for note in attacks.layout.annotations)
    models = cards.dose_card("Known doses", "", lines, tick=".2f", note="").figure
    assert theme.GRAY not in [trace.line.color for trace in models.data if trace.mode == "lines+markers"]
