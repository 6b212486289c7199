"""Whatever a file or a command line holds, the answer is a result or one sentence of ours, never a traceback."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from explorer import settings as settings_module
from explorer.__main__ import main
from explorer.benchmarks.core import syntaxgym_formula
from explorer.benchmarks.tables import table
from explorer.commands import COMMANDS, jsonl
from explorer.errors import ExplorerError, RunError
from explorer.ontologies.invariance import groups_of, read_answers
from explorer.ontologies.load import load as load_ontology
from explorer.ontologies.predictions import ontology_in, read_predictions
from explorer.popularity.ips import DecileEdges
from explorer.records import Instance, RunSpec
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder

few = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
fewer = settings(few, max_examples=30)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)
CELL = st.one_of(
    ANY_TEXT, st.sampled_from(["", '"', "a,b", "x\ty", "a\nb", "\ufeff", "0", "1", "A", "None", "nan", "_"])
)
HEADS = st.sampled_from(
    [
        "good",
        "bad",
        "text",
        "label",
        "target",
        "context",
        "option1",
        "option2",
        "options",
        "gold",
        "id",
        "group",
        "",
        "x",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(HEADS | ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)
DEEP = b"[" * 100_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


def ours(step: Any) -> Any:
    """What the step gives, or none where it says in a sentence of ours why not."""
    try:
        return step()
    except ExplorerError as error:
        assert str(error).strip()
        return None


def imported(path: Path) -> None:
    reading = ours(lambda: table.guess_reading(path))
    if reading is None:
        return
    parsed = ours(lambda: table.read_file(path, reading, "fuzz"))
    if parsed is not None:
        assert parsed.instances
        assert all(left.reason and left.where for left in parsed.left_out)
        assert len({instance.id for instance in parsed.instances}) == len(parsed.instances)


# Importers


@few
@given(st.binary(max_size=300), st.sampled_from(["csv", "tsv", "json", "jsonl", "parquet", "txt", ""]))
@example(DEEP, "json")
@example(b'{"good": ' + DEEP, "jsonl")
@example(b"PAR1", "parquet")
@example(b"\xff\xfe\x00", "csv")
def test_any_bytes_are_imported_or_refused(folder, data, ending):
    path = folder / f"bytes.{ending}"
    path.write_bytes(data)
    imported(path)


@few
@given(
    st.lists(HEADS, min_size=1, max_size=5), st.lists(st.lists(CELL, max_size=6), max_size=8), st.sampled_from(",;\t|")
)
def test_any_table_is_imported_or_refused(folder, heads, rows, delimiter):
    path = folder / "rows.csv"
    lines = [delimiter.join(heads), *(delimiter.join(row) for row in rows)]
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    imported(path)


@few
@given(st.lists(st.dictionaries(HEADS, JSON, max_size=5), max_size=6), st.booleans())
def test_any_json_is_imported_or_refused(folder, rows, lines):
    path = folder / ("rows.jsonl" if lines else "rows.json")
    path.write_text("\n".join(map(json.dumps, rows)) if lines else json.dumps(rows))
    imported(path)


@fewer
@given(
    st.dictionaries(
        HEADS, st.lists(st.none() | st.integers(-9, 9) | st.text(max_size=9), min_size=2, max_size=2), min_size=1
    )
)
def test_any_parquet_file_is_imported_or_refused(folder, columns):
    path = folder / "rows.parquet"
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    frame = frame.map(lambda value: value if value is None else str(value).encode("utf-8", "replace").decode())
    frame.to_parquet(path)
    imported(path)


@few
@given(JSON)
@example({"version": 1, "title": "x", "file": "../x", "reading": {}})
def test_a_manifest_of_an_import_is_read_or_refused(tmp_path_factory, manifest):
    found = settings_module.read(cache=tmp_path_factory.getbasetemp() / "manifests")
    kept = found.imports / "fuzz"
    kept.mkdir(parents=True, exist_ok=True)
    (kept / table.MANIFEST).write_text(json.dumps(manifest))
    ours(lambda: table.imported_benchmark("fuzz", found))


# Specs, formulas, prompts, lines, edges


@few
@given(
    JSON
    | st.fixed_dictionaries({field: JSON for field in ("study", "version", "model", "benchmark", "suites", "uses")})
)
@example(json.loads(specs.to_json(RunSpec("accuracy", 1, "toy", "pairs"))))
def test_a_spec_file_is_a_spec_or_refused(tmp_path_factory, value):
    folder = RunFolder(tmp_path_factory.getbasetemp() / "specs")
    folder.path.mkdir(exist_ok=True)
    (folder.path / "spec.json").write_text(json.dumps(value))
    try:
        spec = folder.spec
    except RunError:
        return
    assert isinstance(spec.study, str) and isinstance(spec.settings, dict)
    assert specs.run_id(specs.from_json(specs.to_json(spec))) == specs.run_id(spec)


@pytest.mark.parametrize("data", [DEEP, b"", b"\xff", b"nul\x00", b"1e999", b'{"study": NaN}'])
def test_a_spec_file_of_bytes_is_refused(tmp_path, data):
    (tmp_path / "spec.json").write_bytes(data)
    with pytest.raises(RunError):
        _ = RunFolder(tmp_path).spec


FORMULA = st.lists(
    st.sampled_from(
        ["(1;%a%)", "(*;%b%)", "(9;%a%)", "1", "0.5", "+", "-", "<", ">", "=", "&", "|", "(", ")", "[", "]", " ", "%"]
    )
    | st.text(max_size=2),
    max_size=14,
).map("".join)


@settings(few, max_examples=150)
@given(FORMULA)
@example("(" * 5000)
@example("-" * 5000 + "1<2")
@example("&".join(["1<2"] * 5000))
@example("1" * 5000 + "<2")
def test_a_formula_is_understood_or_refused(text):
    tree = ours(lambda: syntaxgym_formula.parse_formula(text))
    if tree is not None:
        assert syntaxgym_formula.parse_formula(syntaxgym_formula.render(tree)) == tree
        held = ours(lambda: syntaxgym_formula.holds(tree, {("a", 1): 1.0, ("b", 1): 2.0, ("b", 2): 3.0}))
        assert held in (True, False, None)


KINDS = {"pair": "sentence", "choice": "choice", "cloze": "cloze", "labelled": "labelled"}


@few
@given(st.sampled_from(sorted(KINDS)), ANY_TEXT, st.lists(ANY_TEXT, min_size=2, max_size=4), ANY_TEXT)
def test_a_prompt_of_any_text_holds_it_whole(kind, context, options, second):
    from explorer import prompts

    instance = Instance(
        "x/1", "x", "all", "all", kind, KINDS[kind], context=context, second=second,
        options=tuple(options[:1] if kind == "cloze" else options), gold=0, label=options[0],
    )  # fmt: skip
    asked = ours(lambda: prompts.requests(instance))
    for request in asked or ():
        assert isinstance(request.context, str) and isinstance(request.continuation, str)
    if asked and kind == "pair":
        # White space at the edges of a text counts for nothing at a join (explorer/writing.py).
        assert [request.context + request.continuation for request in asked] == [each.strip() for each in options]


@few
@given(st.binary(max_size=200))
@example(DEEP + b"\n" + b'{"context": "a", "continuation": "b"}')
@example(b"\xef\xbb\xbf\r\n3\r\n")
def test_lines_of_any_bytes_keep_their_number(folder, data):
    path = folder / "lines.jsonl"
    path.write_bytes(data)
    lines = jsonl.read_lines(str(path), ("context", "continuation"))
    assert len(lines) == sum(bool(line.strip()) for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"))
    out = folder / "out.jsonl"
    jsonl.write_lines(str(out), lines, {"logprob": None})
    assert [json.loads(line) is not None for line in out.read_text("utf-8").split("\n") if line] == [True] * len(lines)


@few
@given(JSON | st.fixed_dictionaries({"values": JSON, "reference": JSON, "index": JSON, "n": JSON}))
def test_decile_edges_are_read_or_refused(value):
    ours(lambda: DecileEdges.from_json(json.dumps(value)))


# Ontologies and predictions

OBO_LINE = st.sampled_from(
    ["[Term]", "[Typedef]", "id: GO:0000001", "id: X:1", "id:", "name: a", "name", "is_obsolete: true", "xref: a {b=c}",
     "format-version: 1.2", 'synonym: "a \\"b" EXACT []', "synonym: x", "alt_id: GO:2", "ontology: go", "! x", "\ufeff"]
)  # fmt: skip
NODE = st.fixed_dictionaries(
    {
        "id": JSON | st.just("http://purl.obolibrary.org/obo/GO_0000001"),
        "lbl": JSON,
        "meta": JSON,
        "type": JSON | st.just("CLASS"),
    }
)
GRAPH = st.fixed_dictionaries({"id": JSON, "nodes": JSON | st.lists(JSON | NODE, max_size=3)})
GRAPHS = st.fixed_dictionaries({"graphs": JSON | st.lists(GRAPH, max_size=2)})
ROW = st.lists(
    st.sampled_from(["GO:0000001", "GO_2", "a label", "", "3", "1e400", "nan", '"', '"x', "obsolete x", "id", "label"])
    | ANY_TEXT,
    max_size=6,
)


def ontology(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    found = ours(lambda: load_ontology(path, settings_module.read(cache=path.parent / "cache")))
    if found is not None:
        assert found.concepts and all(concept.id for concept in found.concepts)
        assert json.dumps(found.report.counts())


@few
@given(st.lists(OBO_LINE | ANY_TEXT, max_size=14).map("\n".join))
def test_any_obo_file_is_read_or_refused(folder, text):
    ontology(folder / "any.obo", text.encode("utf-8", "replace"))


@few
@given(GRAPHS | JSON)
@example(
    {
        "graphs": [
            {"nodes": [{"id": "GO:1", "lbl": "a", "meta": [1]}, {"id": "GO:2", "lbl": "b", "meta": {"synonyms": [3]}}]}
        ]
    }
)
def test_any_obo_graph_is_read_or_refused(folder, value):
    ontology(folder / "any.json", json.dumps(value).encode())


@fewer
@given(st.binary(max_size=200))
@example(b'{"graphs": ' + DEEP)
@example(b"<?xml version='1.0'?><rdf:RDF")
@example(b"\x1f\x8b\x08\x00")
def test_any_bytes_are_an_ontology_or_refused(folder, data):
    ontology(folder / "any.bin", data)


@few
@given(st.lists(ROW, max_size=8), st.sampled_from([";", "\t", ",", "|"]), st.booleans())
def test_any_table_of_predictions_is_read_or_refused(folder, rows, delimiter, known):
    path = folder / "predictions.csv"
    lines = ["GO:0000001;a;GO:0000001".replace(";", delimiter)] * known + [delimiter.join(row) for row in rows]
    data = "\n".join(lines).encode("utf-8", "replace")
    ontology(path, data)
    from explorer.ontologies.load import ONTOLOGIES

    made = ours(lambda: ontology_in(path, ONTOLOGIES["go"]))
    if made is not None and made.concepts:
        ours(lambda: read_predictions(path, made))
    answers = ours(lambda: read_answers(path))
    if answers is not None:
        ours(lambda: groups_of(answers, 2))


# The command line

SOME_FILES = ["in.jsonl", "table.csv", "small.obo", "nothing", ".", "", "/dev/null"]
VALUES = st.one_of(
    st.sampled_from(
        ["0", "-1", "1", "999999999999999999999", "1e309", "nan", "x", "", "=", "a=b", "=b", "per_group=-1",
         "preset=natural", "starter_pairs", "starter_cloze", "imported_mine", "gemma-3-270m", "nobody/nothing",
         "openai:x", "http://127.0.0.1:9/v1#m", "demo", "mini:x", "go", "accuracy", "csv", "parquet", "jsonl", "scores",
         "all", "yes", "pair", "\udcff"]
    ),
    st.text(st.characters(exclude_characters="\0/~", exclude_categories=("Cs",)), max_size=8),
)  # fmt: skip
FLAGS = {
    "models": ["list", "add", "--json"],
    "score": [
        "--model",
        "--in",
        "--out",
        "--preset",
        "--bos",
        "--dtype",
        "--device",
        "--tokens",
        "--truncate",
        "--token-budget",
    ],
    "benchmarks": ["--fetch", "--json"],
    "import": [
        "--name",
        "--kind",
        "--column",
        "--encoding",
        "--delimiter",
        "--quotes",
        "--header",
        "--gold",
        "--dry-run",
        "--json",
    ],
    "run": [
        "accuracy",
        "ontology",
        "priming",
        "--model",
        "--benchmark",
        "--suite",
        "--limit",
        "--seed",
        "--dtype",
        "--set",
    ],
    "work": [],
    "runs": ["--json"],
    "resume": ["--detach", "--json"],
    "cancel": ["--json"],
    "delete": ["--json"],
    "rebuild": ["--json"],
    "export": ["--table", "--format", "--out", "--json"],
    "index": [
        "build",
        "check",
        "count",
        "--in",
        "--out",
        "--index",
        "--counts",
        "--compare",
        "--dtype",
        "--forget",
        "--ids",
    ],
    "popularity": ["--index", "--n", "--in", "--out", "--edges-from", "--initial"],
    "perturb": ["--in", "--out", "--seed", "--pos"],
    "import-predictions": ["--ontology", "--model-name", "--as-released", "--after-prefix", "--seed"],
    "import-run": ["--json"],
    "import-log": ["--benchmark", "--model-name", "--json"],
    "prediction-invariance": ["--repeats", "--labels", "--ontology"],
}
# Left out: what serves, starts a browser, or looks at the whole installation.
ASKED = sorted(set(COMMANDS) & set(FLAGS))
LINE = st.sampled_from(ASKED).flatmap(
    lambda command: st.tuples(
        st.just(command),
        st.lists(
            st.sampled_from([*FLAGS[command], "--debug", "--data"]) | VALUES | st.sampled_from(SOME_FILES), max_size=8
        ),
    )
)


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    """A folder with a few small files, in which the command lines run."""
    made = tmp_path_factory.mktemp("desk")
    (made / "in.jsonl").write_text('{"context": "a", "continuation": " b", "text": "a cat"}\n[]\n')
    (made / "table.csv").write_text("good,bad\nIt is.,It are.\n")
    (made / "small.obo").write_text("format-version: 1.2\n[Term]\nid: GO:0000001\nname: a\n")
    return made


@settings(few, max_examples=250)
@given(line=LINE)
@example(line=("score", ["--model", "nobody/nothing", "--in", "in.jsonl", "--out", "out.jsonl"]))
@example(line=("run", ["accuracy", "--benchmark", "starter_pairs", "--limit", "9" * 21, "--model", "nobody/nothing"]))
@example(line=("import", ["table.csv", "--name", "mine", "--delimiter", "\udcff"]))
@example(line=("benchmarks", ["\udcff"]))
@example(line=("resume", ["\udcff"]))
def test_any_command_line_ends_with_0_1_or_2_and_at_most_a_sentence(desk, line, monkeypatch):
    command, arguments = line
    monkeypatch.chdir(desk)
    monkeypatch.setenv("EXPLORER_OFFLINE", "1")
    # No model is converted and no worker started in a fuzz test: what comes before that is looked at.
    monkeypatch.setattr("explorer.scoring.embedded.ensure", _refused)
    monkeypatch.setattr("explorer.runs.queue.start_worker", lambda settings, folder: None)
    monkeypatch.setattr("explorer.runs.worker.work", lambda *given, **named: "failed")
    monkeypatch.setattr("explorer.resources.Resources.lexicon", _refused)
    monkeypatch.setattr("explorer.glassbox.index.ensure_own", _refused)
    monkeypatch.setattr("explorer.popularity.index.build", _refused)
    said, shown = io.StringIO(), io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(shown):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
        try:
            code = main([command, *arguments, "--cache", str(desk / "cache")])
        except SystemExit as end:
            code = int(end.code or 0)
    told = said.getvalue()
    assert code in (0, 1, 2), (line, code, told)
    assert "unforeseen" not in told, (line, told)
    if "--debug" not in arguments:
        assert "Traceback" not in told, (line, told)
        errors = [text for text in told.split("\n") if text.startswith("error: ")]
        assert len(errors) <= (max(1, len(arguments)) if command == "import-log" else 1), (line, told)  # one a file
        shown.flush()
        assert code == 0 or told.strip() or shown.buffer.getvalue(), (line, code)


def _refused(*given: Any, **named: Any) -> Any:
    raise ExplorerError("not in this test")
