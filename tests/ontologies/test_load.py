import dataclasses
import gzip
import shutil
import socket
from pathlib import Path

import pytest

from explorer.errors import FetchError, OntologyError
from explorer.ontologies import owl
from explorer.ontologies.load import ONTOLOGIES, form_of, load
from explorer.settings import Settings

OBO = """format-version: 1.2
ontology: toy

[Term]
id: TOY:0000001
name: cup

[Term]
id: TOY:0000002
name: old cup
is_obsolete: true

[Term]
id: CUP:0000003
name: of another ontology

[Term]
id: CUP:0000004
name: of another ontology, too

[Term]
id: TOY:0000005
name: cup

[Term]
id: TOY:0000006
"""


def test_obsolete_foreign_and_unlabelled_terms_are_left_out_and_reported(tmp_path: Path, settings: Settings):
    path = tmp_path / "toy.obo"
    path.write_text(OBO, encoding="utf-8")
    loaded = load(path, settings)
    assert [concept.id for concept in loaded.concepts] == ["TOY:0000001", "TOY:0000005"]
    assert loaded.report.prefix == "TOY"
    assert loaded.report.obsolete == ("TOY:0000002",)
    assert loaded.report.foreign == ("CUP:0000003", "CUP:0000004")
    assert loaded.report.duplicate_labels == (("cup", ("TOY:0000001", "TOY:0000005")),)
    assert [problem.what for problem in loaded.report.malformed] == ["TOY:0000006 has no label"]
    assert loaded.report.counts()["repeated_labels"] == 1


def test_without_a_name_of_its_own_the_most_frequent_prefix_is_the_ontologys(tmp_path: Path, settings: Settings):
    path = tmp_path / "toy.obo"
    path.write_text(OBO.replace("ontology: toy\n", ""), encoding="utf-8")
    assert load(path, settings).report.prefix == "TOY"


def test_tables_keep_every_row_and_flag_the_rest(tmp_path: Path, settings: Settings):
    path = tmp_path / "toy.csv.gz"
    path.write_bytes(gzip.compress(b"TOY:1;cup\r\nTOY:2;obsolete cup\r\nCUP:3;cup\r\nTOY:4;plate\r\nTOY:4;plate"))
    loaded = load(path, settings)
    assert len(loaded.concepts) == 5
    assert loaded.report.obsolete == ("TOY:2",)
    assert loaded.report.foreign == ("CUP:3",)
    assert loaded.report.duplicate_ids == ("TOY:4",)
    assert dict(loaded.report.duplicate_labels)["cup"] == ("TOY:1", "CUP:3")


def test_forms_are_told_by_their_beginning():
    assert form_of(OBO) == "obo"
    assert form_of("\n[Term]\nid: TOY:1") == "obo"
    assert form_of('{"graphs": []}') == "obo-json"
    assert form_of('<?xml version="1.0"?>') == "owl"
    assert form_of("TOY:1;cup") == "table"


def test_an_unknown_name_lists_the_known_ones(settings: Settings):
    with pytest.raises(OntologyError, match="expected one of go, uberon"):
        load("gene", settings)


def test_a_known_ontology_is_looked_for_in_the_data_folder_then_in_the_cache(tmp_path: Path, settings: Settings):
    known = ONTOLOGIES["go-basic"]
    cached = settings.datasets / known.path
    cached.parent.mkdir(parents=True)
    cached.write_text(OBO.replace("TOY", "GO"), encoding="utf-8")
    assert len(load("go-basic", settings).concepts) == 2
    own = dataclasses.replace(settings, data=tmp_path / "data")
    (tmp_path / "data" / known.path).parent.mkdir(parents=True)
    (tmp_path / "data" / known.path).write_text("[Term]\nid: GO:0000001\nname: mug\n", encoding="utf-8")
    assert [concept.label for concept in load("go-basic", own).concepts] == ["mug"]


def test_offline_and_without_the_file_one_sentence_says_so(settings: Settings):
    with pytest.raises(FetchError, match="stay offline"):
        load("go", dataclasses.replace(settings, data=None))


def test_the_real_tables_are_whole(real_settings: Settings):
    go, uberon = load("go", real_settings), load("uberon", real_settings)
    assert (len(go.concepts), len(uberon.concepts)) == (42_854, 15_543)
    assert sum(concept.web_count == 0 for concept in go.concepts) == 4_987
    assert max(concept.web_count for concept in go.concepts) == 145_000
    assert sum(concept.web_count == 0 for concept in uberon.concepts) == 11_982
    assert max(uberon.concepts, key=lambda concept: concept.web_count).label == "ball"
    assert len(uberon.report.obsolete) == 1_088
    assert uberon.report.counts()["repeated_labels"] == 15
    assert not go.report.malformed and not uberon.report.malformed


def test_the_real_tables_have_the_checksums_that_a_download_must_have(real_settings: Settings, data_folder: Path):
    for name in ("go", "uberon"):
        assert load(name, real_settings).report.sha256 == ONTOLOGIES[name].sha256
        assert (data_folder / ONTOLOGIES[name].path).is_file()


@pytest.mark.parametrize(
    ("name", "kept", "obsolete"),
    [
        ("go/go-basic.cellular_component.obo", 4_469 - 286, 286),
        ("go/goslim_generic.obo", 149, 0),
        ("uberon/efo-slim.obo", 611, 2),
        ("uberon/efo-slim.tsv", 613, 2),
    ],
)
def test_the_real_files_are_read(
    name: str, kept: int, obsolete: int, real_settings: Settings, data_folder: Path, tmp_path
):
    loaded = load(data_folder / name, real_settings)
    assert (len(loaded.concepts), len(loaded.report.obsolete)) == (kept, obsolete)
    zipped = tmp_path / (Path(name).name + ".gz")
    with (data_folder / name).open("rb") as source, gzip.open(zipped, "wb") as target:
        shutil.copyfileobj(source, target)
    assert [concept.id for concept in load(zipped, real_settings).concepts] == [c.id for c in loaded.concepts]


def test_the_two_forms_of_the_uberon_slim_agree(real_settings: Settings, data_folder: Path):
    terms = {concept.id: concept.label for concept in load(data_folder / "uberon/efo-slim.obo", real_settings).concepts}
    rows = {concept.id: concept.label for concept in load(data_folder / "uberon/efo-slim.tsv", real_settings).concepts}
    assert terms.items() <= rows.items()


def test_owl_is_read_as_its_obo_twin(tmp_path: Path, settings: Settings):
    owl = tmp_path / "toy.owl"
    owl.write_text(
        """<?xml version="1.0"?>
<rdf:RDF xmlns:owl="http://www.w3.org/2002/07/owl#" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:oboInOwl="http://www.geneontology.org/formats/oboInOwl#">
 <owl:Ontology rdf:about="http://purl.obolibrary.org/obo/toy.owl"/>
 <owl:Class rdf:about="http://purl.obolibrary.org/obo/TOY_0000001">
  <rdfs:label>cup</rdfs:label><oboInOwl:hasExactSynonym>mug</oboInOwl:hasExactSynonym>
 </owl:Class>
 <owl:Class rdf:about="http://purl.obolibrary.org/obo/TOY_0000002">
  <rdfs:label>old cup</rdfs:label><owl:deprecated>true</owl:deprecated>
 </owl:Class>
</rdf:RDF>""",
        encoding="utf-8",
    )
    loaded = load(owl, settings)
    assert [(concept.id, concept.label, concept.synonyms) for concept in loaded.concepts] == [
        ("TOY:0000001", "cup", ("mug",))
    ]
    assert loaded.report.obsolete == ("TOY:0000002",)
    owl.write_text('<?xml version="1.0"?><rdf:RDF', encoding="utf-8")
    with pytest.raises(OntologyError, match="cannot be read as OWL"):
        load(owl, settings)


def test_what_an_owl_file_imports_is_told_and_never_fetched(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.5)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/other.owl"
        text = f"""<rdf:RDF xmlns:owl="http://www.w3.org/2002/07/owl#"
            xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
            <owl:Ontology rdf:about="http://purl.obolibrary.org/obo/toy.owl"><owl:imports rdf:resource="{address}"/>
            </owl:Ontology><owl:Class rdf:about="http://purl.obolibrary.org/obo/TOY_0000001">
            <rdfs:label>cup</rdfs:label></owl:Class></rdf:RDF>"""
        found = owl.read(text, "toy.owl")
        with pytest.raises(TimeoutError):
            listener.accept()
    assert [concept.label for concept in found.concepts] == ["cup"]
    assert [problem.what for problem in found.problems] == [f"{address} is imported, and was not read"]
