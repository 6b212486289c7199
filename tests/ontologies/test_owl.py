from pathlib import Path

import pytest

from explorer.errors import OntologyError
from explorer.ontologies import owl
from explorer.ontologies.load import load
from explorer.settings import Settings

HEAD = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#"
 xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:oio="http://www.geneontology.org/formats/oboInOwl#">
<owl:Ontology rdf:about="http://purl.obolibrary.org/obo/toy.owl"/>
"""
OBO = "http://purl.obolibrary.org/obo/"
BOOLEAN = "http://www.w3.org/2001/XMLSchema#boolean"


def document(*classes: str) -> str:
    return HEAD + "".join(classes) + "</rdf:RDF>"


def described(inside: str = "", *, tag: str = "owl:Class", iri: str = OBO + "TOY_0000001", more: str = "") -> str:
    return f'<{tag} rdf:about="{iri}"{more}><rdfs:label>cup</rdfs:label>{inside}</{tag}>'


@pytest.mark.parametrize(
    "text",
    [
        described("<owl:deprecated>true</owl:deprecated>"),
        described("<owl:deprecated> True </owl:deprecated>"),
        described(f'<owl:deprecated rdf:datatype="{BOOLEAN}">1</owl:deprecated>'),
        described(more=' owl:deprecated="true"'),
        described('<rdf:type rdf:resource="http://www.w3.org/2002/07/owl#DeprecatedClass"/>'),
        described('<rdfs:subClassOf rdf:resource="http://www.geneontology.org/formats/oboInOwl#ObsoleteClass"/>'),
        described(tag="owl:DeprecatedClass"),
        described() + f'<rdf:Description rdf:about="{OBO}TOY_0000001"><owl:deprecated>true</owl:deprecated>'
        "</rdf:Description>",
    ],
)
def test_a_class_is_obsolete_however_the_file_says_so(text):
    (concept,) = owl.read(document(text), "toy.owl").concepts
    assert concept.obsolete and concept.label == "cup"


@pytest.mark.parametrize("said", ["false", "0", ""])
def test_a_class_that_is_said_not_to_be_deprecated_is_live(said):
    (concept,) = owl.read(document(described(f"<owl:deprecated>{said}</owl:deprecated>")), "toy.owl").concepts
    assert not concept.obsolete


def test_a_class_keeps_its_synonyms_alternatives_and_cross_references_and_any_iri_gives_an_id():
    inside = """<oio:hasExactSynonym>mug</oio:hasExactSynonym><oio:hasRelatedSynonym>beaker</oio:hasRelatedSynonym>
      <oio:hasAlternativeId>TOY:0000009</oio:hasAlternativeId><oio:hasDbXref>Wiki:Cup</oio:hasDbXref>
      <rdfs:label xml:lang="de">Tasse</rdfs:label>"""
    contents = owl.read(document(described(inside, iri="http://www.ebi.ac.uk/toy/TOY_0000001")), "toy.owl")
    (concept,) = contents.concepts
    assert (concept.id, concept.label) == ("TOY:0000001", "cup")
    assert concept.synonyms == ("mug", "beaker")
    assert (concept.alt_ids, concept.xrefs) == (("TOY:0000009",), ("Wiki:Cup",))
    assert contents.declared == "toy"


def test_a_class_without_an_id_is_reported_and_one_that_is_only_mentioned_is_none():
    inside = '<rdfs:subClassOf><owl:Class><owl:unionOf rdf:resource="x"/></owl:Class></rdfs:subClassOf>'
    contents = owl.read(document(described(inside), described(iri="http://x.org/thing")), "toy.owl")
    assert [one.id for one in contents.concepts] == ["TOY:0000001"]
    assert "http://x.org/thing" in contents.problems[0].what


@pytest.mark.parametrize("text", [HEAD, HEAD + "<owl:Class>", "<?xml version='1.0'?><a/><b/>"])
def test_a_broken_file_is_refused_in_one_sentence(text):
    with pytest.raises(OntologyError, match=r"toy\.owl cannot be read as OWL"):
        owl.read(text, "toy.owl")


@pytest.mark.parametrize("start", ["@prefix owl: <x> .", "Prefix(:=<x>)", "Ontology(<x>"])
def test_other_ways_to_write_owl_are_named_with_what_to_do(start, tmp_path: Path, settings: Settings):
    (tmp_path / "toy.owl").write_text(start, encoding="utf-8")
    with pytest.raises(OntologyError, match="Convert it"):
        load(tmp_path / "toy.owl", settings)


def test_owl_xml_is_told_from_an_ontology_without_terms():
    declared = '<Declaration><Class IRI="#A"/></Declaration>'
    text = f'<?xml version="1.0"?>\n<Ontology xmlns="http://www.w3.org/2002/07/owl#">{declared}</Ontology>'
    with pytest.raises(OntologyError, match="is OWL/XML, expected RDF/XML"):
        owl.read(text, "a.owl")
