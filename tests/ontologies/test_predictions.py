from pathlib import Path

import pytest

from explorer.errors import OntologyError
from explorer.ontologies.load import ONTOLOGIES, load
from explorer.ontologies.predictions import ontology_in, read_predictions
from explorer.settings import Settings


@pytest.fixture
def ontology(tmp_path: Path, settings: Settings):
    path = tmp_path / "toy.csv"
    path.write_text("TOY:0000001;blue cup;3;10\nTOY:0000002;red cup;4;20\nTOY:0000003;plate;5;30\n", encoding="utf-8")
    return load(path, settings)


def write(folder: Path, text: str) -> Path:
    path = folder / "predictions.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_what_the_file_lacks_comes_from_the_ontology(tmp_path: Path, ontology):
    found = read_predictions(write(tmp_path, "TOY:0000002;TOY:0000001\nTOY:0000001;no idea\n"), ontology)
    assert [(c.id, c.label, c.web_count) for c in found.concepts] == [
        ("TOY:0000002", "red cup", 20),
        ("TOY:0000001", "blue cup", 10),
    ]
    assert found.answers == ("TOY:0000001", "no idea")
    assert found.rule.digits == (7,)


def test_the_files_own_labels_and_counts_win(tmp_path: Path, ontology):
    found = read_predictions(write(tmp_path, '"TOY:0000002";crimson cup;1;2;TOY:0000001\r\n'), ontology)
    assert (found.concepts[0].label, found.concepts[0].web_count) == ("crimson cup", 2)


def test_ids_that_the_ontology_lacks_are_kept_and_named(tmp_path: Path, ontology):
    found = read_predictions(write(tmp_path, "TOY:0000009;jug;TOY:0000001\nTOY:0000001;cup;TOY:0000001\n"), ontology)
    assert found.unknown == ("TOY:0000009",)
    assert len(found.concepts) == 2


def test_predictions_about_another_ontology_are_refused(tmp_path: Path, ontology):
    with pytest.raises(OntologyError, match="Name the ontology that the predictions are about"):
        read_predictions(write(tmp_path, "CUP:0000001;cup;CUP:0000002\n"), ontology)
    with pytest.raises(OntologyError, match="There is no file"):
        read_predictions(tmp_path / "absent.csv", ontology)


def test_a_table_without_predictions_is_refused_and_not_read_as_all_wrong(tmp_path: Path, ontology):
    rows = "".join(f"TOY:000000{1 + i % 3};cup;3;{17 * i + (i == 11) * 2_780_000}\n" for i in range(12))
    with pytest.raises(OntologyError, match="holds numbers such as 0, expected predictions"):
        read_predictions(write(tmp_path, rows), ontology)
    digits = "".join(f"TOY:000000{1 + i % 3};cup;3;000000{i % 3}\n" for i in range(12))
    assert read_predictions(write(tmp_path, digits), ontology).answers[1] == "0000001"


def test_a_file_with_labels_can_stand_in_for_its_ontology(tmp_path: Path):
    path = write(tmp_path, "GO:0000001;cup;1;2;GO:0000002\nGO:0000002;mug;1;3;GO:0000002\n")
    stand_in = ontology_in(path, ONTOLOGIES["go"])
    assert [concept.label for concept in stand_in.concepts] == ["cup", "mug"]
    assert read_predictions(path, stand_in).answers == ("GO:0000002", "GO:0000002")
    with pytest.raises(OntologyError, match="has no labels, and the Gene Ontology cannot be had"):
        ontology_in(write(tmp_path, "GO:0000001;GO:0000002\n"), ONTOLOGIES["go"])
