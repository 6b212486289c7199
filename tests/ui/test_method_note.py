"""Comparisons of runs that were not asked alike say so, and give no difference of numbers in different units."""

from __future__ import annotations

import dataclasses
import shutil

import pytest

from explorer import settings as settings_module
from explorer.resources import Resources
from explorer.runs import worker
from explorer.runs.folder import RunFolder
from explorer.scoring.policy import margin_unit
from explorer.ui import method_note


def notes_of(app) -> str:
    return "\n".join([*(element.proto.body for element in app.html), *(caption.value for caption in app.caption)])


@pytest.fixture
def by_means(finished, tmp_path):
    """A cache with a run by sums and the same run by means over tokens."""
    cache = tmp_path / "cache"
    shutil.copytree(finished[0], cache)
    resources = Resources(settings_module.read(cache=cache))
    first = RunFolder.find(resources.settings.runs, finished[1])
    settings = {**first.spec.settings, "normalization": "mean_token"}
    other = RunFolder.create(resources.settings.runs, dataclasses.replace(first.spec, settings=settings))
    assert worker.work(other, resources, lambda text: None, wait=False) == "complete"
    return cache, first, other


@pytest.mark.parametrize(
    ("settings", "unit"),
    [
        ({"preset": "natural", "normalization": "preset"}, "nats"),
        ({"preset": "minicons", "normalization": "preset"}, "nats a token"),
        ({"preset": "minicons", "normalization": "sum"}, "nats"),
        ({"preset": "natural", "normalization": "per_char"}, "nats a character"),
        ({"preset": "minicons"}, "nats"),  # priming compares sums in either preset
        ({}, "nats"),
    ],
)
def test_what_a_margin_is_in_follows_from_a_runs_settings(settings, unit):
    assert margin_unit(settings) == unit


def test_margins_in_different_units_have_no_difference(open_page, by_means):
    cache, first, other = by_means
    about = {"model": first.spec.model, "benchmark": first.spec.benchmark}
    app = open_page("findings", cache, finding="Two models", first=first.run_id, second=other.run_id, **about)
    assert not app.exception
    assert "so that no difference of margins is given" in notes_of(app)
    (margin,) = (metric for metric in app.metric if metric.label == "Margin difference")
    assert not any(letter.isdigit() for letter in margin.value)
    app = open_page("runs", cache, view="Compare", runs=f"{first.run_id},{other.run_id}")
    assert not app.exception
    assert "are in different units" in notes_of(app)


def test_an_instance_of_a_run_by_means_has_its_margin_in_their_unit(open_page, by_means):
    cache, first, other = by_means
    about = {"model": first.spec.model, "benchmark": first.spec.benchmark}
    app = open_page("instance", cache, run=other.run_id, **about)
    assert not app.exception
    assert "Margin (nats a token)" in [metric.label for metric in app.metric]
    assert "times as probable" not in notes_of(app)
    app = open_page("instance", cache, run=first.run_id, **about)
    assert "Margin (nats)" in [metric.label for metric in app.metric]


def test_runs_of_two_models_that_were_asked_apart_say_so():
    names = {"a": "Gemma", "b": "SmolLM2"}
    assert method_note.settings_in_words({"a": "", "b": ""}, names) == ""
    assert method_note.settings_in_words({"a": "preset lm-eval", "b": ""}, names) == (
        "These runs were not asked alike (Gemma: preset lm-eval; SmolLM2: the defaults), so that what they differ in "
        "need not come from the models."
    )
