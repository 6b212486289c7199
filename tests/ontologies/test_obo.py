from pathlib import Path

import pytest

from explorer.ontologies import obo
from explorer.ontologies.contents import read_text

HEADER = "format-version: 1.2\nontology: toy\n\n"


def term(*lines: str) -> str:
    return "[Term]\n" + "\n".join(lines) + "\n\n"


def test_a_term_keeps_its_name_synonyms_alternatives_and_cross_references():
    text = HEADER + term(
        "id: TOY:0000001",
        "name: blue cup",
        'synonym: "azure mug" EXACT []',
        'synonym: "cup, blue" RELATED SYSTEMATIC [TOY:ref "a source"] {source="x"}',
        "alt_id: TOY:0000009",
        'xref: Wiki:Cup {source="y"}',
        "xref: http://example.org/cup\\:blue",
    )
    (concept,) = obo.read(text, "toy.obo").concepts
    assert (concept.id, concept.label) == ("TOY:0000001", "blue cup")
    assert concept.synonyms == ("azure mug", "cup, blue")
    assert concept.alt_ids == ("TOY:0000009",)
    assert concept.xrefs == ("Wiki:Cup", "http://example.org/cup:blue")
    assert not concept.obsolete


def test_escaped_quotes_and_marks_are_unescaped():
    text = term('id: TOY:1\nname: a \\"so-called\\" cup\\, \\{blue\\}', 'synonym: "the \\"cup\\" \\\\ mug" EXACT []')
    (concept,) = obo.read(text, "toy.obo").concepts
    assert concept.label == 'a "so-called" cup, {blue}'
    assert concept.synonyms == ('the "cup" \\ mug',)


def test_qualifiers_behind_a_name_are_no_part_of_it():
    (concept,) = obo.read(term("id: TOY:1", 'name: cup {source="a", note="b"}'), "toy.obo").concepts
    assert concept.label == "cup"


def test_only_terms_are_read_and_obsolete_ones_are_marked():
    text = HEADER + term("id: TOY:1", "name: cup", "is_obsolete: true") + "[Typedef]\nid: part_of\nname: part of\n"
    (concept,) = obo.read(text, "toy.obo").concepts
    assert concept.obsolete
    assert obo.read(text, "toy.obo").declared == "toy"


def test_what_cannot_be_read_is_reported_with_its_line():
    text = term("name: without an id") + term(
        "id: TOY:1", "name: cup", 'synonym: "never closed EXACT []', "a stray line"
    )
    contents = obo.read(text + term("id: TOY:1", "name: cup again"), "toy.obo")
    assert [concept.label for concept in contents.concepts] == ["cup"]
    assert [problem.line for problem in contents.problems] == [1, 7, 8, 10]


@pytest.mark.parametrize("name", ["go/go-basic.cellular_component.obo", "go/goslim_generic.obo", "uberon/efo-slim.obo"])
def test_real_files_read_as_pronto_reads_them(name: str, data_folder: Path, tmp_path: Path):
    import pronto

    text = read_text(data_folder / name)
    # pronto refuses one cross-reference of the Uberon slim whose IRI holds an escaped colon.
    copy = tmp_path / "copy.obo"
    copy.write_text(text.replace("Category\\:", "Category:"), encoding="utf-8")
    theirs = {term.id: term for term in pronto.Ontology(str(copy)).terms()}
    contents = obo.read(text, name)
    assert not contents.problems
    assert {concept.id for concept in contents.concepts} == set(theirs)
    for concept in contents.concepts:
        other = theirs[concept.id]
        assert concept.label == (other.name or "")
        assert concept.obsolete == bool(other.obsolete)
        assert set(concept.synonyms) == {synonym.description for synonym in other.synonyms}
        assert set(concept.alt_ids) == set(other.alternate_ids)
        assert {xref.replace("Category\\:", "Category:") for xref in concept.xrefs} == {x.id for x in other.xrefs}


def test_an_ontology_of_real_size_is_read_whole():
    terms = 45_000
    text = HEADER + "".join(
        f'[Term]\nid: TOY:{i:07d}\nname: cup {i}\nsynonym: "mug {i}" EXACT []\nis_a: TOY:0000000 ! cup 0\n\n'
        for i in range(terms)
    )
    assert len(obo.read(text, "toy.obo").concepts) == terms


@pytest.mark.parametrize(
    ("line", "obsolete"),
    [
        ("is_obsolete: true", True),
        ("is_obsolete: True ! since 2020", True),
        ("is_obsolete: false", False),
        ('property_value: owl:deprecated "true" xsd:boolean', True),
        ('property_value: http://www.w3.org/2002/07/owl#deprecated "1" xsd:boolean', True),
        ('property_value: owl:deprecated "false" xsd:boolean', False),
        ('property_value: note "true" xsd:string', False),
    ],
)
def test_a_term_is_obsolete_however_the_file_says_so(line, obsolete):
    contents = obo.read(f"format-version: 1.4\n\n[Term]\nid: TOY:1\nname: cup\n{line}\n", "toy.obo")
    assert [one.obsolete for one in contents.concepts] == [obsolete]
    assert not contents.problems


def test_an_alternative_id_may_be_a_property():
    text = '[Term]\nid: TOY:1\nname: cup\nproperty_value: oboInOwl:hasAlternativeId "TOY:9" xsd:string\n'
    assert obo.read(text, "toy.obo").concepts[0].alt_ids == ("TOY:9",)
