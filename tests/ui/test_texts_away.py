"""Labs need the texts of a benchmark: where they are not here, the page offers to fetch them."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest


@pytest.mark.parametrize(
    ("page", "benchmark", "choices"),
    [
        ("priming", "blimp", {}),
        ("perturbation", "piqa", {}),
        ("in_context", "rte", {"facet": "Live lab"}),
        ("ontology", "go", {"view": "Concept inspector"}),
    ],
)
def test_a_lab_without_its_texts_offers_them(open_page, tmp_path, page, benchmark, choices):
    app = open_page(page, tmp_path / "cache", benchmark=benchmark, **choices)
    assert not app.exception and not app.error
    said = "\n".join(element.proto.body for element in app.html)
    assert "are not on this machine" in said


def test_the_concepts_planted_in_the_glass_box_are_here_though_no_benchmark_is_called_so(
    open_page, tmp_path, monkeypatch
):
    monkeypatch.delenv("EXPLORER_PRECOMPUTED")
    app = open_page("ontology", tmp_path / "cache", model="glassbox-m", benchmark="glassbox_pairs",
                    view="Concept inspector")  # fmt: skip
    assert not app.exception and not app.error
    assert next(one.value for one in app.metric if one.label == "ID").startswith("GB:")
    assert any("Edits" in one.value.columns for one in app.dataframe)
    assert app.button(key="ontology:ask")


def page_of_ontologies_elsewhere():
    from explorer.ui import texts

    assert not texts.are_here("go-basic") and not texts.are_here("/gone/terms.csv")
    texts.offer("go-basic")
    texts.offer("/gone/terms.csv")


def test_an_ontology_that_is_not_here_is_offered_and_a_file_that_is_gone_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("EXPLORER_DATA", str(tmp_path / "data"))
    app = AppTest.from_function(page_of_ontologies_elsewhere, default_timeout=60).run()
    assert not app.exception and not app.error
    assert app.button(key="fetch:go-basic")
    assert any("/gone/terms.csv" in one.proto.body for one in app.html)


def test_a_view_that_needs_another_run_offers_the_texts_first_where_they_are_away(open_page, tmp_path, monkeypatch):
    monkeypatch.delenv("EXPLORER_PRECOMPUTED")
    app = open_page("priming", tmp_path / "cache", model="gemma-3-270m", benchmark="blimp",
                    priming="Perturbed contexts")  # fmt: skip
    assert not app.exception and not app.error
    said = "\n".join(element.proto.body for element in app.html)
    assert "No perturbed contexts in this run" in said and "are not on this machine" in said
    assert "start:priming" not in {one.key for one in app.button}
