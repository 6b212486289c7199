"""Findings are declared once: their names stand in one file, and what runs store is what studies declare."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

from explorer.finding import COUNTED, UNITS, quoted
from explorer.results.store import Store
from explorer.settings import PRECOMPUTED
from explorer.studies import STUDIES, declared
from explorer.studies.accuracy.declared import ACCURACY, FORMULA

ROOT = Path(__file__).resolve().parent.parent.parent
# Names of findings that are also words for something else, which stand elsewhere as that.
ALSO = {
    "accepted": "a column of variants",
    "accuracy": "a study, a column",
    "bertscore": "a measure of an instance",
    "change": "a column",
    "distinct_predictions": "a key of the JSON of ontology analyze",
    "formula": "a measure of an instance",
    "formula_equal": "a measure of an instance",
    "gold_gain": "a measure of an instance",
    "gold_gain_preferred": "a measure of an instance",
    "gold_logprob": "a measure of an instance",
    "gold_preferred": "a measure of an instance",
    "gold_rank": "a measure of an instance",
    "gold_rank_sampled": "a measure of an instance",
    "invariance": "a setting of the study ontology",
    "jaccard_wrong": "a key of the JSON of ontology analyze",
    "kappa": "a unit",
    "levenshtein_wrong": "a key of the JSON of ontology analyze",
    "neighbours_by": "a setting of the study memorization",
    "outcome": "a column",
    "perplexity": "a metric of harnesses and papers",
    "perplexity_change": "a column",
    "prompt": "a column, a setting, a role",
    "replication": "a role",
    "rouge_l": "a measure of an instance",
    "sampled_correct": "a measure of an instance",
    "spearman_buckets": "a key of the JSON of ontology analyze",
    "spearman_items": "a key of the JSON of ontology analyze",
    "spearman_jaccard": "a key of the JSON of ontology analyze",
    "spearman_levenshtein": "a key of the JSON of ontology analyze",
    "spearman_repeated": "a key of the JSON of ontology analyze",
}
# SQL that compares a finding with a name of its own, whatever else the name means.
IN_SQL = re.compile(r"\bfinding\s*(?:=|<>|(?:NOT\s+)?(?:IN\s*\(|LIKE))\s*'\w")
NAMES = {finding.name for findings in declared.FINDINGS.values() for finding in findings}


def strings(root: Path) -> dict[str, set[str]]:
    """Every string that stands in the code → the files it stands in."""
    places: dict[str, set[str]] = defaultdict(set)
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                places[node.value].add(path.relative_to(ROOT).as_posix())
    return places


@pytest.fixture(scope="module")
def in_product() -> dict[str, set[str]]:
    return strings(ROOT / "explorer")


@pytest.fixture(scope="module")
def packed() -> dict[str, set[str]]:
    """Study → the findings that the packed runs hold."""
    opened = Store(None, PRECOMPUTED)
    rows = opened.frame("SELECT DISTINCT runs.study, findings.finding FROM findings JOIN runs USING (run_id)")
    opened.close()
    found: dict[str, set[str]] = defaultdict(set)
    for study, finding in zip(rows["study"], rows["finding"], strict=True):
        found[study].add(finding)
    return found


def test_a_name_of_a_finding_stands_in_one_file(in_product):
    twice = {name: places for name in NAMES - set(ALSO) if len(places := in_product.get(name, set())) > 1}
    assert not twice, "use the study's declared.py instead of the name"


def test_names_that_are_also_something_else_are_names_of_findings_in_several_files(in_product):
    assert set(ALSO) <= NAMES
    assert not [name for name in ALSO if len(in_product[name]) < 2]


def test_no_sql_compares_a_finding_with_a_name_that_is_written_there(in_product):
    assert not {places.pop() for text, places in in_product.items() if IN_SQL.search(text)}


def test_no_code_compares_a_finding_with_a_name_that_is_written_there():
    strays = []
    for path in (ROOT / "explorer").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare) and ast.unparse(node.left).endswith("['finding']"):
                strays += [path.name for side in node.comparators if isinstance(side, ast.Constant)]
    assert not strays


@pytest.mark.parametrize("study", STUDIES)
def test_every_study_declares_what_it_finds_each_name_once(study):
    findings = declared.FINDINGS[study]
    assert len({one.name for one in findings}) == len(findings) > 0
    for one in findings:
        assert one.unit in UNITS and one.of in COUNTED
        assert one.title and len(one.title) <= 80
        assert one.meaning.endswith(".") and ". " not in one.meaning, "one sentence"


def test_the_packed_runs_hold_nothing_that_is_not_declared(packed):
    assert set(packed) <= set(declared.FINDINGS)
    strange = {study: names - {one.name for one in declared.FINDINGS[study]} for study, names in packed.items()}
    assert not {study: names for study, names in strange.items() if names}


def test_every_declared_finding_occurs_in_the_packed_runs_or_in_a_test(packed):
    seen = set().union(*packed.values()) | set(strings(ROOT / "tests"))
    unseen = sorted(NAMES - seen)
    assert not unseen, f"no packed run holds and no test of its study names: {', '.join(unseen)}"


def test_a_finding_is_found_by_its_study_and_name():
    assert declared.find("popularity", "accuracy") == ACCURACY
    assert declared.finding("ontology", "accuracy").of == "concept"
    assert declared.find("icl", "of a later version") is None
    with pytest.raises(KeyError, match=r"declares no finding curve; declare it"):
        declared.finding("icl", "curve")


def test_names_can_be_put_into_sql():
    assert quoted(ACCURACY, FORMULA) == "'accuracy', 'formula'"
    assert f"finding = '{ACCURACY}'" == "finding = 'accuracy'"


def test_a_study_tells_its_findings_in_words():
    told = declared.in_words("popularity")
    assert "  popularity_difference (High minus low half; points)\n      Accuracy of the half" in told
