"""Printed numbers stand in the data files alone, each once, with what a reader needs to find it in its paper."""

from __future__ import annotations

import ast
import csv
import math
import re
from collections import Counter
from pathlib import Path

import pytest

from explorer.studies import published_figures
from explorer.studies.icl import published as icl_published
from explorer.studies.ontology import published as ontology_published
from explorer.studies.priming import published as priming_published

ROOT = Path(__file__).parents[2]
EVERY = published_figures.all_figures()
# Levels of tests and of intervals: our own, whether or not a paper prints the same.
CONVENTIONS = {0.0, 0.001, 0.01, 0.05, 0.1, 0.5, 0.95, 1.0}
DECIMAL = re.compile(r"(?<![\w.])\d*\.\d{2,}(?![\w.])")
WORD = re.compile(r"[a-z]{3,}", re.IGNORECASE)
REGISTRIES = ("*published*.py", "replication/*.py")


def sources() -> list[Path]:
    return [ROOT / "app.py", *(path for room in ("explorer", "pages") for path in sorted((ROOT / room).rglob("*.py")))]


def quoted(source: str, *, numbers: bool = False) -> list[tuple[int, float]]:
    """The decimals in prose of a source, with their lines; with `numbers` also those written as numbers."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Constant):
            continue
        if isinstance(node.value, str) and WORD.search(node.value) and "rgba(" not in node.value:
            found += [(node.lineno, float(text)) for text in DECIMAL.findall(node.value)]
        elif numbers and isinstance(node.value, float):
            found.append((node.lineno, node.value))
    return found


def printed_decimals() -> set[float]:
    values = {abs(value) for one in EVERY for value in (one.printed, one.low, one.high, one.mended)}
    return {value for value in values if not math.isnan(value)} - CONVENTIONS


@pytest.mark.parametrize("path", sorted(published_figures.FOLDER.glob("*.csv")), ids=lambda path: path.stem)
def test_every_row_says_where_it_is_printed_and_in_which_unit(path):
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    for number, row in enumerate(rows, 2):
        for name in ("paper", "table", "model", "subject", "metric", "unit"):
            assert row[name].strip(), f"{path.name} line {number}: no {name}"
        assert row["value"] or row["p"] or (row["low"] and row["high"]), f"{path.name} line {number}: no number"
        assert None not in row.values() and None not in row, f"{path.name} line {number}: not as many fields as names"


def test_a_printed_number_stands_in_the_files_once():
    assert [key for key, times in Counter(one.key for one in EVERY).items() if times > 1] == []


def test_a_paper_has_one_file():
    papers = [{one.paper for one in published_figures.read(path)} for path in published_figures.FOLDER.glob("*.csv")]
    assert all(len(names) == 1 for names in papers)
    assert len(set.union(*papers)) == len(papers)


def test_what_is_no_target_or_a_slip_says_why():
    for one in EVERY:
        assert one.role in published_figures.ROLES, one.key
        assert one.remark or one.role == published_figures.TARGET, one.key
        assert (one.role == published_figures.MENDED) == (not math.isnan(one.mended)), one.key


def test_no_text_of_the_app_repeats_a_printed_number():
    printed = printed_decimals()
    repeated = [
        f"{path.relative_to(ROOT)}:{line}: {value}"
        for path in sources()
        for line, value in quoted(path.read_text(encoding="utf-8"))
        if value in printed
    ]
    assert repeated == []


def test_modules_that_answer_printed_figures_hold_none_of_them():
    printed = printed_decimals()
    folder = Path(published_figures.__file__).parent
    paths = [path for pattern in REGISTRIES for path in folder.rglob(pattern)]
    assert len(paths) > 6
    held = [
        f"{path.name}:{line}: {value}"
        for path in paths
        for line, value in quoted(path.read_text(encoding="utf-8"), numbers=True)
        if abs(value) in printed
    ]
    assert held == []


def test_a_printed_number_in_prose_is_seen():
    assert quoted('show.note("Published for OPT 6.7B: 0.93 and −0.7.")') == [(1, 0.93)]
    assert quoted("x = 0.93") == [] and quoted("x = 0.93", numbers=True) == [(1, 0.93)]
    assert 0.93 in printed_decimals()


def test_a_key_that_fits_no_number_or_several_is_refused():
    with pytest.raises(LookupError, match="0 printed numbers of icl"):
        published_figures.figure("icl", metric="no such")
    with pytest.raises(LookupError, match="28 printed numbers of icl"):
        published_figures.figure("icl")


def test_statements_of_the_priming_paper_are_said_with_their_numbers():
    said = {(one.what, one.place): one.said for one in priming_published.statements("blimp")}
    assert said["unacceptable contexts", "section 4"] == "−30 to −40 points"
    assert said["mismatched acceptable contexts", "section 4"] == "up to +5 points"
    assert said["length of unrelated contexts", "section 4"] == "no effect, p > 0.2 for all models"
    before = "accuracy before and after matched acceptable contexts"
    assert said[before, "appendix C, mean of three sets"] == "r 0.85 (GPT-2), 0.59 (OPT 2.7B)"
    assert said["similarity of edited unacceptable contexts and effect", "section 5"] == "ρ −0.7, p < 0.05 (OPT 6.7B)"
    assert said["shared tokens and a judgment, mismatched contexts", "appendix D"] == "r < 0.05, p > 0.1 for all models"
    others = [one.said for one in priming_published.statements("crows_pairs")]
    assert "up to +10 to +20 points" in others and len(said) == 17


def test_table_2_of_the_priming_paper_has_ten_suites_of_six_models_and_their_mean():
    table = priming_published.unacceptable_table()
    assert len(table) == 10
    for models in table.values():
        single = [one.value for model, one in models.items() if model != priming_published.MEAN]
        assert len(single) == 6
        assert sum(single) / 6 == pytest.approx(models[priming_published.MEAN].value, abs=0.0011)


def test_shares_of_the_ontology_papers_files_follow_from_their_counts():
    for benchmark in ("go", "uberon"):
        one = published_figures.figure(ontology_published.RELEASED, subject=benchmark, metric="accuracy")
        right = published_figures.figure(ontology_published.RELEASED, subject=benchmark, metric="right")
        assert one.value == pytest.approx(100 * right.value / ontology_published.size(benchmark), abs=5e-4)
    assert ontology_published.invariance() == {"PI-2": 0.95, "PI-3": 0.85}
    stars = {
        model: ontology_published.mark(one)
        for model, one in ontology_published.figures_of("go")["spearman_levenshtein"].items()
    }
    assert stars == {"Pythia-12B": "*", "GPT-3.5": "*", "GPT-4": ""}


def test_shots_are_those_of_the_text_of_the_in_context_paper():
    assert {icl_published.shots(one) for one in icl_published.figures_of("wnli")} == {-1, 200}
    assert icl_published.model() == "gpt-4-0613-32k"
