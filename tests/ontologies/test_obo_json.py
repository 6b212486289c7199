import json

import pytest

from explorer.errors import OntologyError
from explorer.ontologies import obo_json

IRI = "http://purl.obolibrary.org/obo/"


def graph(*nodes: dict) -> str:
    return json.dumps({"graphs": [{"id": IRI + "toy.owl", "nodes": list(nodes)}]})


def test_a_class_keeps_its_label_synonyms_alternatives_and_cross_references():
    node = {
        "id": IRI + "TOY_0000001",
        "lbl": "blue cup",
        "type": "CLASS",
        "meta": {
            "synonyms": [{"pred": "hasExactSynonym", "val": "azure mug"}],
            "xrefs": [{"val": "Wiki:Cup"}],
            "basicPropertyValues": [
                {"pred": "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId", "val": "TOY:0000009"},
                {"pred": "http://www.geneontology.org/formats/oboInOwl#hasOBONamespace", "val": "crockery"},
            ],
        },
    }
    contents = obo_json.read(graph(node), "toy.json")
    (concept,) = contents.concepts
    assert (concept.id, concept.label) == ("TOY:0000001", "blue cup")
    assert concept.synonyms == ("azure mug",)
    assert concept.alt_ids == ("TOY:0000009",)
    assert concept.xrefs == ("Wiki:Cup",)
    assert contents.declared == "toy"


def test_properties_are_no_concepts_and_deprecated_classes_are_marked():
    nodes = (
        {"id": IRI + "BFO_0000050", "lbl": "part of", "type": "PROPERTY"},
        {"id": IRI + "TOY_0000002", "type": "CLASS", "meta": {"deprecated": True}},
    )
    (concept,) = obo_json.read(graph(*nodes), "toy.json").concepts
    assert concept.obsolete


def test_nodes_without_a_readable_id_and_second_ones_are_reported():
    cup = {"id": IRI + "TOY_0000001", "lbl": "cup", "type": "CLASS"}
    contents = obo_json.read(graph(cup, cup, {"lbl": "nameless", "type": "CLASS"}), "toy.json")
    assert len(contents.concepts) == 1
    assert len(contents.problems) == 2


@pytest.mark.parametrize("text", ["{}", "{not json", '{"graphs": 3}', '[{"id": 1}]'])
def test_other_json_is_refused_in_one_sentence(text: str):
    with pytest.raises(OntologyError, match=r"toy\.json is not an OBO Graphs document"):
        obo_json.read(text, "toy.json")
