"""While a reader looks at an instance, what the next one needs is made, in silence, of what is at hand."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import ClassVar

import pytest
from streamlit.testing.v1 import AppTest

from explorer import admission
from explorer import settings as settings_module
from explorer.errors import ModelError, ScoringError
from explorer.popularity import manifest, measure
from explorer.records import Instance
from explorer.resources import Resources
from explorer.settings import ROOT
from explorer.ui import instance_list, live, resources, visitor
from explorer.ui.cockpit import gauges, reading_ahead, scores, words
from explorer.variants import by_hand, wordnet
from explorer.variants.lexicon import Lemma, Sense
from tests.conftest import wait_for_reading_ahead
from tests.ui.conftest import strip_of
from tests.ui.test_lenses import keep_run

ENDPOINT = "http://127.0.0.1:9/v1#m"


class Kin:
    """A lexicon that knows a synonym of the kin in the first instances and nothing else."""

    name = "kin"
    synonyms: ClassVar = {"grandmother": "granny", "grandson": "boy", "child": "kid"}

    def senses(self, lemma, pos):
        if lemma not in self.synonyms:
            return ()
        lemmas = (Lemma(lemma), Lemma(self.synonyms[lemma]))
        return (Sense(f"{lemma}.n.01", "n", 1, lemmas[0], lemmas, "a kin"),)

    def has(self, expression):
        return False

    def related(self, synset):
        return ()


@pytest.fixture
def here(tiny_gpt2: Path) -> dict[str, str]:
    return {"model": str(tiny_gpt2), "benchmark": "starter_pairs"}


@pytest.fixture
def stocked(small_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with a small index and a run whose deciles were counted in it; a lexicon of kin stands for WordNet."""
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    settings = settings_module.read()
    shutil.copytree(small_index, settings.indexes / "small")
    keep_run(settings, "small", manifest.read(settings.indexes / "small").key)
    monkeypatch.setattr(wordnet, "find_wordnet", lambda settings: settings.nltk_data)
    resources.resources().once(("lexicon",), Kin)
    return settings.cache


class Asked:
    """Whom the pages and whom the thread asked to score, with the ids of what they were asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.by_pages: list[str] = []
        self.ahead: list[str] = []
        self.judge = live.judge
        monkeypatch.setattr(live, "judge", self)

    def __call__(self, instance: Instance, model: str, scoring, **options) -> live.Judged:
        is_ahead = threading.current_thread().name == "reading ahead"
        (self.ahead if is_ahead else self.by_pages).append(instance.id)
        return self.judge(instance, model, scoring, **options)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(monkeypatch)


def names() -> list[str]:
    """The ids in the order in which the page steps through them."""
    return list(instance_list.listing("starter_pairs").by_id)


def refuse(*_, **__):
    raise ScoringError("This was to be remembered.")


def test_the_words_scores_and_counts_of_the_next_instance_are_there_before_it_is_asked_for(
    open_page, stocked, here, monkeypatch
):
    app = open_page("instance", stocked, **here)
    wait_for_reading_ahead()
    first = strip_of(app)["of"]
    for room, name in ((by_hand, "read_instance"), (measure, "rate_texts"), (Resources, "scorer")):
        monkeypatch.setattr(room, name, refuse)
    app.button(key="step:forth").click().run()
    assert not app.exception and not app.error
    strip = strip_of(app)
    assert strip["of"] == names()[names().index(first) + 1]
    cells = [cell for block in strip["blocks"] for column in block["columns"] for cell in column["cells"] if cell]
    assert any("lx-swap" in cell["kinds"] for cell in cells) and all(cell["number"] for cell in cells)
    assert {"Margin (nats)", gauges.IPS} <= {metric.label for metric in app.metric}
    # What nobody read ahead fails: what the first step was shown from was remembered.
    app.query_params["instance"] = names()[-1]
    app.run()
    assert strip_of(app)["of"] == names()[-1]
    assert gauges.IPS not in {metric.label for metric in app.metric}


def test_the_next_instance_is_scored_by_the_model_that_is_loaded(open_page, tmp_path, here, asked):
    open_page("instance", tmp_path / "cache", **here)
    wait_for_reading_ahead()
    assert asked.ahead == names()[1:2] and set(asked.by_pages) == set(names()[:1])


def test_a_run_that_kept_its_tokens_is_not_scored_again(open_page, cache, run_id, here, asked):
    app = open_page("instance", cache, run=run_id, **here)
    wait_for_reading_ahead()
    assert strip_of(app)["blocks"] and asked.ahead == []


def test_a_model_that_is_not_loaded_is_not_asked_ahead(open_page, tmp_path, asked):
    app = open_page("instance", tmp_path / "cache", model="gemma-3-270m", benchmark="starter_pairs")
    wait_for_reading_ahead()
    assert app.button(key="score:now") and asked.ahead == []


def test_a_model_that_gave_way_to_another_meanwhile_is_not_loaded_again(open_page, tmp_path, here, asked, monkeypatch):
    def other_model(seconds: float) -> None:
        resources.loaded_model()["name"] = "somebody else's"

    monkeypatch.setattr(reading_ahead.time, "sleep", other_model)
    open_page("instance", tmp_path / "cache", **here)
    wait_for_reading_ahead()
    assert asked.by_pages and asked.ahead == []


def test_an_endpoint_is_not_asked_ahead_though_the_reader_asked_it(tmp_path, monkeypatch, asked):
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    app = AppTest.from_file(str(ROOT / "pages" / "instance.py"), default_timeout=60)
    app.query_params["model"], app.query_params["benchmark"] = ENDPOINT, "starter_pairs"
    app.session_state[visitor.ALLOWED] = {str(admission.server_of(ENDPOINT, settings_module.read()))}
    app.session_state[live.ASKED] = {ENDPOINT}
    app.run()
    wait_for_reading_ahead()
    assert not app.exception
    assert set(asked.by_pages) == set(names()[:1]) and asked.ahead == []


@pytest.mark.parametrize(("most", "room"), [("MOST_UNASKED", scores), ("MOST_READ", words)])
def test_a_text_that_is_too_long_for_a_page_is_not_read_ahead(open_page, stocked, here, asked, monkeypatch, most, room):
    read: list[str] = []
    monkeypatch.setattr(words, "read_words", lambda item, veto: read.append(item.id))
    app = open_page("instance", stocked, **here)  # which loads the model
    wait_for_reading_ahead()
    assert asked.ahead == names()[1:2] and names()[1] in read
    asked.ahead.clear()
    read.clear()
    monkeypatch.setattr(room, most, 1)
    app.button(key="step:forth").click().run()
    wait_for_reading_ahead()
    assert (asked.ahead == []) == (room is scores) and (names()[2] not in read) == (room is words)


def test_a_fault_ahead_is_silent_what_comes_after_it_is_made_and_the_next_turn_can_be_had(
    open_page, stocked, here, monkeypatch
):
    judged, read, faults = live.judge, [], []

    def fails_ahead(item, *about, **options):
        if threading.current_thread().name == "reading ahead":
            raise ModelError("The model is gone.")
        return judged(item, *about, **options)

    def read_words(item, veto):
        if threading.current_thread().name == "reading ahead":
            read.append(item.id)
        return real(item, veto)

    real = words.read_words
    monkeypatch.setattr(live, "judge", fails_ahead)
    monkeypatch.setattr(words, "read_words", read_words)
    monkeypatch.setattr(threading, "excepthook", faults.append)
    app = open_page("instance", stocked, **here)
    wait_for_reading_ahead()
    assert not app.exception and not app.error and faults == []
    assert read == names()[1:2]
    app.button(key="step:forth").click().run()
    wait_for_reading_ahead()
    assert not app.exception and not app.error and faults == []
    assert read == names()[1:3]


def test_one_instance_is_read_ahead_at_a_time(open_page, tmp_path, here, asked, monkeypatch):
    app = open_page("instance", tmp_path / "cache", **here)
    wait_for_reading_ahead()
    held = threading.Event()
    try:
        monkeypatch.setattr(reading_ahead.time, "sleep", lambda seconds: held.wait(60))
        app.button(key="step:forth").click().run()
        app.button(key="step:forth").click().run()  # while the one before is not read yet
        assert [thread.name for thread in threading.enumerate()].count("reading ahead") == 1
    finally:
        held.set()
    wait_for_reading_ahead()
    assert asked.ahead == names()[1:3]


def test_nothing_is_begun_where_no_instance_follows(open_page, tmp_path, here, monkeypatch):
    begun: list[str] = []
    monkeypatch.setattr(reading_ahead, "begin_reading", lambda item, *about: begun.append(item.id))
    open_page("instance", tmp_path / "cache", **here, instance=names()[-1])
    open_page("instance", tmp_path / "cache", **here, what="A text of my own")
    open_page("instance", tmp_path / "cache", **here, instance="starter_pairs/none/none")
    assert begun == []
    open_page("instance", tmp_path / "cache", **here, instance=names()[-2])
    assert begun == names()[-1:]
