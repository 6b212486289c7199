"""No text keeps a pattern busy: every regular expression of the project, and what reads lines, in linear time."""

from __future__ import annotations

import ast
import contextlib
import re
import time
from pathlib import Path

import pytest

from explorer.errors import OntologyError
from explorer.logs.log import without_secrets
from explorer.ontologies import obo, parse, table
from explorer.ontologies.contents import as_curie
from explorer.settings import ROOT

LONG = 20_000  # characters; a pattern of quadratic time takes seconds, one of cubic time hours
SECONDS = 0.5  # of the processor
PUMPS = (
    " ", "a", "A", "1", "_", "-", "'", '"', '""', "\\", '\\"', "{", "}", "{=", "=", "(", ")", "[", "[]", ".", ",", ";",
    ":", "/", "|", "<", "%", "\n", "\t", "\n ", " \n", "a ", "a-", "a'", "1,", "1 ", "A1", "aA", "Aa", "a.", "passw",
    "token", "no ", "no a", "an ", '"a;', "(1;%", " = ", " @-@", "+ (1|a)", "a~", "1=a", "::", "GO:", "({", "Yes ",
    "a\\", "attachment://",
)  # fmt: skip
SPOILERS = ("", "!", "\x00")


METHODS = ("match", "fullmatch", "search", "finditer", "findall", "sub", "split")


def patterns() -> dict[str, tuple[re.Pattern[str], list[str]]]:
    """Every regular expression that stands as a literal in the project, and how it is used, by file and line."""
    found = {}
    for path in sorted((ROOT / "explorer").rglob("*.py")):
        source = path.read_text("utf-8")
        if "import re\n" not in source:
            continue
        names = {}
        for node in ast.walk(ast.parse(source)):
            if (
                isinstance(node, ast.Assign)
                and isinstance(node.value, ast.Call)
                and isinstance(node.targets[0], ast.Name)
            ):
                names[node.value] = node.targets[0].id
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                continue
            of_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re" and node.func.attr != "escape"
            first = node.args[0]
            if of_re and isinstance(first, ast.Constant) and isinstance(first.value, str):
                flags, written = re.NOFLAG, ast.unparse(node)
                for name in ("VERBOSE", "ASCII", "DOTALL", "MULTILINE", "IGNORECASE"):
                    if re.search(rf"re\.(?:{name}|{name[0]})\b", written):
                        flags |= re.RegexFlag[name]
                used = [node.func.attr]
                if node.func.attr == "compile":
                    used = [how for how in METHODS if f"{names.get(node, '?')}.{how}(" in source] or ["fullmatch"]
                found[f"{path.relative_to(ROOT)}:{node.lineno}"] = (re.compile(first.value, flags), used)
    return found


PATTERNS = patterns()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("place", PATTERNS)
def test_a_pattern_takes_linear_time(place):
    pattern, used = PATTERNS[place]
    for pump in PUMPS:
        for spoiler in SPOILERS:
            text = pump * (LONG // len(pump)) + spoiler
            start = time.process_time()
            for how in used:
                _use(pattern, how, text)
            assert time.process_time() - start < SECONDS, (pump, spoiler)


def _use(pattern: re.Pattern[str], how: str, text: str) -> None:
    if how == "sub":
        pattern.sub("", text)
    elif how == "finditer":
        for _ in pattern.finditer(text):
            pass
    else:
        getattr(pattern, how)(text)


def test_there_are_patterns_to_be_looked_at():
    assert len(PATTERNS) > 60 and any(place.startswith("explorer/ontologies/obo.py") for place in PATTERNS)


BIG = 300_000
READERS = {
    "a name of braces": lambda: obo.read("[Term]\nid: GO:0000001\nname: " + "{=" * BIG, "x.obo"),
    "a name of blanks": lambda: obo.read("[Term]\nid: GO:0000001\nname: a" + " " * BIG + "x", "x.obo"),
    "a name of qualifiers": lambda: obo.read("[Term]\nid: GO:0000001\nname: a" + " {a=b}" * BIG + "x}", "x.obo"),
    "a synonym without its end": lambda: obo.read('[Term]\nid: GO:0000001\nsynonym: "' + "\\a" * BIG, "x.obo"),
    "quotes that never end": lambda: table.read('GO:0000001;"a\n' + '"b\n' * BIG, "x.csv"),
    "pairs of quotes that never end": lambda: table.read('GO:0000001;"a\n' + '""\n' * BIG, "x.csv"),
    "rows whose quotes never end": lambda: table.read('GO:0000001;"a""b\n' * (BIG // 4), "x.csv"),
    "an answer of quotes": lambda: parse.bare('"' * BIG + "'" * BIG + '"' * BIG),
    "an answer of nested quotes": lambda: parse.bare('"' * BIG + "a" + '"' * BIG),
    "a configuration of one word": lambda: without_secrets("passw" * BIG),
    "an id without end": lambda: as_curie("GO_" * BIG),
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", READERS)
def test_what_reads_lines_takes_linear_time(name):
    start = time.process_time()
    with contextlib.suppress(OntologyError):
        READERS[name]()
    assert time.process_time() - start < 10


def test_a_secret_in_the_arguments_of_a_model_is_still_left_out():
    said = without_secrets({"model_args": "pretrained=x,api_key=sk-1,hub_token=t2,my_password2=p3,n=4"})
    assert said == {"model_args": "pretrained=x,api_key=(left out),hub_token=(left out),my_password2=(left out),n=4"}


def test_quoted_fields_still_run_over_lines(tmp_path: Path):
    found = table.read('GO:0000001;"a label\nof two lines"\nGO:0000002;b\n', "x.csv")
    assert [concept.label for concept in found.concepts] == ["a label\nof two lines", "b"]
