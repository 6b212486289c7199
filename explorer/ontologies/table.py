"""Tables of terms in any dress: id;label[;annotations][;web count][;prediction].

Delimiter, byte-order mark, line ends, a header line and quotes are found out. Columns without a header are read by
their place: two are id and label; the third and fourth, where they hold numbers, are annotations and web counts; the
last, where it does not, is a prediction.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from explorer.errors import OntologyError
from explorer.ontologies.contents import Contents, Problem, as_curie
from explorer.records import Concept

DELIMITERS = ("\t", ";", "|", ",")
SAMPLE = 200  # lines looked at to find out the dress
LONGEST_LINE = 1 << 20  # characters in which quotes are looked for
REREAD = 20  # how often, on average, a character may be looked at again to find the end of a quote

# What a header may call a column.
HEADERS = {
    "id": "id",
    "x": "id",
    "curie": "id",
    "iri": "id",
    "term": "id",
    "term id": "id",
    "go id": "id",
    "uberon id": "id",
    "concept": "id",
    "concept id": "id",
    "label": "label",
    "name": "label",
    "annotations": "annotations",
    "annotation": "annotations",
    "annotation count": "annotations",
    "count": "web count",
    "counts": "web count",
    "web count": "web count",
    "web counts": "web count",
    "web hits": "web count",
    "hits": "web count",
    "occurrences": "web count",
    "prediction": "prediction",
    "predictions": "prediction",
    "predicted": "prediction",
    "predicted id": "prediction",
    "answer": "prediction",
    "response": "prediction",
    "output": "prediction",
}

# A quoted field: quotes are doubled or have a backslash inside; SPARQL adds a language or a type behind.
_QUOTED = re.compile(r'"((?:[^"\\]|""|\\.)*)"(?:@[A-Za-z0-9-]+|\^\^[^\s;,|]+)?', re.DOTALL)


def read(text: str, name: str, predictions: bool = False, columns: Sequence[str] = ()) -> Contents:
    """Every row as a concept; `predictions` says that the last column holds answers, `columns` names all of them."""
    lines = text.split("\n")
    delimiter = _delimiter(lines, name)
    rows = list(_rows(lines, delimiter))
    header = _header(rows[0][1]) if rows else ()
    if header:
        del rows[0]
    if not rows:
        raise OntologyError(f"{name} has no rows, expected lines like GO:0006600;creatine metabolic process.")
    width = Counter(len(fields) for _, fields in rows).most_common(1)[0][0]
    layout = tuple(columns) or header or _layout([fields for _, fields in rows[:SAMPLE]], width, predictions, name)
    if "id" not in layout or (predictions and "prediction" not in layout):
        raise OntologyError(
            f"{name} has the columns {', '.join(layout)}, expected an id{' and a prediction' if predictions else ''} "
            "among them. Name the columns in a header line."
        )
    concepts: list[Concept] = []
    answers: list[str] = []
    problems: list[Problem] = []
    for number, fields in rows:
        cells = dict(zip(layout, _fit(fields, layout, delimiter)))
        curie = as_curie(cells["id"])
        label = cells.get("label", "").strip()
        if not curie or ("label" in layout and not label):
            problems.append(Problem(number, f"a row without {'a label' if curie else 'an id'}: {fields[:2]!r}"))
            continue
        counts = {}
        for column in ("annotations", "web count"):
            value = _number(cells.get(column, ""))
            if value is None or value < 0 or math.isinf(value):
                problems.append(Problem(number, f"{column} {cells[column]!r} is no count"))
                value = math.nan
            counts[column] = value
        concepts.append(
            Concept(
                id=curie,
                label=label,
                obsolete=label.lower().startswith("obsolete "),
                annotations=counts["annotations"],
                web_count=counts["web count"],
                source=name,
            )
        )
        answers.append(cells.get("prediction", ""))
    return Contents(
        tuple(concepts),
        tuple(problems),
        predictions=tuple(answers) if "prediction" in layout else (),
        columns=layout,
    )


def _delimiter(lines: Sequence[str], name: str) -> str:
    """The delimiter after which most sampled lines begin with a term's id."""
    sample = [line for line in lines if line.strip()][:SAMPLE]
    found = {mark: sum(_starts_row(mark)(line) for line in sample) for mark in DELIMITERS}
    headed = [mark for mark in DELIMITERS if sample and _header(sample[0].split(mark))]
    best = headed[0] if headed else max(DELIMITERS, key=lambda mark: found[mark])
    if not headed and not found[best]:
        raise OntologyError(
            f"{name} has no line that begins with a term's id and a semicolon, tab, comma or |, expected lines like "
            "GO:0006600;creatine metabolic process. Put the id first, or name the columns in a header line."
        )
    return best


def _starts_row(delimiter: str) -> Callable[[str], bool]:
    def starts(line: str) -> bool:
        first, found, _ = line.partition(delimiter)
        return bool(found) and bool(as_curie(first))

    return starts


def _rows(lines: Sequence[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each row; a quoted field may run over several lines, a stray quote is kept as it is."""
    starts = _starts_row(delimiter)
    budget = REREAD * (sum(map(len, lines)) + len(lines) + LONGEST_LINE)
    number = 0
    while number < len(lines):
        line, first = lines[number], number
        number += 1
        if not line.strip():
            continue
        fields = _fields(line, delimiter)
        if fields is None:
            together = line
            for last in range(number, len(lines)):
                together += "\n" + lines[last]
                budget -= len(together)
                # A file of quotes that never end would be read again from each of them.
                if budget < 0 or len(together) > LONGEST_LINE or starts(lines[last]):
                    break
                fields = _fields(together, delimiter) if '"' in lines[last] else None
                if fields is not None:
                    number = last + 1
                    break
        yield first + 1, line.split(delimiter) if fields is None else fields


def _fields(line: str, delimiter: str) -> list[str] | None:
    """The fields of a line, or none where a quote is opened and not closed."""
    if '"' not in line or len(line) > LONGEST_LINE:
        return line.split(delimiter)
    fields = []
    at = 0
    while True:
        quoted = _QUOTED.match(line, at)
        if quoted and line[quoted.end() : quoted.end() + 1] in ("", delimiter):
            fields.append(quoted[1].replace('""', '"').replace('\\"', '"'))
            at = quoted.end()
        elif line.startswith('"', at) and not quoted:
            return None
        else:
            end = line.find(delimiter, at)
            end = len(line) if end < 0 else end
            fields.append(line[at:end])
            at = end
        if at >= len(line):
            return fields
        at += 1


def _header(fields: Sequence[str]) -> tuple[str, ...]:
    """What a header line calls the columns; () where the line is no header."""
    names = [re.sub(r"[\s_]+", " ", field.strip().strip("\"'").lstrip("?").lower()) for field in fields]
    known = [HEADERS.get(name, name) for name in names]
    is_header = "id" in known and any(name in ("label", "prediction", "web count") for name in known)
    return tuple(known) if is_header and len(known) > 1 else ()


def _layout(sample: Sequence[Sequence[str]], width: int, predictions: bool, name: str) -> tuple[str, ...]:
    """The columns by their place."""
    rows = [fields for fields in sample if len(fields) == width]
    if predictions and width > 5 and all(_number(text) is not None for fields in rows for text in fields[2:4]):
        width = 5  # answers that hold the delimiter themselves
    if not 2 <= width <= 5:
        raise OntologyError(
            f"{name} has {width} columns, expected id, label, annotations, web count and prediction in this order, "
            "the last three where there are any. Name the columns in a header line."
        )
    if predictions:
        return (*("id", "label", "annotations", "web count")[: width - 1], "prediction")
    if width in (2, 5):
        return ("id", "label", "annotations", "web count", "prediction") if width == 5 else ("id", "label")
    if all(_number(fields[-1]) is not None for fields in rows):
        return ("id", "label", "annotations", "web count")[:width]
    return ("id", "label", "prediction") if width == 3 else ("id", "label", "annotations", "prediction")


def _fit(fields: Sequence[str], layout: Sequence[str], delimiter: str) -> list[str]:
    """As many fields as there are columns; a delimiter inside an unquoted label or answer is put back."""
    missing = len(layout) - len(fields)
    if missing >= 0:
        return [*fields, *[""] * missing]
    surplus = -missing
    if "label" not in layout:
        return [*fields[: len(layout) - 1], delimiter.join(fields[len(layout) - 1 :])]
    # The columns behind the label hold numbers: the last place where they do ends it, as a label may begin with some.
    at = layout.index("label")
    numbers = [place for place, column in enumerate(layout) if column in ("annotations", "web count") and place > at]
    # Without such columns a last field that is an id stands alone; other answers hold delimiters sooner than labels do.
    tried = range(surplus, -1, -1) if numbers or as_curie(fields[-1]) else (0,)
    for extra in tried:
        if all(_number(fields[place + extra]) is not None for place in numbers):
            fitted = [*fields[:at], delimiter.join(fields[at : at + extra + 1]), *fields[at + extra + 1 :]]
            return [*fitted[: len(layout) - 1], delimiter.join(fitted[len(layout) - 1 :])]
    return list(fields[: len(layout)])


def _number(text: str) -> float | None:
    """The number, nan for an empty cell, none for something else."""
    text = text.strip()
    if not text:
        return math.nan
    try:
        return float(text)
    except ValueError:
        return None
