"""A fresh clone: no run of one's own, the packed ones on every page, texts that are not on this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer import settings as settings_module
from explorer.records import Instance, Request, RunSpec, Score
from explorer.results import precomputed
from explorer.results.precomputed_plan import planned_runs
from explorer.rows.builders import finding_row, instance_row, measure_row, score_row
from explorer.runs.folder import RunFolder
from explorer.settings import ROOT
from explorer.stats.estimate import Estimate
from explorer.studies.accuracy.declared import ACCURACY
from explorer.studies.perturbation.declared import ACCEPTED, ACCURACY_ORIGINAL, ACCURACY_PERTURBED, CHANGE
from explorer.studies.perturbation.study import STUDY as PERTURBATION
from explorer.ui.layout import PAGES
from explorer.ui.overview import headlines

MODEL = "gemma-3-270m"


def html_of(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.html if "<style>" not in element.proto.body)


def words_of(app: AppTest) -> str:
    shown = [str(one.value) for kind in (app.subheader, app.header, app.error, app.markdown) for one in kind]
    return "\n".join([*shown, html_of(app)])


def copa_runs(runs: Path) -> list[RunFolder]:
    """An accuracy run and a perturbation run of invented numbers on a real benchmark."""
    pairs = [
        Instance(f"copa/cause/{i}", "copa", "dev", "cause", "choice", "copa", context=f"A thing {i} fell.",
                 options=("It was pushed.", "It flew."), gold=0, phenomenon="causal", field="functional")
        for i in range(1, 4)
    ]  # fmt: skip
    swap = {"start": 2, "end": 7, "original": "thing", "lemma": "thing", "pos": "n", "synset": "thing.n.01",
            "definition": "a thing", "substitute": "matter", "part": "context"}  # fmt: skip
    folders = []
    for study in ("accuracy", "perturbation"):
        settings = {"preset": "natural"} if study == "accuracy" else PERTURBATION.resolve({})
        folder = RunFolder.create(runs, RunSpec(study, 1, MODEL, "copa", settings=settings))
        rows: dict[str, list[dict]] = {"scores": [], "measures": [], "variants": []}
        for pair in pairs:
            for option, text in enumerate(pair.options):
                score = Score(
                    Request(pair.id, option, pair.context, text), ("x",), (1,), (-2.0 - option,), 9, 9, True, False
                )
                rows["scores"].append(score_row(score, option))
            before = {"condition": "original"} if study == "perturbation" else {}
            rows["measures"] += [measure_row(pair.id, name, 1.0, factors=before) for name in ("correct", "margin")]
            if study == "perturbation":
                after = {"condition": "perturbed", "setting": "NV"}
                edit = json.dumps({"seed": 0, "swaps": [swap]})
                rows["variants"].append(
                    {"instance_id": pair.id, "variant_id": f"{pair.id}#perturbed-NV-0", **after, "edit": edit,
                     "accepted": True, "reason": "", "payload": None}
                )  # fmt: skip
                rows["measures"] += [
                    measure_row(pair.id, name, value, factors=after)
                    for name, value in (("correct", 0.0), ("margin", -1.0), ("swaps", 1.0))
                ]
        folder.write_part(0, 2, {"instances": [instance_row(pair, i) for i, pair in enumerate(pairs)], **rows})
        found = [finding_row(ACCURACY, "overall", Estimate(1.0, 0.4, 1.0, n=3))]
        if study == "perturbation":
            about = {"factors": {"setting": "NV"}, "detail": {"lost": 3, "gained": 2, "rejected": {}}}
            found = [
                finding_row(name, "overall", Estimate.point(value, 3), **about)
                for name, value in (
                    (CHANGE, -12.5), (ACCURACY_ORIGINAL, 1.0), (ACCURACY_PERTURBED, 0.0), (ACCEPTED, 1.0),
                )
            ]  # fmt: skip
        folder.write_findings(found)
        folder.write_progress(status="complete", total=3)
        folders.append(folder)
    return folders


@pytest.fixture(scope="module")
def packed(finished, tmp_path_factory) -> Path:
    """A file with a real run on the starter pairs and two invented ones on COPA, which tests only read."""
    cache, run_id = finished
    folder = tmp_path_factory.mktemp("packed")
    own = RunFolder.find(settings_module.read(cache=cache).runs, run_id)
    precomputed.pack_runs([own, *copa_runs(folder / "runs")], folder / "packed.duckdb")
    return folder / "packed.duckdb"


@pytest.fixture
def fresh(packed, tmp_path, monkeypatch) -> Path:
    """An empty cache beside the packed runs."""
    monkeypatch.setenv("EXPLORER_PRECOMPUTED", str(packed))
    return tmp_path / "cache"


@pytest.fixture
def looked_at(packed, bare_cache, monkeypatch) -> Path:
    """The same for tests that only look."""
    monkeypatch.setenv("EXPLORER_PRECOMPUTED", str(packed))
    return bare_cache


@pytest.mark.shares_answers("looked_at")
@pytest.mark.parametrize("address", [page.address for page in PAGES])
def test_every_page_opens_on_the_packed_runs(open_page, looked_at, address):
    for benchmark in ("starter_pairs", "copa"):
        app = open_page(address, looked_at, benchmark=benchmark, model=MODEL)
        assert not app.exception, benchmark


def test_the_overview_shows_what_was_found_and_folds_the_numbers(open_page, fresh):
    app = open_page("overview", fresh)
    assert not app.exception and not app.dataframe  # no table at first sight
    assert "prefers the right option" in html_of(app)
    assert "There is no evidence that synonyms cost accuracy in any of 1 run" in html_of(app)
    assert len(app.get("plotly_chart")) == 2


def test_the_numbers_behind_the_figures_name_what_was_not_computed(fresh, monkeypatch):
    monkeypatch.setenv("EXPLORER_CACHE", str(fresh))
    app = AppTest.from_file(str(ROOT / "pages" / "overview.py"), default_timeout=60)
    app.session_state["overview:numbers"] = True
    app.run()
    assert not app.exception
    tables = [str(table.value.to_dict()) for table in app.dataframe]
    assert any("−12.5%" in table and headlines.NOT_COMPUTED in table for table in tables)  # of the other model
    assert "Not computed: Gene Ontology, Uberon" in html_of(app)
    assert headlines.HEADLINES["perturbation"].sentence in html_of(app)


def test_every_planned_study_has_its_sentence():
    assert {planned.study for planned in planned_runs()} <= set(headlines.HEADLINES)


def test_without_the_texts_the_numbers_show_and_a_button_fetches_them(open_page, fresh):
    app = open_page("perturbation", fresh, model=MODEL, benchmark="copa", facet="Full runs")
    assert not app.exception and not app.error
    assert "cause · 1" in html_of(app)
    assert app.button(key="fetch:copa").label.startswith("Fetch the texts")


def test_the_list_of_runs_holds_the_packed_ones(open_page, fresh):
    app = open_page("runs", fresh)
    assert not app.exception
    assert "It came with Lexiscope." in html_of(app)
    listed = {}
    for study in ("accuracy", "perturbation"):
        app.button_group(key="runs:study").set_value(study).run()
        listed[study] = set(app.dataframe[0].value["benchmark"])
    assert listed == {"accuracy": {"Starter pairs", "COPA"}, "perturbation": {"COPA"}}


def test_a_page_without_a_run_of_the_choice_shows_the_nearest_and_says_so(open_page, fresh):
    app = open_page("perturbation", fresh, model=MODEL, benchmark="starter_causes", facet="Full runs")
    assert not app.exception
    assert "shown is Gemma 3 270M on COPA" in html_of(app)


@pytest.mark.parametrize("address", [page.address for page in PAGES])
def test_a_named_file_that_is_not_there_is_one_sentence(open_page, tmp_path, monkeypatch, address):
    monkeypatch.setenv("EXPLORER_PRECOMPUTED", str(tmp_path / "absent.duckdb"))
    app = open_page(address, tmp_path / "cache")
    assert not app.exception
    for told in (error.value.replace("\\", "") for error in app.error):
        assert "EXPLORER_PRECOMPUTED names" in told and "absent.duckdb" in told
    assert len(app.error) == 1 or address != "overview"
