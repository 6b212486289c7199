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
from explorer.ontologies.contents import Contents, Problem, as_curie, bare_id, is_true
from explorer.records import Concept

DELIMITERS = ("\t", ";", "|", ",")
SAMPLE = 200  # lines looked at to find out the dress
LONGEST_LINE = 1 << 20  # characters in which quotes are looked for
REREAD = 20  # how often, on average, a character may be looked at again to find the end of a quote

# What a header may call a column.
HEADERS = {
    **dict.fromkeys(
        ("id", "ids", "x", "curie", "iri", "uri", "term", "term id", "term iri", "class", "class id", "go id",
         "uberon id", "obo id", "ontology id", "concept", "concept id", "concept code", "identifier", "code",
         "accession"),
        "id",
    ),
    **dict.fromkeys(
        ("label", "labels", "lbl", "name", "term name", "term label", "class label", "concept name", "concept label",
         "preferred label", "preferred name", "preflabel", "pref label", "rdfs:label", "skos:preflabel"),
        "label",
    ),
    **dict.fromkeys(
        ("obsolete", "is obsolete", "isobsolete", "deprecated", "is deprecated", "owl:deprecated"),
        "obsolete",
    ),
    **dict.fromkeys(("prefix", "id prefix", "ontology prefix"), "prefix"),
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
}  # fmt: skip

# A quoted field: quotes are doubled or have a backslash inside; SPARQL adds a language or a type behind.
_QUOTED = re.compile(r'"((?:[^"\\]|""|\\.)*)"(?:@[A-Za-z0-9-]+|\^\^[^\s;,|]+)?', re.DOTALL)


def read(text: str, name: str, predictions: bool = False, columns: Sequence[str] = (), *, prefix: str = "") -> Contents:
    """Every row as a concept; `predictions` says that the last column holds answers, `columns` names all of them.

    Ids without a prefix, such as bare numbers, get `prefix`, or what a column called prefix says.
    """
    lines = _without_preface(text.split("\n"))
    delimiter = _delimiter(lines, name, prefix)
    rows = list(_rows(lines, delimiter, prefix))
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
    place = layout.index("id")
    ids = [fields[place] for _, fields in rows if len(fields) > place]
    if ids and "prefix" not in layout and not any(as_curie(cell, prefix) for cell in ids):
        raise _without_ids(name, ids, predictions)
    concepts: list[Concept] = []
    answers: list[str] = []
    problems: list[Problem] = []
    for number, fields in rows:
        cells = dict(zip(layout, _fit(fields, layout, delimiter), strict=False))
        curie = as_curie(cells["id"], cells.get("prefix", "").strip().rstrip(":") or prefix)
        label = cells.get("label", "").strip()
        if not curie and number == rows[0][0] and not header and not any(map(as_curie, fields)):
            known = "read by their place as " + ", ".join(layout)
            problems.append(Problem(number, f"the first line names no column that is known here, {known}: {fields!r}"))
            continue
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
                obsolete=is_true(cells["obsolete"]) if "obsolete" in layout else label.lower().startswith("obsolete "),
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


def _without_preface(lines: Sequence[str]) -> list[str]:
    """The lines without the remarks (#, !) and Excel's "sep=" that stand before a table; a header may begin with #."""
    start = 0
    for line in lines:
        bare = line.strip()
        is_header = bare.startswith("#") and any(_header(bare.lstrip("#! ").split(mark)) for mark in DELIMITERS)
        if bare and (is_header or not (bare.startswith(("#", "!")) or bare.lower().startswith("sep="))):
            break
        start += 1
    return [""] * start + list(lines[start:])


def _delimiter(lines: Sequence[str], name: str, prefix: str) -> str:
    """The delimiter after which most sampled lines begin with a term's id."""
    sample = [line for line in lines if line.strip()][:SAMPLE]
    counts = {mark: sum(_starts_row(mark, prefix)(line) for line in sample) for mark in DELIMITERS}
    headed = [mark for mark in DELIMITERS if sample and _header(sample[0].split(mark))]
    best = headed[0] if headed else max(DELIMITERS, key=lambda mark: counts[mark])
    if headed or counts[best]:
        return best
    for mark in DELIMITERS:
        bare = [line.partition(mark)[0] for line in sample if mark in line and bare_id(line.partition(mark)[0])]
        if bare and len(bare) >= len(sample) - 1:
            raise _without_ids(name, bare)
    if not sample:
        raise OntologyError(f"{name} is empty, expected an ontology's terms. Choose another file.")
    first = sample[0].strip()[:60]
    raise OntologyError(
        f"{name} begins with {first!r}, where neither a header with an id and a label nor a term's id stands, expected "
        "lines like GO:0006600;creatine metabolic process (or with a tab, comma or | between). Put the id first, or "
        "call two columns id and label in the first line."
    )


def _without_ids(name: str, ids: Sequence[str], predictions: bool = False) -> OntologyError:
    """What to do about a column of ids in which none has a prefix."""
    shown = next((cell.strip() for cell in ids if cell.strip()), "")[:40]
    if not bare_id(shown):
        return OntologyError(f"{name} has {shown!r} in its column of ids, expected ids like GO:0006600.")
    if not any(bare_id(cell).isdecimal() for cell in ids):
        return OntologyError(
            f"{name} has ids of letters and digits, such as {shown}, expected ids like GO:0006600: an answer is told "
            "from other text by a prefix, a colon and digits. Give an ontology with numeric ids."
        )
    way = "" if predictions else f"Name it behind the file, as in {name}#GO, or in a column called prefix."
    return OntologyError(
        f"{name} has ids without a prefix, such as {shown}, expected ids like GO:0006600: a prompt asks for those of "
        f"one ontology by its prefix. {way}".rstrip()
    )


def _starts_row(delimiter: str, prefix: str = "") -> Callable[[str], bool]:
    def starts(line: str) -> bool:
        first, separator, _ = line.partition(delimiter)
        return bool(separator) and bool(as_curie(first, prefix))

    return starts


def _rows(lines: Sequence[str], delimiter: str, prefix: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each row; a quoted field may run over several lines, a stray quote is kept as it is."""
    starts = _starts_row(delimiter, prefix)
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
    names = [re.sub(r"[\s_]+", " ", field.strip().strip("\"'").lstrip("?#! ").lower()) for field in fields]
    known = [HEADERS.get(name, name) for name in names]
    for role, ending in (("id", " id"), ("label", " label"), ("label", " name")):
        # "mesh id", where no column is called by one of the names above
        ended = [place for place, name in enumerate(known) if name.endswith(ending)]
        if role not in known and len(ended) == 1:
            known[ended[0]] = role
    for role, plain in (("id", r"id|.* ?(id|curie|iri|uri|identifier)"), ("label", "label")):
        # of several names of one thing the plainest; "term" beside "term id" is the label
        places = [place for place, name in enumerate(known) if name == role]
        places.sort(key=lambda place: (names[place] != role, not re.fullmatch(plain, names[place])))
        for place in places[1:]:
            is_label = names[place] in ("term", "concept", "class") and "label" not in known
            known[place] = "label" if is_label else f"{names[place]} (column {place + 1})"
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
