"""OBO 1.2 and 1.4 files, read line by line."""

from __future__ import annotations

import re

from explorer.ontologies.contents import Contents, Problem, as_curie, is_true
from explorer.records import Concept

# Possessive, so that a text without its end costs one look and no memory.
_QUOTED = re.compile(r'\s*+"((?:[^"\\]|\\.)*+)"')
_PROPERTY = re.compile(r'\s*+(\S++)\s++"?([^"\s]++)')  # its name and its value, of those with one word
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "W": " "}


def read(text: str, name: str) -> Contents:
    """The terms of an OBO file: id, name, synonyms, alternative ids, cross-references, obsolete or not."""
    concepts: list[Concept] = []
    problems: list[Problem] = []
    declared = ""
    seen: set[str] = set()
    term: dict[str, list[str]] | None = None
    started = 0
    in_header = True

    def finish() -> None:
        if term is None:
            return
        ids = term["id"]
        if not ids:
            problems.append(Problem(started, "a term without an id"))
        elif ids[0] in seen:
            problems.append(Problem(started, f"{ids[0]} for the second time"))
        else:
            seen.add(ids[0])
            concepts.append(_concept(term, name))

    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not line or line.startswith("!"):
            continue
        if line.startswith("["):
            finish()
            in_header = False
            started = number
            term = {tag: [] for tag in _TAGS} if line.startswith("[Term]") else None
            continue
        tag, colon, value = line.partition(":")
        if in_header:
            if tag == "ontology":
                declared = value.strip()
            continue
        if term is None:
            continue
        if tag == "property_value":
            if match := _PROPERTY.match(value):
                name_of, property_value = match[1].rpartition("#")[2].rpartition(":")[2], match[2]
                if name_of == "deprecated":
                    term["is_obsolete"].append(property_value)
                elif name_of == "hasAlternativeId":
                    term["alt_id"].append(as_curie(property_value) or property_value)
        elif not colon:
            problems.append(Problem(number, f"a line without a tag: {line[:60]!r}"))
        elif tag in term:
            read_value = _TAGS[tag](value)
            if read_value is None:
                problems.append(Problem(number, f"a {tag} that cannot be read: {value.strip()[:60]!r}"))
            else:
                term[tag].append(read_value)
    finish()
    return Contents(tuple(concepts), tuple(problems), declared)


def _concept(term: dict[str, list[str]], name: str) -> Concept:
    return Concept(
        id=term["id"][0],
        label=term["name"][0] if term["name"] else "",
        synonyms=tuple(dict.fromkeys(term["synonym"])),
        alt_ids=tuple(term["alt_id"]),
        xrefs=tuple(term["xref"]),
        obsolete=any(map(is_true, term["is_obsolete"])),
        source=name,
    )


def _plain(value: str) -> str | None:
    return _unescape(_without_qualifiers(value).strip()) or None


def _without_qualifiers(value: str) -> str:
    """The value without what stands in braces at its end, {source="x"}."""
    text = value.rstrip()
    start = text.rfind("{")
    inside = text[start + 1 : -1]
    if not text.endswith("}") or start < 0 or "}" in inside or "=" not in inside or text[:start].endswith("\\"):
        return value
    return text[:start]


def _first_word(value: str) -> str | None:
    words = value.split(None, 1)
    return _unescape(words[0]) if words else None


def _quoted(value: str) -> str | None:
    match = _QUOTED.match(value)
    return _unescape(match[1]) if match else None


def _unescape(value: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), value) if "\\" in value else value


_TAGS = {
    "id": _first_word,
    "name": _plain,
    "synonym": _quoted,
    "alt_id": _first_word,
    "xref": _first_word,
    "is_obsolete": _first_word,
}
