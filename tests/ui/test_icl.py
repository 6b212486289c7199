"""The page on in-context memorization, over a stored run and without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.resources import Resources
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from explorer.settings import Settings
from explorer.similarity import replication
from explorer.ui.icl_review import diff_html


class ByWords:
    """A rule that says near-exact of everything that is not equal."""

    def judge(self, references, candidates):
        return [
            replication.Match("exact" if replication.is_exact(one, two) else "near-exact", 0.7, 0.9)
            for one, two in zip(references, candidates)
        ]


@pytest.fixture(scope="module")
def runs(tiny_gpt2: Path, tmp_path_factory) -> tuple[Path, str]:
    """A cache with a finished in-context run of four items, and the run's id."""
    settings = Settings(cache=tmp_path_factory.mktemp("icl"), offline=True)
    resources = Resources(settings)
    resources.once(("replication rule", 0.6, 0.8), ByWords)
    given = {"k": "0,1", "instances": 4, "settings": "pairs", "max_new_tokens": 4, "orders": 1}
    spec = make_spec(resources, study="icl", model=str(tiny_gpt2), benchmark="starter_entailment", settings=given)
    folder = RunFolder.create(settings.runs, spec)
    assert work(folder, resources, lambda text: None, wait=False) == "complete", folder.progress().message
    return settings.cache, folder.run_id


def words_of(app) -> str:
    return "\n".join(element.proto.body for element in app.html)


def test_the_page_shows_memorization_over_k(open_page, runs, tiny_gpt2):
    app = open_page("in_context", runs[0], model=str(tiny_gpt2), benchmark="starter_entailment")
    assert not app.exception and not app.error
    assert "Most memorized" in {metric.label for metric in app.metric}
    assert "what prompts share is read once" in words_of(app)


def test_a_person_overrules_a_verdict_and_takes_it_back(open_page, runs, tiny_gpt2):
    cache, run_id = runs
    app = open_page(
        "in_context", cache, model=str(tiny_gpt2), benchmark="starter_entailment", facet="Review verdicts", k="1"
    )
    assert not app.exception and not app.error
    app.button(key="icl:inexact").click().run()
    reviews = RunFolder.find(Settings(cache=cache).runs, run_id).read_reviews()
    assert [(one["kind"], one["verdict"], one["k"]) for one in reviews] == [("icl_verdict", "inexact", 1)]
    assert next(metric.value for metric in app.metric if metric.label == "Rule overruled") == "1"
    app.button(key="icl:back").click().run()
    app.button(key="icl:undo").click().run()
    assert next(metric.value for metric in app.metric if metric.label == "Rule overruled") == "0"


def test_the_lab_shows_the_prompt_before_a_model_is_asked(open_page, runs, tiny_gpt2):
    app = open_page(
        "in_context", runs[0], model=str(tiny_gpt2), benchmark="starter_entailment", facet="Live lab", shots="2"
    )
    assert not app.exception and not app.error
    assert words_of(app).count("Sentence 2:") == 3  # two demonstrations and the test item


def test_without_a_run_the_page_gives_the_command_of_one(open_page, tmp_path):
    app = open_page("in_context", tmp_path / "cache", benchmark="starter_entailment")
    assert "python -m explorer run icl --model gemma-3-270m --benchmark starter_entailment" in words_of(app)


def test_what_differs_is_marked_in_both_texts_and_escaped():
    original, completion = diff_html("a <b> cat sat.", "a <b> dog sat.")
    assert original == "a &lt;b&gt; <mark>cat</mark> sat."
    assert completion == "a &lt;b&gt; <mark>dog</mark> sat."
    assert diff_html("same", "same") == ("same", "same")
