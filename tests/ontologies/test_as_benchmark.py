"""An ontology's file is a benchmark by itself."""

from __future__ import annotations

from explorer.ontologies import as_benchmark

OBO = """format-version: 1.2
ontology: toy

[Term]
id: TOY:0000001
name: left heart valve

[Term]
id: TOY:0000002
name: obsolete thing
is_obsolete: true

[Term]
id: OTHER:0000003
name: somebody else's
"""


def test_live_terms_become_instances_and_the_rest_is_reported(settings, tmp_path):
    path = tmp_path / "toy.obo"
    path.write_text(OBO, "utf-8")
    assert as_benchmark.is_ontology(str(path))
    loaded = as_benchmark.load(str(path), settings)
    (instance,) = loaded.instances
    assert (instance.id, instance.group, instance.context) == ("toy/TOY/TOY:0000001", "TOY", "left heart valve")
    assert instance.options == ("TOY:0000001",)
    assert {(left.where, left.reason) for left in loaded.left_out} == {
        ("TOY:0000002", "obsolete"),
        ("OTHER:0000003", "not of TOY"),
    }
    assert loaded.data_hash


def test_a_benchmarks_name_and_a_file_that_is_not_there_are_no_ontology(tmp_path):
    assert not as_benchmark.is_ontology("blimp")
    assert not as_benchmark.is_ontology("go")  # read row by row by explorer/benchmarks
    assert not as_benchmark.is_ontology(str(tmp_path / "absent.obo"))
    assert as_benchmark.is_ontology("go-basic")


def test_a_concept_of_the_go_benchmark_keeps_its_count(real_settings):
    from explorer import benchmarks

    loaded = benchmarks.load("go", real_settings)
    concept = as_benchmark.concept_of(loaded.instances[0])
    assert concept.id == "GO:0006600"
    assert concept.web_count == 1830
    assert not concept.obsolete
