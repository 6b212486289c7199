"""The demonstration index."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.popularity import demo_corpus, manifest
from explorer.popularity.counters import open_counter
from explorer.popularity.indexes import is_pretraining_data
from explorer.settings import Settings

GLOSS = '00001740 03 n 01 entity 0 000 | a thing that is; "the thing was old"; "no thing at all"\n'


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A demonstration corpus of a few packages only, so that it is built at once."""
    monkeypatch.setattr(demo_corpus, "DOCSTRING_CHARACTERS", 100_000)
    monkeypatch.setattr(demo_corpus, "README_CHARACTERS", 500)


def add_wordnet(settings: Settings) -> None:
    folder = settings.nltk_data / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    (folder / "data.noun").write_text("  1 This is a license.\n" + GLOSS)


def test_definitions_and_examples_are_taken_from_wordnet(settings: Settings, small):
    add_wordnet(settings)
    texts = [each.text for each in demo_corpus.documents(settings) if each.path.startswith("wordnet/")]
    assert texts == [" a thing that is\n the thing was old\n no thing at all"]


def test_candidate_answers_of_the_starter_benchmarks_are_left_out(settings: Settings, small, tmp_path, monkeypatch):
    monkeypatch.setattr(demo_corpus, "STARTER", tmp_path)
    (tmp_path / "a.jsonl").write_text('{"premise": "It  rained.", "options": ["He got wet.", "He flew."], "gold": 0}\n')
    texts = [each.text for each in demo_corpus.documents(settings) if each.path.startswith("starter/")]
    assert texts == [" It rained."]


def test_the_same_packages_give_the_same_corpus(settings: Settings, small):
    assert list(demo_corpus.documents(settings)) == list(demo_corpus.documents(settings))


def test_every_line_begins_with_a_blank_as_words_in_running_text_do(settings: Settings, small):
    for document in demo_corpus.documents(settings):
        assert all(line.startswith(" ") for line in document.text.split("\n"))


def test_the_first_visit_builds_it_and_the_second_finds_it(settings: Settings, small):
    steps: list[str] = []
    counter = open_counter("demo", settings, progress=lambda what, done, total: steps.append(what))
    assert steps
    steps.clear()
    again = open_counter("demo", settings, progress=lambda what, done, total: steps.append(what))
    assert not steps
    assert counter.index == again.index
    assert counter.count(counter.encode(["the"]))[0].count > 100
    assert is_pretraining_data(counter.index, "gemma-3-270m") is False
    assert "not the pre-training data" in manifest.read(settings.indexes / "demo").note


def test_it_is_built_anew_when_wordnet_has_come_or_a_file_is_damaged(settings: Settings, small):
    folder = demo_corpus.ensure(settings)
    first = manifest.read(folder)
    add_wordnet(settings)
    second = manifest.read(demo_corpus.ensure(settings))
    assert "WordNet" in second.sources and "WordNet" not in first.sources
    assert second.key != first.key
    (folder / "table.0").write_bytes(b"")
    demo_corpus.ensure(settings)
    manifest.check_sizes(folder, manifest.read(folder))


@pytest.mark.parametrize(
    ("paragraph", "is_prose"),
    [
        ("This package reads small files and writes them back.", True),
        (">>> x = f(3) + g(4) and then some more words here", False),
        ("| a | b | c | d | e |", False),
        ("Short one.", False),
    ],
)
def test_only_sentences_are_kept(paragraph: str, is_prose: bool):
    assert (demo_corpus._prose(paragraph) != []) is is_prose


@pytest.mark.slow
def test_the_whole_demonstration_index_counts_rightly(settings: Settings):
    from explorer.popularity import index

    folder: Path = demo_corpus.ensure(settings)
    assert index.check(folder, compared=60).wrong == ()
    assert manifest.read(folder).tokens > 500_000
