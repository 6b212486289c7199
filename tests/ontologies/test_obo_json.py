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


DEPRECATED = "http://www.w3.org/2002/07/owl#deprecated"


@pytest.mark.parametrize(
    ("meta", "obsolete"),
    [
        ({"deprecated": True}, True),
        ({"deprecated": "true"}, True),
        ({"deprecated": 1}, True),
        ({"deprecated": "false"}, False),
        ({"deprecated": False}, False),
        ({"basicPropertyValues": [{"pred": DEPRECATED, "val": "true"}]}, True),
        ({"basicPropertyValues": [{"pred": DEPRECATED, "val": True}]}, True),
        ({"basicPropertyValues": [{"pred": DEPRECATED, "val": "1"}]}, True),
        ({"basicPropertyValues": [{"pred": "owl:deprecated", "val": "True"}]}, True),
        ({"basicPropertyValues": [{"pred": DEPRECATED, "val": "false"}]}, False),
        ({"basicPropertyValues": [{"pred": "http://x.org/note", "val": "true"}]}, False),
        ({}, False),
        (None, False),
    ],
)
def test_a_class_is_obsolete_however_the_document_says_so(meta, obsolete):
    node = {"id": IRI + "TOY_0000001", "lbl": "cup", "type": "CLASS", "meta": meta}
    (concept,) = obo_json.read(graph(node), "toy.json").concepts
    assert concept.obsolete is obsolete


def test_a_class_under_the_class_of_obsolete_ones_is_obsolete_and_a_single_graph_is_a_document():
    nodes = [{"id": IRI + f"TOY_000000{n}", "lbl": "cup", "type": "CLASS"} for n in (1, 2)]
    grave = "http://www.geneontology.org/formats/oboInOwl#ObsoleteClass"
    edges = [{"sub": IRI + "TOY_0000002", "pred": "is_a", "obj": grave}]
    found = obo_json.read(json.dumps({"id": IRI + "toy.owl", "nodes": nodes, "edges": edges}), "toy.json").concepts
    assert [one.obsolete for one in found] == [False, True]


@pytest.mark.parametrize("identifier", ["TOY:0000001", IRI + "TOY_0000001", "https://identifiers.org/TOY:0000001"])
def test_an_id_may_be_written_short_or_as_an_iri(identifier):
    (concept,) = obo_json.read(graph({"id": identifier, "lbl": "cup"}), "toy.json").concepts
    assert concept.id == "TOY:0000001"
