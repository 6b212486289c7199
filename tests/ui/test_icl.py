"""The page on in-context memorization, over a stored run and without one."""

from __future__ import annotations

import itertools
from pathlib import Path

import pandas as pd
import pytest

from explorer.resources import Resources
from explorer.results import precomputed
from explorer.results.packed_run import PackedRun, find_run
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from explorer.settings import PRECOMPUTED, Settings
from explorer.similarity import replication
from explorer.studies.icl import prompts as icl_prompts
from explorer.studies.icl import rows as icl_rows
from explorer.ui.icl import baselines, review
from explorer.ui.icl.review import diff_html


class ByWords:
    """A rule that says near-exact of everything that is not equal."""

    def judge(self, references, candidates):
        return [
            replication.Match("exact" if replication.is_exact(one, two) else "near-exact", 0.7, 0.9)
            for one, two in zip(references, candidates, strict=True)
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


def button(app, begin: str):
    """The button whose key begins so; the keys name the completion, too."""
    return next(one for one in app.button if (one.key or "").startswith(begin))


def words_of(app) -> str:
    return "\n".join(element.proto.body for element in app.html)


def test_the_page_shows_memorization_over_k(open_page, runs, tiny_gpt2):
    app = open_page("in_context", runs[0], model=str(tiny_gpt2), benchmark="starter_entailment")
    assert not app.exception and not app.error
    assert any(metric.label.startswith("Most memorized, k = ") for metric in app.metric)
    assert "what prompts share is read once" in words_of(app)


def test_a_person_overrules_a_verdict_and_takes_it_back(open_page, runs, tiny_gpt2):
    cache, run_id = runs
    app = open_page(
        "in_context", cache, model=str(tiny_gpt2), benchmark="starter_entailment", facet="Review verdicts", k="1"
    )
    assert not app.exception and not app.error
    button(app, "icl:inexact").click().run()
    reviews = RunFolder.find(Settings(cache=cache).runs, run_id).read_reviews()
    assert [(one["kind"], one["verdict"], one["k"]) for one in reviews] == [("icl_verdict", "inexact", 1)]
    assert next(metric.value for metric in app.metric if metric.label == "Rule overruled") == "1"
    button(app, "icl:back").click().run()
    button(app, "icl:undo").click().run()
    assert next(metric.value for metric in app.metric if metric.label == "Rule overruled") == "0"


def test_a_key_pressed_twice_judges_only_what_was_read(open_page, runs, tiny_gpt2):
    cache, run_id = runs
    folder = RunFolder.find(Settings(cache=cache).runs, run_id)
    before = len(folder.read_reviews())
    app = open_page(
        "in_context", cache, model=str(tiny_gpt2), benchmark="starter_entailment", facet="Review verdicts", k="0"
    )
    pressed = button(app, "icl:near-exact")
    pressed.click().run()
    pressed.click().run()
    assert len(folder.read_reviews()) == before + 1
    assert button(app, "icl:near-exact").key != pressed.key


def test_peoples_verdicts_are_counted_over_k_and_the_last_one_can_be_seen_again(open_page, runs, tiny_gpt2):
    cache, run_id = runs
    folder = RunFolder.find(Settings(cache=cache).runs, run_id)
    app = open_page(
        "in_context", cache, model=str(tiny_gpt2), benchmark="starter_entailment", facet="Review verdicts", k="1"
    )
    while any((one.key or "").startswith("icl:exact:") for one in app.button):
        button(app, "icl:exact:").click().run()
    assert "No completion is left here" in words_of(app)
    app.button(key="icl:last").click().run()
    assert button(app, "icl:undo").disabled is False
    app.button(key="icl:count").click().run()
    assert not app.exception and not app.error
    found = folder.read("findings", ["finding", "grp", "condition", "k", "value"])
    own = found[(found["finding"] == "replication_exact") & (found["grp"] == "overall") & (found["k"] == 1)]
    assert own.set_index("condition")["value"]["people"] == 1
    assert not any(one.key == "icl:count" for one in app.button)


def test_a_verdict_that_the_rule_never_gave_is_said_to_be_missing(open_page, runs, tiny_gpt2):
    app = open_page(
        "in_context", runs[0], model=str(tiny_gpt2), benchmark="starter_entailment", facet="Review verdicts",
        kind="exact",
    )  # fmt: skip
    assert "to none of these completions" in words_of(app)


def test_a_prompt_beyond_the_models_window_is_one_sentence(open_page, runs, tiny_gpt2):
    app = open_page(
        "in_context", runs[0], model=str(tiny_gpt2), benchmark="starter_entailment", facet="Live lab", shots="40"
    )
    app.button(key="icl:ask").click().run()
    assert not app.exception and not app.error
    assert "gave no answer" in words_of(app) and "In the data set" not in words_of(app)


def test_the_lab_shows_the_prompt_before_a_model_is_asked(open_page, runs, tiny_gpt2):
    app = open_page(
        "in_context", runs[0], model=str(tiny_gpt2), benchmark="starter_entailment", facet="Live lab", shots="2"
    )
    assert not app.exception and not app.error
    assert words_of(app).count("Sentence 2:") == 3  # two demonstrations and the test item


def test_without_a_run_the_page_gives_the_command_of_one(open_page, tmp_path):
    app = open_page("in_context", tmp_path / "cache", benchmark="starter_entailment")
    assert any(
        "python -m explorer run icl --model gemma-3-270m --benchmark starter_entailment" in code.value
        for code in app.code
    )


def test_what_differs_is_marked_in_both_texts_and_escaped():
    original, completion = diff_html("a <b> cat sat.", "a <b> dog sat.")
    assert original == "a &lt;b&gt; <mark>cat</mark> sat."
    assert completion == "a &lt;b&gt; <mark>dog</mark> sat."
    assert diff_html("same", "same") == ("same", "same")


def test_on_a_fresh_clone_a_person_reviews_the_packed_runs_of_starter_sets(
    open_page, runs, tiny_gpt2, tmp_path, monkeypatch
):
    cache, run_id = runs
    precomputed.pack_runs([RunFolder.find(Settings(cache=cache).runs, run_id)], tmp_path / "packed.duckdb")
    monkeypatch.setenv("EXPLORER_PRECOMPUTED", str(tmp_path / "packed.duckdb"))
    choice = {"model": str(tiny_gpt2), "benchmark": "starter_entailment", "facet": "Review verdicts", "k": "1"}
    app = open_page("in_context", tmp_path / "cache", **choice)
    assert not app.exception and not app.error
    assert "Original" in words_of(app)
    shown = app.session_state[f"icl:shown:{run_id}"][0]
    button(app, "icl:inexact").click().run()
    assert not app.exception
    found = find_run(Settings(cache=tmp_path / "cache", precomputed=tmp_path / "packed.duckdb"), run_id)
    assert isinstance(found, PackedRun)
    [review] = found.read_reviews()
    assert (review["instance_id"], review["verdict"], review["k"]) == (shown, "inexact", 1)
    again = open_page("in_context", tmp_path / "cache", **choice)
    assert next(metric.value for metric in again.metric if metric.label == "Rule overruled") == "1"


def test_the_first_look_at_the_review_falls_on_a_run_that_kept_its_completions(open_page, tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_PRECOMPUTED", str(PRECOMPUTED))
    app = open_page("in_context", tmp_path / "cache", facet="Review verdicts")
    assert not app.exception and not app.error
    assert "on Starter " in words_of(app) and "Original" in words_of(app)


def test_a_packed_run_of_a_starter_set_has_the_verdicts_and_prompts_of_its_folder(runs, tmp_path):
    cache, run_id = runs
    folder = RunFolder.find(Settings(cache=cache).runs, run_id)
    precomputed.pack_runs([folder], tmp_path / "packed.duckdb")
    packed = find_run(Settings(cache=tmp_path, precomputed=tmp_path / "packed.duckdb"), run_id)
    ours, theirs = (icl_rows.verdict_table(run.read, run.read_reviews()) for run in (folder, packed))
    told = ["instance_id", "setting", "k", "first", "reference", "completion", "rule", "differing"]
    pd.testing.assert_frame_equal(ours[told], theirs[told])
    ours, theirs = (icl_prompts.full_prompts(run.read)[["instance_id", "k", "prompt"]] for run in (folder, packed))
    by = ["instance_id", "k", "prompt"]
    pd.testing.assert_frame_equal(ours.sort_values(by, ignore_index=True), theirs.sort_values(by, ignore_index=True))


def test_stepping_goes_on_from_where_the_reader_is_and_comes_back_for_what_was_left():
    names = ["a", "b", "c", "d"]
    assert review.next_waiting(names, {"a", "c", "d"}, 1) == "c"  # not back to a
    assert review.next_waiting(names, {"a", "d"}, 3) == "a"
    assert review.next_waiting(names, {"b"}, 1) == ""


def test_take_back_means_the_last_verdict_given():
    given = (("a", "full", 1), ("b", "full", 1))
    assert review.last_given(given, ("a", "full", 1)) == ("b", "full", 1)
    assert review.last_given((), ("a", "full", 1)) == ("a", "full", 1)
    assert review.last_given((), None) is None


def test_copies_of_the_prompt_and_short_endings_are_told_apart_from_memory():
    table = pd.DataFrame(
        {
            "first": ["The dog ran home.", "A cat sat.", "It rained a lot today.", "Birds sing here."],
            "completion": [
                "the dog ran home",
                "Yes.",
                "So we stayed at home and read.",
                "Birds sing over there loudly.",
            ],
            "final": ["near-exact", "exact", "exact", "inexact"],
        }
    )
    said = baselines.in_words(table, "final")
    assert said.startswith("Of 3 completions that count as memorized, 1 repeat the first sentence")
    assert "1 have fewer than four words" in said and "1 (33.3%) are left" in said


def test_an_answer_is_shown_as_it_is_written_and_then_kept(open_page, runs, tiny_gpt2, monkeypatch):
    from explorer.ui.icl import lab
    from explorer.ui.icl.answer_progress import Telling

    steps, written = [], []
    monkeypatch.setattr(Telling, "step", lambda self, text: steps.append(text))
    monkeypatch.setattr(Telling, "wrote", lambda self, text: written.append(text))
    app = open_page(
        "in_context", runs[0], model=str(tiny_gpt2), benchmark="starter_entailment", facet="Live lab", shots="1"
    )
    app.button(key="icl:ask").click().run()
    assert not app.exception and not app.error
    assert any(step.startswith("Reading a prompt") for step in steps) and "Comparing" in steps[-1]
    # Each text goes on from the one before, and the last is what the page shows.
    assert len(written) > 1
    assert all(len(later) >= len(earlier) for earlier, later in itertools.pairwise(written))
    assert "icl:stop" not in {button.key for button in app.button}
    assert len(lab._answers_kept()) == 1
    steps.clear()
    app.run()
    assert steps == []  # kept, so nothing is asked again


def test_who_stops_an_answer_is_asked_no_more(open_page, runs, tiny_gpt2):
    from explorer.ui.icl import lab

    app = open_page(
        "in_context", runs[0], model=str(tiny_gpt2), benchmark="starter_entailment", facet="Live lab", shots="1"
    )
    app.session_state["icl:asked"] = None  # as the button Stop leaves it
    app.run()
    assert not lab._answers_kept() and "In the data set" not in words_of(app)


def test_the_lab_asks_about_labeled_texts_where_the_chosen_benchmark_has_none_and_says_so(open_page, runs, tiny_gpt2):
    app = open_page("in_context", runs[0], model=str(tiny_gpt2), benchmark="starter_pairs", facet="Live lab", shots="2")
    assert not app.exception and not app.error
    assert "Starter pairs has no labeled texts; shown is Starter entailment" in words_of(app)
    assert words_of(app).count("Sentence 2:") == 3
