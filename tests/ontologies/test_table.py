import codecs
import gzip
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.errors import OntologyError
from explorer.ontologies import as_benchmark, table
from explorer.ontologies.contents import as_curie, read_text
from explorer.ontologies.load import load
from explorer.ontologies.predictions import read_predictions
from explorer.settings import Settings

ROWS = [
    ("TOY:0000001", "blue cup", "7", "120"),
    ("TOY:0000002", "2,3-dihydroxy saucer activity", "0", "3"),
    ("TOY:0000003", "red plate", "", "0"),
]


def written(rows, delimiter=";", end="\n", header=(), quote=False) -> str:
    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if quote or delimiter in text else text

    lines = [*([header] if header else []), *rows]
    return end.join(delimiter.join(cell(text) for text in row) for row in lines)


def seen(text: str, **rest) -> list[tuple[str, str, float, float]]:
    contents = table.read(text, "toy.csv", **rest)
    return [(c.id, c.label, c.annotations, c.web_count) for c in contents.concepts]


EXPECTED = seen(written(ROWS))


def test_the_plain_dress():
    assert EXPECTED[:2] == [("TOY:0000001", "blue cup", 7, 120), ("TOY:0000002", "2,3-dihydroxy saucer activity", 0, 3)]
    assert math.isnan(EXPECTED[2][2])
    assert EXPECTED[2][3] == 0


@pytest.mark.parametrize("delimiter", table.DELIMITERS)
@pytest.mark.parametrize("quote", [False, True])
@pytest.mark.parametrize("header", [(), ("ID", "Label", "annotations", "web_count")])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("zipped", [False, True])
def test_every_dress_gives_the_same_concepts(tmp_path: Path, delimiter, quote, header, end, mark, zipped):
    raw = mark + written(ROWS, delimiter, end, header, quote).encode("utf-8")
    path = tmp_path / "toy.csv"
    path.write_bytes(gzip.compress(raw) if zipped else raw)
    assert repr(seen(read_text(path))) == repr(EXPECTED)


def test_utf_16_with_a_mark_is_read(tmp_path: Path):
    path = tmp_path / "toy.tsv"
    path.write_bytes(written(ROWS, "\t").encode("utf-16"))
    assert repr(seen(read_text(path))) == repr(EXPECTED)


def test_columns_may_stand_in_another_order_under_a_header():
    text = "label\tcount\tgo_id\nblue cup\t120\tTOY:0000001\n"
    assert seen(text)[0][:2] == ("TOY:0000001", "blue cup")
    assert seen(text)[0][3] == 120


def test_what_a_sparql_query_prints_is_read():
    text = (
        '?x\t?label\n<http://purl.obolibrary.org/obo/TOY_0000001>\t"blue cup"\n'
        '<http://x.org/TOY_0000002>\t"a \\"b\\" c"@en\n'
    )
    assert [row[:2] for row in seen(text)] == [("TOY:0000001", "blue cup"), ("TOY:0000002", 'a "b" c')]


def test_two_columns_are_id_and_label_three_have_annotations():
    assert table.read("TOY:1;blue cup", "t").columns == ("id", "label")
    assert table.read("TOY:1;blue cup;4", "t").columns == ("id", "label", "annotations")
    assert table.read("TOY:1;blue cup;4;5", "t").columns == ("id", "label", "annotations", "web count")
    assert table.read("TOY:1;blue cup;4;5;TOY:2", "t").columns[-1] == "prediction"


def test_the_last_column_holds_the_answers_when_predictions_are_read():
    for row, columns in (
        ("TOY:1;0000002", ("id", "prediction")),
        ("TOY:1;blue cup;0000002", ("id", "label", "prediction")),
        ("TOY:1;blue cup;3;0000002", ("id", "label", "annotations", "prediction")),
        ("TOY:1;blue cup;3;4;0000002", ("id", "label", "annotations", "web count", "prediction")),
    ):
        contents = table.read(row, "t", predictions=True)
        assert contents.columns == columns
        assert contents.predictions == ("0000002",)


def test_answers_may_be_sentences_with_delimiters_quotes_and_line_breaks():
    text = (
        'TOY:1;cup;1;2;"There is no ID for ""cup""; sorry."\n'
        "TOY:2;plate;1;2;It is TOY:3; I think\n"
        'TOY:3;mug;1;2;"First line\nsecond; line"\n'
        'TOY:4;jug;1;2;"never closed\n'
        'TOY:5;pan;1;2;say "so" twice\n'
        "TOY:6;pot;1;2"
    )
    contents = table.read(text, "t", predictions=True)
    assert contents.predictions == (
        'There is no ID for "cup"; sorry.',
        "It is TOY:3; I think",
        "First line\nsecond; line",
        '"never closed',
        'say "so" twice',
        "",
    )
    assert not contents.problems


def test_answers_may_all_hold_the_delimiter_unquoted():
    text = "TOY:1;cup;1;2;Sure; it is TOY:2; bye\nTOY:2;mug;1;2;Sure; it is TOY:1; bye\n"
    contents = table.read(text, "t", predictions=True)
    assert contents.predictions == ("Sure; it is TOY:2; bye", "Sure; it is TOY:1; bye")


def test_an_unquoted_label_with_the_delimiter_is_put_together_again():
    text = "TOY:1,cup,5,6\nTOY:2,1,2-dihydroxy cup,7,8\nTOY:3,1,2,3,4-tetrahydroxy cup,9,0\n"
    assert seen(text)[1:] == [("TOY:2", "1,2-dihydroxy cup", 7, 8), ("TOY:3", "1,2,3,4-tetrahydroxy cup", 9, 0)]


def test_between_label_and_answer_an_id_stands_alone_and_a_sentence_holds_the_delimiter():
    text = "TOY:1;cup;TOY:2\nTOY:2;mug;Sorry; no idea\nTOY:3;pan; old;TOY:2\n" + "TOY:4;jug;TOY:1\n" * 3
    contents = table.read(text, "t", predictions=True)
    assert [concept.label for concept in contents.concepts][:3] == ["cup", "mug", "pan; old"]
    assert contents.predictions[:3] == ("TOY:2", "Sorry; no idea", "TOY:2")


def test_rows_without_an_id_or_a_label_and_counts_that_are_none_are_reported():
    contents = table.read("TOY:1;cup;1;2\n;plate;1;2\nTOY:3;;1;2\nTOY:4;mug;many;2\n\n", "t")
    assert [concept.id for concept in contents.concepts] == ["TOY:1", "TOY:4"]
    assert [problem.line for problem in contents.problems] == [2, 3, 4]
    assert math.isnan(contents.concepts[1].annotations)


@pytest.mark.parametrize("text", ["", "just words\nand more", "1;2;3"])
def test_a_file_without_ids_is_refused(text: str):
    with pytest.raises(OntologyError, match="expected"):
        table.read(text, "t")


@pytest.mark.parametrize(
    ("text", "curie"),
    [
        ("GO:0006600", "GO:0006600"),
        ('"GO:0006600"', "GO:0006600"),
        ("'GO:0006600' ", "GO:0006600"),
        ("<http://purl.obolibrary.org/obo/GO_0006600>", "GO:0006600"),
        ("GO_0006600", "GO:0006600"),
        ("http://example.org/ns#TOY_C12", "TOY:C12"),
        ("go_id", ""),
        ("creatine", ""),
        ("", ""),
    ],
)
def test_ids_are_told_from_other_text(text: str, curie: str):
    assert as_curie(text) == curie


labels = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\x00"), min_size=1).filter(
    lambda text: text.strip() == text and not text.startswith('"')
)


@given(st.lists(st.tuples(labels, st.integers(0, 10**7), labels), min_size=1, max_size=8), st.sampled_from(";\t,|"))
def test_quoted_rows_come_back_as_they_were_written(rows, delimiter):
    text = written([(f"TOY:{i:07d}", a, str(n), str(n), b) for i, (a, n, b) in enumerate(rows)], delimiter, quote=True)
    contents = table.read(text, "t", predictions=True)
    if all("\\" not in a + b for a, _, b in rows):  # a backslash before a quote is SPARQL's escape
        assert [concept.label for concept in contents.concepts] == [a for a, _, _ in rows]
        assert list(contents.predictions) == [b for _, _, b in rows]


def test_a_file_that_is_no_text_is_refused_with_its_line(tmp_path: Path):
    path = tmp_path / "toy.csv"
    path.write_bytes(b"TOY:1;cup\nTOY:2;\xff\xfeplate\n")
    with pytest.raises(OntologyError, match="line 2 holds bytes that are not utf-8"):
        read_text(path)
    path.write_bytes(b"\x1f\x8bnot gzip at all")
    with pytest.raises(OntologyError, match="cannot be read"):
        read_text(path)


@pytest.mark.parametrize("count", ["-1", "-0.5", "inf", "-inf", "1e999"])
def test_a_negative_or_endless_count_is_no_count(count):
    contents = table.read(f"TOY:1;blue cup;{count};5\nTOY:2;red cup;0;1e3", "t")
    assert [problem.line for problem in contents.problems] == [1]
    assert math.isnan(contents.concepts[0].annotations) and contents.concepts[0].web_count == 5
    assert (contents.concepts[1].annotations, contents.concepts[1].web_count) == (0, 1000)


# --- headers, prefixes, what is obsolete


@pytest.mark.parametrize(
    "header",
    [
        "id;label", "ID;Name", "term_id;term_label", "?x;?label", "#id;label", "class;rdfs:label", "iri;prefLabel",
        "concept id;preferred name", "hp_id;hp_name", "term id;term", "identifier;label",
    ],
)  # fmt: skip
def test_a_header_in_other_words_is_a_header(header):
    contents = table.read(f"{header}\nTOY:1;cup\nTOY:2;mug\n", "t.csv")
    assert [(one.id, one.label) for one in contents.concepts] == [("TOY:1", "cup"), ("TOY:2", "mug")]
    assert not contents.problems


def test_of_several_columns_of_ids_the_plainest_counts():
    contents = table.read("class;id;label\nvessel;TOY:1;cup\n", "t.csv")
    assert [(one.id, one.label) for one in contents.concepts] == [("TOY:1", "cup")]


def test_remarks_and_what_excel_puts_before_a_header_are_passed_over():
    contents = table.read("# release 3\nsep=;\n\nid;label\nTOY:1;cup\n", "t.csv")
    assert [one.id for one in contents.concepts] == ["TOY:1"]


def test_a_first_line_of_unknown_names_is_told_and_the_columns_are_read_by_their_place():
    contents = table.read("thing,definition\nTOY:1,cup\nTOY:2,mug\n", "t.csv")
    assert [one.label for one in contents.concepts] == ["cup", "mug"]
    assert "names no column that is known here" in contents.problems[0].what


@pytest.mark.parametrize(
    "text", ["1234;cup\n1235;mug", "id,label\n1234,cup\n", "id\tname\n6600.0\tcup\n", "0012,cup\nD001,mug\n"]
)
def test_ids_without_a_prefix_are_asked_about_in_one_sentence(text):
    with pytest.raises(OntologyError, match=r"t\.csv has ids without a prefix, such as .* as in t\.csv#GO") as error:
        table.read(text, "t.csv")
    assert "header" not in str(error.value)


@pytest.mark.parametrize("text", ["D001,cup\n", "code\tname\nD001\tcup\nC2\tmug\n"])
def test_no_prefix_is_advised_for_ids_that_it_would_not_make_askable(text, tmp_path: Path, settings: Settings):
    with pytest.raises(OntologyError, match=r"ids of letters and digits, such as D001.*numeric ids\.$") as error:
        table.read(text, "t.csv")
    assert "#" not in str(error.value)
    (tmp_path / "terms.csv").write_text(text)
    with pytest.raises(OntologyError, match=r"No id of the ontology is TOY: and digits \(the first is TOY:D001\)"):
        as_benchmark.load(f"{tmp_path}/terms.csv#TOY", settings)  # before any model is loaded


@pytest.mark.parametrize(
    "text", ["1234;cup\n0012;mug", "id;label\n1234;cup\n0012;mug", "\ufeffid;label\r\n1234.0;cup\r\n0012;mug"]
)
def test_ids_without_a_prefix_get_the_one_that_is_named_behind_the_file(text, tmp_path: Path, settings: Settings):
    (tmp_path / "terms.csv").write_bytes(text.encode())
    found = load(f"{tmp_path}/terms.csv#TOY", settings)
    assert [(one.id, one.label) for one in found.concepts] == [("TOY:1234", "cup"), ("TOY:0012", "mug")]
    assert found.report.prefix == "TOY" and not found.report.malformed
    made = as_benchmark.load(f"{tmp_path}/terms.csv#TOY", settings)
    assert as_benchmark.is_ontology(f"{tmp_path}/terms.csv#TOY")
    assert [one.id for one in made.instances] == ["terms/TOY/TOY:1234", "terms/TOY/TOY:0012"]


def test_a_column_may_name_the_prefix():
    contents = table.read("prefix;id;label\nTOY;12;cup\nTOY:;13;mug\n", "t.csv")
    assert [one.id for one in contents.concepts] == ["TOY:12", "TOY:13"]


def test_a_column_of_ids_that_are_none_is_named():
    with pytest.raises(OntologyError, match="'a cup' in its column of ids"):
        table.read("id;label\na cup;cup\n", "t.csv")


def test_rows_that_a_column_calls_obsolete_are_left_out_and_counted(tmp_path: Path, settings: Settings):
    rows = ["TOY:1;cup;false", "TOY:2;mug;true", "TOY:3;jug;1", "TOY:4;pan;", "TOY:5;pot;0", "TOY:6;can;TRUE"]
    (tmp_path / "terms.csv").write_text("id;label;deprecated\n" + "\n".join(rows), encoding="utf-8")
    found = load(tmp_path / "terms.csv", settings)
    assert [one.id for one in found.concepts] == ["TOY:1", "TOY:4", "TOY:5"]
    assert found.report.obsolete == ("TOY:2", "TOY:3", "TOY:6")
    left_out = as_benchmark.load(str(tmp_path / "terms.csv"), settings).left_out
    assert [one.reason for one in left_out] == ["obsolete"] * 3


def test_predictions_under_bare_numbers_find_their_concepts_and_the_zeros_that_a_table_program_took(
    tmp_path: Path, settings: Settings
):
    (tmp_path / "toy.csv").write_text("TOY:0000012;cup\nTOY:0000013;mug\n", encoding="utf-8")
    (tmp_path / "said.csv").write_text("id;label;prediction\n12;cup;TOY:0000012\n13;mug;none\n", encoding="utf-8")
    found = read_predictions(tmp_path / "said.csv", load(tmp_path / "toy.csv", settings))
    assert [one.id for one in found.concepts] == ["TOY:0000012", "TOY:0000013"]
    assert found.unknown == ()
