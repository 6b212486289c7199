"""Processes that a command starts before it has imported what it needs: taken where wanted, ended where not."""

from __future__ import annotations

import pytest

from explorer import studies
from explorer.__main__ import main
from explorer.resources import Resources
from explorer.runs import head_start, pipeline, queue
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.scoring import child_process, own_process
from tests.forked import FORKED

RUN = ("run", "accuracy", "--benchmark", "starter_pairs")


@pytest.fixture
def started(monkeypatch):
    """The modules and processes that were started, in order, on a machine with a GPU and processors for two more."""
    started = []
    plain = child_process._start

    def start(module, card=""):
        started.append((module, plain(module, card)))
        return started[-1][1]

    monkeypatch.setattr(child_process, "subprocess", FORKED)
    monkeypatch.setattr(child_process, "_start", start)
    monkeypatch.setattr(own_process, "is_worthwhile", lambda: True)
    monkeypatch.setattr(
        head_start, "count_for", lambda instances, cards: 2 if instances >= head_start.MIN_INSTANCES else 0
    )
    return started


def are_gone(started) -> bool:
    return all(process.process.poll() is not None for _, process in started)


@pytest.mark.parametrize("name", studies.STUDIES)
def test_the_studies_are_those_that_only_score(name):
    study = studies.study(name)
    given = dict(text.split("=") for text in head_start.STUDIES.get(name, ()))
    assert study.may_be_apart(study.resolve(given)) == (name in head_start.STUDIES)
    if given:
        assert not study.may_be_apart(study.resolve({}))


@pytest.mark.parametrize("choice", [{"samples": 2}, {"invariance": "PI-2"}, {"prompt": "best"}, {"max_new_tokens": 40}])
def test_an_ontology_run_that_draws_or_writes_much_keeps_its_model_here(choice):
    study = studies.study("ontology")
    assert not study.may_be_apart(study.resolve(choice))


@pytest.mark.slow
def test_a_run_takes_the_processes_that_were_started_for_it(settings, tiny_gpt2, started, capsys):
    given = ["--model", str(tiny_gpt2), "--cache", str(settings.cache), "--dtype", "float32", "--set", "per_group=8"]
    assert main([*RUN, *given]) == 0
    assert [module for module, _ in started] == [
        own_process.MODEL_MODULE, own_process.TOKENIZER_MODULE, head_start.PART_MODULE, head_start.PART_MODULE,
    ]  # fmt: skip
    assert are_gone(started) and not child_process._AHEAD
    folder = RunFolder.find(settings.runs, capsys.readouterr().out.strip())
    assert folder.progress().status == "complete" and len(folder.read("instances")) == folder.progress().total


@pytest.mark.slow
def test_processes_are_ended_as_soon_as_a_run_makes_its_parts_itself(settings, tiny_gpt2, started, monkeypatch):
    seen = []
    plain = pipeline.make_parts

    def make_parts(*given):
        seen.append(are_gone([one for one in started if one[0] == head_start.PART_MODULE]))
        plain(*given)

    monkeypatch.setattr(pipeline, "make_parts", make_parts)
    given = ["--model", str(tiny_gpt2), "--cache", str(settings.cache), "--dtype", "float32", "--set", "per_group=1"]
    assert main([*RUN, *given]) == 0
    assert seen == [True] and sum(module == head_start.PART_MODULE for module, _ in started) == 2


def test_what_cannot_be_started_ahead_is_no_fault(started, monkeypatch):
    plain = child_process._start

    def start(module, card=""):
        if module == head_start.PART_MODULE:
            raise BlockingIOError("Resource temporarily unavailable")
        return plain(module, card)

    monkeypatch.setattr(child_process, "_start", start)
    head_start.begin(RUN)
    head_start.end()
    assert len(started) == 2 and are_gone(started)


@pytest.mark.slow
def test_a_worker_takes_them_too(settings, tiny_gpt2, started):
    spec = make_spec(
        Resources(settings), study="accuracy", model=str(tiny_gpt2), benchmark="starter_pairs", dtype="float32",
        settings={"per_group": 8},
    )  # fmt: skip
    folder = RunFolder.create(settings.runs, spec)
    assert main(["work", folder.run_id, "--cache", str(settings.cache)]) == 0
    assert len(started) == 4 and are_gone(started) and not child_process._AHEAD
    assert folder.progress().status == "complete"


@pytest.mark.slow
def test_while_another_run_is_under_way_nothing_waits_in_memory(settings, started, monkeypatch):
    monkeypatch.setattr(queue, "is_free", lambda settings: False)
    main([*RUN, "--model", "no such model", "--cache", str(settings.cache)])
    main(["work", "accuracy-0", "--cache", str(settings.cache)])
    assert are_gone(started) and not child_process._AHEAD


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--benchmark", "no_such_benchmark"), 1),
        (("--model", "no such model"), 1),
        (("--set", "no_such_setting=1"), 1),
    ],
)
def test_processes_that_no_run_takes_are_ended(settings, started, arguments, code):
    assert main([*RUN, *arguments, "--cache", str(settings.cache)]) == code
    assert started and are_gone(started) and not child_process._AHEAD


@pytest.mark.parametrize(
    "arguments",
    [
        ("runs",),
        (*RUN, "--help"),
        (*RUN, "--dry-run"),
        (*RUN, "--detach"),
        (*RUN, "--cluster=auto"),
        (*RUN, "--model", "http://localhost:8000/v1#m"),
        ("run", "perturbation", "--set", "judge=someone/a-chat-model"),
        ("run",),
        (),
    ],
)
def test_nothing_is_started_for_what_needs_no_process(started, arguments):
    head_start.begin(arguments)
    assert started == [] and not child_process._AHEAD


@pytest.mark.parametrize(("limit", "parts"), [(("--limit", "150"), 0), (("--limit=150",), 0), (("--limit", "900"), 2)])
def test_a_small_run_makes_its_parts_itself(started, limit, parts):
    try:
        head_start.begin((*RUN, *limit))
        assert sum(module == head_start.PART_MODULE for module, _ in started) == parts
    finally:
        head_start.end()
    assert are_gone(started)


def test_for_a_model_that_is_loaded_here_its_tokenizer_and_what_judges_are_begun(started):
    try:
        head_start.begin(("run", "icl", "--benchmark", "trec"))
        assert [module for module, _ in started] == [own_process.TOKENIZER_MODULE, own_process.JUDGING_MODULE]
    finally:
        head_start.end()
    assert are_gone(started)


@pytest.mark.parametrize(
    ("given", "is_begun"),
    [([], True), (["--set", "index=glassbox"], True), (["--set", "index=v4_piletrain_llama"], False)],
)
def test_a_run_that_may_ask_a_service_for_counts_begins_nothing(started, given, is_begun):
    try:
        head_start.begin(["run", "popularity", *given])
        assert bool(started) == is_begun
    finally:
        head_start.end()
