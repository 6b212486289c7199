"""The page that holds methods against planted truth."""

from __future__ import annotations

import html
import re

import pytest

VIEWS = {
    "Verdicts": [
        "Does the verdict follow the data?",
        "What does the popularity score see?",
        "Does a swap to a rare synonym show?",
    ],
    "Memorized texts": ["Which texts can be drawn out?", "Can texts of the corpus be told from others?"],
    "IDs and prompts": [
        "Does the model know an ID?",
        "Do demonstrations bring out what was read?",
        "Does a context act alike at every dose?",
    ],
    "Plant your own": ["Plant your own"],
}
SAID = {"Verdicts": 3, "Memorized texts": 2, "IDs and prompts": 3, "Plant your own": 0}


def words_of(app) -> str:
    return html.unescape(" ".join(block.proto.body for block in app.html if "<style>" not in block.proto.body))


@pytest.mark.parametrize("view", VIEWS)
def test_without_a_run_the_page_says_how_to_make_one(open_page, tmp_path, view):
    app = open_page("calibration", tmp_path / "cache", facet=view)
    assert not app.exception and [header.value for header in app.header] == VIEWS[view]
    assert words_of(app).count("of Glass box M here yet") == SAID[view]
    if view == "Verdicts":
        assert any("--benchmark glassbox_pairs" in code.value for code in app.code)


@pytest.mark.parametrize("view", VIEWS)
def test_on_a_clean_clone_every_question_has_a_sentence_and_a_figure(open_page, tmp_path, monkeypatch, view):
    monkeypatch.delenv("EXPLORER_PRECOMPUTED")
    app = open_page("calibration", tmp_path / "cache", facet=view)
    assert not app.exception and [header.value for header in app.header] == VIEWS[view]
    told = words_of(app)
    assert "here yet" not in told
    assert told.count("What holds for such small models need not hold for large ones") == 1
    assert told.count("lx-says") == SAID[view] and len(app.get("plotly_chart")) >= SAID[view]
    if view == "Memorized texts":
        assert "Glass box M finishes texts seen 16 times, not those seen" in told
        assert re.search(r"MIA loss \(0\.\d\d → 0\.97\)", told) and "MIA: Membership Inference Attack;" in told


def test_what_is_planted_is_searched_in_a_table(open_page, tmp_path):
    from explorer import settings
    from explorer.ui.calibration import schedule

    planted = schedule.planted(settings.read(cache=tmp_path))
    assert {"glassbox_pairs", "glassbox_synonyms", "glassbox-ontology", "starter_causes"} <= set(planted["where"])
    ids = planted[planted["text"].str.startswith("GB:")]
    assert len(ids) == 2_000 and set(ids["dose"]) >= {0, 1, 1000}
