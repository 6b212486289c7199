"""The printed figures as data: complete, answerable by findings that exist, with commands that can be typed."""

from __future__ import annotations

import math
import shlex
from collections import Counter

import pytest

from explorer.__main__ import parser_for
from explorer.studies import study
from explorer.studies.accuracy.declared import ACCURACY
from explorer.studies.ontology.declared import SPEARMAN_ITEMS
from explorer.studies.replication import board as replication_board
from explorer.studies.replication.board import BoardFigure, ComparableFinding

FIGURES = replication_board.figures()


def row(**changes):
    shared = {
        "run_id": "accuracy-1", "model": "EleutherAI/pythia-6.9b", "study": "accuracy", "benchmark": "piqa",
        "preset": "lm-eval", "finding": "accuracy", "grp": "overall", "setting": "", "condition": "", "k": -1,
        "value": 0.75, "low": 0.73, "high": 0.77, "n": 1838, "detail": "",
    }  # fmt: skip
    return {**shared, **changes}


def printed(value: float, *answers: ComparableFinding, **changes) -> BoardFigure:
    shared = {
        "source": "pythia", "table": "t", "model": "Pythia", "model_id": "EleutherAI/pythia-6.9b", "what": "piqa",
        "condition": "", "metric": "accuracy, %", "digits": 2, "command": "",
    }  # fmt: skip
    return BoardFigure(value=value, answers=answers, **{**shared, **changes})


PIQA = ComparableFinding("accuracy", "piqa", ACCURACY, scale=100, presets=("lm-eval",))


def test_every_source_has_its_figures():
    counts = Counter(one.source for one in FIGURES)
    assert set(counts) == set(replication_board.SOURCES)
    assert counts["popularity"] == 948
    # 8 models x 7 figures, and 10 bias types of two; of the first release 6 figures and 67 paradigms of two
    assert counts["pythia"] == 8 * 7 + 2 * 10 + 2 * (6 + 67)
    assert counts["blimp"] == 4 * (67 + 12 + 1) + 2


def test_commands_are_such_that_the_command_line_takes_them():
    commands = {one.command for one in FIGURES if one.command}
    assert len(commands) > 30
    for command in commands:
        words = shlex.split(command)
        assert words[:3] == ["python", "-m", "explorer"], command
        try:
            args = parser_for(words[3:]).parse_args(words[3:])
        except SystemExit:
            pytest.fail(command)
        if words[3] == "run":
            study(args.study).resolve(dict(pair.split("=", 1) for pair in args.set))


def test_a_figure_that_nothing_computes_says_why_or_is_a_constant():
    silent = [one for one in FIGURES if not one.answers and not one.remark]
    assert {(one.source, one.metric, one.value) for one in silent} == {("popularity", "AUC, %", 50.0)}  # of a constant


def test_ours_is_taken_in_the_unit_of_the_printed_figure():
    found = replication_board.matching_run(printed(75.24, PIQA), replication_board.index([row()]))
    assert (found.value, found.low, found.high, found.n) == (75, 73, 77, 1838)
    assert replication_board.verdict(printed(75.24, PIQA), found) == "within"
    assert replication_board.verdict(printed(78.0, PIQA), found) == "outside"


def test_a_share_that_is_counted_from_the_other_side_is_turned_round():
    turned = ComparableFinding("accuracy", "crows_pairs", ACCURACY, scale=-100, offset=100)
    rows = [row(benchmark="crows_pairs", value=0.4, low=0.38, high=0.43)]
    found = replication_board.matching_run(printed(60, turned), replication_board.index(rows))
    assert (found.value, found.low, found.high) == pytest.approx((60, 57, 62))


def test_a_run_in_the_printed_setting_goes_before_one_in_another():
    rows = replication_board.index([row(preset="natural", value=0.7, run_id="a"), row(run_id="b")])
    assert replication_board.matching_run(printed(75, PIQA), rows).run_id == "b"
    alone = replication_board.matching_run(printed(75, PIQA), replication_board.index([row(preset="natural")]))
    assert replication_board.verdict(printed(75, PIQA), alone) == "not comparable"


def test_only_the_same_model_answers():
    for model, same in (
        ("EleutherAI/pythia-6.9b", True),
        ("eleutherai/pythia-6.9B", True),
        ("EleutherAI/pythia-6.9b@step143000", True),
        ("EleutherAI/pythia-6.9b@step1000", False),
        ("EleutherAI/pythia-6.9b-deduped", False),
        ("gemma-3-270m", False),
    ):
        assert (
            replication_board.matching_run(printed(75, PIQA), replication_board.index([row(model=model)])) is not None
        ) == same, model
    imported = printed(0.007, model_id="EleutherAI/pythia-12b-deduped")
    assert replication_board.is_same_model(imported, "Pythia-12B")
    assert replication_board.is_same_model(
        printed(1, model_id="openai:gpt-3.5-turbo"), "https://x.org/v1#gpt-3.5-turbo"
    )


def test_without_an_interval_ours_is_compared_as_printed():
    answer = ComparableFinding("ontology", "go", SPEARMAN_ITEMS)
    rows = replication_board.index(
        [row(study="ontology", benchmark="go", finding="spearman_items", value=0.1372, low=math.nan, high=math.nan)]
    )
    for value, word in ((0.137, "equal"), (0.139, "differs")):
        one = printed(value, answer, digits=3)
        assert replication_board.verdict(one, replication_board.matching_run(one, rows)) == word


def test_a_share_is_shown_in_percent_as_accuracies_elsewhere_are():
    uberon = next(
        one for one in FIGURES if one.source == "ontologies" and one.model == "GPT-3.5" and one.what == "Uberon"
    )
    assert (uberon.metric, uberon.value, uberon.digits) == ("Accuracy, %", 0.3, 1)  # printed 0.003
    assert {answer.scale for answer in uberon.answers} == {100.0}
    # Whatever calls itself an accuracy is in percent.
    assert all("%" in one.metric for one in FIGURES if one.metric.lower().startswith("accuracy"))


def test_slips_are_no_targets_and_mended_figures_are():
    tables = {one.table for one in FIGURES if one.source == "popularity" and not one.is_target}
    # argument structure is in Tables 2, 3 and D; Table B is about the judge
    assert tables == {f"Table {number}" for number in "234BDEFGHIJK"}
    perplexity = next(one for one in FIGURES if one.metric == "perplexity" and one.model == "Pythia 6.9B")
    assert (perplexity.value, perplexity.target, perplexity.is_target) == (444.0, pytest.approx(4.44), True)
    for one in FIGURES:
        if one.source == "ontologies" and one.table in ("Table 2", "Table 4"):
            assert not one.is_target


def test_olmo_7b_alone_is_a_target_of_the_tables_on_memorization():
    for one in FIGURES:
        if (
            one.source == "popularity"
            and one.table.removeprefix("Table ") in "4EFGHIJK"
            and one.what != "Argument structure"
        ):
            assert one.is_target == (one.model == "OLMo 7B")


def test_reference_figures_are_those_of_the_evaluations():
    by = {
        (one.model, one.what, one.metric, one.condition): one for one in replication_board.figures_of_source("pythia")
    }
    assert by["Pythia 12B", "lambada", "perplexity", ""].value == 3.924
    assert by["Pythia 6.9B", "piqa", "accuracy, %", ""].value == 75.24
    overall = next(
        one for one in replication_board.figures_of_source("blimp") if one.model == "5-gram" and not one.condition
    )
    assert overall.value == 61.24


def test_the_files_of_reference_say_the_same(data_folder):
    import json

    files = data_folder / "reference" / "pythia"
    for size in ("2.8b", "6.9b"):
        found = json.loads((files / f"v0-{size}.json").read_text())["results"]
        ours = [
            one
            for one in replication_board.figures_of_source("pythia")
            if one.model_id == f"EleutherAI/pythia-{size}-v0" and one.condition
        ]
        assert len(ours) == 67
        for one in ours:
            assert one.value == pytest.approx(100 * found[f"blimp_{one.condition}"]["acc"], abs=0.06)
