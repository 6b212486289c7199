"""What was clicked in a figure leads to instances, and they can be kept as a slice that pages take."""

from __future__ import annotations

from explorer import settings as settings_module
from explorer.runs import slices
from explorer.ui import instances_behind


def test_what_was_picked_is_read_once_each():
    points = [{"customdata": [3, "hover"]}, {"customdata": ["4"]}, {"customdata": [3, "hover"]}, {}]
    assert instances_behind.picked({"selection": {"points": points}}) == ["3", "4"]
    assert instances_behind.picked({"selection": {"points": points}}, 1) == ["hover"]
    assert instances_behind.picked(None) == []


def test_a_slice_narrows_the_popularity_page_and_stands_in_the_address(open_page, everything, monkeypatch):
    settings = settings_module.read(cache=everything)
    ids = [one.id for one in _pairs(settings)][:12]
    slices.store_slice(settings, "a dozen", "starter_pairs", ids)
    try:
        app = open_page("popularity", everything, model="gemma-3-270m", benchmark="starter_pairs", slice="a-dozen")
        assert not app.exception and not app.error
        assert next(box.value for box in app.selectbox if box.label == "Slice") == "a-dozen"
        assert "a-dozen" in app.query_params["slice"]
        gone = open_page("popularity", everything, model="gemma-3-270m", benchmark="starter_pairs", slice="nothing")
        assert "There is no slice" in "\n".join(element.proto.body for element in gone.html)
    finally:
        (settings.slices / "a-dozen.json").unlink()


def _pairs(settings):
    from explorer import benchmarks

    return benchmarks.load("starter_pairs", settings).instances
