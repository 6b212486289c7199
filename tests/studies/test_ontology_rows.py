import math

import pytest

from explorer.ontologies.analysis import Analysis, analyze
from explorer.ontologies.parse import id_rule
from explorer.ontologies.prompts import instances
from explorer.records import Concept
from explorer.rows.schema import TABLES
from explorer.studies.ontology.rows import answer_rows, finding_rows

CONCEPTS = [
    Concept("GO:0000001", "blue cup", web_count=0),
    Concept("GO:0000002", "red cup", web_count=4),
    Concept("GO:0000003", "plate"),
]


def toy(answers: list[str], as_released: bool = False) -> Analysis:
    return analyze(CONCEPTS, answers, id_rule("GO", []), as_released=as_released, permutations=20)


@pytest.mark.parametrize("as_released", [False, True])
def test_every_row_fits_its_table_and_every_gap_has_a_reason(as_released):
    analysis = toy(["GO:0000002", "no idea", "GO:9999999"], as_released)
    tables = {**answer_rows(instances(CONCEPTS, "go", "GO"), analysis), "findings": finding_rows(analysis)}
    for name, rows in tables.items():
        assert rows and all(set(row) <= set(TABLES[name]) for row in rows)
        assert all(row["reason"] for row in rows if math.isnan(row.get("value", 0.0)))


def test_an_answer_is_stored_with_its_verdict_and_its_measures():
    tables = answer_rows(instances(CONCEPTS, "go", "GO"), toy(["GO:0000002", "I'm sorry.", "It is GO:0000003."]))
    assert [row["verdict"] for row in tables["generations"]] == ["id", "refusal", "id"]
    assert [row["text"] for row in tables["generations"]][1] == "I'm sorry."
    measured = {(row["instance_id"][-1], row["measure"]): row["value"] for row in tables["measures"]}
    assert [measured[key, "correct"] for key in "123"] == [0, 0, 1]
    # blue cup against red cup: one word of three, one edit
    assert measured["1", "label_jaccard"] == pytest.approx(1 / 3) and measured["1", "id_levenshtein"] == 1
    assert ("2", "id_levenshtein") not in measured and ("3", "id_levenshtein") not in measured
    assert math.isnan(measured["3", "web_count"]) and math.isnan(measured["3", "bucket"])


def test_findings_tell_the_authors_way_of_counting_from_ours():
    answers = ["GO:0000001", "It is GO:0000002.", ""]
    for as_released, setting, value in ((True, "as released", 1 / 3), (False, "corrected", 2 / 3)):
        rows = finding_rows(toy(answers, as_released))
        assert {row["setting"] for row in rows} == {setting}
        (accuracy,) = [row for row in rows if (row["finding"], row["grp"]) == ("accuracy", "overall")]
        assert accuracy["value"] == pytest.approx(value)
        assert "at least 5 are needed" in accuracy["reason"], "three concepts make no interval"
