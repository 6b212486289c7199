"""A study that knows English only is refused for a benchmark in another language when the run is asked for."""

import dataclasses

import pytest

from explorer import benchmarks
from explorer.benchmarks.core.benchmark import Loaded
from explorer.errors import UsageError
from explorer.records import Instance
from explorer.runs import request
from explorer.scoring.identity import Identity

GERMAN = ("Die Hunde bellen nicht.", "Die Hunde bellt nicht.")
ENGLISH = ("The dogs do not bark.", "The dogs does not bark.")


class Shelf:
    """Resources that hold one benchmark."""

    settings = None

    def __init__(self, options, language=""):
        pairs = tuple(
            Instance(f"own/p/{n}", "own", "all", "p", "pair", "sentence", options=pair, gold=0)
            for n, pair in enumerate(options)
        )
        self.loaded = Loaded(pairs, (), "here", "hash", language)

    def instances(self, benchmark, splits=()):
        return self.loaded


@pytest.fixture(autouse=True)
def model(monkeypatch):
    monkeypatch.setattr("explorer.scoring.identity.identify", lambda name, settings, kind: Identity(name))


def asked(shelf, study="perturbation", **settings):
    return request.make_spec(shelf, study=study, model="m", benchmark="own", settings=settings)


def test_a_run_of_swaps_on_another_language_is_refused_before_it_starts():
    shelf = Shelf([GERMAN] * 5 + [ENGLISH])
    with pytest.raises(UsageError, match=r"own is not English: 5 of 6 instances .* as in German"):
        asked(shelf)
    assert asked(shelf, "accuracy").study == "accuracy"


def test_an_english_benchmark_with_some_lines_of_another_language_is_taken():
    assert asked(Shelf([ENGLISH] * 5 + [GERMAN])).benchmark == "own"


def test_a_declared_language_is_believed():
    with pytest.raises(UsageError, match="its language is German"):
        asked(Shelf([ENGLISH], "de"))
    assert asked(Shelf([GERMAN], "en")).benchmark == "own"


def test_of_several_languages_most_count_and_a_declared_row_is_believed():
    def shelf(*codes):
        made = Shelf([ENGLISH] * len(codes), "mul")
        rows = zip(made.loaded.instances, codes, strict=True)
        instances = tuple(dataclasses.replace(one, extra={"language": code}) for one, code in rows)
        made.loaded = dataclasses.replace(made.loaded, instances=instances)
        return made

    with pytest.raises(UsageError, match=r"2 of 3 instances looked at are not \(the first: its language is German\)"):
        asked(shelf("en", "de", "fr"))
    assert asked(shelf("en", "de", "en")).benchmark == "own"


def test_texts_of_an_unknown_language_that_look_english_are_told_to_be_taken_for_it():
    guess = request.taken_for_english(Shelf([ENGLISH]), "perturbation", "own")
    assert guess.startswith("Nobody said what language own is in; its texts look English and are taken for it")
    for shelf, study in (
        (Shelf([ENGLISH], "en"), "perturbation"), (Shelf([ENGLISH]), "accuracy"), (Shelf([GERMAN]), "perturbation")
    ):  # fmt: skip
        assert request.taken_for_english(shelf, study, "own") == ""


def test_the_published_benchmarks_are_declared_english():
    assert {found.language for found in benchmarks.BENCHMARKS.values()} == {"en"}


def test_priming_takes_any_language_but_english_words_are_added_to_english_sentences_alone():
    shelf = Shelf([GERMAN] * 5 + [ENGLISH])
    assert asked(shelf, "priming").study == "priming"
    with pytest.raises(UsageError, match=r"edits of the study priming adds English words; own is not English: 5 of 6"):
        asked(shelf, "priming", edits=["prefix_adverb"])
    assert asked(Shelf([ENGLISH]), "priming", edits=["prefix_adverb"]).settings["edits"]
