"""Labs need the texts of a benchmark: where they are not here, the page offers to fetch them."""

from __future__ import annotations

import pytest


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
