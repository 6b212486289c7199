"""The pages on popularity and perturbation over a stored run of each, and the pieces they are made of."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from explorer.records import Count
from explorer.resources import Resources
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from explorer.settings import Settings
from explorer.ui.perturbation import pairs as perturbation_pairs
from explorer.ui.perturbation import same_instances
from explorer.variants.lexicon import Lemma, Sense


class OneWord:
    """A lexicon that knows a synonym of "winter" and nothing else."""

    name = "one word"

    def senses(self, lemma, pos):
        lemmas = (Lemma("winter"), Lemma("wintertime"))
        return (Sense("winter.n.01", "n", 1, lemmas[0], lemmas, "the cold season"),) if lemma == "winter" else ()

    def has(self, expression):
        return False

    def related(self, synset):
        return ()


class Letters:
    """A counter whose tokens are letters; an n-gram occurs as often as its first letter's code says."""

    index = "letters"

    def encode(self, texts, *, bare=False):
        return [tuple(map(ord, text)) for text in texts]

    def decode(self, ids):
        return tuple(map(chr, ids))

    def count(self, ngrams, progress=None):
        return [Count(self.index, each, float(each[0])) for each in ngrams]

    def total_tokens(self):
        return math.nan


@pytest.fixture(scope="module")
def runs(tiny_gpt2: Path, tmp_path_factory) -> Path:
    """A cache with a finished run of popularity and one of perturbation."""
    settings = Settings(cache=tmp_path_factory.mktemp("lexical"), offline=True)
    resources = Resources(settings)
    resources.once(("lexicon",), OneWord)
    resources.once(("counter", "letters"), Letters)
    for study, more in (("popularity", {}), ("perturbation", {"senses": "first", "similarity": False})):
        given = {"index": "letters", "n": 2, "per_group": 1, **more}
        spec = make_spec(resources, study=study, model=str(tiny_gpt2), benchmark="starter_pairs", settings=given)
        folder = RunFolder.create(settings.runs, spec)
        assert work(folder, resources, lambda text: None, wait=False) == "complete", folder.progress().message
    return settings.cache


def words_of(app) -> str:
    shown = [element.value for kind in (app.header, app.subheader, app.warning, app.info) for element in kind]
    return "\n".join([*map(str, shown), *(element.proto.body for element in app.html)])


def test_the_popularity_page_tells_which_corpus_was_counted_and_what_came_of_it(open_page, runs, tiny_gpt2):
    app = open_page("popularity", runs, model=str(tiny_gpt2), benchmark="starter_pairs")
    assert not app.exception
    assert not app.error
    assert {"Low half", "High half", "Difference", "AUC"} <= {metric.label for metric in app.metric}
    assert "is not known here" in words_of(app)
    assert "2-grams of all options" in words_of(app)


@pytest.mark.parametrize("facet", ["Full runs", "Same meaning?"])
def test_the_perturbation_page_shows_a_stored_run(open_page, runs, tiny_gpt2, facet):
    app = open_page("perturbation", runs, model=str(tiny_gpt2), benchmark="starter_pairs", facet=facet)
    assert not app.exception
    assert not app.error
    assert "No perturbation run yet" not in words_of(app)


@pytest.mark.parametrize(("page", "facet"), [("popularity", ""), ("perturbation", "Full runs")])
def test_without_a_run_the_page_gives_the_command_of_one(open_page, tmp_path, page, facet):
    app = open_page(page, tmp_path / "cache", benchmark="starter_causes", facet=facet)
    assert any(
        f"python -m explorer run {page} --model gemma-3-270m --benchmark starter_causes" in code.value
        for code in app.code
    )


def test_what_differs_is_marked_in_both_texts():
    edit = {"swaps": [{"original": "cat", "substitute": "kitty", "definition": "a <small> cat"}]}
    swaps = perturbation_pairs.swaps_of(json.dumps(edit))
    made = perturbation_pairs.pair_html("The cat & I.", "The kitty & I.", swaps)
    assert "The <mark>cat</mark> &amp; I." in made
    assert '<mark title="cat: a &lt;small&gt; cat">kitty</mark>' in made


def test_agreement_leaves_out_what_one_has_not_judged_or_could_not_be_parsed():
    person = {"a": "same", "b": "different", "c": "same", "d": "same"}
    model = {"a": "same", "b": "different", "c": "unparsed"}
    found = same_instances.agreement(person, model)
    assert (found.n, found.value, found.left_out) == (2, 1.0, 2)
