"""Import of a user's own table."""

import csv
import io
import json

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from explorer import benchmarks
from explorer.benchmarks.tables import table
from explorer.errors import BenchmarkError, ExplorerError, UsageError

PAIRS = [
    {"good": "The cat sleeps.", "bad": "The cat sleep."},
    {"good": 'He said "no".', "bad": 'He say "no".'},
    {"good": "Å, ja; nei|vel.", "bad": "ja Å"},
]


def write(tmp_path, data, name="mine.csv"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
    return path


def as_csv(rows, delimiter=",", end="\n"):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerows([list(rows[0]), *(list(row.values()) for row in rows)])
    return text.getvalue()


def parse(path, **given):
    reading = table.guess_reading(path, **given)
    return reading, table.read_file(path, reading, "mine")


def options(parsed):
    return [instance.options for instance in parsed.instances]


WANTED = [(row["good"], row["bad"]) for row in PAIRS]


# --- encodings, delimiters, quoting, header


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_the_encoding_is_guessed(tmp_path, encoding):
    reading, parsed = parse(write(tmp_path, as_csv(PAIRS).encode(encoding)))
    assert options(parsed) == WANTED
    assert reading.encoding == encoding


def test_an_encoding_can_be_given(tmp_path):
    path = write(tmp_path, "good,bad\nпривет,пока\n".encode("koi8-r"))
    reading, parsed = parse(path, encoding="koi8-r")
    assert (reading.encoding, options(parsed)) == ("koi8-r", [("привет", "пока")])
    for wrong in ("utf-8", "no-such-encoding"):
        with pytest.raises(BenchmarkError, match=f"cannot be read as {wrong}"):
            parse(path, encoding=wrong)


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiter_and_line_ends_are_guessed(tmp_path, delimiter, end):
    reading, parsed = parse(write(tmp_path, as_csv(PAIRS, delimiter, end), "mine.txt"))
    assert reading.delimiter == delimiter
    assert options(parsed) == WANTED


def test_a_delimiter_can_be_given(tmp_path):
    _, parsed = parse(write(tmp_path, "good^bad\na b^b a\n"), delimiter="^")
    assert options(parsed) == [("a b", "b a")]


@pytest.mark.parametrize("delimiter", ["ab", "\n", '"', " "])
def test_what_cannot_part_cells_is_refused(tmp_path, delimiter):
    with pytest.raises(UsageError, match="cannot part cells"):
        table.guess_reading(write(tmp_path, as_csv(PAIRS)), delimiter=delimiter)


def test_a_quoted_newline_belongs_to_its_cell(tmp_path):
    _, parsed = parse(write(tmp_path, 'good,bad\n"two\nlines","one ""line"""\n'))
    assert options(parsed) == [("two\nlines", 'one "line"')]


def test_literal_quotes_stay_where_quoting_would_break_rows(tmp_path):
    text = 'good\tbad\n"No," she said.\tShe "no said.\n"Open quote\tx\nplain\ty\n'
    reading, parsed = parse(write(tmp_path, text, "mine.tsv"))
    assert not reading.quoting
    assert options(parsed)[0] == ('"No," she said.', 'She "no said.')
    assert len(parsed.instances) == 3 and parsed.left_out == ()


def test_quoting_can_be_given(tmp_path):
    path = write(tmp_path, 'good\tbad\n"a"\t"b"\n', "mine.tsv")
    assert options(parse(path)[1]) == [("a", "b")]
    assert options(parse(path, quoting=False)[1]) == [('"a"', '"b"')]


def test_without_a_header_columns_are_numbered(tmp_path):
    path = write(tmp_path, "The cat sleeps on.,The cat sleep on.\nA dog barks now.,A dog bark now.\n")
    reading, parsed = parse(path, kind="pair", columns={"good": "column 1", "bad": "column 2"})
    assert not reading.header
    assert len(parsed.instances) == 2


def test_a_header_can_be_denied(tmp_path):
    path = write(tmp_path, "cat,dog\ngood,bad\n")
    _, parsed = parse(path, header=False, kind="pair", columns={"good": "column 1", "bad": "column 2"})
    assert options(parsed) == [("cat", "dog"), ("good", "bad")]


def test_repeated_and_nameless_columns_get_names(tmp_path):
    reading, _ = parse(write(tmp_path, "good,good,,bad\na,b,c,d\n"))
    assert reading.names == ("good", "good#2", "column 3", "bad")
    assert reading.columns == {"good": "good", "bad": "bad"}


# --- kinds


def test_pairs_with_ids_and_groups(tmp_path):
    text = "id,group,sentence_good,sentence_bad\n7,agreement,a b,b a\n7,agreement,c,d\n9,island,e,f\n"
    _, parsed = parse(write(tmp_path, text))
    assert [instance.id for instance in parsed.instances] == [
        "imported_mine/agreement/7",
        "imported_mine/agreement/7#2",
        "imported_mine/island/9",
    ]
    assert all(i.benchmark == "imported_mine" and i.kind == "pair" and i.gold == 0 for i in parsed.instances)


@pytest.mark.parametrize(
    "written, gold", [(["0", "1"], "0"), (["1", "2"], "1"), (["A", "B"], "letter"), (["x one", "y two"], "text")]
)
def test_how_the_right_option_is_written_is_guessed(tmp_path, written, gold):
    rows = [
        {"question": "Which?", "option1": "x one", "option2": "y one", "answer": written[0]},
        {"question": "Which?", "option1": "x two", "option2": "y two", "answer": written[1]},
    ]
    reading, parsed = parse(write(tmp_path, as_csv(rows)))
    assert (reading.kind, reading.gold, reading.prompt) == ("choice", gold, "choice")
    assert [instance.gold for instance in parsed.instances] == [0, 1]


def test_how_the_right_option_is_written_can_be_given(tmp_path):
    path = write(tmp_path, "premise,choice1,choice2,label\na,b,c,1\n")
    assert parse(path, gold="0")[1].instances[0].gold == 1
    assert parse(path, gold="1")[1].instances[0].gold == 0


def test_options_in_order_of_their_names_and_more_than_two(tmp_path):
    _, parsed = parse(write(tmp_path, "goal,sol3,sol1,sol2,label\ng,three,one,two,2\n"))
    assert options(parsed) == [("one", "two", "three")]
    assert parsed.instances[0].gold == 2


def test_a_list_of_options_in_json_lines(tmp_path):
    rows = [
        {"question": "Q", "choices": {"text": ["a", "b", "c"], "label": ["A", "B", "C"]}, "answerKey": "C"},
        {"question": "R", "choices": {"text": ["d"], "label": ["A"]}, "answerKey": "A"},
    ]
    reading, parsed = parse(write(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "mine.jsonl"))
    assert reading.columns["options"] == "choices.text"
    assert parsed.instances[0].options == ("a", "b", "c") and parsed.instances[0].gold == 2
    assert parsed.left_out[0].reason == "choices.text is no list of at least two options"


def test_sentences_with_one_gap_are_asked_like_winogrande(tmp_path):
    text = "sentence,option1,option2,answer\nThe _ fell.,cup,jar,1\nA _ broke.,lamp,bulb,2\n"
    reading, parsed = parse(write(tmp_path, text))
    assert {reading.prompt} | {instance.format for instance in parsed.instances} == {"winogrande"}


def test_cloze_takes_the_last_word_or_a_column(tmp_path):
    _, parsed = parse(write(tmp_path, "text\nShe opened the old door\nword\n"))
    assert (parsed.instances[0].context, options(parsed)) == ("She opened the old", [("door",)])
    assert parsed.left_out[0].where == "line 3"
    _, parsed = parse(write(tmp_path, "passage,target\nShe opened the,door\n"), kind="cloze")
    assert (parsed.instances[0].context, options(parsed)) == ("She opened the", [("door",)])


def test_a_text_file_is_cloze_a_line(tmp_path):
    reading, parsed = parse(write(tmp_path, "She opened, slowly, the old door\nNobody came in\n", "mine.txt"))
    assert (reading.delimiter, reading.kind) == ("", "cloze")
    assert options(parsed) == [("door",), ("in",)]


def test_labelled_text_knows_all_its_labels(tmp_path):
    text = "sentence1,sentence2,label\na,b,10\nc,d,2\ne,f,10\n"
    _, parsed = parse(write(tmp_path, text))
    assert {instance.options for instance in parsed.instances} == {("2", "10")}
    assert [instance.gold for instance in parsed.instances] == [1, 0, 1]
    assert parsed.instances[0].second == "b" and parsed.instances[0].group == "10"


def test_too_many_labels_are_told(tmp_path):
    text = "text,label\n" + "".join(f"text {n},label {n}\n" for n in range(300))
    with pytest.raises(UsageError, match="300 different values"):
        parse(write(tmp_path, text), kind="labelled")


def test_columns_can_be_given(tmp_path):
    path = write(tmp_path, "ok,wrong\na,b\n")
    assert table.column_names(path) == ("ok", "wrong")
    assert table.column_names(path, header=False) == ("column 1", "column 2")
    with pytest.raises(UsageError, match=r"--kind"):
        table.guess_reading(path)
    with pytest.raises(UsageError, match=r"--column good=COLUMN"):
        table.guess_reading(path, kind="pair")
    assert options(parse(path, kind="pair", columns={"good": "ok", "bad": "wrong"})[1]) == [("a", "b")]
    with pytest.raises(UsageError, match="no column 'nope'; the columns are ok, wrong"):
        table.guess_reading(path, kind="pair", columns={"good": "nope", "bad": "wrong"})
    with pytest.raises(UsageError, match="no role 'fine'"):
        table.guess_reading(path, kind="pair", columns={"fine": "ok"})
    with pytest.raises(UsageError, match="not as 'poem'"):
        table.guess_reading(path, kind="poem")


# --- JSON and Parquet


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(PAIRS),
        json.dumps({"data": PAIRS}),
        json.dumps({"good": [row["good"] for row in PAIRS], "bad": [row["bad"] for row in PAIRS]}),
        json.dumps(PAIRS, indent=2),
        "".join(json.dumps(row) + "\n" for row in PAIRS),
    ],
)
def test_json_in_its_usual_shapes(tmp_path, text):
    assert options(parse(write(tmp_path, text, "mine.json"))[1]) == WANTED


def test_lines_that_are_no_json_are_left_out(tmp_path):
    text = json.dumps(PAIRS[0]) + "\n{broken\n[1]\n\n" + json.dumps(PAIRS[1]) + "\n"
    _, parsed = parse(write(tmp_path, text, "mine.jsonl"))
    assert options(parsed) == WANTED[:2]
    assert [(row.where, row.reason) for row in parsed.left_out] == [
        ("line 2", "no JSON"),
        ("line 3", "a JSON list, expected an object"),
    ]


def test_parquet(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist([*PAIRS, {"good": None, "bad": "x"}]), tmp_path / "mine.parquet")
    reading, parsed = parse(tmp_path / "mine.parquet")
    assert (reading.format, options(parsed)) == ("parquet", WANTED)
    assert [(row.where, row.reason) for row in parsed.left_out] == [("row 4", "good is empty")]


def test_a_broken_parquet_file_is_told(tmp_path):
    with pytest.raises(BenchmarkError, match="not a readable Parquet file"):
        table.guess_reading(write(tmp_path, b"PAR1 and then nothing", "mine.parquet"))


# --- rows left out, files refused


def test_ragged_empty_and_broken_rows_are_left_out_with_the_reason(tmp_path):
    text = "good,bad\na,b\nc\nd,e,f\n,g\n  ,h\n\ni\0,j\nk,l\n"
    _, parsed = parse(write(tmp_path, text))
    assert options(parsed) == [("a", "b"), ("k", "l")]
    assert [(row.where, row.reason) for row in parsed.left_out] == [
        ("line 3", "1 fields, expected 2"),
        ("line 4", "3 fields, expected 2"),
        ("line 5", "good is empty"),
        ("line 6", "good is empty"),
        ("line 7", "an empty row"),
        ("line 8", "good holds a NUL character"),
    ]
    assert [instance.id.rpartition("/")[2] for instance in parsed.instances] == ["0", "6"]


def test_a_quote_that_never_closes_costs_only_what_follows(tmp_path):
    _, parsed = parse(write(tmp_path, 'good,bad\n"a, b","c"\nd,"e\nf,g\n'), quoting=True)
    assert options(parsed) == [("a, b", "c")]
    assert "broken quoting" in parsed.left_out[0].reason


def test_a_gold_that_names_no_option_is_left_out(tmp_path):
    _, parsed = parse(write(tmp_path, "goal,sol1,sol2,label\ng,a,b,0\ng,a,b,7\ng,a,b,1\n"))
    assert len(parsed.instances) == 2
    assert parsed.left_out[0].reason == "label is '7', which names none of 2 options"


def test_half_a_surrogate_pair_is_left_out(tmp_path):
    _, parsed = parse(write(tmp_path, '{"good": "\\ud800", "bad": "x"}\n{"good": "y", "bad": "z"}\n', "mine.jsonl"))
    assert [row.reason for row in parsed.left_out] == ["good holds half a surrogate pair"]


def test_a_line_of_a_megabyte_is_read(tmp_path):
    _, parsed = parse(write(tmp_path, f"good,bad\n{'long ' * 300_000},short\n"))
    assert len(parsed.instances[0].options[0]) == 1_500_000


@pytest.mark.parametrize(
    "data, told",
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"<!DOCTYPE html><html><body>404</body></html>", "web page"),
        (b"\xef\xbb\xbf  <html>", "web page"),
        (b"PK\x03\x04rest", "zip or Excel"),
        (b"\x1f\x8brest", "gzip"),
        (b"BZh91AY&SY", "bzip2"),
        (b"\xfd7zXZ\x00rest", "an xz file"),
        (b"\x28\xb5\x2f\xfdrest", "Zstandard"),
        (b"7z\xbc\xaf\x27\x1crest", "7-Zip"),
        (b"Rar!\x1a\x07rest", "RAR"),
        (b"a.csv".ljust(257, b"\0") + b"ustar", "a tar file"),
        (b"ARROW1rest", "Arrow or Feather"),
        (b"SQLite format 3\x00rest", "SQLite"),
        (b"%PDF-1.7", "PDF"),
        (bytes(range(8)) * 100 + bytes(400), "no text file"),
        (b"good,bad\n", "No row of"),
        (b"good,bad\n,\n x,\n", "No row of"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(tmp_path, data, told):
    with pytest.raises(BenchmarkError, match=told):
        parse(write(tmp_path, data))


@pytest.mark.parametrize("text", ["{", "3", '"text"', "[1, 2]", "[]", "{}", "[" * 100_000, "[{}]", "1" * 5_000])
def test_json_that_is_no_table_is_refused(tmp_path, text):
    with pytest.raises(ExplorerError):
        parse(write(tmp_path, text, "mine.json"))


def test_a_file_that_is_not_there_is_told(tmp_path):
    for path in (tmp_path / "no.csv", tmp_path):
        with pytest.raises(UsageError, match="cannot be read"):
            table.guess_reading(path)


cells = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(st.binary(max_size=300), st.sampled_from(["a.csv", "a.tsv", "a.jsonl", "a.json", "a.parquet", "a"]))
@example(b"\xff\xfe", "a.csv")
@example(b'"', "a.csv")
@example(b"good,bad\n\x00", "a.csv")
@example(b'{"good": 1e999, "bad": NaN}', "a.jsonl")
def test_no_bytes_crash_an_import(tmp_path, data, name):
    try:
        _, parsed = parse(write(tmp_path, data, name))
    except ExplorerError as error:
        assert str(error)
    else:
        assert parsed.instances


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(
    st.lists(st.lists(cells, max_size=4), min_size=1, max_size=6),
    st.sampled_from([",", "\t", ";", "|", "\n"]),
    st.sampled_from(["good", "text", "sol1", ""]),
)
def test_no_table_crashes_an_import(tmp_path, rows, delimiter, first):
    heads = {"good": "good,bad", "text": "text,label", "sol1": "goal,sol1,sol2,label", "": ""}[first]
    text = heads.replace(",", delimiter) + "\n" + "\n".join(delimiter.join(row) for row in rows)
    try:
        reading, parsed = parse(write(tmp_path, text))
    except ExplorerError as error:
        assert str(error)
    else:
        assert reading.kind and parsed.instances
        for instance in parsed.instances:
            assert len(instance.text_hash) == 16
            assert instance.gold is None or instance.gold < len(instance.options)


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.tuples(*[st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), min_size=1)] * 2).filter(
            lambda pair: all(text.strip() and "\0" not in text for text in pair)
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([",", "\t", ";", "|"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_what_a_csv_writer_wrote_is_read_back(tmp_path, pairs, delimiter, encoding):
    rows = [{"good": good, "bad": bad} for good, bad in pairs]
    path = write(tmp_path, as_csv(rows, delimiter).encode(encoding))
    _, parsed = parse(path, delimiter=delimiter, quoting=True)
    assert options(parsed) == pairs


# --- keeping


def test_an_import_is_a_benchmark_for_every_process(bare, tmp_path):
    path = write(tmp_path, as_csv(PAIRS) + "x,y,z\n")
    table.store_import(path, "my-pairs_2", bare, table.guess_reading(path))
    path.unlink()
    assert benchmarks.names(bare)[-1] == "imported_my-pairs_2"
    assert "imported_my-pairs_2" in benchmarks.available_names(bare)
    benchmark = benchmarks.find("imported_my-pairs_2", bare)
    assert (benchmark.title, benchmark.kind) == ("mine.csv", "pair")
    loaded = benchmarks.load("imported_my-pairs_2", bare)
    assert [instance.options for instance in loaded.instances] == WANTED
    assert [row.where for row in loaded.left_out] == ["line 5"]
    assert loaded.source == "imported"


def test_an_import_of_the_same_name_replaces_the_older(bare, tmp_path):
    first, second = write(tmp_path, "good,bad\na,b\n"), write(tmp_path, "good,bad\nc,d\n", "other.csv")
    table.store_import(first, "x", bare, table.guess_reading(first))
    before = benchmarks.load("imported_x", bare)
    table.store_import(second, "imported_x", bare, table.guess_reading(second), title="My pairs")
    assert benchmarks.find("imported_x", bare).title == "My pairs"
    after = benchmarks.load("imported_x", bare)
    assert [instance.options for instance in after.instances] == [("c", "d")]
    assert before.data_hash != after.data_hash
    assert [path.name for path in bare.imports.iterdir()] == ["x"]


def test_what_cannot_be_read_is_not_kept(bare, tmp_path):
    path = write(tmp_path, "good,bad\n,\n")
    with pytest.raises(BenchmarkError):
        table.store_import(path, "x", bare, table.guess_reading(path))
    assert table.imported_names(bare) == []


@pytest.mark.parametrize("name", ["", "../x", "A", "x" * 65, "a b", ".x", "imported_"])
def test_a_name_that_cannot_be_a_folder_is_refused(bare, tmp_path, name):
    path = write(tmp_path, as_csv(PAIRS))
    with pytest.raises(UsageError, match="no name for an import"):
        table.store_import(path, name, bare, table.guess_reading(path))


def test_a_damaged_or_missing_import_is_told(bare, tmp_path):
    path = write(tmp_path, as_csv(PAIRS))
    table.store_import(path, "x", bare, table.guess_reading(path))
    with pytest.raises(UsageError, match="Nothing was imported as 'y'; imported were imported_x"):
        benchmarks.find("imported_y", bare)
    (bare.imports / "x" / "table.csv").unlink()
    with pytest.raises(BenchmarkError, match="is gone"):
        benchmarks.load("imported_x", bare)
    (bare.imports / "x" / table.MANIFEST).write_text("{")
    with pytest.raises(BenchmarkError, match="damaged"):
        benchmarks.find("imported_x", bare)
    assert "imported_x" not in benchmarks.available_names(bare)


# --- real files


@pytest.mark.parametrize("name, split", [("wnli", "train"), ("wnli", "dev"), ("rte", "train"), ("rte", "dev")])
def test_tables_with_literal_quotes_are_read_as_their_own_loader_does(data_folder, real, name, split):
    _, parsed = parse(data_folder / name / f"{split}.tsv")
    ours = [(i.context, i.second) for i in real(name).instances if i.split == split]
    assert [(i.context, i.second) for i in parsed.instances] == ours
    assert parsed.left_out == ()


def test_winogrande_is_recognized(data_folder, real):
    reading, parsed = parse(data_folder / "winogrande" / "dev.jsonl")
    assert reading.prompt == "winogrande"
    ours = [(i.context, i.options, i.gold) for i in real("winogrande").instances]
    assert [(i.context, i.options, i.gold) for i in parsed.instances] == ours


def test_crows_pairs_columns_are_recognized_the_less_stereotypical_sentence_as_the_good_one(tmp_path):
    path = write(tmp_path, ',sent_more,sent_less,bias_type\n0,"She cooks, he reads.","He cooks, she reads.",gender\n')
    reading, parsed = parse(path)
    assert (reading.kind, reading.columns["group"]) == ("pair", "bias_type")
    assert options(parsed) == [("He cooks, she reads.", "She cooks, he reads.")]


def test_the_crows_pairs_file_is_read_like_the_benchmark(data_folder, real):
    _, parsed = parse(data_folder / "crows_pairs" / "crows_pairs_anonymized.csv")
    assert options(parsed) == [instance.options[::-1] for instance in real("crows_pairs").instances]
