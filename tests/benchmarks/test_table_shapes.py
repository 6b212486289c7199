"""The shapes in which people keep their tables, one small file of our own each: guessed where sure, asked where not."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from explorer import prompts
from explorer.benchmarks.tables import table
from explorer.benchmarks.tables.questions import Question
from explorer.errors import UsageError

TABLES = Path(__file__).resolve().parents[1] / "data" / "tables"
FORMULA = "(2;%match%) < (2;%mismatch%)"
# File → what has to be said, the kind it is read as, the format of its prompts, how many instances it has.
SHAPES = {
    "arc.jsonl": ({}, "choice", "choice", 8),
    "blimp.jsonl": ({}, "pair", "sentence", 8),
    "boolq.jsonl": ({}, "labelled", "labelled", 4),
    "by_turns.txt": ({"first": "bad"}, "turns", "sentence", 8),
    "cola.tsv": ({}, "rating", "sentence", 10),
    "commonsense.jsonl": ({}, "choice", "choice", 8),
    "context_options.jsonl": ({}, "contexts", "context_options", 8),
    "contexts.csv": ({}, "contexts", "context_options", 8),
    "copa.jsonl": ({}, "choice", "copa", 6),
    "fewer_options.csv": ({}, "choice", "choice", 8),
    "gaps_long.csv": ({}, "choice", "winogrande", 4),
    "gaps_mask.csv": ({}, "choice", "winogrande", 4),
    "hellaswag.jsonl": ({}, "choice", "choice", 8),
    "lambada.jsonl": ({}, "cloze", "cloze", 3),
    "long_form.csv": ({}, "judged", "sentence", 8),
    "long_form_star.csv": ({}, "judged", "sentence", 8),
    "long_form_ungrammatical.csv": ({}, "judged", "sentence", 8),
    "mmlu.csv": ({}, "choice", "choice", 8),
    "mmlu_header.csv": ({}, "choice", "choice", 8),
    "options_bars.csv": ({}, "choice", "choice", 8),
    "options_lines.csv": ({}, "choice", "choice", 8),
    "options_numpy.csv": ({}, "choice", "choice", 8),
    "options_python.csv": ({}, "choice", "choice", 8),
    "pairs_in_context.csv": ({}, "pair", "pair_in_context", 6),
    "piqa.jsonl": ({}, "choice", "choice", 6),
    "race.jsonl": ({}, "choice", "choice", 2),
    "ratings.csv": ({}, "rating", "sentence", 10),
    "sick.tsv": ({}, "labelled", "labelled", 4),
    "snli.jsonl": ({}, "labelled", "labelled", 3),
    "socialiqa.jsonl": ({}, "choice", "choice", 4),
    "storycloze.csv": ({}, "choice", "choice", 4),
    "suite.csv": ({"formulas": (FORMULA,)}, "suite", "syntaxgym", 4),
    "suite.json": ({}, "suite", "syntaxgym", 4),
    "text_and_label.jsonl": ({}, "choice", "choice", 8),
    "true_false.txt": ({}, "judged", "sentence", 8),
    "truthfulqa.jsonl": ({}, "choice", "choice", 8),
    "wsc273.jsonl": ({}, "choice", "winogrande", 4),
    "xcopa_it.jsonl": ({"connectors": ("perché", "quindi")}, "choice", "copa", 4),
}
REFUSED = {
    "by_turns.txt": "does not say which of the two is acceptable",
    "stsb.tsv": "rates two texts together",
    "suite.csv": "holds no predictions. Give each with --formula",
    "wsc_superglue.jsonl": "two spans",
    "xcopa_it.jsonl": "--connectors CAUSE,EFFECT",
}


def parse(name, **said):
    path = TABLES / name
    reading = table.guess_reading(path, **said)
    return reading, table.read_file(path, reading, "mine")


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_read_as_what_it_is(name):
    said, kind, prompt, many = SHAPES[name]
    reading, parsed = parse(name, **said)
    assert (reading.kind, reading.prompt, len(parsed.instances)) == (kind, prompt, many)
    assert len(parsed.left_out) == {"gaps_long.csv": 2, "snli.jsonl": 1}.get(name, 0)
    assert all(instance.kind == reading.instance_kind for instance in parsed.instances)
    assert all(prompts.requests(instance) for instance in parsed.instances)


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_rule_settles_is_asked_or_refused_in_a_sentence(name):
    with pytest.raises(UsageError, match=REFUSED[name]):
        parse(name)


def test_every_shape_is_named_by_a_test():
    assert {path.name for path in TABLES.iterdir() if path.suffix != ".lst"} == set(SHAPES) | set(REFUSED)


FIRST_PAIR = ("The cats are sleeping on the sofa.", "The cats is sleeping on the sofa.")


@pytest.mark.parametrize("name", [name for name, (_, kind, _, _) in SHAPES.items() if kind in ("judged", "turns")])
def test_judged_sentences_become_pairs_with_the_acceptable_one_first(name):
    _, parsed = parse(name, **SHAPES[name][0])
    good, bad = parsed.instances[0].options
    assert [text.rstrip(".").lower() for text in (good, bad)] == [text.rstrip(".").lower() for text in FIRST_PAIR]
    assert all(instance.gold == 0 for instance in parsed.instances)


@pytest.mark.parametrize(
    "name", ["arc.jsonl", "commonsense.jsonl", "hellaswag.jsonl", "mmlu.csv", "mmlu_header.csv", "options_bars.csv",
             "options_lines.csv", "options_numpy.csv", "options_python.csv", "text_and_label.jsonl",
             "fewer_options.csv",
             "truthfulqa.jsonl"],
)  # fmt: skip
def test_the_right_option_is_the_same_however_it_is_written(name):
    _, parsed = parse(name)
    right = [instance.options[instance.gold] for instance in parsed.instances]
    assert right == ["east.", "key.", "stars.", "water.", "tree.", "pen.", "oven.", "water."]


def test_fewer_options_in_a_row_keep_the_right_one():
    _, parsed = parse("fewer_options.csv")
    assert [len(instance.options) for instance in parsed.instances] == [2, 3] * 4


def test_what_a_model_reads_of_each_kind():
    def first(name, **said):
        return [(one.context, one.continuation) for one in prompts.requests(parse(name, **said)[1].instances[0])]

    assert first("pairs_in_context.csv")[0] == ("Who is at the door?", " It is my brother.")
    assert first("contexts.csv") == [
        ("She put on a warm coat because outside it was very", " cold."),
        ("She put on a light dress because outside it was very", " cold."),
    ]
    assert first("gaps_long.csv")[1] == ("The soup was too hot, so she waited for the spoon", " to cool.")
    assert first("wsc273.jsonl")[0] == ("The trophy does not fit into the suitcase because the trophy", " is too big.")
    assert first("race.jsonl")[0] == (
        "Ann has a small dog. It is called Rex.\nWhat is the name of the dog?", " Rex",
    )  # fmt: skip
    italian = first("xcopa_it.jsonl", connectors=("perché", "quindi"))
    assert italian[0] == ("L'uomo lasciò cadere il bicchiere quindi", " il bicchiere si ruppe.")
    assert first("storycloze.csv")[0][0].endswith("He made a sandwich. It looked good.")


def test_a_pronoun_that_does_not_stand_where_it_is_said_is_left_out(tmp_path):
    path = tmp_path / "wsc.jsonl"
    text = (TABLES / "wsc273.jsonl").read_text("utf-8")
    path.write_text(re.sub(r'"pronoun_loc": \d+', '"pronoun_loc": 3', text, count=1))
    parsed = table.read_file(path, table.guess_reading(path), "mine")
    assert [left.reason for left in parsed.left_out] == ["'it' does not stand at character 3 of the text"]


def test_labels_in_a_file_of_their_own_are_kept_with_the_table(tmp_path, settings):
    path, labels = tmp_path / "mine.jsonl", tmp_path / "gold.txt"
    shutil.copy(TABLES / "piqa.jsonl", path)
    shutil.copy(TABLES / "piqa-labels.lst", labels)
    with pytest.raises(UsageError, match="gold"):
        table.guess_reading(path)
    reading = table.guess_reading(path, labels=labels)
    kept = table.store_import(path, "mine", settings, reading, labels=labels)
    path.unlink(), labels.unlink()
    from explorer import benchmarks

    loaded = benchmarks.load(kept.name, settings)
    assert [instance.gold for instance in loaded.instances] == [0, 1, 0, 1, 0, 1]
    labels.write_text("0\n1\n")
    shutil.copy(TABLES / "piqa.jsonl", path)
    with pytest.raises(UsageError, match=r"gold.txt has 2 lines, expected one for each of the 6 rows of mine.jsonl"):
        table.guess_reading(path, labels=labels)


def test_a_suite_that_lacks_what_its_prediction_asks_for_is_left_out():
    with pytest.raises(UsageError, match="cannot be read"):
        parse("suite.csv", formulas=("(2;%match%) <",))
    with pytest.raises(Exception, match="no region 9 in condition 'match'"):
        parse("suite.csv", formulas=("(9;%match%) < (2;%mismatch%)",))


# --- directions, by scores

LOWEST = {"gaps_mask.csv": 0.5, "gaps_long.csv": 0.5, "wsc273.jsonl": 0.5, "socialiqa.jsonl": 0.5, "race.jsonl": 0.5}
RATED, SUITES = ("ratings.csv", "cola.tsv"), ("suite.json", "suite.csv")
JUDGED = [name for name, (_, kind, _, _) in SHAPES.items() if kind not in ("labelled", "cloze", "rating", "suite")]


@pytest.fixture(scope="module")
def scored(embedded_model):
    """File → its instances, each with its scores by the embedded model; what several files ask is asked once."""
    from explorer.scoring.score import score

    model = embedded_model("gemma-3-270m")
    parsed = {name: parse(name, **SHAPES[name][0])[1].instances for name in (*JUDGED, *RATED, *SUITES)}
    asked = {name: [prompts.requests(one) for one in instances] for name, instances in parsed.items()}
    texts = {(one.context, one.continuation): one for lists in asked.values() for some in lists for one in some}
    found = dict(zip(texts, score(model, list(texts.values())), strict=True))
    return {
        name: [
            (instance, [replace(found[one.context, one.continuation], request=one) for one in requests])
            for instance, requests in zip(instances, asked[name], strict=True)
        ]
        for name, instances in parsed.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", JUDGED)
def test_a_model_prefers_what_was_read_as_right(name, scored):
    right = 0
    for instance, scores in scored[name]:
        means = [one.sum / one.scored for one in scores]
        right += max(range(len(means)), key=means.__getitem__) == instance.gold
    assert right / len(scored[name]) >= LOWEST.get(name, 0.75)


@pytest.mark.slow
@pytest.mark.parametrize("name", RATED)
def test_sentences_rated_higher_score_higher(name, scored):
    from explorer.stats.spearman import spearman

    means = [one.sum / one.scored for _, (one,) in scored[name]]
    assert spearman(means, [instance.extra["rating"] for instance, _ in scored[name]], resamples=0).value > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("name", SUITES)
def test_the_predictions_of_ones_own_suite_hold(name, scored):
    from explorer.scoring.policy import PRESETS
    from explorer.studies import verdicts

    judged = [verdicts.judge(one, scores, PRESETS["natural"], "float32")[0] for one, scores in scored[name]]
    assert sum(row["value"] for row in judged) >= 3


def test_a_question_names_its_flag_and_shows_each_reading(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("question,option1,option2,answer\nSky?,blue,green,1\nGrass?,green,red,1\nSnow?,white,black,1\n")
    with pytest.raises(Question) as raised:
        table.guess_reading(path)
    assert raised.value.asks == "gold" and [answer.value for answer in raised.value.answers] == ["0", "1"]
    told = str(raised.value)
    assert "--gold 0 would read answer = 1 in line 2 as option 2, 'green'" in told
    assert "--gold 1 would read answer = 1 in line 2 as option 1, 'blue'" in told


def test_texts_that_begin_like_numbers_are_read_without_a_word_of_python(recwarn):
    from explorer.benchmarks.tables import options

    for cell in ("3d printing is new", "[3d model]", "0x is no number", "(1st) place"):
        assert options.from_list(cell, "python") is None
    assert not recwarn.list
    assert options.guess_separator(["['a', 'b']", "['c' 'd']", "array(['e', 'f'], dtype=object)"]) == "python"
    assert options.guess_separator([*["['a', 'b']"] * 9, "3d"]) == "python"
    assert options.guess_separator([*["['a', 'b']"] * 8, "3d", "4d"]) == ""


def test_no_more_cells_are_looked_at_than_it_takes_to_know():
    from explorer.benchmarks.tables import options

    looked_at = []
    assert not options.reaches(0.9, (bool(looked_at.append(place)) for place in range(1000)), 1000)
    assert len(looked_at) == 101
    assert options.reaches(0.9, [True] * 9 + [False], 10)
    assert not options.reaches(0.9, [True] * 8 + [False] * 2, 10)
