"""The page on ontologies: without a run, with one, with imported predictions, and the concept inspector."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from explorer import settings as settings_module
from explorer.settings import PRECOMPUTED

WORDS = ("heart", "valve", "cell", "bone", "growth", "repair", "membrane", "acid", "transport", "fold")


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """A data folder with a Gene Ontology of 30 concepts of our own."""
    chance = random.Random(3)
    folder = tmp_path_factory.mktemp("data")
    (folder / "go").mkdir()
    rows = [f"GO:{1000 + i:07d};{' '.join(chance.sample(WORDS, 3))};0;{i * i}" for i in range(30)]
    (folder / "go" / "go_dataset.csv").write_text("\n".join(rows) + "\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def asked(tiny_gpt2, data, tmp_path_factory) -> Path:
    """A cache with a finished ontology run of the tiny model."""
    from explorer.resources import Resources
    from explorer.runs import request, worker
    from explorer.runs.folder import RunFolder

    cache = tmp_path_factory.mktemp("asked") / "cache"
    resources = Resources(settings_module.read(cache=cache, data=data))
    spec = request.make_spec(
        resources, study="ontology", model=str(tiny_gpt2), benchmark="go",
        settings={"prompt": "chat", "buckets": 5, "others": 3, "invariance": ["PI-2", "PI-3"], "again_per_bucket": 1},
    )  # fmt: skip
    folder = RunFolder.create(resources.settings.runs, spec)
    assert worker.work(folder, resources, lambda text: None, wait=False) == "complete"
    return cache


@pytest.fixture
def here(tiny_gpt2, data, monkeypatch) -> dict[str, str]:
    monkeypatch.setenv("EXPLORER_DATA", str(data))
    return {"model": str(tiny_gpt2), "benchmark": "go"}


def test_without_a_run_the_page_says_how_to_make_one(open_page, here, tmp_path):
    app = open_page("ontology", tmp_path / "cache", **here)
    assert not app.exception
    assert any("python -m explorer run ontology" in code.value for code in app.code)


def test_a_run_is_shown_beside_the_papers_figures(open_page, here, asked):
    app = open_page("ontology", asked, **here)
    assert not app.exception
    assert {"Accuracy and popularity", "Partial knowledge", "Prediction invariance"} <= {
        one.value for one in app.header
    }
    beside = next(one.value for one in app.dataframe if "Figure" in one.value.columns)
    assert list(beside.columns) == ["Figure", "This run", "Pythia-12B", "GPT-3.5", "GPT-4", "Where"]
    assert dict(zip(beside["Figure"], beside["GPT-4"], strict=True))["Accuracy"] == "12.7%"
    assert any(one.label == "Right" and one.value.endswith("of 30") for one in app.metric)
    assert "The question in five languages" in [one.value for one in app.subheader]
    ways = next(one.value for one in app.dataframe if "Way" in one.value.columns)
    assert dict(zip(ways["Way"], ways["Published"], strict=True)) == {"PI-2": 0.95, "PI-3": 0.85}
    counted = open_page("ontology", asked, **here, counted="As the authors counted")
    assert not counted.exception


def test_imported_predictions_are_shown_without_a_model(open_page, here, data, tmp_path, monkeypatch):
    from explorer.__main__ import main

    cache = tmp_path / "cache"
    monkeypatch.setenv("EXPLORER_CACHE", str(cache))
    rows = (data / "go" / "go_dataset.csv").read_text("utf-8").splitlines()
    answers = [f"{row};{row.partition(';')[0] if i % 2 else 'GO:0001001'}" for i, row in enumerate(rows)]
    (tmp_path / "mine.csv").write_text("\n".join(answers) + "\n", "utf-8")
    command = ["import-predictions", str(tmp_path / "mine.csv"), "--ontology", "go", "--model-name", "elsewhere"]
    assert main([*command, "--json"]) == 0
    app = open_page("ontology", cache, **here)
    assert not app.exception
    assert any(one.label == "Right" and one.value == "15 of 30" for one in app.metric)


def test_a_concept_is_found_by_its_label_and_asked_now(open_page, here, asked):
    app = open_page("ontology", asked, **here, view="Concept inspector", concept="GO:0001007")
    assert not app.exception
    assert any(one.label == "ID" and one.value == "GO:0001007" for one in app.metric)
    app = app.button(key="ontology:ask").click().run()
    assert not app.exception
    live = next(one.value for one in app.dataframe if "Gives" in one.value.columns)
    assert len(live) == 11 + 5
    digits = next(one.value for one in app.dataframe if "Probability" in one.value.columns)
    assert "".join(digits["Token"]).endswith("0001007")
    assert {"log P (nats)", "Rank", "The label adds (nats)"} <= {one.label for one in app.metric}


def test_the_very_label_is_found_first(open_page, here, asked):
    label = next(one for one in open_page("ontology", asked, **here, view="Concept inspector").selectbox
                 if one.label == "Concept").options[-1].split(" ")[0]  # fmt: skip
    app = open_page("ontology", asked, **here, view="Concept inspector", concept=label)
    options = next(one for one in app.selectbox if one.label == "Concept").options
    assert options[0].startswith(label)


def test_another_run_is_drawn_beside(open_page, here, asked, data, monkeypatch, tmp_path):
    import shutil

    from explorer.__main__ import main

    cache = shutil.copytree(asked, tmp_path / "cache")
    monkeypatch.setenv("EXPLORER_CACHE", str(cache))
    rows = (data / "go" / "go_dataset.csv").read_text("utf-8").splitlines()
    (tmp_path / "mine.csv").write_text("".join(f"{row};{row.partition(';')[0]}\n" for row in rows), "utf-8")
    command = ["import-predictions", str(tmp_path / "mine.csv"), "--ontology", "go", "--model-name", "elsewhere"]
    assert main([*command, "--json"]) == 0
    app = open_page("ontology", cache, **here)
    beside = next(one for one in app.selectbox if one.label == "Beside it")
    assert len(beside.options) == 2
    app = beside.set_value(app.session_state["pick:alongside"] or _imported(cache)).run()
    assert not app.exception


def _imported(cache: Path) -> str:
    from explorer.resources import Resources

    store = Resources(settings_module.read(cache=cache)).store()
    return str(store.frame("SELECT run_id FROM runs WHERE model = 'elsewhere'")["run_id"][0])


def test_the_dialog_says_what_an_endpoint_will_be_asked(open_page, here, tmp_path):
    app = open_page("ontology", tmp_path / "cache", benchmark="go", model="http://127.0.0.1:9/v1#m", study="ontology")
    app.button(key="run:open").click().run()
    assert not app.exception
    assert any("At most 30 requests to 127.0.0.1:9" in one.proto.body for one in app.get("html"))


def test_another_kind_of_benchmark_has_no_concepts(open_page, here, tmp_path):
    app = open_page("ontology", tmp_path, model=here["model"], benchmark="starter_pairs", view="Concept inspector")
    assert not app.exception
    assert any("No concepts here" in one.proto.body for one in app.html)


def test_with_another_kind_of_benchmark_the_inspector_takes_the_ontology_of_a_run_and_says_so(open_page, here, asked):
    app = open_page("ontology", asked, model=here["model"], benchmark="starter_pairs", view="Concept inspector")
    assert not app.exception
    assert any("on Starter pairs yet; shown is" in one.proto.body for one in app.html)
    assert any(one.label == "Concept" for one in app.selectbox)


def test_a_fresh_clone_opens_on_accuracy_that_rises_with_popularity(open_page, tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_PRECOMPUTED", str(PRECOMPUTED))
    app = open_page("ontology", tmp_path / "cache")
    assert not app.exception
    told = "\n".join(one.proto.body for one in app.html)
    assert "Accuracy rises with the popularity of a concept" in told
    assert "only totals are kept" in told
    app = open_page("ontology", tmp_path / "cache", model="gemma-3-270m", benchmark="go")
    assert not app.exception
    beside = next(one for one in app.selectbox if one.label == "Beside it")
    assert any("Pythia 12B" in name for name in beside.options)
    assert beside.value, "beside a model that gives no ID stands one that does"
